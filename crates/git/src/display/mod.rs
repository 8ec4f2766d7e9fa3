//! How git shows text: paths in quotes, byte counts, colors, columns; and the lines
//! of JSON in their place.
//!
//! Everything here depends on the configuration alone, not on a repository.

mod byte_count;
mod color;
mod columns;
mod document;
mod lines;
mod paths;
mod quote;
mod table;
mod when;
mod width;
mod words;

pub use byte_count::humanised;
pub use color::{color_of_key, paint, RESET};
pub use columns::{Columns, Layout};
pub use document::Document;
pub use lines::ColoredLines;
pub(crate) use paths::relative;
pub use paths::PathStyle;
pub(crate) use quote::unquoted_start;
pub use quote::{quoted, quoted_with_spaces, unquoted};
pub use table::Table;
pub use when::When;
pub use width::width;
pub use words::with_bytes_of_words;
