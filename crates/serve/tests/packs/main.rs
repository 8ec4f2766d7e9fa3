//! Packs against git: it must take them, and find in them what was asked for.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories"
)]

mod copies;
mod deltas;
mod files;
mod support;
