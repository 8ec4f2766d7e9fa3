//! The parallel machine of hedgerow: blocking threads that work through tasks, in any order
//! ([`run_tasks`]) or with an ordered commit and a budget in bytes ([`run_ordered`]).
//!
//! It knows no file and no format. Its part in hiding latency is the number of workers: with
//! [`Jobs::Auto`] a run watches how long its workers wait for something other than a processor,
//! and has as many of them as keep the processors busy.

mod adaptive;
mod cancel;
mod options;
mod queue;
mod report;
mod slot;
mod tasks;

pub use cancel::CancelToken;
pub use options::{Jobs, Options};
pub use report::{Failure, Report};
pub use tasks::{run_tasks, Scope};

/// The most workers that [`Jobs::Auto`] grows to.
pub const AUTO_LIMIT: usize = 64;

/// Placeholder until the recorder lands.
#[derive(Debug, Default)]
pub struct Recorder;
