//! Writes a tree into a directory and removes paths from one, in parallel and never outside it.
//!
//! The unit of scheduling is a directory, because creations in one directory cannot overlap: the
//! kernel holds the directory's lock, on a network file system for a whole round trip. A
//! directory's children are created before its files, so that other workers have somewhere to go.
//! Every system call names one component relative to a handle whose path was resolved beneath the
//! root without following a link; a handle lives as long as one task, so that their number is
//! bounded by the number of workers.

mod error;
mod extract;
mod lane;
mod remove;
mod sink;
mod write;

pub use error::{Error, Problem};
pub use extract::{extract, ExtractError, ExtractOptions, Extracted, Failed, XattrRule};
pub use lane::{Fill, LaneWriter};
pub use remove::{remove_paths, Removal, Removed};
pub use sink::Sink;
pub use write::{write_entry, write_tree, Form, Place, Plan, Written};
