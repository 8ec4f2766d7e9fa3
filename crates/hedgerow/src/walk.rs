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

mod counted;
mod rows;

pub use counted::{Counted, CountedWorker};
pub use hedgerow_engine::Failure;
pub use hedgerow_fs::{stat_path, FileKind, Listing, OpenDirectory, ReadBuffer, Stat, Timestamp};
pub use hedgerow_tree::{Entry, Metadata, NodeKind, Omission};
pub use hedgerow_walk::{
    stat_entries, walk, walk_sorted, Ahead, AheadOptions, Budget, Contents, CountedLinks, Entered,
    Patterns, Position, Receiver, Selection, Totals, WalkOptions,
};
pub use rows::{rows, Next, RowBatch, RowOptions, RowStream, KINDS};

/// Listings as Parquet and Arrow files: of a whole tree, or in bounded parts that any number of
/// machines list and one merges.
///
/// ```no_run
/// use hedgerow::walk::listing::{merge, write_part, Format, Output, PartOptions};
/// use hedgerow::walk::{Budget, OpenDirectory, WalkOptions};
/// use hedgerow::Execution;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = PartOptions {
///     root: "tree".into(),
///     walk: WalkOptions::default(),
///     budget: Budget::Entries(100_000),
///     temporary: std::env::temp_dir(),
/// };
/// let (mut parts, mut pending) = (Vec::new(), vec![Vec::new()]);
/// // Each round may be done by as many machines as there are directories.
/// while !pending.is_empty() {
///     let part = std::path::PathBuf::from(format!("part{}.parquet", parts.len()));
///     let root = OpenDirectory::open(&options.root)?;
///     let output = Output::to(&part, false)?;
///     pending = write_part(root, pending, output, &options, &|omitted| eprintln!("{omitted}"))?.left;
///     parts.push(part);
/// }
/// let output = Output::to("tree.parquet".as_ref(), false)?;
/// merge(&parts, output, Format::Parquet, &std::env::temp_dir(), &Execution::default())?;
/// # Ok(())
/// # }
/// ```
pub mod listing {
    pub use hedgerow_listing::{
        given, is_one_place, merge, read_rest, write_listing, write_part, write_rest, Attributes,
        Error, Format, MergedListing, Omitted, Origin, Output, Part, PartOptions, Row, Writer,
    };
}
