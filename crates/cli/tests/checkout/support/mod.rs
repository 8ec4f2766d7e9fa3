//! What all tests of the binary share: programs, copies of repositories, pictures of trees.

mod generate;
mod index_file;
mod pair;
mod program;
mod random;
mod repository;
mod snapshot;

pub use generate::{generate, Generated};
pub use index_file::{IndexEntry, IndexFile};
pub use pair::Pair;
pub use program::{run, Outcome, Program};
pub use random::Random;
pub use repository::Repository;
pub use snapshot::{snapshot, Node, Snapshot};

/// Says aloud that a test could not run here.
pub fn skip(reason: &str) {
    println!("skipped: {reason}");
}
