//! Commands about packs and what belongs to them, shaped as git's.

mod bitmap;
mod multi_pack_index;
pub mod object_list;
pub mod pack_objects;

pub use bitmap::{run as bitmap, Bitmap};
pub use multi_pack_index::{run as multi_pack_index, MultiPackIndex};
