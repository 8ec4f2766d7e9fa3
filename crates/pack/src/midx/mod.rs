//! The multi-pack-index: one sorted table of ids for many packs, as git's `gitformat-pack`
//! describes it.

mod chunks;
mod clear;
mod encode;
mod expire;
mod layers;
mod order;
#[allow(dead_code, reason = "bitmaps and the writer read by position")]
mod read;
mod refusal;
mod select;
mod source;
mod split;
mod verify;
mod write;

pub use expire::expire_midx_packs;
pub(crate) use layers::{Layers, Loaded};
#[allow(unused_imports, reason = "bitmaps read these")]
pub(crate) use read::{BitmappedPacks, MultiPackIndex, PseudoPackOrder};
pub use verify::{verify_midx, MidxComplaint};
pub use write::{write_midx, MidxOptions, WrittenMidx};
