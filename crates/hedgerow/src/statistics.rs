//! The statistics of a [`Recorder`](crate::Recorder): a summary in words, a drawing, a page,
//! and reading them back from a file.
//!
//! ```no_run
//! use hedgerow::statistics::{draw, summary};
//! use hedgerow::{Execution, Recorder};
//! use std::sync::Arc;
//!
//! let recorder = Arc::new(Recorder::default());
//! let execution = Execution {
//!     statistics: Some(Arc::clone(&recorder)),
//!     ..Execution::default()
//! };
//! // ... a verb with `execution` in its options ...
//! let statistics = recorder.snapshot();
//! println!("{}", summary(&statistics));
//! let svg: String = draw(&statistics);
//! # let _ = (execution, svg);
//! ```

pub use hedgerow_engine::{Schema, StageStatistics, Statistics, STATISTICS_SCHEMA};
pub use hedgerow_stats::{comparison, draw, name, page, parse, read, summary, Error, Named};
