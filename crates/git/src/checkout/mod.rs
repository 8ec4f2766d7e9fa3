//! Checkout: moves the working tree and the index from one commit to another.

mod contents;
mod lanes;
mod merge;
mod obstacles;
mod outcome;
mod paths;
mod rejects;
mod removal;
mod request;
mod retry;
mod session;
mod submodules;
mod supplies;
mod switch;
mod target;
mod transition;
mod update;

pub use outcome::{Done, Failure, LocalChange, Outcome};
pub use paths::{check_pathspecs, checkout_paths, PathOptions, PathOutcome};
pub use rejects::{Reason, Rejects};
pub use request::{Request, RequestOptions, RequestedPaths};
pub use switch::{short, switch, SwitchOptions, Switched};
pub use target::{Named, Target};
