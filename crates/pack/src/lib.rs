//! Reads Git packs, their indexes and loose objects.

/// placeholder until the crate is written
#[derive(Debug, thiserror::Error)]
#[error("object")]
pub struct Error;
