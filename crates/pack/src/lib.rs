//! Reads Git packs, their indexes and loose objects
