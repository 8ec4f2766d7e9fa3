//! Multi-pack-indexes against git: its bytes, its answers, its complaints.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    clippy::unwrap_used
)]

mod bitmapped;
mod chains;
mod damaged;
mod repacked;
mod scene;
mod written;
