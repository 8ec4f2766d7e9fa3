//! The working trees of other repositories inside of one.

use super::git_dir;
use crate::config::Environment;
use crate::{Error, Result};
use hedgerow_fs::FileKind;
use std::path::Path;

/// Tells the working trees of other repositories, for workers that go through this one's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherRepositories<'r> {
    environment: &'r Environment,
    git_dir: &'r Path,
}

impl<'r> OtherRepositories<'r> {
    /// Those other than the repository of `git_dir`.
    pub(crate) fn new(environment: &'r Environment, git_dir: &'r Path) -> Self {
        OtherRepositories {
            environment,
            git_dir,
        }
    }

    /// Whether `dot_git`, the `.git` of a directory in the working tree, makes that directory the
    /// top of another repository's working tree: it is a Git directory or a file that points to
    /// one, and not this repository's own.
    pub(crate) fn has(&self, dot_git: &Path) -> bool {
        let git_dir = match git_dir::read_git_file(dot_git, self.environment) {
            Ok(Some(target)) => target,
            Ok(None) if git_dir::is_git_dir(dot_git, self.environment) => dot_git.to_owned(),
            _ => return false,
        };
        !self.is_own(&git_dir)
    }

    /// Whether a directory, whose `.git` is `dot_git`, must not be touched with what is around it: it
    /// is the top of a repository's working tree, or of one whose `.git` file cannot be read.
    pub(crate) fn is_top(&self, dot_git: &Path) -> bool {
        let found = hedgerow_fs::stat(dot_git);
        let is_file = matches!(found, Ok(Some(stat)) if stat.kind == FileKind::File);
        if is_file && hedgerow_fs::ReadFile::open(dot_git).is_err() {
            return true;
        }
        match git_dir::read_git_file(dot_git, self.environment) {
            Ok(Some(_)) => true,
            _ => git_dir::is_git_dir(dot_git, self.environment),
        }
    }

    /// As [`is_top`](Self::is_top), but false if `dot_git` itself is this repository's Git directory.
    pub(crate) fn is_other_top(&self, dot_git: &Path) -> bool {
        self.is_top(dot_git) && !self.is_own(dot_git)
    }

    /// As [`has`](Self::has), of the `.git` of a submodule: where there is nothing, or something that
    /// is neither a file nor a directory, it is not populated.
    ///
    /// # Errors
    /// It is there and cannot be used, in git's words, which name it as `shown`.
    pub(crate) fn has_submodule(&self, dot_git: &Path, shown: &str) -> Result<bool> {
        let git_dir = match git_dir::read_git_file_shown(dot_git, &shown, self.environment) {
            Ok(Some(target)) => target,
            Ok(None) if git_dir::is_git_dir(dot_git, self.environment) => dot_git.to_owned(),
            Ok(None) => {
                let found = hedgerow_fs::stat(dot_git)?;
                return if found.is_some_and(|stat| stat.kind == FileKind::Directory) {
                    Err(Error::Setup {
                        reason: format!("'{shown}' not recognized as a git repository"),
                    })
                } else {
                    Ok(false)
                };
            }
            Err(error) => return Err(error),
        };
        Ok(!self.is_own(&git_dir))
    }

    fn is_own(&self, git_dir: &Path) -> bool {
        let real = |path: &Path| hedgerow_fs::real_path(path).ok();
        real(git_dir) == real(self.git_dir)
    }
}
