//! Marks the objects of uninteresting commits as far as needed: the trees of those adjacent to
//! wanted commits.

use super::Walk;
use crate::commits::{flag, CommitIndex, State};
use crate::marks::mark;
use crate::request::Objects;
use crate::Result;
use gix_hash::ObjectId;
use hedgerow_object::TreeEntries;
use hedgerow_pack::ObjectKind;
use std::collections::VecDeque;

impl Walk<'_> {
    /// Marks the trees of the uninteresting commits of `list`, and of the uninteresting parents of
    /// the others.
    pub(super) fn mark_edges(&mut self, list: &VecDeque<CommitIndex>) -> Result<()> {
        if self.request.objects == Objects::None {
            return Ok(());
        }
        for commit in list.iter().copied() {
            if self.commits.has(commit, flag::UNINTERESTING) {
                self.mark_commit_tree(commit)?;
                continue;
            }
            let mut number = 0;
            while let Some(parent) = self.commits.parent(commit, number) {
                number += 1;
                if !self.commits.has(parent, flag::UNINTERESTING) {
                    continue;
                }
                self.mark_commit_tree(parent)?;
                let is_edge = self.request.objects == Objects::WithEdges;
                if is_edge && !self.commits.has(parent, flag::SHOWN) {
                    self.commits.node_mut(parent).flags |= flag::SHOWN;
                    self.edges.push(parent);
                }
            }
        }
        Ok(())
    }

    fn mark_commit_tree(&mut self, commit: CommitIndex) -> Result<()> {
        let node = self.commits.node(commit);
        match node.state {
            State::Read => {
                let tree = node.tree;
                self.mark_tree_uninteresting(tree)
            }
            _ => Ok(()),
        }
    }

    fn mark_tree_uninteresting(&mut self, tree: ObjectId) -> Result<()> {
        let before = self.marks.replace(&tree, mark::UNINTERESTING | mark::TREE);
        match before & mark::UNINTERESTING {
            0 => self.mark_tree_contents_uninteresting(&tree),
            _ => Ok(()),
        }
    }

    /// Marks everything in `tree`. A tree that cannot be read is ignored: it is not wanted anyway.
    pub(super) fn mark_tree_contents_uninteresting(&mut self, tree: &ObjectId) -> Result<()> {
        let mut pending = vec![*tree];
        while let Some(tree) = pending.pop() {
            let Ok(Some(content)) = self.trees.read(&tree) else {
                continue;
            };
            let mut entries = TreeEntries::new(&content, tree.kind());
            while let Ok(Some(entry)) = entries.next_entry() {
                let Some(kind) = entry.object_kind() else {
                    continue;
                };
                let id = entry.id.to_owned();
                let before = self
                    .marks
                    .replace(&id, mark::UNINTERESTING | mark::of(kind));
                if kind == ObjectKind::Tree && before & mark::UNINTERESTING == 0 {
                    pending.push(id);
                }
            }
        }
        Ok(())
    }
}
