//! The object store against git, against damage, and against packs that were made to hurt.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used
)]

mod damage;
mod hostile;
mod oracle;
mod support;
