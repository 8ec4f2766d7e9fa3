//! A commit as a source of nodes: the entries that `git archive` gives, without an archive.
//! git-archive(1).
//!
//! Trees are walked depth first (`walk`), entries are located in batches (`batch`), and contents
//! are read, converted and expanded when they are asked for, by whoever asks (`content`).

mod batch;
mod content;
mod facts;
mod filters;
mod mailmap;
mod pretty;
mod rules;
mod source;
mod subst;
mod walk;

use crate::repository::Repository;
use crate::{Error, Result};
use batch::Batcher;
use bstr::BStr;
use content::Shared;
use hedgerow_engine::CancelToken;
use hedgerow_fs::threads::start_scoped;
use hedgerow_tree::{Node, NodeError};
use source::Source;
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::Arc;

/// Lists of nodes that wait for the consumer; each has as many as are found at a time.
const WAITING: usize = 1;

/// How a commit is to be listed.
#[derive(Clone, Debug, Default)]
pub struct ArchiveOptions {
    /// Attributes files in the working tree count before those in the tree that is listed.
    pub worktree_attributes: bool,
    /// The time of entries of a tree that was named without a commit, in seconds since the epoch.
    pub tree_mtime_s: i64,
    /// Ends it.
    pub cancel: CancelToken,
}

/// What came of a listing.
#[derive(Debug)]
pub struct Archived<T> {
    /// What the consumer made of the nodes.
    pub outcome: T,
    /// What git would warn of: attributes that are ignored, encodings that cannot express a
    /// content, filters that fail but need not work.
    pub warnings: Vec<String>,
}

/// Lists the tree that `revision` names for `consume`, which gets its nodes in canonical order, the
/// root first. Contents are read when they are asked for; nothing is checked out.
///
/// Modes, owners and times are those that `git archive --format=tar` gives, `tar.umask` and the
/// attributes `export-ignore` and `export-subst` included; directories without any file are left
/// out, submodules are empty directories. Unlike there, the whole tree is listed wherever in the
/// working tree it is asked for. The root, which has no entry in an archive, is root's, with mode
/// 0755 and time 0.
///
/// Files whose content is the blob as it is have its id as [`Node::content_id`].
///
/// # Errors
/// [`Error::Revision`] and others where nothing is listed. Trees that cannot be read, or have names
/// that may not become paths, come as [`NodeError::Source`] from the iterator, contents that cannot
/// as [`NodeError::Entry`] from the node.
pub fn nodes_of_commit<T>(
    repository: &Repository,
    revision: &BStr,
    options: &ArchiveOptions,
    consume: impl FnOnce(Nodes) -> T,
) -> Result<Archived<T>> {
    let source = Source::resolve(repository, revision, options)?;
    let shared = Arc::new(Shared::new(repository, &source)?);
    let (sender, receiver) = sync_channel(WAITING);
    let nodes = Nodes {
        receiver,
        ready: Vec::new().into_iter(),
    };
    let mut batcher = Batcher::new(repository, &shared, &source, options)?;
    let outcome = std::thread::scope(|threads| {
        let list = move || loop {
            match batcher.next_nodes() {
                Ok(nodes) if nodes.is_empty() => return,
                // Nobody receives it if the consumer has failed already.
                Ok(nodes) => {
                    if sender.send(nodes).is_err() {
                        return;
                    }
                }
                Err(Error::Interrupted) => {
                    return drop(sender.send(vec![Err(NodeError::Cancelled)]));
                }
                Err(error) => return drop(sender.send(vec![Err(NodeError::source(error))])),
            }
        };
        let lister = start_scoped(threads, "list", list)?;
        let watch = shared.filters.watch(threads, &options.cancel);
        let outcome = consume(nodes);
        drop(watch);
        lister
            .join()
            .map(|()| outcome)
            .map_err(|_| Error::Internal {
                reason: "a worker panicked while the tree was listed".into(),
            })
    })?;
    let mut warnings = source.warnings;
    warnings.extend(shared.finish());
    Ok(Archived { outcome, warnings })
}

/// The nodes of a tree, in canonical order, and what could not be listed.
pub struct Nodes {
    receiver: Receiver<Vec<Result<Node, NodeError>>>,
    ready: std::vec::IntoIter<Result<Node, NodeError>>,
}

impl Iterator for Nodes {
    type Item = Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(node) = self.ready.next() {
                return Some(node);
            }
            self.ready = self.receiver.recv().ok()?.into_iter();
        }
    }
}
