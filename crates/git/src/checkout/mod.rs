//! Checkout: from one commit to another, in working tree and index.

mod compare;
mod contents;
mod conversion_options;
mod lanes;
mod merge;
mod obstacles;
mod outcome;
mod paths;
mod pathspecs;
mod progress;
mod rejects;
mod removal;
mod retry;
mod session;
mod sparse;
mod sparse_index;
mod state;
mod survey;
mod switch;
mod transition;
mod update;

pub use outcome::{Done, Failure, LocalChange, Outcome};
pub use paths::{checkout_paths, PathOptions, PathOutcome};
pub use progress::Progress;
pub use rejects::{Reason, Rejects};
pub use session::Execution;
pub use switch::{short, switch, SwitchOptions, Switched, Target};
