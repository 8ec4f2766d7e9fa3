//! The multi-pack-index: one sorted table of ids for many packs, as git's `gitformat-pack`
//! describes it.

mod chunks;
mod clear;
mod encode;
mod layers;
mod order;
#[allow(dead_code, reason = "bitmaps and the writer read by position")]
mod read;
mod refusal;
mod select;
mod source;
mod split;
mod write;

#[allow(unused_imports, reason = "bitmaps read these")]
pub(crate) use read::{BitmappedPacks, MultiPackIndex, PseudoPackOrder};
pub use write::{write_midx, MidxOptions, WrittenMidx};
