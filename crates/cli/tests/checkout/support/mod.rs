//! What all tests of checkout share.

mod generate;
mod pair;

pub use generate::{generate, Generated};
pub use hedgerow_testkit::{run, skip, snapshot, temporary};
pub use hedgerow_testkit::{IndexEntry, IndexFile, Node, Outcome, Program, Random};
pub use hedgerow_testkit::{Repository, Snapshot};
pub use pair::Pair;

use crate::HEDGEROW;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

/// `hedgerow` in a repository.
pub trait RunHedgerow {
    /// Runs `hedgerow` with `words`, whatever its exit code.
    fn hedgerow<S: AsRef<OsStr>>(&self, words: &[S]) -> Outcome {
        self.hedgerow_with(words, &[])
    }

    /// The same with more environment.
    fn hedgerow_with<S: AsRef<OsStr>>(&self, words: &[S], more: &[(&str, &str)]) -> Outcome;
}

impl RunHedgerow for Repository {
    fn hedgerow_with<S: AsRef<OsStr>>(&self, words: &[S], more: &[(&str, &str)]) -> Outcome {
        let mut command = HEDGEROW.command(&self.root);
        command.args(words).envs(more.iter().copied());
        let outcome = run(command);
        let words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
        outcome.assert_civil(&format!("{words:?}"));
        outcome
    }
}

/// Sets the mtime of a file to so many nanoseconds within one second that is long past.
pub fn set_fraction(path: PathBuf, nanoseconds: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let second = UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let time = second + Duration::from_nanos(nanoseconds);
    file.set_modified(time).unwrap();
}
