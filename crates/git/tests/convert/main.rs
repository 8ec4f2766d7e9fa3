//! Conversion compared with git, byte for byte.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make repositories and look at files"
)]

mod filter_server;
mod filters;
mod matrix;
mod repository;
