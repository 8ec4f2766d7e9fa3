//! Reachability bitmaps: for some commits, the set of all objects that are reachable from them, as
//! bits in the order of a pack. `bitmaps` is what others use; `file` knows the format, `order` the
//! numbers of objects.

mod bitmaps;
mod ewah;
mod file;
mod order;
mod words;
mod write;

pub use bitmaps::{Bitmaps, DamagedBitmap};
pub use order::BitOrder;
pub use words::Words;
pub use write::{BitmapContents, CommitBitmap};
