//! Resolves hard links.
//!
//! A link refers to the member that has the target's path when the link occurs, as if the archive
//! were unpacked. If there is none yet, it refers to the first one that follows.

use super::index::{Entry, IndexBuilder};
use super::names::Span;
use crate::MemberKind;
use hedgerow_tree::{split_path, NodeKind};

/// The target of a resolved link.
pub(super) enum Linked {
    /// The entry with this number, which is not a link.
    To(u32),
    /// The target does not exist. `data` is still its path.
    Nowhere,
    /// The target is a directory. `data` is still its path.
    Directory,
}

/// The state of a link, stored in `size_bytes`, which links do not need otherwise.
const UNRESOLVED: u64 = 0;
const UNDER_WAY: u64 = 1;
const FOUND: u64 = 2;
const NOWHERE: u64 = 3;
const DIRECTORY: u64 = 4;

impl Entry {
    /// The target of a resolved hard link.
    pub(super) fn linked_to(&self) -> Linked {
        match self.size_bytes {
            FOUND => Linked::To(self.data as u32),
            DIRECTORY => Linked::Directory,
            _ => Linked::Nowhere,
        }
    }
}

/// Resolves all links. `order` contains all members, including replaced ones.
pub(super) fn resolve(index: &mut IndexBuilder, order: &[u32]) {
    let mut chain = Vec::new();
    for first in 0..index.entries.len() as u32 {
        let mut at = first;
        // A link may refer to another link; all links of a chain get the same target.
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

/// The member to which a link refers, which may be another link.
fn target(index: &IndexBuilder, order: &[u32], link: u32) -> Option<u32> {
    let path = Span::from_word(index.entries[link as usize].data);
    let (directory, name) = split_path(index.arena.get(path));
    let directory = index.directories.find_path(&index.arena, directory)?;
    let named = index.called(order, directory, name);
    let (earlier, later) = named.split_at(named.partition_point(|at| *at < link));
    let later = later.iter().find(|at| **at != link);
    earlier.last().or(later).copied()
}

/// Marks entries that have several names. `order` contains only the members that are not replaced.
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
