//! Filters of objects: which of those that are reachable are left out (the option `--filter` of
//! git-rev-list(1)).

mod named;
mod parse;
mod state;

pub(crate) use named::{not_spared, skips_trees};
pub(crate) use state::{FilterState, Situation, Verdict};

use hedgerow_pack::ObjectKind;

/// A filter: what it says of an object depends on the object's kind, size, and depth below the
/// tree of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// `blob:none`: no blobs.
    BlobNone,
    /// `blob:limit=N`: no blobs of that many bytes or more.
    BlobLimit(u64),
    /// `tree:N`: no trees and blobs that deep or deeper; the tree of a commit has the depth 0.
    TreeDepth(u64),
    /// `object:type=KIND`: nothing of another kind.
    Kind(ObjectKind),
    /// `combine:A+B`: what all of these let through.
    Combine(Vec<Filter>),
}

impl Filter {
    /// The filter that lets through what both do: what git makes of the option given twice.
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
