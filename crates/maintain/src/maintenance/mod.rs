//! What a repository needs, by what there is: git-maintenance(1), as far as it is about packs.

mod choice;
mod state;

pub use choice::{choose, Choice, Task};
pub use state::State;
