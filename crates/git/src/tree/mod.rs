//! Tree objects: reading one, and finding what differs between two, in parallel.

mod difference;
pub(crate) mod limits;
mod parse;

pub(crate) use difference::Enters;
pub use difference::{Change, Difference, Side};
pub(crate) use parse::order;
pub use parse::{entries, TreeEntry};
