//! What all tests of checkout share beside what every test with an oracle has: copies of
//! repositories, pictures of trees.

mod copies;
mod generate;
mod pair;
mod snapshot;

pub use crate::oracle::index_file::{IndexEntry, IndexFile};
pub use crate::oracle::program::{run, Outcome, Program};
pub use crate::oracle::random::Random;
pub use crate::oracle::repository::Repository;
pub use crate::oracle::{skip, temporary};
pub use generate::{generate, Generated};
pub use pair::Pair;
pub use snapshot::{snapshot, Node, Snapshot};
