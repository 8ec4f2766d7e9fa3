//! The cache tree (`TREE`): the directories of the index whose entries equal a tree in the object
//! database. Writing or comparing trees can skip those directories.

mod build;
mod format;

use super::entry::{Entry, PathRange};
use super::{order_to_children, Index};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;
use std::cmp::Ordering;
use std::ops::Range;

/// The cache tree of an index.
///
/// The nodes are one list, each followed by all nodes below it, siblings ordered by the length of
/// their names, then by bytes, as in the file. Nothing recurses, so even hostile nesting cannot
/// exhaust the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheTree {
    /// Never empty: the first is the root.
    nodes: Vec<Node>,
    names: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    name: PathRange,
    /// `None` if the node is invalid.
    entry_count: Option<u32>,
    /// Null if the node is invalid.
    id: ObjectId,
    /// The position after the last node below this one.
    end: u32,
}

/// One directory of a [`CacheTree`].
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a> {
    tree: &'a CacheTree,
    at: usize,
}

impl<'a> Directory<'a> {
    /// The last component of its path; empty for the root.
    pub fn name(&self) -> &'a BStr {
        self.tree.name(self.at)
    }

    /// The number of index entries below it, at any depth; `None` if it changed since its tree was
    /// last known.
    pub fn entry_count(&self) -> Option<u32> {
        self.tree.nodes[self.at].entry_count
    }

    /// The id of its tree, unless it changed.
    pub fn id(&self) -> Option<&'a ObjectId> {
        let node = &self.tree.nodes[self.at];
        node.entry_count.map(|_| &node.id)
    }

    /// The directories in it, ordered by the length of their names, then by bytes.
    pub fn children(&self) -> impl Iterator<Item = Directory<'a>> {
        let tree = self.tree;
        let positions = tree.children(self.at);
        positions.map(move |at| Directory { tree, at })
    }
}

impl CacheTree {
    /// The root directory.
    pub fn root(&self) -> Directory<'_> {
        Directory { tree: self, at: 0 }
    }

    /// The id of the tree of the whole index, if known.
    pub fn root_id(&self) -> Option<&ObjectId> {
        self.root().id()
    }

    /// Records that the entry at `path` was changed, added or removed: its ancestor directories
    /// become invalid, and a directory with exactly this name is removed.
    pub fn invalidate_path(&mut self, path: &BStr) {
        let mut leading = vec![0];
        let mut components = path.split_str("/").peekable();
        while let Some(name) = components.next() {
            let parent = *leading.last().expect("the root leads to everything");
            let child = self.children(parent).find(|&at| self.name(at) == name);
            match child {
                Some(at) if components.peek().is_some() => leading.push(at),
                Some(at) => self.remove(at, &leading),
                None => break,
            }
        }
        for at in leading {
            let node = &mut self.nodes[at];
            node.entry_count = None;
            node.id = node.id.kind().null();
        }
    }

    /// Whether the entry counts of all valid directories agree with `index`. Counts read from a
    /// file may be wrong; check this before skipping entries by them.
    pub fn fits(&self, index: &Index) -> bool {
        let is_whole = |count| count as usize == index.entries().len();
        if !self.nodes[0].entry_count.is_none_or(is_whole) {
            return false;
        }
        // The directories around a node: where their nodes end, their rows, and how long their paths are.
        let mut open = vec![(self.nodes[0].end as usize, 0..index.entries().len(), 0)];
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            while open.last().is_some_and(|&(end, ..)| end <= at) {
                open.pop();
            }
            let Some((_, around, depth)) = open.last() else {
                return false;
            };
            let name = self.name(at);
            let Some(rows) = rows_in(index, around, *depth, name, node.entry_count) else {
                return false;
            };
            let depth = depth + name.len() + 1;
            open.push((node.end as usize, rows, depth));
        }
        true
    }

    fn name(&self, at: usize) -> &BStr {
        self.names[self.nodes[at].name.as_range()].as_bstr()
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[parent].end as usize;
        let mut next = parent + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.nodes[child].end as usize;
            Some(child)
        })
    }

    /// Removes the node `at` with everything below it and corrects the end positions of `leading`,
    /// its ancestors; all later nodes move to the front by as many positions.
    fn remove(&mut self, at: usize, leading: &[usize]) {
        let removed = self.nodes[at].end - at as u32;
        self.nodes.drain(at..at + removed as usize);
        for node in self.nodes.iter_mut().skip(at) {
            node.end -= removed;
        }
        for &position in leading {
            self.nodes[position].end -= removed;
        }
    }

    /// The same tree with all siblings in order, and all names in node order.
    fn sorted(&self) -> CacheTree {
        let mut sorted = CacheTree {
            nodes: Vec::with_capacity(self.nodes.len()),
            names: Vec::with_capacity(self.names.len()),
        };
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            let node = self.nodes[at];
            let name = PathRange {
                start: sorted.names.len() as u32,
                len: node.name.len,
            };
            let end = sorted.nodes.len() as u32 + (node.end - at as u32);
            sorted.nodes.push(Node { name, end, ..node });
            sorted.names.extend_from_slice(self.name(at));
            let first = waiting.len();
            waiting.extend(self.children(at));
            let key = |&at: &usize| (self.name(at).len(), self.name(at));
            waiting[first..].sort_unstable_by(|a, b| key(b).cmp(&key(a)));
        }
        sorted
    }
}

/// The rows of the directory `name` among the rows `around` of the directory it is in, whose paths, with
/// their slashes, are `depth` bytes long; `None` if they are not `count`.
fn rows_in(
    index: &Index,
    around: &Range<usize>,
    depth: usize,
    name: &BStr,
    count: Option<u32>,
) -> Option<Range<usize>> {
    let rows = &index.entries()[around.clone()];
    let order = |entry: &Entry| {
        let below = index.path(entry).get(depth..).unwrap_or_default();
        order_to_children(below.as_bstr(), name)
    };
    let start = rows.partition_point(|entry| order(entry) == Ordering::Less);
    let end = match count {
        // To be sure of a number takes two looks; to find it takes many.
        Some(count) => {
            let end = start.checked_add(count as usize)?;
            let is_in = |at: usize| rows.get(at).is_some_and(|entry| order(entry).is_eq());
            if is_in(end) || (count > 0 && !is_in(end - 1)) {
                return None;
            }
            end
        }
        None => start + rows[start..].partition_point(|entry| order(entry).is_eq()),
    };
    Some(around.start + start..around.start + end)
}

impl Index {
    /// Its cache tree, if it has one.
    pub fn cache_tree(&self) -> Option<&CacheTree> {
        self.extensions.cache_tree.as_ref()
    }

    /// Its cache tree, to invalidate paths in.
    pub fn cache_tree_mut(&mut self) -> Option<&mut CacheTree> {
        self.extensions.cache_tree.as_mut()
    }

    /// Sets or removes the cache tree, which must match this index.
    pub fn set_cache_tree(&mut self, tree: Option<CacheTree>) {
        self.extensions.cache_tree = tree;
    }
}

#[cfg(test)]
mod tests;
