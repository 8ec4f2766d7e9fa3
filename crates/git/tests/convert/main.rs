//! Conversion compared with git, byte for byte.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::exit,
    clippy::print_stdout,
    reason = "tests make repositories, look at files and may panic"
)]

mod attributes;
mod filter_server;
mod filters;
mod matrix;
mod refusals;
mod repository;
