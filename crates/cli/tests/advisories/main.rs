//! One test for each published vulnerability of git, gitoxide, squashfs-tools and the tar programs
//! that could apply here, named by its number. SECURITY.md has the table of them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make hostile repositories and files"
)]

mod archives;
mod checkout;
mod images;
mod repositories;
mod serving;
mod table;

use hedgerow_testkit::Repository;
use hedgerow_testkit::{run, Outcome, Program};
use std::path::{Path, PathBuf};

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// A repository with something beside it, and hooks in it, that must never change.
struct Trap {
    repository: Repository,
    canary: PathBuf,
    main: String,
}

impl Trap {
    fn new() -> Trap {
        let repository = Repository::init(&[]);
        repository.write("harmless", "harmless\n");
        repository.git(&["add", "."]);
        repository.git(&["commit", "-q", "-m", "harmless"]);
        let canary = repository.root.parent().unwrap().join("canary");
        std::fs::create_dir(&canary).unwrap();
        std::fs::write(canary.join("file"), "sings\n").unwrap();
        let _ = std::fs::remove_dir_all(repository.path(".git/hooks"));
        std::fs::create_dir(repository.path(".git/hooks")).unwrap();
        let main = text(&repository, &["rev-parse", "HEAD"]);
        Trap {
            repository,
            canary,
            main,
        }
    }

    fn blob(&self, content: &[u8]) -> String {
        put(&self.repository, &["hash-object", "-w", "--stdin"], content)
    }

    /// A tree of exactly these entries: mode, name, id.
    fn tree(&self, entries: &[(&str, &[u8], &str)]) -> String {
        let mut content = Vec::new();
        for (mode, name, id) in entries {
            content.extend([mode.as_bytes(), b" ", name, b"\0"].concat());
            let digits = id.as_bytes().chunks(2);
            content.extend(
                digits
                    .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()),
            );
        }
        let words = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
        put(&self.repository, &words, &content)
    }

    fn commit(&self, tree: &str) -> String {
        text(
            &self.repository,
            &["commit-tree", "-p", &self.main, "-m", "evil", tree],
        )
    }

    /// Checks the tree out in every way; nothing outside or in `.git/hooks` may change.
    fn spring(&self, tree: &str) -> Outcome {
        let commit = self.commit(tree);
        let mut last = None;
        for words in [
            &["checkout", "-j4", "--threshold", "0", "--detach", &commit][..],
            &["checkout", "-j1", "-f", "--detach", &commit],
            &["checkout", "-j4", &commit, "--", "."],
        ] {
            let outcome = hedgerow(&self.repository.root, words);
            self.assert_unharmed(&format!("{words:?}: {outcome:?}"));
            last = Some(outcome);
        }
        last.unwrap()
    }

    fn assert_unharmed(&self, what: &str) {
        let names = |path: &Path| std::fs::read_dir(path).unwrap().count();
        assert_eq!(names(&self.canary), 1, "{what}: written outside");
        let content = std::fs::read(self.canary.join("file")).unwrap();
        assert_eq!(content, b"sings\n", "{what}: written outside");
        let hooks = names(&self.repository.path(".git/hooks"));
        assert_eq!(hooks, 0, "{what}: written into .git/hooks");
    }
}

/// Runs hedgerow in a directory; it must end in words, whatever it was given.
fn hedgerow(directory: &Path, words: &[&str]) -> Outcome {
    let mut command = HEDGEROW.command(directory);
    command.args(words);
    let outcome = run(command);
    outcome.assert_civil(&format!("{words:?}"));
    outcome
}

fn put(repository: &Repository, words: &[&str], content: &[u8]) -> String {
    let id = hedgerow_testkit::git(&repository.root, words, content);
    String::from_utf8(id).unwrap().trim().to_owned()
}

fn text(repository: &Repository, words: &[&str]) -> String {
    put(repository, words, b"")
}
