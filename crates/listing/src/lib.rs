//! Listings of directory trees, as Parquet and Arrow files: of a whole tree ([`write_listing`]), or
//! of bounded parts of it that any number of machines list ([`write_part`]) and one merges
//! ([`merge`]). The bytes of the merged file are those that one machine gives.
//!
//! Rows are in canonical order ([`canonical_order`](hedgerow_tree::canonical_order): directory by
//! directory, `a/x` before `a!`), and the bytes of a file depend on them alone. The formats are written
//! here: one schema needs little of them, and what has been written once is written again in the
//! same bytes.

mod arrow;
mod columns;
mod error;
mod footer;
mod merge;
mod origin;
mod output;
mod parquet;
mod part;
mod rest;
mod row;
mod source;
mod spool;
mod text;
mod whole;
mod write;

pub use error::{Error, Result};
pub use footer::Omitted;
pub use merge::{merge, MergedListing};
pub use origin::Origin;
pub use output::{is_one_place, Output};
pub use part::{write_part, Part, PartOptions};
pub use rest::{given, read_rest, write_rest};
pub use row::{Attributes, Row};
pub use whole::write_listing;
pub use write::{Format, Writer};
