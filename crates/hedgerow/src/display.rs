//! How git shows text: paths in quotes, byte counts, colors, columns.

pub use hedgerow_git::display::{humanised, quoted, quoted_with_spaces, PathStyle};
