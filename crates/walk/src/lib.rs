//! Lists directory trees and stats their entries, in parallel, with enough workers to hide the
//! latency of the file system. Symbolic links are never followed.
//!
//! - [`walk`] reports everything below a directory in no particular order, as fast as possible.
//! - [`walk_sorted`] reports it in canonical order and with bounded memory; [`DirectorySource`]
//!   offers that as a [`TreeSource`](hedgerow_tree::TreeSource), with an example.
//! - [`scan`] is the basis of both, for comparing a tree with something: a [`Visitor`] decides,
//!   directory by directory, where to descend and which entries to stat.
//! - [`Ahead`] lists directories ahead of a reader who goes through the tree depth first.
//!
//! The unit of work is a directory or, in large directories, a few names: a single directory of a
//! hundred thousand files keeps all workers busy. Subdirectories are published before entries are
//! statted, because workers are most likely to be idle at the start. Entries are statted right
//! after they are listed, in that order, because a network file system then already has their
//! attributes. Nothing is queried that the listing already contains.
//!
//! ```
//! use hedgerow_tree::{Entry, NodeKind, Omission};
//! use hedgerow_walk::{walk, Receiver, WalkOptions};
//! use std::path::Path;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// Counts files, on any number of threads.
//! #[derive(Default)]
//! struct Files(AtomicU64);
//!
//! impl Receiver for Files {
//!     type Worker = ();
//!     type Error = Omission;
//!
//!     fn worker(&self) {}
//!
//!     fn entry(&self, _: &mut (), entry: Entry<'_>) -> Result<(), Omission> {
//!         let is_file = entry.kind == NodeKind::File;
//!         self.0.fetch_add(is_file.into(), Ordering::Relaxed);
//!         Ok(())
//!     }
//!
//!     fn omitted(&self, _: &mut (), omission: Omission) -> Result<(), Omission> {
//!         Err(omission)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let path = Path::new(env!("CARGO_MANIFEST_DIR"));
//! let root = hedgerow_fs::OpenDirectory::open(path)?;
//! let files = Files::default();
//! walk(root, path, &files, &WalkOptions::default())?;
//! assert!(files.0.load(Ordering::Relaxed) > 10);
//! # Ok(())
//! # }
//! ```

mod ahead;
mod content;
mod error;
mod folding;
mod gitignore;
mod handles;
mod metadata;
mod nodes;
mod opener;
mod patterns;
mod place;
mod scan;
mod selection;
mod sorted;
mod source;
mod stats;
mod totals;
mod visitor;
mod walk;

pub use ahead::{Ahead, AheadOptions, Contents, Entered, Position};
pub use content::FileContent;
pub use error::{Operation, ScanError};
pub use folding::pattern_for_folding;
pub use nodes::{node_at, nodes_of_directory, Nodes};
pub use patterns::{Decision, Patterns, Verdict};
pub use place::Place;
pub use scan::{scan, Options};
pub use selection::{Selection, Skip};
pub use sorted::walk_sorted;
pub use source::{DirectorySource, SourceError};
pub use stats::stat_entries;
pub use totals::{CountedLinks, Totals};
pub use visitor::{Plan, Visitor, Wanted};
pub use walk::{walk, walk_part, Budget, Receiver, WalkOptions};
