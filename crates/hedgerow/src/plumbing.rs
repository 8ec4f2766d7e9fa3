//! The crates behind the verbs, for programs that need more: reading objects, walking history,
//! bitmaps, multi-pack-indexes, the layers of an image.
//!
//! These interfaces change more often than the verbs.

pub use hedgerow_codec as codec;
pub use hedgerow_engine as engine;
pub use hedgerow_git as git;
pub use hedgerow_hg as hg;
pub use hedgerow_maintain as maintain;
pub use hedgerow_object as object;
pub use hedgerow_pack as pack;
pub use hedgerow_reach as reach;
pub use hedgerow_serve as serve;
pub use hedgerow_squashfs as squashfs;
pub use hedgerow_tar as tar;
pub use hedgerow_tree as tree;
pub use hedgerow_walk as walk;
pub use hedgerow_writer as writer;

/// Starting threads, of which there may be fewer than wanted.
pub use hedgerow_fs::threads;

/// What is at a path, its removal, and the end of a listing.
pub mod files {
    pub use hedgerow_fs::{identity, remove_file, until_removed, FileKind};
}
