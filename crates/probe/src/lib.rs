//! Measures the latency of a file system, and recommends a number of workers for it.
//!
//! [`measure`] works for a few seconds in a directory of its own inside the given one, and removes
//! it afterwards. [`advise`] is a pure function of the measured values.

mod advise;
mod error;
mod latency;
mod measure;
mod scratch;
mod spread;

pub use advise::{advise, Advice, Place, GIT_WORKER_START_US};
pub use error::{Error, Result};
pub use latency::Latency;
pub use measure::{measure, Measurements, Options, Rate};
pub use spread::{combined, measure_repeatedly, Spread};
