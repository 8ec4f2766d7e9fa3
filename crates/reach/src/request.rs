//! What is asked for.

use crate::Filter;
use gix_hash::ObjectId;

/// An object that a walk starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The object, as it was named: a tag is not followed yet.
    pub id: ObjectId,
    /// Whether what it reaches is not wanted.
    pub is_uninteresting: bool,
    /// Whether it is the left side of `A...B`.
    pub is_left: bool,
    /// Where it is, if it is a tree or a blob that was named by a path.
    pub path: Vec<u8>,
    /// How it was named, for messages.
    pub name: String,
}

impl Tip {
    /// A tip that was named by its id.
    pub fn new(id: ObjectId, is_uninteresting: bool) -> Self {
        Tip {
            id,
            is_uninteresting,
            is_left: false,
            path: Vec::new(),
            name: id.to_string(),
        }
    }
}

/// The order that commits are given out in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are met, newest first.
    #[default]
    Met,
    /// No parent before its children, and lines of history not mixed.
    Topological,
    /// No parent before its children, else newest first.
    Date,
}

/// What to do about objects that are nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Fail.
    #[default]
    Error,
    /// Go on.
    Allow,
    /// Go on, and tell which they are.
    Collect,
    /// Go on where the remote of a partial clone has promised the object, else fail.
    AllowPromised,
}

/// Which objects beside commits are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objects {
    /// None.
    #[default]
    None,
    /// Those of the commits that are given out, as far as the uninteresting commits next to them
    /// do not have them.
    All,
    /// The same, and those uninteresting commits, as edges.
    WithEdges,
}

/// A question.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to start from.
    pub tips: Vec<Tip>,
    /// Which objects beside commits.
    pub objects: Objects,
    /// What is left out of the objects that were not named as tips.
    pub filter: Option<Filter>,
    /// Whether the filter applies to the tips, too.
    pub filter_tips: bool,
    /// Whether to tell what the filter left out.
    pub keep_omitted: bool,
    /// Give out the objects of each commit after it, not all objects after all commits.
    pub in_commit_order: bool,
    /// The order of commits.
    pub order: Order,
    /// Last ones first.
    pub is_reversed: bool,
    /// How many commits at most.
    pub max_count: Option<u64>,
    /// How many commits are passed over first.
    pub skip: u64,
    /// Commits that are older, in seconds since the epoch, end the walk.
    pub not_before: Option<u64>,
    /// Commits that are newer are passed over.
    pub not_after: Option<u64>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// Pass over commits with fewer parents.
    pub min_parents: usize,
    /// Pass over commits with more parents.
    pub max_parents: Option<usize>,
    /// Give out the commits where the walk ended, marked.
    pub boundary: bool,
    /// Give out only commits reached from this side of `A...B`.
    pub side: Option<Side>,
    /// Give out the tips alone: follow no parents. `sorted`: newest first.
    pub no_walk: Option<NoWalk>,
    /// What to do about missing objects.
    pub missing: Missing,
    /// Objects that the remote of a partial clone has promised are not entered, and need not be
    /// there.
    pub exclude_promised: bool,
    /// Pass over commits that are in packs, with their trees.
    pub only_unpacked: bool,
    /// Trees within trees deeper than this are refused.
    pub tree_depth: usize,
}

/// A side of `A...B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What only A reaches.
    Left,
    /// What only B reaches.
    Right,
}

/// The order of tips that are not walked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWalk {
    /// Newest first.
    Sorted,
    /// As they were given.
    Unsorted,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            tips: Vec::new(),
            objects: Objects::None,
            filter: None,
            filter_tips: false,
            keep_omitted: false,
            in_commit_order: false,
            order: Order::Met,
            is_reversed: false,
            max_count: None,
            skip: 0,
            not_before: None,
            not_after: None,
            first_parent: false,
            min_parents: 0,
            max_parents: None,
            boundary: false,
            side: None,
            no_walk: None,
            missing: Missing::Error,
            exclude_promised: false,
            only_unpacked: false,
            tree_depth: 2048,
        }
    }
}

impl Request {
    /// Whether commits are all that is wanted.
    pub(crate) fn only_commits(&self) -> bool {
        self.objects == Objects::None
    }
}
