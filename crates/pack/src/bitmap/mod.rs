//! Reachability bitmaps: for some commits, the set of all objects reachable from them, as bits in
//! the order of a pack, or of the packs of a multi-pack-index. `bitmaps` is the interface for other
//! modules; `file` knows the format, `order` the bit numbers of objects, `members` the objects that
//! are numbered.

mod bitmaps;
mod file;
mod kinds;
mod members;
mod midx;
mod order;
mod pseudo_merges;
mod words;
mod write;

pub use bitmaps::{Bitmaps, DamagedBitmap};
pub use order::{BitOrder, OrderPart};
pub use pseudo_merges::PseudoMerge;
pub use words::Words;
pub use write::{BitmapContents, CommitBitmap};
