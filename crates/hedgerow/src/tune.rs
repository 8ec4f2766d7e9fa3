//! Measures how a file system responds, and derives the number of workers.

pub use hedgerow_probe::{
    advise, combined, measure, measure_repeatedly, Advice, Error, Latency, Measurements, Options,
    Place, Rate, Spread, GIT_WORKER_START_US,
};
