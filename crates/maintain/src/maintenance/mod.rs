//! Chooses maintenance by the state of a repository: the part of git-maintenance(1) that is about
//! packs.

mod choice;
mod state;

pub use choice::{choose, Choice, Task};
pub use state::State;
