//! What a [`Recorder`](crate::Recorder) saw of a command: in words, as a drawing, and read again from
//! where it was written.

pub use hedgerow_engine::{Schema, Statistics, STATISTICS_SCHEMA};
pub use hedgerow_stats::{draw, parse, read, summary, Error};
