//! The multi-pack-index: one sorted table of ids for many packs, as git's `gitformat-pack`
//! describes it.

mod chunks;
#[allow(dead_code, reason = "bitmaps and the writer read by position")]
mod read;
mod refusal;

#[allow(unused_imports, reason = "bitmaps read these")]
pub(crate) use read::{BitmappedPacks, MultiPackIndex, PseudoPackOrder};
