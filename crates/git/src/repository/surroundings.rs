//! What filters, hooks and other programs that are run find in their environment.

use super::Repository;
use hedgerow_fs::{Exit, Process};
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// No directory's name is longer (`PATH_MAX`).
const PATH_LIMIT_BYTES: u64 = 4096;

/// Variables to set, or to unset if there is no value.
type Variables = Vec<(OsString, Option<OsString>)>;

/// Where git's own programs are. Git is asked once, when a program needs to know.
#[derive(Debug, Default)]
pub struct GitPrograms {
    /// `PATH`, in which git is found.
    path: Option<OsString>,
    found: OnceLock<Option<OsString>>,
}

impl GitPrograms {
    /// Those of the git in `path`.
    pub(super) fn new(path: Option<OsString>) -> Self {
        GitPrograms {
            path,
            found: OnceLock::new(),
        }
    }

    /// `GIT_EXEC_PATH`, and `PATH` with git's own programs first, as git gives them to what it starts:
    /// scripts read `git-sh-setup` from there. Nothing without a git that can be asked.
    pub(crate) fn variables(&self) -> Variables {
        let Some(programs) = self.found.get_or_init(ask) else {
            return Vec::new();
        };
        let mut variables = vec![("GIT_EXEC_PATH".into(), Some(programs.clone()))];
        if let Some(others) = &self.path {
            let mut path = programs.clone();
            path.push(":");
            path.push(others);
            variables.push(("PATH".into(), Some(path)));
        }
        variables
    }
}

/// The directory of git's own programs; git answers from `GIT_EXEC_PATH`, if that is set.
fn ask() -> Option<OsString> {
    let git = Process {
        program: "git".into(),
        arguments: vec!["--exec-path".into()],
        ..Process::default()
    };
    let mut said = Vec::new();
    let outcome = git.ask(b"", &mut |output| {
        output.take(PATH_LIMIT_BYTES).read_to_end(&mut said)?;
        Ok(())
    });
    let is_answered = outcome.is_ok_and(|outcome| outcome.exit == Exit::Status(0));
    let line = said.strip_suffix(b"\n").filter(|_| is_answered)?;
    (!line.is_empty()).then(|| OsStr::from_bytes(line).to_owned())
}

impl Repository {
    /// The content of a file of patterns or attributes outside of the working tree, if it is there. One that
    /// may not be read counts as empty, as with git: under another user's identity, `HOME` may still be
    /// that of whoever called.
    pub(crate) fn read_rules(&self, path: &Path, limit: u64) -> crate::Result<Option<Vec<u8>>> {
        match hedgerow_fs::read_file(path, limit) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let named = self.environment.git_dir.as_ref();
                let is_whole = self.is_new_clone || named.is_some_and(|it| it.is_absolute());
                let below = path.strip_prefix(self.hook_base()).ok();
                let shown = below.filter(|_| !is_whole).unwrap_or(path);
                let warning = format!("unable to access '{}': {}", shown.display(), error.reason());
                self.environment.troubles.unread(path, &warning);
                Ok(None)
            }
            read => Ok(read?),
        }
    }

    /// Variables for a filter, a hook or a merge driver.
    pub(crate) fn program_variables(&self) -> Variables {
        [self.git_programs.variables(), self.child_variables()].concat()
    }

    /// Variables for a program that is run at the top of the working tree: the way to where the user is,
    /// and what it needs to find the same repository. Where it would anyway and nobody has named one, nothing
    /// is set, so that a hook may use other repositories. In a new clone, it is told where the repository is.
    pub(crate) fn child_variables(&self) -> Variables {
        if self.is_new_clone {
            return vec![("GIT_DIR".into(), Some(self.git_dir.clone().into()))];
        }
        let mut variables = vec![self.prefix_variable()];
        let named = self.environment.git_dir.as_deref();
        if named.is_some() || self.git_dir != self.hook_base().join(".git") {
            let git_dir = self.told_git_dir(named);
            variables.push(("GIT_DIR".into(), Some(git_dir.into())));
        }
        if self.environment.work_tree.is_some() {
            let work_tree = self.work_tree.as_ref().map(|_| ".".into());
            variables.push(("GIT_WORK_TREE".into(), work_tree));
        }
        if self.environment.index_file.is_some() {
            let index = self.environment.cwd.join(&self.index_path);
            variables.push(("GIT_INDEX_FILE".into(), Some(index.into())));
        }
        variables
    }

    pub(super) fn prefix_variable(&self) -> (OsString, Option<OsString>) {
        let prefix = OsStr::from_bytes(&self.prefix).to_owned();
        ("GIT_PREFIX".into(), Some(prefix))
    }

    /// The Git directory as it is told where hooks run. If it is `named` relative to the current directory, and
    /// not by the way up, git tells a relative path, too.
    fn told_git_dir(&self, named: Option<&Path>) -> PathBuf {
        let git_dir = self.environment.cwd.join(&self.git_dir);
        let is_below = |path: &Path| path.components().all(|part| part != Component::ParentDir);
        if !named.is_some_and(|named| named.is_relative() && is_below(named)) {
            return git_dir;
        }
        match git_dir.strip_prefix(self.hook_base()) {
            Ok(rest) if !rest.as_os_str().is_empty() => rest.to_owned(),
            _ => git_dir,
        }
    }
}
