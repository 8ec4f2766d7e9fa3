//! What hard links lead to.
//!
//! A link is another name of the member that had the target's name when the link came, as it would
//! be if the archive were unpacked; if none had, of the first that came later.

use super::index::{Entry, IndexBuilder};
use super::names::Span;
use crate::MemberKind;
use hedgerow_tree::{split_path, NodeKind};

/// What a resolved link leads to.
pub(super) enum Linked {
    /// The entry of that number, which is no link.
    To(u32),
    /// Nothing. Its `data` is still the path that it names.
    Nowhere,
    /// A directory, likewise.
    Directory,
}

/// A resolved link has one of these in its `size_bytes`, which links have no other use for.
const UNRESOLVED: u64 = 0;
const UNDER_WAY: u64 = 1;
const FOUND: u64 = 2;
const NOWHERE: u64 = 3;
const DIRECTORY: u64 = 4;

impl Entry {
    /// Of a resolved hard link, what it leads to.
    pub(super) fn linked_to(&self) -> Linked {
        match self.size_bytes {
            FOUND => Linked::To(self.data as u32),
            DIRECTORY => Linked::Directory,
            _ => Linked::Nowhere,
        }
    }
}

/// Resolves all links. `order` has all members, replaced ones too.
pub(super) fn resolve(index: &mut IndexBuilder, order: &[u32]) {
    let mut chain = Vec::new();
    for first in 0..index.entries.len() as u32 {
        let mut at = first;
        // Links may lead to links: what the last one finds is what all of them lead to.
        let found = loop {
            let entry = &mut index.entries[at as usize];
            match (entry.kind, entry.size_bytes) {
                (MemberKind::HardLink, UNRESOLVED) => entry.size_bytes = UNDER_WAY,
                (MemberKind::HardLink, FOUND) => break (FOUND, Some(entry.data)),
                (MemberKind::HardLink, DIRECTORY) => break (DIRECTORY, None),
                (MemberKind::HardLink, _) => break (NOWHERE, None),
                (MemberKind::Node(NodeKind::Directory), _) => break (DIRECTORY, None),
                (MemberKind::Node(_), _) => break (FOUND, Some(u64::from(at))),
            }
            chain.push(at);
            match target(index, order, at) {
                Some(next) => at = next,
                None => break (NOWHERE, None),
            }
        };
        for link in chain.drain(..) {
            let entry = &mut index.entries[link as usize];
            entry.size_bytes = found.0;
            entry.data = found.1.unwrap_or(entry.data);
        }
    }
}

/// The member that a link names.
fn target(index: &IndexBuilder, order: &[u32], link: u32) -> Option<u32> {
    let path = Span::from_word(index.entries[link as usize].data);
    let (directory, name) = split_path(index.arena.get(path));
    let directory = index.directories.find_path(&index.arena, directory)?;
    let named = index.called(order, directory, name);
    let (earlier, later) = named.split_at(named.partition_point(|at| *at < link));
    let later = later.iter().find(|at| **at != link);
    earlier.last().or(later).copied()
}

/// Marks what has several names. `order` has only what counts.
pub(super) fn mark(entries: &mut [Entry], order: &[u32]) {
    for at in order {
        let entry = &entries[*at as usize];
        if entry.kind != MemberKind::HardLink {
            continue;
        }
        if let Linked::To(target) = entry.linked_to() {
            entries[target as usize].is_linked = true;
        }
    }
}
