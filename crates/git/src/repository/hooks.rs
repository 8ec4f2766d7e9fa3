//! Hooks: githooks(5).

use super::Repository;
use crate::Result;
use bstr::BString;
use hedgerow_fs::{Exit, Process};
use hedgerow_pack::{oid, ObjectId};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A hook as it was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// There is none.
    Absent,
    /// It is there but may not be executed; git ignores it and says so.
    NotExecutable(PathBuf),
    /// It is there and may run.
    Found(PathBuf),
}

/// What runs for a hook.
#[derive(Clone, Debug)]
enum Program {
    /// A command for the shell.
    Command(BString),
    /// An executable file.
    File(PathBuf),
}

/// How two programs ended together: zero only if both did so.
fn both(first: Exit, second: Exit) -> Exit {
    let status = |exit| match exit {
        Exit::Status(status) => status,
        Exit::Signal(signal) => 128 + signal,
    };
    match (first, second) {
        (Exit::Status(0), other) | (other, Exit::Status(0)) => other,
        _ => Exit::Status(status(first) | status(second)),
    }
}

impl Repository {
    /// Looks for the hook `name` in `core.hooksPath`, else in `hooks` of the repository.
    pub fn hook(&self, name: &str) -> Result<Hook> {
        let directory = match &self.settings.hooks_path {
            Some(path) => self.hook_base().join(path),
            None => self.common_dir.join("hooks"),
        };
        let path = directory.join(name);
        // A directory there cannot be run, and that is told.
        let is_there = match hedgerow_fs::stat(&path) {
            // Git does not run what it may not look at.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => true,
            found => found?.is_some(),
        };
        Ok(match (is_there, hedgerow_fs::is_executable(&path)) {
            (true, true) => Hook::Found(path),
            (true, false) => Hook::NotExecutable(path),
            (false, _) => Hook::Absent,
        })
    }

    /// Whether anything runs for the hook `name`.
    ///
    /// # Errors
    /// If the configuration of hooks makes no sense.
    pub(crate) fn has_hook(&self, name: &str) -> Result<bool> {
        Ok(!self.programs(name)?.is_empty())
    }

    /// What runs for the hook `name`, in order: what the configuration names comes first.
    fn programs(&self, name: &str) -> Result<Vec<Program>> {
        let commands = self.config.hook_commands(name)?.into_iter();
        let mut programs: Vec<Program> = commands.map(Program::Command).collect();
        match self.hook(name)? {
            Hook::Found(path) => programs.push(Program::File(path)),
            Hook::NotExecutable(path) if self.advises("ignoredHook")? => {
                let shown = self.shown(&path, None);
                let advice = format!(
                    "The '{shown}' hook was ignored because it's not set as executable.\n\
                     You can disable this warning with `git config set advice.ignoredHook false`."
                );
                self.environment.troubles.ignored(&path, &advice);
            }
            Hook::NotExecutable(_) | Hook::Absent => {}
        }
        Ok(programs)
    }

    /// A hook as git names it: by its path from the top, where git is when it looks for hooks. The whole path
    /// where git was told that, or is elsewhere: in a new clone, or for one that runs in another `directory`.
    fn shown(&self, path: &Path, directory: Option<&Path>) -> String {
        let top = self.hook_base();
        let named = [&self.environment.git_dir, &self.settings.hooks_path];
        let is_whole = named
            .iter()
            .any(|it| it.as_ref().is_some_and(|it| it.is_absolute()))
            || self.is_new_clone
            || directory.is_some_and(|directory| directory != top);
        let below = path.strip_prefix(top).ok().filter(|_| !is_whole);
        below.unwrap_or(path).display().to_string()
    }

    /// How a program ended that could not be started, if somebody heard of that: as one that failed.
    fn unstarted(&self, process: &Process, error: hedgerow_fs::Error) -> Result<Exit> {
        let shown = self.shown(&process.program, process.directory.as_deref());
        let reason = hedgerow_fs::reason(&error.source);
        let words = format!("cannot exec '{shown}': {reason}");
        if self.environment.troubles.unstartable(&words) {
            Ok(Exit::Status(1))
        } else {
            Err(error.into())
        }
    }

