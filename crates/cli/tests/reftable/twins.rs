//! Repositories made the same way, in which the same is done by git and by hedgerow.

use crate::HEDGEROW;
use hedgerow_testkit::{git_is_at_least, run, temporary, Outcome, Program, Repository, TempDir};
use std::sync::OnceLock;

/// git works in the first, hedgerow in the others, of which the last keeps its references in files.
pub struct Twins {
    pub repositories: [Repository; 3],
    home: TempDir,
    steps: Vec<String>,
}

const NAMES: [&str; 3] = ["git", "our", "old"];

impl Twins {
    /// With some commits on `main`.
    pub fn new(label: &str, format: &str) -> Twins {
        let home = temporary();
        let made = |name: &str| {
            let root = home.path().join(name).join("r");
            std::fs::create_dir_all(&root).unwrap();
            let repository = Repository::at(root);
            let storage = if name == "old" { "files" } else { "reftable" };
            let storage = format!("--ref-format={storage}");
            let format = format!("--object-format={format}");
            repository.git(&["init", "-q", "-b", "main", &storage, &format]);
            repository.git(&["config", "core.fsync", "none"]);
            repository.git(&["config", "gc.auto", "0"]);
            for number in 0..4 {
                let text = format!("{number}\n");
                repository.commit_files(&[("file", &text), ("dir/other", "same\n")], &text);
            }
            repository
        };
        Twins {
            repositories: NAMES.map(made),
            home,
            steps: vec![label.to_owned()],
        }
    }

    /// Lets git do the same in all of them.
    pub fn by_git(&mut self, words: &[&str]) {
        self.by_git_in(3, words);
    }

    /// Lets git do the same in those with tables.
    pub fn by_git_in_tables(&mut self, words: &[&str]) {
        self.by_git_in(2, words);
    }

    fn by_git_in(&mut self, count: usize, words: &[&str]) {
        self.steps.push(format!("git {words:?}"));
        for repository in &self.repositories[..count] {
            let mut command = Program::Git.command(&repository.root);
            command.args(words);
            run(command);
        }
    }

    /// Writes a file in all of them.
    pub fn write(&mut self, path: &str, content: &str) {
        self.steps.push(format!("write {path}: {content:?}"));
        for repository in &self.repositories {
            repository.write(path, content);
        }
    }

    /// Runs git in the first and hedgerow in the others: in the twins with tables they must say the
    /// same, and end alike in all.
    pub fn run(&mut self, directory: &str, words: &[&str]) -> Outcome {
        self.steps.push(format!("{words:?} in {directory:?}"));
        let mut outcomes = Vec::new();
        for (at, repository) in self.repositories.iter().enumerate() {
            let program = if at == 0 { Program::Git } else { HEDGEROW };
            let mut command = program.command(&repository.root.join(directory));
            command.args(words);
            let mut outcome = run(command);
            let home = self.home.path().join(NAMES[at]);
            let home = home.to_str().unwrap();
            outcome.stderr = outcome.stderr.replace(home, "HOME");
            let stdout = outcome.text().replace(home, "HOME");
            outcome.stdout = stdout.into_bytes();
            outcomes.push(outcome);
        }
        let [git, our, old] = outcomes.try_into().unwrap();
        // git ends `worktree add` with 255 where a name is in the way.
        if our.code != git.code {
            our.assert_civil(&self.story());
        }
        assert_eq!(
            (git.code, git.text(), &git.stderr),
            (our.code, our.text(), &our.stderr),
            "{}\nfirst git, then hedgerow",
            self.story()
        );
        assert_eq!(old.code, our.code, "{}\n{}", self.story(), old.stderr);
        our
    }

    /// All have the same references, logs and pseudo references, in all working trees.
    pub fn assert_same(&self, directories: &[&str]) {
        let [git, our, old] = self.repositories.each_ref();
        for directory in directories {
            let expected = state(git, directory);
            for (other, name) in [(our, "hedgerow"), (old, "hedgerow with files")] {
                for (expected, found) in expected.iter().zip(state(other, directory)) {
                    let story = self.story();
                    assert_eq!(*expected, found, "{story}\n{name} in {directory:?}");
                }
            }
        }
    }

    /// git finds nothing wrong.
    pub fn assert_sound(&self) {
        for repository in &self.repositories {
            let mut checks: Vec<&[&str]> = vec![&["fsck", "--no-dangling", "--no-progress"]];
            if git_verifies_tables() {
                checks.push(&["refs", "verify", "--strict"]);
            }
            for check in checks {
                let mut command = Program::Git.command(&repository.root);
                command.args(check);
                let outcome = run(command);
                assert_eq!(
                    (outcome.code, &*outcome.stderr),
                    (0, ""),
                    "{}",
                    self.story()
                );
            }
        }
        let directory = self.repositories[1].root.join(".git/reftable");
        let files = std::fs::read_dir(&directory).unwrap().count();
        let list = std::fs::read_to_string(directory.join("tables.list")).unwrap();
        let tables = list.lines().count();
        assert_eq!(files, tables + 1, "{}\n{list}", self.story());
        assert!(tables < 12, "{}\n{list}", self.story());
    }

    fn story(&self) -> String {
        self.steps.join("\n  ")
    }
}

/// Whether the installed git has `refs verify` for tables; says aloud once if it has not.
fn git_verifies_tables() -> bool {
    static VERIFIES: OnceLock<bool> = OnceLock::new();
    *VERIFIES.get_or_init(|| git_is_at_least(2, 52, "refs verify of tables"))
}

/// What git tells about the references of the working tree in `directory`.
pub fn state(repository: &Repository, directory: &str) -> Vec<String> {
    let root = repository.root.join(directory);
    let ask = |words: &[&str]| {
        let mut command = Program::Git.command(&root);
        command.args(words);
        let outcome = run(command);
        format!("{words:?} {} {}", outcome.code, outcome.text())
    };
    let format = "--format=%(refname) %(objectname) %(symref) %(*objectname)";
    let listed = ask(&["for-each-ref", format]);
    let mut state = vec![listed.clone(), ask(&["symbolic-ref", "-q", "HEAD"])];
    for name in ["HEAD", "ORIG_HEAD", "AUTO_MERGE"] {
        state.push(ask(&["rev-parse", "-q", "--verify", name]));
    }
    let names = listed
        .lines()
        .filter_map(|line| line.split(' ').find(|it| it.starts_with("refs/")));
    for name in names.chain(["HEAD"]) {
        let format = "--format=%H %gs %gn %ge";
        state.push(ask(&["reflog", "show", "--date=raw", format, name, "--"]));
        state.push(ask(&["reflog", "exists", name]));
    }
    state
}
