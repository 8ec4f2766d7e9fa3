use super::{git_dir, Environment, Repository};
use std::path::Path;

/// Tells the working trees of other repositories, for workers that go through this one's.
#[derive(Clone, Copy, Debug)]
pub struct OtherRepositories<'r> {
    environment: &'r Environment,
    git_dir: &'r Path,
}

impl Repository {
    /// What tells the working trees of other repositories.
    pub fn other_repositories(&self) -> OtherRepositories<'_> {
        OtherRepositories {
            environment: &self.environment,
            git_dir: &self.git_dir,
        }
    }
}

impl OtherRepositories<'_> {
    /// Whether `dot_git`, the `.git` of a directory in the working tree, makes that directory the
    /// top of another repository's working tree: it is a Git directory or a file that points to
    /// one, and not this repository's own.
    pub fn has(&self, dot_git: &Path) -> bool {
        let git_dir = match git_dir::read_git_file(dot_git, self.environment) {
            Ok(Some(target)) => target,
            Ok(None) if git_dir::is_git_dir(dot_git, self.environment) => dot_git.to_owned(),
            _ => return false,
        };
        let real = |path: &Path| hedgerow_fs::real_path(path).ok();
        real(&git_dir) != real(self.git_dir)
    }
}
