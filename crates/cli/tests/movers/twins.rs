//! Two repositories made the same way: git works in one, hedgerow in the other.

use crate::HEDGEROW;
use hedgerow_testkit::{run, temporary, Outcome, Program, Repository, TempDir};
use std::path::Path;

pub struct Twins {
    pub git: Repository,
    pub our: Repository,
    /// Variables of both commands.
    pub variables: Vec<(&'static str, String)>,
    home: TempDir,
    story: String,
}

impl Twins {
    /// Both made by `make` in empty repositories; their paths are equally long.
    pub fn new(label: &str, make: impl Fn(&Repository)) -> Twins {
        let home = temporary();
        let made = |name: &str| {
            let root = home.path().join(name).join("super");
            std::fs::create_dir_all(&root).unwrap();
            let repository = Repository::at(root);
            repository.git(&["init", "-q", "-b", "main"]);
            repository.git(&["config", "core.fsync", "none"]);
            make(&repository);
            repository
        };
        Twins {
            git: made("git"),
            our: made("our"),
            variables: Vec::new(),
            home,
            story: label.to_owned(),
        }
    }

    /// Does the same to both.
    pub fn each(&mut self, change: impl Fn(&Repository)) {
        change(&self.git);
        change(&self.our);
    }

    /// Runs both with a line of words: they must say and leave the same.
    pub fn line(&mut self, line: &str) -> Outcome {
        self.line_in("", line)
    }

    /// The same below the top of the working tree.
    pub fn line_in(&mut self, directory: &str, line: &str) -> Outcome {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        self.words(directory, &words)
    }

    /// The same with words that may have spaces.
    pub fn words(&mut self, directory: &str, words: &[String]) -> Outcome {
        self.story += &format!("\n  {words:?}");
        let start = |program: Program, repository: &Repository| {
            let mut command = program.command(&repository.root.join(directory));
            command.args(words);
            let variables = self.variables.iter();
            command.envs(variables.map(|(name, value)| (*name, value)));
            run(command)
        };
        let expected = start(Program::Git, &self.git);
        let found = start(HEDGEROW, &self.our);
        let [git, our] =
            ["git", "our"].map(|name| format!("{}/", self.home.path().join(name).display()));
        // Older versions show another form of `git config`.
        let plain = |text: &str, root: &str| {
            let text = text.replace(root, "ROOT/");
            let text = text.replace("git config set advice", "git config advice");
            // Git repeats a warning about a file each time that it reads the file.
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            lines.dedup_by(|a, b| a == b && a.starts_with("warning: "));
            lines.concat()
        };
        assert_eq!(
            (
                expected.code,
                plain(&expected.text(), &git),
                plain(&expected.stderr, &git)
            ),
            (
                found.code,
                plain(&found.text(), &our),
                plain(&found.stderr, &our)
            ),
            "{}\nfirst git, then hedgerow",
            self.story
        );
        self.assert_same_state();
        found
    }

    /// What hedgerow alone says.
    pub fn our_line(&self, line: &str) -> Outcome {
        let mut command = HEDGEROW.command(&self.our.root);
        command.args(line.split(' '));
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (*name, value)));
        run(command)
    }

    /// Files, indexes, references and logs are the same.
    pub fn assert_same_state(&self) {
        assert_eq!(self.git.tree(), self.our.tree(), "{}", self.story);
        for words in [
            &["ls-files", "-s", "-t", "-v"][..],
            &["for-each-ref"],
            &["log", "-g", "--format=%gd %gs %H", "HEAD"],
            &["status", "--porcelain=v2", "--branch"],
        ] {
            let of = |repository: &Repository| {
                let outcome = repository.run(words, b"");
                (outcome.code, outcome.text())
            };
            assert_eq!(of(&self.git), of(&self.our), "{}\n{words:?}", self.story);
        }
        for name in ["ORIG_HEAD", "MERGE_HEAD", "MERGE_MSG"] {
            let of = |root: &Path| std::fs::read(root.join(".git").join(name)).ok();
            let (git, our) = (of(&self.git.root), of(&self.our.root));
            assert_eq!(git, our, "{}\n{name}", self.story);
        }
        self.our.assert_no_lock(&self.story);
    }
}
