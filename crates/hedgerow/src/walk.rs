//! Lists directory trees as fast as the file system responds: in any order ([`walk`]) or in
//! canonical order ([`walk_sorted`]). See `examples/walk.rs`.
//!
//! ```no_run
//! use hedgerow::walk::{walk, walk_sorted, Entry, Omission, OpenDirectory, Receiver, WalkOptions};
//! use std::convert::Infallible;
//!
//! /// Prints each path on the thread that finds it.
//! struct Printer;
//!
//! impl Receiver for Printer {
//!     type Worker = ();
//!     type Error = Infallible;
//!
//!     fn worker(&self) {}
//!
//!     fn entry(&self, (): &mut (), entry: Entry<'_>) -> Result<(), Infallible> {
//!         println!("{}", String::from_utf8_lossy(entry.path));
//!         Ok(())
//!     }
//!
//!     fn omitted(&self, (): &mut (), omission: Omission) -> Result<(), Infallible> {
//!         eprintln!("cannot read {}", String::from_utf8_lossy(&omission.path));
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (path, options) = ("tree".as_ref(), WalkOptions::default());
//! walk(OpenDirectory::open(path)?, path, &Printer, &options)?;
//! walk_sorted(OpenDirectory::open(path)?, path, &Printer, &options)?;
//! # Ok(())
//! # }
//! ```

mod rows;

pub use hedgerow_engine::Failure;
pub use hedgerow_fs::{FileKind, Listing, OpenDirectory, ReadBuffer};
pub use hedgerow_tree::{Entry, Metadata, NodeKind, Omission};
pub use hedgerow_walk::{
    walk, walk_sorted, Ahead, AheadOptions, Contents, CountedLinks, Entered, Patterns, Position,
    Receiver, Selection, Totals, WalkOptions,
};
pub use rows::{rows, Next, RowBatch, RowOptions, RowStream, KINDS};
