//! Commands about packs and what belongs to them, shaped as git's.

mod bitmap;

pub use bitmap::{run as bitmap, Bitmap};
