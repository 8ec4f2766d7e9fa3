//! A tree as a source of nodes with the contents, permissions and owners that a checkout gives them.

use super::batch::{self, Batcher, Item};
use super::content::Shared;
use super::source::Source;
use super::walk::Selection;
use super::{listed, ArchiveOptions, Archived, Nodes};
use crate::repository::{Commit, Repository};
use crate::worktree::sparse::SparsePatterns;
use crate::Result;
use bstr::BString;
use gix_hash::ObjectId;
use hedgerow_engine::CancelToken;
use hedgerow_tree::{EntryKind, Node, NodeKind};
use std::sync::Arc;

/// A tree to check out into something that is no directory.
#[derive(Clone)]
pub(crate) struct CheckedOut<'a> {
    /// The tree.
    pub tree: ObjectId,
    /// The commit that filters are told.
    pub commit: Option<Commit>,
    /// The full name of the reference that filters are told.
    pub reference: Option<BString>,
    /// The time of all entries, in seconds since 1970.
    pub mtime_s: i64,
    /// Owner and group of all entries.
    pub owner: (u32, u32),
    /// The permissions that files do not get.
    pub umask: u32,
    /// Directories hand their group on, as the one does in which they are made.
    pub set_group: bool,
    /// What a sparse checkout leaves out.
    pub sparse: Option<Arc<SparsePatterns>>,
    /// Cancels the listing.
    pub cancel: &'a CancelToken,
}

/// Lists the tree of `checkout` for `consume`, which receives its nodes in canonical order, the root
/// first. Contents are those that a checkout into an empty directory writes: attributes come from the
/// tree, filters and other conversions are applied, and submodules are empty directories.
///
/// # Errors
/// As [`nodes_of_commit`](super::nodes_of_commit).
pub(crate) fn nodes_of_checkout<T>(
    repository: &Repository,
    checkout: &CheckedOut<'_>,
    consume: impl FnOnce(Nodes) -> T,
) -> Result<Archived<T>> {
    let options = ArchiveOptions {
        as_checkout: true,
        cancel: checkout.cancel.clone(),
        ..ArchiveOptions::default()
    };
    let selection = Selection {
        sparse: checkout.sparse.clone(),
        ..Selection::default()
    };
    let source = Source::of_checkout(checkout);
    let shared = Arc::new(Shared::new(repository, &source, &options)?);
    let batcher = Batcher::new(repository, &shared, &source, &options, selection)?;
    let owned = |node: Node| Node {
        uid: checkout.owner.0,
        gid: checkout.owner.1,
        ..node
    };
    let root = Node {
        mode: source.mode(EntryKind::Directory),
        mtime_s: checkout.mtime_s,
        ..owned(batch::root(&shared, repository.hash_kind()))
    };
    let has_links = repository.settings().symlinks;
    let mode = source.mode(EntryKind::File);
    let node = |item: Item| match item.kind {
        EntryKind::Symlink if !has_links => owned(Node {
            kind: NodeKind::File,
            mode,
            ..item.into_node()
        }),
        _ => owned(item.into_node()),
    };
    let outcome = listed(batcher, &shared, &options.cancel, Some(root), node, consume)?;
    Ok(Archived {
        outcome,
        warnings: shared.finish(),
        filter_failure: shared.filters.failure(),
    })
}
