//! Maintains the packs of a Git repository: repacks them, writes their indexes, bitmaps and
//! multi-pack-indexes, and decides what may be deleted afterwards.
//!
//! Nothing that deletes trusts an accelerator or deletes an object that remaining objects need
//! ([`repack`]).

mod bitmaps;
mod error;
mod loosening;
pub mod maintenance;
mod midx_bitmap;
mod midx_tending;
mod new_packs;
mod observer;
mod pseudo_merges;
pub mod repack;

pub use bitmaps::{write_pack_bitmaps, BitmapRequest};
pub use error::{Error, Result};
pub use midx_bitmap::commit_with_bitmap;
pub use midx_tending::{commit_midx, expire_packs, midx_options, other_store, repack_small_packs};
pub use new_packs::{write_packs, KeptPackOptions};
pub use observer::{Finish, Observer};
