//! Indexing packs, against git.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used
)]

mod damage;
mod oracle;
mod repository;
mod thin;
