//! What stands in the place of a tree while it is not mounted.
//!
//! An empty directory would be dangerous: git would take it for a part of the repository around it,
//! or, once a `.git` file was put there, for a working tree whose files were all deleted. So it has
//! a `.git` of its own, which hides behind the mount: a repository of a format that no program
//! knows. Git ends there with the name of the unknown extension, which tells what to do;
//! `git worktree prune` finds a `.git` and keeps the working tree; `git worktree repair`, which would
//! replace a file, leaves a directory as it is.
//!
//! It is ours, and is only written under the lock of its tree: whatever a killed process left of it is
//! overwritten. The file that names the layers is the first to come and the last to go.

use crate::Result;
use hedgerow_fs::{create_directories, is_directory, list_directory, read_file, remove_directory};
use hedgerow_fs::{remove_file, LockFile};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The extension of the repository format that no program knows, in lower case as git shows it.
pub const SIGN_EXTENSION: &str = "not-mounted--run-hedgerow-worktree-mount";

/// The file that names the directory of the tree's layers.
const LINK: &str = "hedgerow";
/// The file without which it is no repository yet.
const LAST: &str = "HEAD";
const LINK_LIMIT_BYTES: u64 = 64 << 10;

/// What is in the place of a tree that is not mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing, or a sign that names no layers yet.
    Free,
    /// The sign of the tree with these layers, and nothing else.
    Signed(PathBuf),
    /// Something else.
    Taken,
}

impl Place {
    /// What is in the directory `top`.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub(crate) fn look(top: &Path) -> Result<Self> {
        let entries = list_directory(top)?.unwrap_or_default();
        let dot_git = top.join(".git");
        match &entries[..] {
            [] => return Ok(Place::Free),
            [entry] if entry.name == b".git" => {}
            _ => return Ok(Place::Taken),
        }
        if let Some(directory) = sign_directory(&dot_git) {
            return Ok(Place::Signed(directory));
        }
        let is_ours = is_directory(&dot_git) && hedgerow_fs::read_link(&dot_git).is_err() && {
            let mut entries = list_directory(&dot_git)?.unwrap_or_default().into_iter();
            entries.all(|entry| entry.name == lock_of(LINK).as_bytes())
        };
        Ok(if is_ours { Place::Free } else { Place::Taken })
    }
}

/// Puts the sign into the directory `top`, which is made if it is missing. `directory` is where the
/// layers of the tree are.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_sign(top: &Path, directory: &Path) -> Result<()> {
    let dot_git = top.join(".git");
    let is_whole = hedgerow_fs::exists(&dot_git.join(LAST))
        && sign_directory(&dot_git).is_some_and(|named| is_same(&named, directory));
    // Nothing is written where there may be no room.
    if is_whole {
        return Ok(());
    }
    create_directories(&dot_git)?;
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\t{SIGN_EXTENSION} = true\n"
    );
    write(&dot_git.join(LINK), directory.as_os_str().as_bytes())?;
    write(&dot_git.join("config"), config.as_bytes())?;
    for name in ["objects", "refs"] {
        create_directories(&dot_git.join(name))?;
    }
    write(&dot_git.join(LAST), b"ref: refs/heads/not-mounted\n")
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    remove_file(&path.with_file_name(lock_of(path.file_name().unwrap_or_default())))?;
    let mut file = LockFile::acquire(path)?;
    file.write_all(content)?;
    file.commit()?;
    Ok(())
}

fn lock_of(name: impl AsRef<OsStr>) -> OsString {
    let mut lock = name.as_ref().to_owned();
    lock.push(".lock");
    lock
}

/// Whether both paths lead to the same directory.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let number = |path| hedgerow_fs::stat(path).ok().flatten();
    let (one, other) = (number(one), number(other));
    one.zip(other)
        .is_some_and(|(one, other)| (one.dev, one.ino) == (other.dev, other.ino))
}

