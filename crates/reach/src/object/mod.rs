//! What a walk looks at in objects: borrowed from their bytes, nothing allocated.

mod commit;
mod line;
mod tag;
mod tree;

pub use commit::{CommitRef, ParentIds};
pub use tag::TagRef;
pub use tree::{EntryKind, TreeEntries, TreeEntry};
