//! Git with hedgerow in the place of the programs that it starts.

use crate::handover::{exec_path_is_foreign, with_own_children, HandoverError};
use crate::links::TemporaryLink;
use crate::search::find;
use crate::variables::Variables;
use hedgerow_fs::{Exit, Process};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The real git, whose own programs are hedgerow where that knows them: `index-pack` and the check of
/// connectivity, and what is checked out in submodules.
#[derive(Debug)]
pub struct AssistedGit {
    real: PathBuf,
    variables: Vec<(OsString, Option<OsString>)>,
    /// What the variables name, unless that is installed.
    _link: Option<TemporaryLink>,
}

impl AssistedGit {
    /// `program` is hedgerow; a link to it may be made below `temporary`, which is gone with the value.
    /// Where the caller has chosen git's programs itself (`GIT_EXEC_PATH`), they stay.
    ///
    /// # Errors
    /// There is no git in `PATH`. If only the link cannot be made, git runs alone.
    pub fn new(
        variables: &Variables,
        program: &Path,
        temporary: &Path,
    ) -> Result<Self, HandoverError> {
        let path = variables.get("PATH").unwrap_or_default();
        let found = find(&path, None);
        let real = found.real.ok_or(HandoverError::NoGit)?;
        let mut git = AssistedGit {
            real,
            variables: Vec::new(),
            _link: None,
        };
        if exec_path_is_foreign(variables) {
            return Ok(git);
        }
        let ours = match found.ours {
            Some(ours) => Some(ours),
            None => {
                git._link = TemporaryLink::new(temporary, program).ok();
                let link = git._link.as_ref();
                link.map(|link| link.directory().to_owned())
            }
        };
        if let Some(ours) = ours {
            git.variables = with_own_children(&git.real, &ours, &path);
        }
        Ok(git)
    }

    /// The program, and the variables that it has to get.
    pub fn command(&self) -> (&Path, &[(OsString, Option<OsString>)]) {
        (&self.real, &self.variables)
    }

    /// Runs it with this process's standard streams, in `directory`. It ends when this process does.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&self, words: Vec<OsString>, directory: &Path) -> hedgerow_fs::Result<Exit> {
        let process = Process {
            program: self.real.clone(),
            arguments: words,
            directory: Some(directory.to_owned()),
            variables: self.variables.clone(),
            ends_with_us: true,
            ..Process::default()
        };
        process.run()
    }
}
