//! Merging a file by a program: `merge.*.driver` of gitattributes(5).

use super::entries::{Labels, MergedFile};
use crate::convert::shell_quoted;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{Exit, OutputFile, Process};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What the program leaves may have so many bytes.
const RESULT_LIMIT_BYTES: u64 = 4 << 30;
/// So many names are tried for a file.
const NAMES: u32 = 1000;
/// A program that ends with more has failed; with less, but not 0, there are conflicts.
const LAST_CONFLICT: i32 = 128;

/// Lets the shell run `command` at the top of the working tree. It finds the base, our and their
/// content in files, and leaves the result in that of ours.
///
/// # Errors
/// If it fails, as opposed to finding conflicts.
pub(super) fn merge(
    repository: &Repository,
    command: &BStr,
    path: &BStr,
    contents: &[Vec<u8>],
    (labels, marker_size): (&Labels, usize),
) -> Result<MergedFile> {
    let top = repository.require_work_tree()?;
    let files = contents.iter().map(|content| File::create(top, content));
    let files: Vec<File> = files.collect::<Result<_>>()?;
    let quoted = |text: &BStr| Some(shell_quoted(text));
    let expanded = expanded(command, &|letter| match letter {
        b'O' => files.first().map(|file| file.name.clone()),
        b'A' => files.get(1).map(|file| file.name.clone()),
        b'B' => files.get(2).map(|file| file.name.clone()),
        b'L' => Some(marker_size.to_string().into()),
        b'P' => quoted(path),
        b'S' => quoted(labels.base.as_bstr()),
        b'X' => quoted(labels.ours.as_bstr()),
        b'Y' => quoted(labels.theirs.as_bstr()),
        _ => None,
    });
    let process = Process {
        program: "sh".into(),
        arguments: vec!["-c".into(), OsString::from_vec(expanded.into())],
        directory: Some(top.to_owned()),
        variables: repository.program_variables(),
        output_to_error: false,
        ..Process::default()
    };
    let is_clean = match process.run()? {
        Exit::Status(0) => Some(true),
        Exit::Status(status) if status <= LAST_CONFLICT => Some(false),
        Exit::Status(_) | Exit::Signal(_) => None,
    };
    let result = match files.get(1) {
        Some(ours) => hedgerow_fs::read_file(&ours.path, RESULT_LIMIT_BYTES)?,
        None => None,
    };
    match (is_clean, result) {
        (Some(is_clean), Some(content)) => Ok(MergedFile {
            content,
            is_clean,
            warning: None,
        }),
        _ => Err(Error::Setup {
            reason: format!("failed to execute internal merge for {path}"),
        }),
    }
}

/// `command` with `%` and a letter replaced by what `value` says; `%%` is a percent sign.
fn expanded(command: &BStr, value: &dyn Fn(u8) -> Option<BString>) -> BString {
    let mut out = BString::default();
    let mut rest = command.as_bytes();
    while let Some(at) = rest.find_byte(b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let letter = rest.first().copied();
        let replaced = match letter {
            Some(b'%') => Some("%".into()),
            letter => letter.and_then(value),
        };
        match replaced {
            Some(text) => {
                out.extend_from_slice(&text);
                rest = &rest[1..];
            }
            None => out.push(b'%'),
        }
    }
    out.extend_from_slice(rest);
    out
}

/// A file at the top of the working tree that is removed when it is dropped.
struct File {
    /// Its name there.
    name: BString,
    path: PathBuf,
}

impl File {
    fn create(top: &Path, content: &[u8]) -> Result<Self> {
        let mut number = 0;
        loop {
            let name: BString = format!(".merge_file_{}_{number}", std::process::id()).into();
            let path = top.join(std::ffi::OsStr::from_bytes(&name));
            let file = OutputFile::create(&path)?;
            file.write_at(content, 0)?;
            match file.commit(false) {
                Ok(()) => return Ok(File { name, path }),
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && number < NAMES =>
                {
                    number += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The program may have removed it; a file that stays is untracked, and nothing is lost.
        let _ = hedgerow_fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_behind_percent_signs_are_replaced() {
        let value = |letter| (letter == b'A').then(|| BString::from("'it'"));
        let expand = |command: &str| expanded(command.into(), &value).to_string();
        assert_eq!(expand("run %A 100%% %Z %"), "run 'it' 100% %Z %");
        assert_eq!(expand("none"), "none");
    }
}
