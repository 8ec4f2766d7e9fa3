//! Repositories made by git for tests, and the same environment for git and for the library.

use crate::config::Environment;
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_testkit::{hide_environment, run_with, temporary_on_disk};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of its own that is removed at the end, with a home and no other configuration.
pub(crate) struct Scratch {
    root: PathBuf,
    _keep: hedgerow_testkit::TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let keep = temporary_on_disk();
        let root = std::fs::canonicalize(keep.path()).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        let home = "[user]\n\tname = A U Thor\n\temail = author@example.com\n\
                    [init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n";
        std::fs::write(root.join("home/.gitconfig"), home).unwrap();
        Scratch { root, _keep: keep }
    }

    /// A scratch with a repository `r` of a few commits.
    pub fn with_history() -> Self {
        let scratch = Scratch::new();
        scratch.ask(".", &["init", "-q", "r"]);
        for number in 1..=4 {
            scratch.commit("r", number);
        }
        scratch
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.root.join(inner)
    }

    pub fn write(&self, inner: &str, content: impl AsRef<[u8]>) {
        let path = self.path(inner);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, inner: &str) -> String {
        let content = std::fs::read(self.path(inner)).unwrap_or_default();
        String::from_utf8(content).unwrap()
    }

    /// Commits a file whose content is `number`, at a date that grows with it.
    pub fn commit(&self, repository: &str, number: u32) {
        self.write(&format!("{repository}/dir/file"), number.to_string());
        self.ask(repository, &["add", "-A"]);
        let date = format!("{} +0100", 1_700_000_000 + number * 60);
        let message = format!("change {number}");
        let variables = [
            ("GIT_COMMITTER_DATE", date.as_str()),
            ("GIT_AUTHOR_DATE", date.as_str()),
        ];
        let output = self.run(repository, &["commit", "-qm", &message], &variables);
        assert!(output.status.success(), "{output:?}");
    }

    /// Variables that both git and the library see.
    fn variables(&self, more: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), self.root.join("home").into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CEILING_DIRECTORIES".into(), self.root.clone().into()),
            ("GIT_COMMITTER_DATE".into(), "1700009999 +0100".into()),
        ];
        for (name, value) in more {
            variables.retain(|(known, _)| known != name);
            variables.push((name.into(), value.into()));
        }
        variables
    }

    /// What git says and does at `directory`.
    pub fn run(&self, directory: &str, arguments: &[&str], more: &[(&str, &str)]) -> Output {
        self.command(directory, arguments, more).output().unwrap()
    }

    /// The same with `input`; it must succeed. Returns what is printed.
    pub fn ask_with(&self, directory: &str, arguments: &[&str], input: &[u8]) -> String {
        let command = self.command(directory, arguments, &[]);
        text(&run_with(command, input).ok(&format!("git {arguments:?}")))
    }

    /// The same at `date`.
    pub fn ask_at(&self, directory: &str, arguments: &[&str], input: &[u8], date: &str) -> String {
        let command = self.command(directory, arguments, &[("GIT_COMMITTER_DATE", date)]);
        text(&run_with(command, input).ok(&format!("git {arguments:?}")))
    }

    /// The identities and the configuration are what is looked at: only those of this home.
    fn command(&self, directory: &str, arguments: &[&str], more: &[(&str, &str)]) -> Command {
        let mut command = Command::new("git");
        hide_environment(&mut command)
            .args(arguments)
            .current_dir(self.path(directory))
            .envs(self.variables(more));
        command
    }

    /// What git prints, the line end at its end taken off; it must succeed.
    pub fn ask(&self, directory: &str, arguments: &[&str]) -> String {
        let output = self.run(directory, arguments, &[]);
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        text(&output.stdout)
    }

    pub fn environment(&self, directory: &str, more: &[(&str, &str)]) -> Environment {
        Environment::from_vars(self.variables(more), self.path(directory)).unwrap()
    }

    pub fn open(&self, directory: &str) -> Repository {
        self.discover(directory, &[]).unwrap()
    }

    pub fn discover(&self, directory: &str, more: &[(&str, &str)]) -> Result<Repository> {
        Repository::discover(&self.environment(directory, more))
    }

    /// The words of the error when the repository of `directory` is opened.
    pub fn refusal(&self, directory: &str, more: &[(&str, &str)]) -> String {
        words(self.discover(directory, more).map(|_| ()))
    }
}

pub(crate) fn words(result: Result<()>) -> String {
    result.map_or_else(|error: Error| error.to_string(), |()| "no error".into())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// The text after `fatal: ` of what git wrote to its standard error.
pub(crate) fn fatal(output: &Output) -> String {
    let text = text(&output.stderr);
    let start = text.find("fatal: ").map_or(0, |at| at + 7);
    text[start..].to_owned()
}

pub(crate) fn real(path: impl AsRef<Path>) -> PathBuf {
    std::fs::canonicalize(path).unwrap()
}
