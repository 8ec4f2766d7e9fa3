//! Git's object formats, each with one reader and one writer: borrowed from the bytes, without an
//! allocation where none is needed.
//!
//! This crate knows no file and makes no system call.

mod commit;
mod error;
pub mod ewah;
mod header;
mod kind;
mod line;
pub mod offset_encoding;
pub mod pack_entry;
mod quoted;
mod tag;
mod tree;

pub use commit::{CommitRef, ParentIds};
pub use error::{Malformed, WrongKind};
pub use header::{hash_object, EncodedHeader, ObjectHeader};
pub use kind::ObjectKind;
pub use line::{parse_id, split_line};
pub use quoted::split_quoted;
pub use tag::{CycleGuard, TagRef};
pub use tree::{
    canonical_mode, compare_places, mode_of_digits, RawTreeEntries, RawTreeEntry, TreeEntries,
    TreeEntry, TreeFault, TreeProblem,
};
