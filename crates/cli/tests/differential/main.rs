//! The same damaged or made-up bytes to git and to hedgerow: where both accept them, they agree.
//!
//! Files of Git are changed in ways that keep them close to sound: bits, words and whole spans, and
//! in half of the cases the checksum at the end is made to fit, so that what comes behind it is
//! reached. `HEDGEROW_DIFFERENTIAL=N` tries N inputs of each kind, `HEDGEROW_TEST_SEED` others.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories and damage their files"
)]

mod attributes;
mod files;
mod mutate;

use hedgerow_testkit::{run, Outcome, Program};
use std::collections::HashSet;
use std::path::Path;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// How many inputs of a kind are tried, and the seed that they are drawn from.
fn extent(sample: usize) -> (usize, u64) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse().ok())
    };
    let count = number("HEDGEROW_DIFFERENTIAL").map_or(sample, |count: u64| count as usize);
    (count, number("HEDGEROW_TEST_SEED").unwrap_or(1))
}

/// What was found of one kind of input.
#[derive(Default)]
struct Tally {
    both: usize,
    neither: usize,
    git_alone: usize,
    we_alone: usize,
    complaints: Vec<String>,
}

impl Tally {
    /// Counts how git and hedgerow ended; notes where both accepted and said different things. What is
    /// true in spite of the damage (`sound`) may be said whatever git says.
    fn add(&mut self, what: &str, git: &Outcome, ours: &Outcome, sound: &[u8]) {
        match (git.code == 0, ours.code == 0) {
            (true, true) => self.both += 1,
            (false, false) => self.neither += 1,
            (true, false) => self.git_alone += 1,
            (false, true) => self.we_alone += 1,
        }
        let is_right = git.stdout == ours.stdout
            || !sound.is_empty() && (ours.stdout == sound || is_true(&ours.stdout, git, sound));
        if git.code == 0 && ours.code == 0 && !is_right {
            self.complaints.push(format!(
                "{what}:\ngit:\n{}ours:\n{}{}",
                String::from_utf8_lossy(&git.stdout),
                String::from_utf8_lossy(&ours.stdout),
                ours.stderr
            ));
        }
        if ours.code != 0 && ours.stderr.trim().is_empty() {
            self.complaints
                .push(format!("{what}: code {} and not a word", ours.code));
        }
    }

    fn end(self, kind: &str) {
        println!(
            "{kind}: both accept {}, neither {}, git alone {}, hedgerow alone {}",
            self.both, self.neither, self.git_alone, self.we_alone
        );
        let count = self.complaints.len();
        assert!(
            count == 0,
            "{kind}: {count} complaints\n{}",
            self.complaints[..count.min(8)].join("\n")
        );
    }
}

/// Whether each line of `ours` says what git says at that place, or what is true in spite of the damage:
/// the objects that a damaged index leaves reachable may be others for the two.
fn is_true(ours: &[u8], git: &Outcome, sound: &[u8]) -> bool {
    let lines = |text| <[u8]>::split(text, |&byte| byte == b'\n');
    let truth: HashSet<&[u8]> = lines(sound).collect();
    let mut pairs = lines(ours).zip(lines(&git.stdout));
    lines(ours).count() == lines(&git.stdout).count()
        && pairs.all(|(ours, git)| ours == git || truth.contains(ours))
}

/// Runs a program in `directory` with `input`; nobody may hang or panic.
fn outcome(program: Program, directory: &Path, words: &[&str], input: Option<&Path>) -> Outcome {
    let mut command = program.command(directory);
    command.args(words);
    if let Some(input) = input {
        command.stdin(std::fs::File::open(input).unwrap());
    }
    let outcome = run(command);
    if program == HEDGEROW {
        outcome.assert_civil(&format!("{words:?}"));
    }
    outcome
}
