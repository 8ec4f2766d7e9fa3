//! Histories drawn from seeds: commands of the whole family, in the middle of edits, conflicts and
//! detached heads, by git in one copy of a repository and by hedgerow in the other. After each
//! command both have said the same and left the same.
//!
//! `HEDGEROW_TEST_SEED=N` replays one of them; `HEDGEROW_TEST_HISTORIES=N` plays N of them, and
//! `HEDGEROW_TEST_HISTORIES=A..B` those from A up to B.

mod family;
mod judge;

use crate::generated::{literal, make_dirty};
use crate::support::{generate, Generated, Pair, Random, Repository};
use family::Theme;
use hedgerow_testkit::play_each;
use hedgerow_testkit::{git_is_at_least, Outcome};
use judge::Trial;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Histories of an ordinary run.
const HISTORIES: u64 = 12;
/// Commands in each.
const COMMANDS: usize = 40;

#[test]
fn histories() {
    let asked = std::env::var("HEDGEROW_TEST_HISTORIES").ok();
    play_each(asked.map_or(0..HISTORIES, |asked| seeds(&asked)), play_one);
}

/// `N` or `A..B`.
fn seeds(asked: &str) -> std::ops::Range<u64> {
    let number = |text: &str| text.parse().expect("HEDGEROW_TEST_HISTORIES: N or A..B");
    match asked.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(asked),
    }
}

fn play_one(seed: u64) {
    let generated = generate(seed);
    let mut pair = Pair::of_git_dir(&generated.repository, &format!("history {seed}"));
    pair.options = vec!["-j3".into()];
    pair.any_words = !git_is_at_least(2, 55, "words of fatal errors");
    // `git add` between two commands forgets trees of files that it found racy.
    pair.any_trees = true;
    pair.is_dated = true;
    pair.each("set up", |repository| {
        repository.git(&["config", "advice.detachedHead", "false"]);
        repository.git(&["config", "advice.sparseIndexExpanded", "false"]);
        // Of many files with the same content, it is chance which one is taken for renamed.
        repository.git(&["config", "merge.renames", "false"]);
        repository.git(&["config", "checkout.thresholdForParallelism", "0"]);
        repository.git(&["checkout", "-q", "-f", "main"]);
    });
    let merges = git_is_at_least(2, 55, "switches that merge, and the rest of the family");
    let theme = if merges {
        Theme::of_seed(seed)
    } else {
        Theme::Plain
    };
    theme.set_up(&mut pair, &generated.repository);
    let mut history = History {
        pair,
        generated: &generated,
        random: Random::new(seed ^ 0xfa317),
        created: 0,
        merges: merges.then(|| Random::new(seed)),
        theme,
    };
    for _ in 0..COMMANDS {
        if history.pair.is_over {
            return;
        }
        history.step();
    }
}

struct History<'a> {
    pair: Pair,
    generated: &'a Generated,
    random: Random,
    /// Branches that were created.
    created: usize,
    /// Draws merges, if git merges local changes as hedgerow does.
    merges: Option<Random>,
    theme: Theme,
}

