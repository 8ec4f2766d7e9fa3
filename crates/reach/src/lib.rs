//! What is reachable in a Git repository from some of its objects and not from others: by walking
//! commits and trees, in parallel, and by the reachability bitmaps that stand for such walks.

mod bitmap;
mod error;
mod name_hash;
mod parse;

pub use bitmap::{build, check, BuildOptions};
pub use error::{Error, Result};
pub use name_hash::NameHash;
pub use parse::{commit_links, entries, tag_link, CommitLinks, TagLink, TreeEntry};
