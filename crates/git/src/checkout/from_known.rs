//! What makes an index another tree.

use super::session::Session;
use super::transition::kind;
use crate::index::Index;
use crate::status::{staged_within, Version};
use crate::tree::{Difference, Enters, Side};
use crate::worktree::known_tree;
use crate::Result;
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;

/// What makes an index the tree `new`, and whether it is the whole tree: all of it if the index is not
/// known to equal a tree, else what differs.
///
/// The cache tree is asked about directories that differ from those of `new`, not about the top, and its
/// trees are not read: as in git, a wrong one that is not the wanted one is harmless. Directories to which
/// `enters` says no are not looked into.
pub(super) fn changes_from(
    session: &Session<'_>,
    index: &Index,
    new: Option<ObjectId>,
    enters: Option<Enters<'_>>,
) -> Result<(Difference, bool)> {
    let (repository, engine) = (session.repository, session.engine());
    if known_tree(repository, index).is_none() {
        let whole = Difference::within(repository, None, new, (session.names(), enters), &engine)?;
        return Ok((whole, true));
    }
    let side = |version: Version| Side {
        kind: kind(version.mode),
        id: version.id,
    };
    let found = staged_within(repository, index, new, enters, &engine)?;
    let changed = found.changes.iter().map(|change| {
        let (old, new) = (change.index.map(side), change.head.map(side));
        (change.path.as_bstr(), old, new)
    });
    let unmerged = found.unmerged.iter();
    let unmerged = unmerged.map(|(path, version)| (path.as_bstr(), None, Some(side(*version))));
    let mut changes: Vec<(&BStr, _, _)> = changed.chain(unmerged).collect();
    changes.sort_by_key(|(path, ..)| *path);
    Ok((Difference::of(changes.into_iter()), false))
}
