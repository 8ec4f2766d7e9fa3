//! Commands about packs and what belongs to them, shaped as git's.

mod multi_pack_index;

pub use multi_pack_index::{run as multi_pack_index, MultiPackIndex};
