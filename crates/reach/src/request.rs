//! The parameters of a walk.

use crate::Filter;
use gix_hash::ObjectId;

/// An object that a walk starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The object as it was named: a tag is not peeled yet.
    pub id: ObjectId,
    /// Whether what it reaches is excluded.
    pub is_uninteresting: bool,
    /// Whether it is the left side of `A...B`.
    pub is_left: bool,
    /// Its path, if it is a tree or a blob named by one.
    pub path: Vec<u8>,
    /// The name as the user gave it, for messages; empty if that is the id.
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
            name: String::new(),
        }
    }

    /// What messages call it.
    pub(crate) fn shown_name(&self) -> String {
        if self.name.is_empty() {
            self.id.to_string()
        } else {
            self.name.clone()
        }
    }
}

/// The order of commits in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are met, newest first.
    #[default]
    Met,
    /// No parent before its children, and without mixing lines of history.
    Topological,
    /// No parent before its children, otherwise newest first.
    Date,
}

/// How to handle missing objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Fail.
    #[default]
    Error,
    /// Continue.
    Allow,
    /// Continue, and report them.
    Collect,
    /// Continue if the remote of a partial clone has promised the object, else fail.
    AllowPromised,
}

/// Which objects besides commits to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objects {
    /// None.
    #[default]
    None,
    /// The objects of the returned commits, except those that the adjacent uninteresting commits
    /// have.
    All,
    /// The same, and those uninteresting commits, as edges.
    WithEdges,
}

/// A request for a walk.
#[derive(Clone, Debug)]
pub struct Request {
    /// The objects to start from.
    pub tips: Vec<Tip>,
    /// Which objects besides commits to return.
    pub objects: Objects,
    /// Filter for the objects that are not tips.
    pub filter: Option<Filter>,
    /// Whether the filter applies to the tips, too.
    pub filter_tips: bool,
    /// Whether to report what the filter left out.
    pub keep_omitted: bool,
    /// Return the objects of each commit after it, instead of all objects after all commits.
    pub in_commit_order: bool,
    /// The order of commits.
    pub order: Order,
    /// Return the last commits first.
    pub is_reversed: bool,
    /// Maximum number of commits.
    pub max_count: Option<u64>,
    /// Number of commits to skip first.
    pub skip: u64,
    /// Older commits end the walk; in seconds since the epoch.
    pub not_before: Option<u64>,
    /// Newer commits are skipped; in seconds since the epoch.
    pub not_after: Option<u64>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// Skip commits with fewer parents.
    pub min_parents: usize,
    /// Skip commits with more parents.
    pub max_parents: Option<usize>,
    /// Return the commits where the walk ended, marked as boundary.
    pub boundary: bool,
    /// Return only commits reached from this side of `A...B`.
    pub side: Option<Side>,
    /// Return only the tips, without following parents, in this order.
    pub no_walk: Option<NoWalk>,
    /// How to handle missing objects.
    pub missing: Missing,
    /// Do not enter objects promised by the remote of a partial clone; they may be absent.
    pub exclude_promised: bool,
    /// Skip commits that are in packs, with their trees.
    pub only_unpacked: bool,
    /// Maximum depth of nested trees; deeper ones are an error.
    pub tree_depth: usize,
    /// Number of threads that may read the tips, if there are many.
    pub threads: usize,
}

/// A side of `A...B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What only A reaches.
    Left,
    /// What only B reaches.
    Right,
}

/// The order of tips without a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWalk {
    /// Newest first.
    Sorted,
    /// As given.
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
            threads: 1,
        }
    }
}

impl Request {
    /// Whether only commits are wanted.
    pub(crate) fn only_commits(&self) -> bool {
        self.objects == Objects::None
    }
}
