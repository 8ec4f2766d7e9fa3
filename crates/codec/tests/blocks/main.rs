//! Blocks of images: every compressor and option.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops at the first thing that is wrong"
)]

mod determinism;
mod malformed;
mod option_block;
mod oracle;
mod round_trip;
mod samples;
mod settings;
