//! Object filters: which reachable objects are left out (the option `--filter` of git-rev-list(1)).

mod named;
mod parse;
mod state;

pub(crate) use named::{not_spared, skips_trees};
pub(crate) use state::{FilterState, Situation, Verdict};

use hedgerow_pack::ObjectKind;

/// A filter. Whether it keeps an object depends on the object's kind, size, and depth below the
/// tree of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// `blob:none`: no blobs.
    BlobNone,
    /// `blob:limit=N`: no blobs of N bytes or more.
    BlobLimit(u64),
    /// `tree:N`: no trees and blobs at depth N or deeper; the tree of a commit has depth 0.
    TreeDepth(u64),
    /// `object:type=KIND`: only objects of this kind.
    Kind(ObjectKind),
    /// `combine:A+B`: only what all of these keep.
    Combine(Vec<Filter>),
}

impl Filter {
    /// The filter that keeps what both keep: the meaning of the option given twice in git.
    #[must_use]
    pub fn and(self, other: Filter) -> Filter {
        match self {
            Filter::Combine(mut filters) => {
                filters.push(other);
                Filter::Combine(filters)
            }
            first => Filter::Combine(vec![first, other]),
        }
    }
}
