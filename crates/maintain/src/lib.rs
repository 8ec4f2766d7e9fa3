//! Maintains the packs of a Git repository: repacks them, writes their indexes, bitmaps and
//! multi-pack-indexes, and decides what may be deleted afterwards.
//!
//! Nothing that deletes trusts an accelerator or deletes an object that remaining objects need
//! ([`repack`]).

mod bitmaps;
mod error;
pub mod maintenance;
mod midx_bitmap;
mod new_packs;
mod observer;
mod pseudo_merges;
pub mod repack;
mod unreachable;

pub use bitmaps::{build_bitmaps, BitmapRequest};
pub use error::{Error, Result};
pub use midx_bitmap::commit_with_bitmap;
pub use new_packs::{file_options, may_have_bitmaps, repository_now, size_limit, write_bitmaps};
pub use observer::{Finish, Observer};
pub use unreachable::{add_loose, add_packed, follow, Limits};
