//! Reachability in a Git repository: which objects are reachable from some objects and not from
//! others. Answers come from walking commits and trees, in parallel, and from reachability bitmaps.

mod bitmap;
mod commits;
mod error;
mod filter;
mod finder;
mod ids;
mod listing;
mod marks;
mod merge_bases;
mod met_trees;
mod name_hash;
mod nearest;
mod promised;
mod reachable;
mod request;
mod set;
mod shares;
mod source;
mod sums;
mod trees;
mod walk;

pub use bitmap::{build, check, BuildOptions, PseudoMergeGroup};
pub use commits::{CommitIndex, Commits};
pub use error::{Error, Result};
pub use filter::Filter;
pub use ids::{IdHashBuilder, IdHasher, IdMap, IdSet};
pub use listing::{Remainder, Visitor};
pub use marks::MissingObject;
pub use merge_bases::merge_bases;
pub use name_hash::NameHash;
pub use nearest::{nearest_named, Nearest};
pub use promised::{first_promised, not_promised};
pub use reachable::{reachable, Answer, BitmapUse, Extra, ObjectSet, Question, Trace};
pub use request::{Missing, NoWalk, Objects, Order, Request, Side, Tip};
pub use set::{walk_set, Met, Seen, SeenIds};
pub use source::Source;
pub use sums::{count_objects, sum_disk_bytes, RequestedSet};
pub use walk::{Walk, WalkedCommit};
