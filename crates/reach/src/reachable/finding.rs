//! A set of objects under construction, and the remaining work.

use super::set::{Extra, ObjectSet};
use super::tips::BitmapUse;
use super::trees::Pending;
use crate::commits::{CommitIndex, Commits};
use crate::met_trees::PathKey;
use crate::name_hash::NameHash;
use crate::Filter;
use gix_hash::ObjectId;
use hedgerow_pack::{Bitmaps, ObjectKind};
use std::collections::BinaryHeap;

/// The parameters of a search.
#[derive(Clone, Copy, Default)]
pub(super) struct Aim<'f, 'b, 's> {
    /// Whether the trees of commits are walked.
    pub needs_trees: bool,
    /// Objects that need not be found; most of them will not be.
    pub had: Option<&'f ObjectSet<'b, 's>>,
    /// The filter that is applied later to all objects but the ends of tips.
    pub filter: Option<&'f Filter>,
}

/// The set under construction, with its queues.
pub(super) struct Finding<'f, 'b, 's> {
    pub set: ObjectSet<'b, 's>,
    pub aim: Aim<'f, 'b, 's>,
    /// Commits that no bitmap includes, the newest on top.
    pub queue: BinaryHeap<(u64, std::cmp::Reverse<CommitIndex>)>,
    /// Trees whose entries have not been added yet.
    pub trees: Vec<Pending>,
    /// The named trees and blobs, in the order of their names.
    pub named: Vec<(ObjectId, ObjectKind)>,
    /// Whether missing objects are ignored.
    pub missing_ok: bool,
    pub used: BitmapUse,
}

impl<'f, 'b, 's> Finding<'f, 'b, 's> {
    pub fn new(aim: Aim<'f, 'b, 's>, bitmaps: Option<&'b Bitmaps<'s>>, missing_ok: bool) -> Self {
        Finding {
            set: ObjectSet::new(bitmaps),
            aim,
            queue: BinaryHeap::new(),
            trees: Vec::new(),
            named: Vec::new(),
            missing_ok,
            used: BitmapUse::default(),
        }
    }

    /// Whether the commit `id` need not be walked.
    pub fn is_known(&self, id: &ObjectId) -> bool {
        self.set.contains(id) || self.aim.had.is_some_and(|set| set.contains(id))
    }

    pub fn push(&mut self, commits: &Commits<'_>, index: CommitIndex) {
        let seconds = commits.node(index).seconds;
        self.queue.push((seconds, std::cmp::Reverse(index)));
    }
}

/// An object without a path.
pub(super) fn plain(id: ObjectId, kind: ObjectKind) -> Extra {
    Extra {
        id,
        kind,
        name_hash: 0,
    }
}

/// A tree without a path.
pub(super) fn root(id: ObjectId) -> Pending {
    Pending {
        id,
        path: NameHash::default(),
        key: PathKey::default(),
        depth: 0,
        like: None,
    }
}
