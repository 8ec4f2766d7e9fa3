//! The execution engine of hedgerow: blocking threads that process tasks, in any order
//! ([`run_tasks`]) or with an ordered commit and a budget in bytes ([`run_ordered`]).
//!
//! It knows no file and no format. It hides latency by choosing the number of workers: with
//! [`Jobs::Auto`] a run measures how long its workers wait for something other than a processor,
//! and uses as many workers as keep the processors busy.

mod adaptive;
mod cancel;
mod counters;
mod execution;
mod log;
mod options;
mod ordered;
mod pool;
mod progress;
mod queue;
mod recorder;
mod report;
mod run_record;
mod series;
mod slot;
mod statistics;
mod sync;
mod tasks;
mod timesheet;
mod trace;
mod window;

pub use cancel::CancelToken;
pub use execution::Execution;
pub use log::{Level, Log};
pub use options::{directories_to_keep, Jobs, Options};
pub use ordered::{run_ordered, Window};
pub use progress::{Progress, Stage, Steps};
pub use recorder::Recorder;
pub use report::{Failure, Report};
pub use series::{Phase, Point};
pub use statistics::{Schema, StageStatistics, Statistics, STATISTICS_SCHEMA};
pub use tasks::{run_tasks, Scope};
pub use trace::{span, Lane, Span, Trace, TraceEvent, TraceLane, TraceRecord, TRACE_EVENTS};
pub use window::{ReorderWindow, Ticket};

use std::num::NonZeroUsize;

/// Maximum number of workers with [`Jobs::Auto`].
pub const AUTO_LIMIT: usize = 64;

/// Maximum number of workers with any setting. Tens of thousands would exhaust the memory maps of a
/// process, which ends it.
pub const WORKERS_LIMIT: NonZeroUsize = NonZeroUsize::new(1024).expect("it is not zero");
