//! Pathspecs from a file: `--pathspec-from-file` of git's commands.

use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use bstr::{BStr, BString, ByteSlice};
use clap::Args;
use hedgerow::display::unquoted;
use hedgerow_fs::StandardInput;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

/// A list of pathspecs that is larger is refused.
const LIMIT_BYTES: u64 = 1 << 30;

/// Pathspecs from a file.
#[derive(Debug, Args)]
pub struct PathspecFile {
    /// Read the pathspecs from FILE; '-' means standard input
    #[arg(long, value_name = "FILE")]
    pub pathspec_from_file: Option<OsString>,
    /// The pathspecs end with NUL instead of a newline
    #[arg(long)]
    pub pathspec_file_nul: bool,
}

impl PathspecFile {
    /// The pathspecs that it lists, if it is given. `prefix` is the way from the top of the working
    /// tree to the current directory.
    ///
    /// # Errors
    /// As [`read`].
    pub fn listed(&self, prefix: &BStr, global: &Global) -> Result<Option<Vec<BString>>, Failure> {
        let nul = self.pathspec_file_nul;
        match &self.pathspec_from_file {
            Some(path) => read(path, nul, prefix, global).map(Some),
            None if nul => Err(Failure::fatal(
                "the option '--pathspec-file-nul' requires '--pathspec-from-file'",
            )),
            None => Ok(None),
        }
    }
}

/// The pathspecs in `file`, which is relative to the directory `prefix` of the working tree, or on
/// standard input for `-`: a line each, or up to a NUL each.
///
/// # Errors
/// A file that cannot be read, or a line that is badly quoted.
pub fn read(
    file: &OsStr,
    with_nul: bool,
    prefix: &BStr,
    global: &Global,
) -> Result<Vec<BString>, Failure> {
    let content = if file == "-" {
        standard_input()?
    } else {
        let path = from_directory(global, Path::new(file));
        hedgerow_fs::read_file(&path, LIMIT_BYTES)
            .map_err(Failure::fatal)?
            .ok_or_else(|| {
                let shown = file.to_string_lossy();
                let reason = "No such file or directory";
                Failure::fatal(format_args!(
                    "could not open '{prefix}{shown}' for reading: {reason}"
                ))
            })?
    };
    records(&content, with_nul)
}

/// All of standard input.
pub fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    let read = StandardInput.read_to_end(&mut content);
    read.map_err(|error| Failure::fatal(format_args!("cannot read standard input: {error}")))?;
    Ok(content)
}

/// The paths that `content` lists: a line each, or up to a NUL each.
///
/// # Errors
/// A line that is badly quoted.
pub fn paths(content: &[u8], with_nul: bool) -> Result<Vec<BString>, Failure> {
    let badly_quoted = |_| Failure::fatal("line is badly quoted");
    records(content, with_nul).map_err(badly_quoted)
}

/// The lines of `content`, unquoted; or what ends in a NUL, as it is.
fn records(content: &[u8], with_nul: bool) -> Result<Vec<BString>, Failure> {
    let end = if with_nul { 0 } else { b'\n' };
    if content.is_empty() {
        return Ok(Vec::new());
    }
    let content = content.strip_suffix(&[end]).unwrap_or(content);
    let records = content.split(|byte| *byte == end);
    let read = |record: &[u8]| {
        if with_nul {
            return Ok(record.into());
        }
        let line = record.strip_suffix(b"\r").unwrap_or(record);
        if !line.starts_with(b"\"") {
            return Ok(line.into());
        }
        let shown = line.as_bstr();
        unquoted(line).ok_or_else(|| Failure::fatal(format_args!("line is badly quoted: {shown}")))
    };
    records.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_unquoted_and_records_are_not() {
        for (content, with_nul, expected) in [
            (&b"a\nb\r\n"[..], false, Some(vec!["a", "b"])),
            (b"a\nb", false, Some(vec!["a", "b"])),
            (b"\"a\\tb\"\n", false, Some(vec!["a\tb"])),
            (b"\"a\n", false, None),
            (b"\"a\"b\n", false, Some(vec!["a"])),
            (b"a\0\"b\0", true, Some(vec!["a", "\"b"])),
            (b"", false, Some(vec![])),
            (b"\n", false, Some(vec![""])),
            (b"\0", true, Some(vec![""])),
        ] {
            let found = records(content, with_nul).ok();
            let expected: Option<Vec<BString>> =
                expected.map(|list| list.into_iter().map(BString::from).collect());
            assert_eq!(found, expected, "{:?}", content.as_bstr());
        }
    }
}
