//! Measures how a file system answers, and says how many workers are worth having on it.
//!
//! [`measure`] works in a directory of its own inside the one it is given, for a few seconds, and
//! leaves nothing behind. [`advise`] is a pure function of what was measured.

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
pub use spread::{combined, Spread};
