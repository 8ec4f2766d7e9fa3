//! How git shows text: paths in quotes, byte counts, colors, columns.
//!
//! Everything here depends on the configuration alone, not on a repository.

mod byte_count;
mod paths;
mod quote;

pub use byte_count::humanised;
pub use paths::PathStyle;
pub use quote::{quoted, quoted_with_spaces};