    /// Runs what there is for the hook `name`, with `arguments` and `input`; `process` makes the rest.
    /// Returns how it ended: as what failed, if anything did.
    fn run_programs(
        &self,
        name: &str,
        arguments: &[OsString],
        input: &[u8],
        process: impl Fn() -> Process,
    ) -> Result<Option<Exit>> {
        let mut exit = None;
        for program in self.programs(name)? {
            let mut process = process();
            match program {
                Program::File(path) => process.program = path,
                Program::Command(command) => {
                    process.program = "sh".into();
                    let script = [&command[..], b" \"$@\""].concat();
                    let words = [b"-c".to_vec(), script, command.into()];
                    process.arguments = words.map(OsString::from_vec).into();
                }
            }
            process.arguments.extend_from_slice(arguments);
            let ended = process.run_with_input(input);
            let ended = ended.or_else(|error| self.unstarted(&process, error))?;
            exit = Some(exit.map_or(ended, |before| both(before, ended)));
        }
        Ok(exit)
    }

    /// Runs the `post-checkout` hook, if there is one that may run, and returns how it ended.
    /// `old` and `new` are the commits `HEAD` had and has, null for none; `is_branch` tells a
    /// switch of branches from a checkout of paths.
    pub fn run_post_checkout(&self, old: &oid, new: &oid, is_branch: bool) -> Result<Option<Exit>> {
        let flag = if is_branch { "1" } else { "0" };
        let arguments = vec![old.to_string().into(), new.to_string().into(), flag.into()];
        self.run_hook("post-checkout", arguments, &[])
    }

    /// Runs the `post-checkout` hook for the working tree at `path`, which was just added at `new`.
    /// The hook is to find that one by itself.
    pub(crate) fn run_post_checkout_of_added(
        &self,
        path: &Path,
        new: &oid,
    ) -> Result<Option<Exit>> {
        let null = self.null_id().to_string();
        let arguments = [null.into(), new.to_string().into(), "1".into()];
        let process = || Process {
            directory: Some(path.to_owned()),
            variables: [
                self.git_programs.variables(),
                vec![
                    self.prefix_variable(),
                    ("GIT_DIR".into(), None),
                    ("GIT_WORK_TREE".into(), None),
                ],
            ]
            .concat(),
            output_to_error: true,
            ..Process::default()
        };
        self.run_programs("post-checkout", &arguments, &[], process)
    }

    /// Runs the `post-checkout` hook of a new clone whose `HEAD` is `new`.
    pub(crate) fn run_post_checkout_of_clone(&self, new: &oid) -> Result<Option<Exit>> {
        let null = self.null_id().to_string();
        let arguments = vec![null.into(), new.to_string().into(), "1".into()];
        self.run_hook("post-checkout", arguments, &[])
    }

    /// Runs the `post-index-change` hook, if there is one that may run: the index was written.
    /// `with_work_tree` tells that the files of the working tree were brought to it, `with_sparsity`
    /// that files may have left or entered the sparse checkout. How the hook ends does not matter.
    pub(crate) fn run_post_index_change(
        &self,
        with_work_tree: bool,
        with_sparsity: bool,
    ) -> Result<()> {
        let flag = |is_set| if is_set { "1" } else { "0" };
        let arguments = [with_work_tree, with_sparsity].map(|is_set| flag(is_set).into());
        self.run_hook("post-index-change", arguments.to_vec(), &[])
            .map(drop)
    }

    /// Runs the hook `name` with `arguments` and `input`, if there is one that may run, and
    /// returns how it ended.
    pub(crate) fn run_hook(
        &self,
        name: &str,
        arguments: Vec<OsString>,
        input: &[u8],
    ) -> Result<Option<Exit>> {
        let process = || Process {
            directory: Some(self.hook_base().to_owned()),
            variables: self.program_variables(),
            output_to_error: true,
            ..Process::default()
        };
        self.run_programs(name, &arguments, input, process)
    }

    /// The null id of this repository, which stands for no commit in a hook's arguments.
    pub fn null_id(&self) -> ObjectId {
        ObjectId::null(self.hash)
    }

    /// Hooks run at the top of the working tree, or in the Git directory of a bare repository.
    pub(super) fn hook_base(&self) -> &Path {
        self.work_tree.as_deref().unwrap_or(&self.git_dir)
    }
}
