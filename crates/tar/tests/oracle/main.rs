//! Archives of generated trees, between hedgerow and GNU tar, bsdtar and Python's tarfile.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test makes the files it is about"
)]

mod lines;
mod nodes;
mod programs;
mod reading;
mod writing;
