//! What makes a directory a Git directory: gitrepository-layout(5).

use crate::config::Environment;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_fs::FileKind;
use std::ffi::OsStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The size limit of a `.git` file in bytes, which is git's.
const GIT_FILE_LIMIT_BYTES: u64 = 1 << 20;
/// The size limit of `HEAD`, `commondir` and `gitdir`, which hold one line, in bytes.
const LINE_LIMIT_BYTES: u64 = 64 << 10;

/// Whether `path` looks like a Git directory: it has a `HEAD` that can be one, a directory of
/// objects and one of refs.
pub(crate) fn is_git_dir(path: &Path, environment: &Environment) -> bool {
    let common = common_dir(path, environment);
    let objects = match &environment.object_directory {
        Some(objects) => environment.cwd.join(objects),
        None => common.join("objects"),
    };
    // A directory with an empty name is nowhere, as with git.
    let named = [&environment.common_dir, &environment.object_directory];
    let mut named = named.into_iter().flatten();
    named.all(|path| !path.as_os_str().is_empty())
        && has_valid_head(path)
        && hedgerow_fs::is_executable(&objects)
        && hedgerow_fs::is_executable(&common.join("refs"))
}

/// The directory that `git_dir` shares with the other working trees of its repository: itself
/// unless it has a `commondir` file or `GIT_COMMON_DIR` says otherwise.
pub(crate) fn common_dir(git_dir: &Path, environment: &Environment) -> PathBuf {
    if let Some(common) = &environment.common_dir {
        return environment.cwd.join(common);
    }
    match read_line_file(&git_dir.join("commondir")) {
        Ok(Some(line)) if !line.is_empty() => {
            let common = git_dir.join(OsStr::from_bytes(&line));
            hedgerow_fs::real_path(&common).unwrap_or(common)
        }
        _ => git_dir.to_owned(),
    }
}

/// The content of a file of one line without its end; `None` if there is no such file.
///
/// # Errors
/// If it cannot be read: what it says must not be taken for nothing then.
pub(crate) fn read_line_file(path: &Path) -> Result<Option<Vec<u8>>> {
    let mut line = match hedgerow_fs::read_file(path, LINE_LIMIT_BYTES) {
        Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => return Ok(None),
        other => other?,
    };
    if let Some(line) = &mut line {
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
    }
    Ok(line)
}

fn has_valid_head(git_dir: &Path) -> bool {
    let head = git_dir.join("HEAD");
    match hedgerow_fs::lstat(&head) {
        Ok(Some(stat)) if stat.kind == FileKind::Symlink => hedgerow_fs::read_link(&head)
            .is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"refs/")),
        Ok(Some(_)) => match hedgerow_fs::read_file(&head, LINE_LIMIT_BYTES) {
            Ok(Some(content)) => is_head(&content),
            _ => false,
        },
        _ => false,
    }
}

fn is_head(content: &[u8]) -> bool {
    if let Some(target) = content.strip_prefix(b"ref:") {
        return target.trim_start().starts_with(b"refs/");
    }
    let digits = content
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    digits >= 40
}

/// Where the `.git` file at `path` points, or `None` if `path` is no file.
pub(crate) fn read_git_file(path: &Path, environment: &Environment) -> Result<Option<PathBuf>> {
    read_git_file_shown(path, &path.display(), environment)
}

/// As [`read_git_file`], with errors that call the file `shown`.
pub(crate) fn read_git_file_shown(
    path: &Path,
    shown: &dyn Display,
    environment: &Environment,
) -> Result<Option<PathBuf>> {
    match hedgerow_fs::stat(path) {
        Ok(Some(stat)) if stat.kind == FileKind::File => {}
        _ => return Ok(None),
    }
    let refused = |reason: String| Error::Setup { reason };
    let file = hedgerow_fs::ReadFile::open(path)
        .map_err(|_| refused(format!("error opening '{shown}'")))?;
    let mut content = Vec::new();
    file.read_to_end(&mut content, GIT_FILE_LIMIT_BYTES)
        .map_err(|_| refused(format!("too large to be a .git file: '{shown}'")))?;
    let target = content
        .strip_prefix(b"gitdir: ")
        .ok_or_else(|| refused(format!("invalid gitfile format: {shown}")))?
        .trim_end_with(|byte| byte == '\n' || byte == '\r');
    if target.is_empty() {
        return Err(refused(format!("no path in gitfile: {shown}")));
    }
    let directory = path.parent().unwrap_or(Path::new("/"));
    let target = directory.join(OsStr::from_bytes(target));
    if !is_git_dir(&target, environment) {
        let reason = format!("not a git repository: {}", target.display());
        return Err(refused(reason));
    }
    Ok(Some(hedgerow_fs::real_path(&target)?))
}

/// What keeps a `.git` file from naming a Git directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitFileProblem {
    NoStat,
    NotAFile,
    NotOpened,
    NotRead,
    InvalidFormat,
    NoPath,
    NotARepository,
    TooLarge,
    Missing,
    Directory,
}

impl GitFileProblem {
    /// Git's number for it, which one of its messages shows.
    pub(crate) fn code(self) -> u8 {
        self as u8 + 1
    }
}

/// The Git directory that the `.git` file at `path` names, links resolved, or why it names none.
pub(crate) fn git_file_target(
    path: &Path,
    environment: &Environment,
) -> Result<PathBuf, GitFileProblem> {
    let stat = hedgerow_fs::stat(path).map_err(|_| GitFileProblem::NoStat)?;
    let stat = stat.ok_or(GitFileProblem::Missing)?;
    match stat.kind {
        FileKind::File if stat.size > GIT_FILE_LIMIT_BYTES => return Err(GitFileProblem::TooLarge),
        FileKind::File => {}
        FileKind::Directory => return Err(GitFileProblem::Directory),
        _ => return Err(GitFileProblem::NotAFile),
    }
    let file = hedgerow_fs::ReadFile::open(path).map_err(|_| GitFileProblem::NotOpened)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content, GIT_FILE_LIMIT_BYTES)
        .map_err(|_| GitFileProblem::NotRead)?;
    let target = content
        .strip_prefix(b"gitdir: ")
        .ok_or(GitFileProblem::InvalidFormat)?
        .trim_end_with(|byte| byte == '\n' || byte == '\r');
    if target.is_empty() {
        return Err(GitFileProblem::NoPath);
    }
    let directory = path.parent().unwrap_or(Path::new("/"));
    let target = directory.join(OsStr::from_bytes(target));
    if !is_git_dir(&target, environment) {
        return Err(GitFileProblem::NotARepository);
    }
    hedgerow_fs::real_path(&target).map_err(|_| GitFileProblem::NotARepository)
}

/// The bytes of `path`.
pub(crate) fn bytes(path: &Path) -> &BStr {
    path.as_os_str().as_bytes().as_bstr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_head() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for head in ["ref: refs/heads/main\n", "ref:refs/x", "ref: \trefs/x", id] {
            assert!(is_head(head.as_bytes()), "{head}");
        }
        for other in ["", "ref: heads/main", "refs/heads/main", &id[1..], "ref:"] {
            assert!(!is_head(other.as_bytes()), "{other}");
        }
    }
}
