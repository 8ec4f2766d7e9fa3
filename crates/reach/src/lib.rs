//! What is reachable in a Git repository from some of its objects and not from others: by walking
//! commits and trees, in parallel, and by the reachability bitmaps that stand for such walks.

mod error;
mod filter;
mod ids;
pub mod object;

pub use error::{Error, Result};
pub use filter::Filter;
pub use ids::{IdHashBuilder, IdHasher, IdMap, IdSet};
