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
    link: Option<TemporaryLink>,
    /// The file that the variable of the [`Helper`] names.
    record: Option<PathBuf>,
}

/// A program of git's that hedgerow stands in for.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    /// The program.
    pub name: &'static str,
    /// The environment variable that names a file which these processes share.
    pub variable: &'static str,
}

impl AssistedGit {
    /// `program` is hedgerow; a link to it may be made below `temporary`, which is gone with the value.
    /// Where the caller has chosen git's programs itself (`GIT_EXEC_PATH`), they stay. Git starts
    /// hedgerow in the place of `helper`, too.
    ///
    /// # Errors
    /// There is no git in `PATH`. If only the link cannot be made, git runs alone.
    pub fn new(
        variables: &Variables,
        program: &Path,
        temporary: &Path,
        helper: Option<Helper>,
    ) -> Result<Self, HandoverError> {
        let path = variables.get("PATH").unwrap_or_default();
        let found = find(&path, None);
        let real = found.real.ok_or(HandoverError::NoGit)?;
        let mut git = AssistedGit {
            real,
            variables: Vec::new(),
            link: None,
            record: None,
        };
        if exec_path_is_foreign(variables) {
            return Ok(git);
        }
        if found.ours.is_none() || helper.is_some() {
            git.link = TemporaryLink::new(temporary, program).ok();
        }
        let temporary = git.link.as_ref().map(|link| link.directory().to_owned());
        if let Some(ours) = temporary.or(found.ours) {
            git.variables = with_own_children(&git.real, &ours, &path);
        }
        if let (Some(link), Some(helper)) = (&git.link, helper) {
            if link.add(helper.name, program).is_ok() {
                let record = link.directory().join("record");
                let variable = (helper.variable.into(), Some(record.clone().into()));
                git.variables.push(variable);
                git.record = Some(record);
            }
        }
        Ok(git)
    }

    /// The file in which the helper's processes may have recorded something.
    pub fn record(&self) -> Option<&Path> {
        self.record.as_deref()
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