/// The directory with the layers of the tree for which the `.git` directory `dot_git` is the sign;
/// `None` if that is something else.
pub fn sign_directory(dot_git: &Path) -> Option<PathBuf> {
    let content = read_file(&dot_git.join(LINK), LINK_LIMIT_BYTES).ok()??;
    let path = PathBuf::from(OsString::from_vec(content));
    (path.is_absolute() && is_directory(dot_git)).then_some(path)
}

/// Removes the sign from the directory `top`, or what is there of it; anything else there stays.
///
/// # Errors
/// If something of it cannot be removed.
pub(crate) fn remove_sign(top: &Path) -> Result<()> {
    let dot_git = top.join(".git");
    if sign_directory(&dot_git).is_none() && Place::look(top)? != Place::Free {
        return Ok(());
    }
    if !is_directory(&dot_git) {
        return Ok(());
    }
    for name in [LAST, "config"] {
        remove_file(&dot_git.join(name))?;
        remove_file(&dot_git.join(lock_of(name)))?;
    }
    for name in ["objects", "refs"] {
        if is_directory(&dot_git.join(name)) {
            remove_directory(&dot_git.join(name))?;
        }
    }
    for name in [OsString::from(LINK), lock_of(LINK)] {
        remove_file(&dot_git.join(name))?;
    }
    Ok(remove_directory(&dot_git)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use hedgerow_testkit::{run, Program};

    #[test]
    fn git_stops_at_the_sign() {
        let place = tempfile::tempdir().unwrap();
        let outer = hedgerow_testkit::Repository::init(&[]);
        for top in [place.path().join("top"), outer.root.join("inner")] {
            write_sign(&top, Path::new("/layers")).unwrap();
            let mut status = Program::Git.command(&top);
            status.arg("status");
            let ended = run(status);
            assert!(ended.stderr.contains(SIGN_EXTENSION), "{}", ended.stderr);
            assert_eq!(Place::look(&top).unwrap(), Place::Signed("/layers".into()));
            remove_sign(&top).unwrap();
            assert_eq!(Place::look(&top).unwrap(), Place::Free);
            std::fs::write(top.join(".git"), "gitdir: /x").unwrap();
            assert_eq!(Place::look(&top).unwrap(), Place::Taken);
        }
    }

    #[test]
    fn what_a_killed_process_left_is_overwritten_or_removed() {
        let place = tempfile::tempdir().unwrap();
        let whole = place.path().join("whole");
        write_sign(&whole, place.path()).unwrap();
        // As many of its files as were written, in their order, and the lock of the next one.
        let steps = ["", LINK, "config", "objects", "refs", LAST];
        for (count, next) in steps.iter().enumerate().skip(1) {
            for is_written in [true, false] {
                let top = place.path().join(format!("{next}{is_written}"));
                let dot_git = top.join(".git");
                std::fs::create_dir_all(&dot_git).unwrap();
                for name in &steps[1..count] {
                    let from = whole.join(".git").join(name);
                    if from.is_dir() {
                        std::fs::create_dir(dot_git.join(name)).unwrap();
                    } else {
                        std::fs::copy(from, dot_git.join(name)).unwrap();
                    }
                }
                std::fs::write(dot_git.join(lock_of(next)), "").unwrap();
                assert_ne!(Place::look(&top).unwrap(), Place::Taken, "{next}");
                if is_written {
                    write_sign(&top, place.path()).unwrap();
                    let signed = Place::Signed(place.path().to_owned());
                    assert_eq!(Place::look(&top).unwrap(), signed);
                }
                remove_file(&dot_git.join(lock_of("objects"))).unwrap();
                remove_file(&dot_git.join(lock_of("refs"))).unwrap();
                remove_sign(&top).unwrap();
                assert!(!dot_git.exists(), "{next}");
            }
        }
    }

    #[test]
    fn a_whole_sign_is_not_written_again() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("top");
        write_sign(&top, place.path()).unwrap();
        let number = || {
            hedgerow_fs::stat(&top.join(".git/HEAD"))
                .unwrap()
                .unwrap()
                .ino
        };
        let before = number();
        write_sign(&top, place.path()).unwrap();
        assert_eq!(number(), before);
    }
}
