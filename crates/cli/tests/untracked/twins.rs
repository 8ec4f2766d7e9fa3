//! Two repositories made the same way: git works in one, hedgerow in the other.

use crate::HEDGEROW;
use hedgerow_testkit::{run, temporary, Outcome, Program, Repository, TempDir};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::Command;

pub struct Twins {
    pub git: Repository,
    pub our: Repository,
    /// Put after hedgerow's command.
    pub options: Vec<String>,
    /// Both run without root's right to pass over permissions.
    pub obey_permissions: bool,
    label: String,
    steps: Vec<String>,
    _home: TempDir,
}

impl Twins {
    /// Both made by `make` in empty repositories; their paths are equally long.
    pub fn new(label: &str, make: impl Fn(&Repository)) -> Twins {
        let home = temporary();
        let made = |name: &str| {
            let root = home.path().join(name);
            std::fs::create_dir(&root).unwrap();
            let repository = Repository::at(root);
            repository.git(&["init", "-q", "-b", "main"]);
            repository.git(&["config", "core.fsync", "none"]);
            make(&repository);
            repository
        };
        Twins {
            git: made("git"),
            our: made("our"),
            options: Vec::new(),
            obey_permissions: false,
            label: label.to_owned(),
            steps: Vec::new(),
            _home: home,
        }
    }

    /// Does the same to both.
    pub fn each(&mut self, what: &str, change: impl Fn(&Repository)) {
        self.steps.push(what.to_owned());
        change(&self.git);
        change(&self.our);
    }

    /// Runs both in `directory` with a line of words: they must say and leave the same.
    pub fn line(&mut self, directory: &str, line: &str) -> Outcome {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.words(directory.as_bytes(), &words)
    }

    /// The same with words of any bytes.
    pub fn words(&mut self, directory: &[u8], words: &[&[u8]]) -> Outcome {
        let found = self.said(directory, words);
        self.assert_same_state();
        found
    }

    /// The same without a look at what they leave.
    pub fn said(&mut self, directory: &[u8], words: &[&[u8]]) -> Outcome {
        let as_words = |words: &[&[u8]]| -> Vec<OsString> {
            let words = words.iter().map(|word| OsString::from_vec(word.to_vec()));
            words.collect()
        };
        let place = OsStr::from_bytes(directory);
        self.steps
            .push(format!("{:?} in {place:?}", as_words(words)));
        let mut command = Program::Git.command(&self.git.root.join(place));
        command.args(as_words(words));
        let expected = self.run(command);
        let mut command = HEDGEROW.command(&self.our.root.join(place));
        command.args(as_words(&words[..1])).args(&self.options);
        command.args(as_words(&words[1..]));
        let found = self.run(command);
        // Git has a word for a defect of its own that is not civil.
        if found.stderr != expected.stderr {
            found.assert_civil(&self.story());
        }
        let roots = [&self.our.root, &self.git.root].map(|root| root.to_string_lossy());
        let stderr = self.in_order(found.stderr.replace(&*roots[0], &roots[1]));
        assert_eq!(
            (
                expected.code,
                expected.text(),
                self.in_order(expected.stderr.clone())
            ),
            (found.code, found.text(), stderr),
            "{}\nfirst git, then hedgerow",
            self.story()
        );
        assert_eq!(expected.stdout, found.stdout, "{}", self.story());
        found
    }

    /// Git tells of directories in the order of the file system.
    fn in_order(&self, stderr: String) -> String {
        if !self.obey_permissions {
            return stderr;
        }
        let mut lines: Vec<&str> = stderr.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    fn run(&self, command: Command) -> Outcome {
        if !self.obey_permissions {
            return run(command);
        }
        run(hedgerow_testkit::obeying_permissions(command))
    }

    /// What hedgerow alone says.
    pub fn our_line(&self, line: &str) -> Outcome {
        let mut command = HEDGEROW.command(&self.our.root);
        command.args(line.split(' '));
        run(command)
    }

    /// The working trees hold the same names of the same kinds, and the indexes are the same.
    pub fn assert_same_state(&self) {
        let story = self.story();
        assert_eq!(names(&self.git.root), names(&self.our.root), "{story}");
        let list = ["ls-files", "-s", "-t", "-v", "-z"];
        let (expected, found) = (self.git.git(&list), self.our.git(&list));
        assert_eq!(expected, found, "{story}");
    }

    /// Label and steps so far.
    pub fn story(&self) -> String {
        let steps = self.steps.join("\n  ");
        format!("{} {:?}\n  {steps}", self.label, self.options)
    }
}

/// Everything below `root` but Git's directory, each with a letter for its kind.
pub fn names(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if directory == root && entry.file_name() == ".git" {
                continue;
            }
            let letter = match kind {
                kind if kind.is_dir() => 'd',
                kind if kind.is_symlink() => 'l',
                kind if kind.is_fifo() => 'p',
                _ => 'f',
            };
            let below = path.strip_prefix(root).unwrap();
            found.insert(format!("{letter} {below:?}"));
            if kind.is_dir() {
                pending.push(path);
            }
        }
    }
    found
}
