//! What stands in the place of a tree while it is not mounted.
//!
//! An empty directory would be dangerous: git would take it for a part of the repository around it,
//! or, once a `.git` file was put there, for a working tree whose files were all deleted. So it has
//! a `.git` of its own, which hides behind the mount: a repository of a format that no program
//! knows. Git ends there with the name of the unknown extension, which tells what to do;
//! `git worktree prune` finds a `.git` and keeps the working tree; `git worktree repair`, which would
//! replace a file, leaves a directory as it is.

use crate::Result;
use hedgerow_fs::{create_directories, is_directory, read_file, remove_directory};
use hedgerow_fs::{remove_file, LockFile};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The extension of the repository format that no program knows, in lower case as git shows it.
pub const SIGN_EXTENSION: &str = "not-mounted--run-hedgerow-worktree-mount";

/// The file that names the directory of the tree's layers.
const LINK: &str = "hedgerow";
const LINK_LIMIT_BYTES: u64 = 64 << 10;

/// Puts the sign into the directory `top`, which is made if it is missing. `directory` is where the
/// layers of the tree are.
///
/// # Errors
/// If it cannot be written.
pub fn write_sign(top: &Path, directory: &Path) -> Result<()> {
    let dot_git = top.join(".git");
    create_directories(&dot_git)?;
    for name in ["objects", "refs"] {
        create_directories(&dot_git.join(name))?;
    }
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\t{SIGN_EXTENSION} = true\n"
    );
    let files: [(&str, &[u8]); 3] = [
        ("config", config.as_bytes()),
        (LINK, directory.as_os_str().as_bytes()),
        // Without this, it is no repository yet.
        ("HEAD", b"ref: refs/heads/not-mounted\n"),
    ];
    for (name, content) in files {
        write(&dot_git.join(name), content)?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = LockFile::acquire(path)?;
    file.write_all(content)?;
    file.commit()?;
    Ok(())
}

/// The directory with the layers of the tree for which the `.git` directory `dot_git` is the sign;
/// `None` if that is something else.
pub fn sign_directory(dot_git: &Path) -> Option<PathBuf> {
    let content = read_file(&dot_git.join(LINK), LINK_LIMIT_BYTES).ok()??;
    let path = PathBuf::from(OsString::from_vec(content));
    (path.is_absolute() && is_directory(dot_git)).then_some(path)
}

/// Whether the directory `top` has the sign, and nothing else.
pub fn is_sign(top: &Path) -> bool {
    let entries = hedgerow_fs::list_directory(top).ok().flatten();
    let is_only = entries.is_some_and(|entries| entries.len() == 1);
    is_only && sign_directory(&top.join(".git")).is_some()
}

/// Removes the sign from the directory `top`; anything else there stays.
///
/// # Errors
/// If something of it cannot be removed.
pub fn remove_sign(top: &Path) -> Result<()> {
    let dot_git = top.join(".git");
    if sign_directory(&dot_git).is_none() {
        return Ok(());
    }
    for name in ["HEAD", "config", LINK] {
        remove_file(&dot_git.join(name))?;
    }
    for name in ["objects", "refs"] {
        remove_directory(&dot_git.join(name))?;
    }
    Ok(remove_directory(&dot_git)?)
}

#[cfg(test)]
mod tests {
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
            assert_eq!(
                sign_directory(&top.join(".git")).unwrap(),
                Path::new("/layers")
            );
            assert!(is_sign(&top));
            remove_sign(&top).unwrap();
            assert!(!is_sign(&top));
            hedgerow_fs::create_directory(&top.join(".git")).unwrap();
            assert!(!is_sign(&top));
        }
    }
}
