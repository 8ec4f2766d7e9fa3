//! Measures how a file system responds, and derives the number of workers.
//!
//! ```no_run
//! use hedgerow::tune::{advise, measure, Options};
//! use hedgerow::CancelToken;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), hedgerow::tune::Error> {
//! let options = Options {
//!     budget: Duration::from_secs(3),
//!     cancel: CancelToken::default(),
//! };
//! let advice = advise(&measure("work".as_ref(), &options)?);
//! println!("{} workers", advice.workers);
//! # Ok(())
//! # }
//! ```

pub use hedgerow_probe::{
    advise, combined, measure, measure_repeatedly, Advice, Error, Latency, Measurements, Options,
    Place, Rate, Spread, GIT_WORKER_START_US,
};
