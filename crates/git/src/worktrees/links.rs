//! The two files by which a working tree and its administrative directory name each other.

use super::words::relative;
use crate::config::ConfigChange;
use crate::discover::{git_file_target, GitFileProblem};
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_fs::LockFile;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Repository {
    /// Makes the working tree `top` and the administrative directory `admin` name each other.
    /// `is_relative`: by relative paths, which older versions of git do not read; the repository's
    /// format says so from then on.
    pub(crate) fn link_worktree(&self, top: &Path, admin: &Path, is_relative: bool) -> Result<()> {
        self.link_worktree_by(top, &top.join(".git"), admin, is_relative)
    }

    /// The same where the `.git` file of the working tree is written at `dot_git` instead: in its layer
    /// of changes, before it is mounted.
    pub(crate) fn link_worktree_by(
        &self,
        top: &Path,
        dot_git: &Path,
        admin: &Path,
        is_relative: bool,
    ) -> Result<()> {
        let top = hedgerow_fs::real_path(top)?;
        let admin = hedgerow_fs::real_path(admin)?;
        if is_relative && !self.has_relative_worktrees() {
            self.allow_relative_worktrees()?;
        }
        let (to_top, to_admin) = if is_relative {
            (relative(&top, &admin), relative(&admin, &top))
        } else {
            (top.clone(), admin.clone())
        };
        let write_gitdir = || {
            let line = to_top.join(".git");
            write_line(&admin.join("gitdir"), line.as_os_str().as_bytes())
        };
        let line = [b"gitdir: ", to_admin.as_os_str().as_bytes()].concat();
        // In a layer, it is nobody's business before the administrative directory names the top.
        if !dot_git.starts_with(&top) {
            write_line(dot_git, &line)?;
            return write_gitdir();
        }
        write_gitdir()?;
        write_line(dot_git, &line)
    }

    /// Sets `extensions.relativeWorktrees`, which needs version 1 of the format.
    fn allow_relative_worktrees(&self) -> Result<()> {
        let path = self.config_path();
        if crate::config::read_file(&path)?.is_none_or(|file| {
            let version = file.string("core.repositoryFormatVersion");
            version.is_none_or(|version| version != "1")
        }) {
            let version = ConfigChange::set("core", "repositoryformatversion", "1");
            self.prepare_config_file(&path, &[version])?.commit()?;
        }
        let extension = ConfigChange::set("extensions", "relativeWorktrees", "true");
        self.prepare_config_file(&path, &[extension])?.commit()?;
        Ok(())
    }
}

/// Replaces the file `path` by one with this line; without one, by an empty file.
pub(crate) fn write_line(path: &Path, line: &[u8]) -> Result<()> {
    let mut file = LockFile::acquire(path)?;
    file.write_all(line)?;
    if !line.is_empty() && !line.ends_with(b"\n") {
        file.write_all(b"\n")?;
    }
    file.commit()?;
    Ok(())
}

/// Refuses a working tree whose files do not name each other. `may_be_missing`: the working tree
/// need not exist.
pub(crate) fn validate(
    repository: &Repository,
    tree: &super::WorkingTree,
    may_be_missing: bool,
) -> Result<(), String> {
    let dot_git = tree.path.join(".git");
    if !tree.path.is_absolute() {
        return Err(format!(
            "'{}' file does not contain absolute path to the working tree location",
            tree.git_dir.join("gitdir").display()
        ));
    }
    if may_be_missing && !is_there(&tree.path) {
        return Ok(());
    }
    if !is_there(&dot_git) {
        return Err(format!("'{}' does not exist", dot_git.display()));
    }
    let target: PathBuf =
        git_file_target(&dot_git, repository.environment()).map_err(|problem| {
            format!(
                "'{}' is not a .git file, error code {}",
                dot_git.display(),
                problem.code()
            )
        })?;
    let real = hedgerow_fs::real_path(&tree.git_dir).map_err(|error| error.to_string())?;
    if target == real {
        Ok(())
    } else {
        Err(format!(
            "'{}' does not point back to '{}'",
            tree.path.display(),
            tree.git_dir.display()
        ))
    }
}

/// Whether anything is at `path`, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    matches!(hedgerow_fs::lstat(path), Ok(Some(_)))
}

/// What is wrong with the `.git` file of a working tree, in the groups that a repair knows.
pub(crate) fn is_no_file(problem: GitFileProblem) -> bool {
    matches!(
        problem,
        GitFileProblem::NotAFile | GitFileProblem::Directory
    )
}

/// The error of a step that the system refused, in git's words: WORDS 'PATH': REASON.
pub(crate) fn failed(
    words: &str,
    path: impl std::fmt::Display,
    error: &hedgerow_fs::Error,
) -> Error {
    Error::Setup {
        reason: format!("{words} '{path}': {}", error.reason()),
    }
}
