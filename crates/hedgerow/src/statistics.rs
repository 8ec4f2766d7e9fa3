//! The statistics of a [`Recorder`](crate::Recorder): a summary in words, a drawing, and reading
//! them back from a file.

pub use hedgerow_engine::{Schema, Statistics, STATISTICS_SCHEMA};
pub use hedgerow_stats::{draw, parse, read, summary, Error};
