//! Listings of directory trees, as Parquet and Arrow files: of a whole tree ([`write_listing`]), or
//! of bounded parts of it that any number of machines list ([`write_part`]) and one merges
//! ([`merge`]). The bytes of the merged file are those that one machine gives.
//!
//! Rows are in canonical order, and the bytes of a file depend on them alone.

mod arrow;
mod columns;
mod error;
mod output;
mod parquet;
mod row;
mod whole;
mod write;

pub use error::{Error, Result};
pub use output::Output;
pub use row::{Attributes, Row};
pub use whole::write_listing;
pub use write::{Format, Writer};
