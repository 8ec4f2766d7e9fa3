//! Lists directory trees as fast as the file system responds: in any order ([`walk`]) or in
//! canonical order ([`walk_sorted`]). See `examples/walk.rs`.

pub use hedgerow_engine::Failure;
pub use hedgerow_fs::OpenDirectory;
pub use hedgerow_tree::{Entry, Metadata, NodeKind, Omission};
pub use hedgerow_walk::{
    walk, walk_sorted, CountedLinks, Patterns, Receiver, Selection, Totals, WalkOptions,
};
