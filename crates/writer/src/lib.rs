//! Writes a tree into a directory and removes paths from one: in parallel, and never outside it.
//!
//! The unit of scheduling is the directory, because creations in one directory cannot overlap: the
//! kernel holds the directory's lock, on a network file system for a whole round trip.
//! Subdirectories are created before the files of their parent, so that other workers have work to
//! do. Every system call takes a single component relative to a handle, whose path was resolved
//! below the root without following links. A handle lives as long as one task, so the number of
//! handles is bounded by the number of workers.

mod error;
mod extract;
mod lane;
mod remove;
mod remove_trees;
mod sink;
mod write;

pub use error::{Error, Problem};
pub use extract::{extract, ExtractError, ExtractOptions, Extracted, Failed, XattrRule};
pub use lane::{Fill, LaneWriter};
pub use remove::{remove_paths, Removal, Removed};
pub use remove_trees::{
    remove_trees, RemovalEvent, RemovedTree, RemovedTrees, TreeRemoval, Unlisted,
};
pub use sink::Sink;
pub use write::{write_entry, write_tree, Form, Place, Plan, Written};