impl History<'_> {
    fn step(&mut self) {
        let count = if self.merges.is_some() { 30 } else { 24 };
        match self.random.below(count) {
            0..=4 => make_dirty(&mut self.pair, self.generated, &mut self.random),
            5 => self.stage(),
            6 => self.commit(),
            7 => self.merge(),
            8..=10 => self.checkout(),
            11..=13 => self.switch(),
            14 => self.paths(),
            15 | 16 => self.restore(),
            17 | 18 => self.reset(),
            19 | 20 => self.clean(),
            21 => self.list(),
            22 => self.index(),
            24.. => self.family(),
            _ => {
                let branch = self.branch();
                self.pair.checkout(&["-q", "-f", &branch]);
            }
        }
    }

    /// A branch, old or created, that may not exist.
    fn branch(&mut self) -> String {
        let created = self.created;
        match self.random.below(4) {
            0 if created > 0 => format!("new{}", self.random.below(created)),
            _ => self.random.pick(&self.generated.branches).clone(),
        }
    }

    fn revision(&mut self) -> String {
        let branch = self.branch();
        let suffix = *self.random.pick(&["", "", "~1", "^{tree}", "^0"]);
        match self.random.below(8) {
            0 => "-".into(),
            1 => "HEAD".into(),
            2 => "nonsense".into(),
            _ => format!("{branch}{suffix}"),
        }
    }

    fn path(&mut self) -> Vec<u8> {
        let paths = &self.generated.paths;
        match self.random.below(5) {
            0 => b".".to_vec(),
            1 if !self.generated.directories.is_empty() => literal(
                self.random
                    .pick(self.generated.directories.as_slice())
                    .as_slice(),
            ),
            2 => b"*.txt".to_vec(),
            _ => literal(self.random.pick(paths.as_slice()).as_slice()),
        }
    }

    /// Git stages something in both.
    fn stage(&mut self) {
        let path = self.path();
        let words = *self.random.pick(&["-A", "-u", "-N"]);
        self.pair
            .each(&format!("add {words} {path:?}"), |repository| {
                answer(repository, &[b"add", words.as_bytes(), b"--", &path]);
            });
    }

    fn commit(&mut self) {
        let all = self.random.chance(70);
        self.pair
            .each(&format!("commit, all: {all}"), |repository| {
                let all: &[u8] = if all { b"-a" } else { b"-q" };
                answer(repository, &[b"commit", b"-q", all, b"-m", b"more"]);
            });
    }

    /// Git merges in both, which may end in conflicts; or gives up what is unfinished.
    fn merge(&mut self) {
        let branch = self.branch();
        let gives_up = self.random.chance(30);
        self.pair
            .each(&format!("merge {branch} {gives_up}"), |repository| {
                if gives_up {
                    answer(repository, &[b"merge", b"--abort"]);
                } else {
                    answer(
                        repository,
                        &[b"merge", b"-q", b"-m", b"merged", branch.as_bytes()],
                    );
                }
            });
    }

    /// Words, each with its chance in percent.
    fn some(&mut self, words: &[(&str, usize)]) -> Vec<Vec<u8>> {
        let random = &mut self.random;
        let chosen = words.iter().filter(|(_, chance)| random.chance(*chance));
        chosen.map(|(word, _)| word.as_bytes().to_vec()).collect()
    }

    fn new_branch(&mut self, letters: [&str; 3]) -> Vec<Vec<u8>> {
        let letter = *self.random.pick(&letters);
        let name = if self.random.chance(30) {
            self.branch()
        } else {
            self.created += 1;
            format!("new{}", self.created - 1)
        };
        [letter.into(), name.into_bytes()].into()
    }

    /// `--track` with a branch or without; what is none, git refuses too late.
    fn track(&mut self, revision: &str) -> Option<Vec<u8>> {
        let is_branch = revision.starts_with("new") || revision.starts_with("topic");
        let is_branch = is_branch && !revision.contains(['^', '~']);
        let word = if is_branch { "--track" } else { "--no-track" };
        self.random.chance(15).then(|| word.into())
    }

    /// `--merge` in one of its forms.
    fn merging(&mut self) -> Vec<Vec<u8>> {
        let Some(random) = &mut self.merges else {
            return Vec::new();
        };
        let words = [
            ("-m", 20),
            ("--conflict=diff3", 5),
            ("--conflict=zdiff3", 5),
        ];
        let chosen = words
            .into_iter()
            .filter(|(_, chance)| random.chance(*chance));
        chosen.map(|(word, _)| word.as_bytes().to_vec()).collect()
    }

    /// A command by both, unless hedgerow alone refuses it, and rightly.
    fn play(&mut self, name: &str, words: &[Vec<u8>]) {
        let trial = Trial::run(&self.pair, name, words);
        let is_left_out = trial.is_refused_rightly() || trial.is_unstashable();
        drop(trial);
        if !is_left_out {
            self.pair.both(name, "", words, &[]);
        }
    }

    fn checkout(&mut self) {
        let mut words = self.some(&[("-q", 10), ("-f", 15), ("--detach", 15), ("-l", 5)]);
        words.extend(self.merging());
        if self.random.chance(40) {
            words.extend(self.new_branch(["-b", "-B", "--orphan"]));
        }
        if self.random.chance(80) {
            let revision = self.revision();
            words.extend(self.track(&revision));
            words.push(revision.into_bytes());
        }
        self.play("checkout", &words);
    }

    fn switch(&mut self) {
        let mut words = self.some(&[
            ("-q", 10),
            ("--discard-changes", 15),
            ("--detach", 15),
            ("--ignore-other-worktrees", 5),
        ]);
        words.extend(self.merging());
        if self.random.chance(50) {
            words.extend(self.new_branch(["-c", "-C", "--orphan"]));
        }
        if self.random.chance(70) {
            let revision = self.revision();
            words.extend(self.track(&revision));
            words.push(revision.into_bytes());
        }
        self.play("switch", &words);
    }

    fn paths(&mut self) {
        let mut words = self.some(&[
            ("-q", 10),
            ("-f", 15),
            ("--ours", 20),
            ("--theirs", 20),
            ("--no-overlay", 20),
        ]);
        words.extend(self.merging());
        if self.random.chance(50) {
            words.push(self.revision().into_bytes());
        }
        words.push(b"--".to_vec());
        words.push(self.path());
        self.play("checkout", &words);
    }

    fn clean(&mut self) {
        let mut words = self.some(&[
            ("-f", 90),
            ("-d", 50),
            ("-x", 30),
            ("-X", 10),
            ("-n", 15),
            ("-q", 10),
            ("-e*.txt", 10),
        ]);
        if self.random.chance(30) {
            words.push(b"--".to_vec());
            words.push(self.path());
        }
        self.play("clean", &words);
    }

    fn list(&mut self) {
        let mut words = self.some(&[
            ("-c", 30),
            ("-d", 30),
            ("-m", 30),
            ("-o", 30),
            ("-s", 20),
            ("-u", 10),
            ("-k", 10),
            ("-t", 20),
            ("-z", 20),
            ("--exclude-standard", 50),
            ("--directory", 20),
            ("--deduplicate", 20),
        ]);
        if self.random.chance(30) {
            words.push(b"--".to_vec());
            words.push(self.path());
        }
        self.play("ls-files", &words);
    }

    fn index(&mut self) {
        let mut words = self.some(&[("-f", 50), ("-u", 50), ("-q", 30), ("-n", 10)]);
        if self.random.chance(60) {
            words.push(b"-a".to_vec());
        } else {
            words.push(b"--".to_vec());
            words.push(self.random.pick(self.generated.paths.as_slice()).clone());
        }
        self.play("checkout-index", &words);
    }

    fn reset(&mut self) {
        let modes = ["--soft", "--mixed", "--hard", "--keep", "--merge"];
        let mut words = self.some(&[("-q", 20), ("-N", 15)]);
        let has_paths = self.random.chance(40);
        if !has_paths && self.random.chance(80) {
            words.push(self.random.pick(&modes).as_bytes().to_vec());
        }
        if self.random.chance(60) {
            let revision = self.revision();
            // Git words this error in two lines.
            if has_paths || !revision.ends_with("{tree}") {
                words.push(revision.into_bytes());
            }
        }
        if has_paths {
            words.push(b"--".to_vec());
            words.push(self.path());
        }
        self.play("reset", &words);
    }

    fn restore(&mut self) {
        let mut words = self.some(&[
            ("-q", 10),
            ("--staged", 40),
            ("--worktree", 40),
            ("--ignore-unmerged", 15),
            ("--ours", 15),
            ("--theirs", 15),
            ("--overlay", 20),
        ]);
        words.extend(self.merging());
        if self.random.chance(50) {
            words.push(format!("--source={}", self.revision()).into_bytes());
        }
        words.push(b"--".to_vec());
        words.push(self.path());
        if self.random.chance(30) {
            words.push(self.path());
        }
        self.play("restore", &words);
    }
}

/// Runs git, whatever it answers.
fn answer(repository: &Repository, words: &[&[u8]]) -> Outcome {
    let mut command = hedgerow_testkit::Program::Git.command(&repository.root);
    command.args(words.iter().map(|word| OsStr::from_bytes(word)));
    hedgerow_testkit::run(command)
}
