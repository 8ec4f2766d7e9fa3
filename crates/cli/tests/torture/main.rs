//! Every command that writes or serves, while the system fails under it: failing calls, too few
//! descriptors, no threads, kills, a closed or full standard output, a power cut. Whatever happens,
//! the result is right or there is an error and a non-zero exit code; nothing is lost, nothing is
//! left behind.
//!
//! `make test` runs a sample. `HEDGEROW_TORTURE=all` runs everything (`make torture`),
//! `HEDGEROW_TORTURE=N` a sample of N cases, and `HEDGEROW_TORTURE_SEED=N` draws another sample, or
//! the same one again. `HEDGEROW_TORTURE_SCENARIO=stash` chooses scenarios by the beginnings of
//! their names.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod calls;
mod descriptors;
mod full;
mod judge;
mod kills;
mod power;
mod scenario;
mod standard_output;
mod strace;

use hedgerow_testkit::Random;

use hedgerow_testkit::Program;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// How much of the harness runs.
struct Extent {
    is_whole: bool,
    /// How many cases are drawn, if the environment says so.
    count: Option<usize>,
    seed: u64,
}

impl Extent {
    fn from_environment() -> Extent {
        let variable = |name| std::env::var(name).ok();
        Extent {
            is_whole: variable("HEDGEROW_TORTURE").is_some_and(|value| value == "all"),
            count: variable("HEDGEROW_TORTURE").and_then(|value| value.parse().ok()),
            seed: variable("HEDGEROW_TORTURE_SEED")
                .and_then(|value| value.parse().ok())
                .unwrap_or(1),
        }
    }

    /// All of the cases, or a sample drawn from the seed, in their order: as many as the
    /// environment says, or else `count`.
    fn select<T>(&self, mut cases: Vec<T>, count: usize) -> Vec<T> {
        let count = self.count.unwrap_or(count);
        let mut random = Random::new(self.seed);
        while !self.is_whole && cases.len() > count {
            cases.remove(random.below(cases.len()));
        }
        cases
    }
}

/// Collects what went wrong, so that one run tells all of it.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn note(&mut self, what: impl FnOnce() -> String, verdict: Result<(), String>) {
        if let Err(complaint) = verdict {
            self.0.push(format!("{}: {complaint}", what()));
        }
    }

    /// Ends the test: with a failure if there was a complaint.
    fn assert_none(self, seed: u64) {
        let count = self.0.len();
        assert!(
            count == 0,
            "{count} complaints (HEDGEROW_TORTURE_SEED={seed}):\n{}",
            self.0[..count.min(60)].join("\n")
        );
    }
}
