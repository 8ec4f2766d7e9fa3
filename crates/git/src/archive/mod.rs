//! A commit as a source of nodes: the entries that `git archive` would produce, without an archive.
//! git-archive(1).
//!
//! Trees are walked depth first (`walk`), entries are located in batches (`batch`), and contents
//! are read, converted and expanded on demand, on the thread that asks (`content`).

mod batch;
mod checkout;
mod content;
mod described;
mod extra;
mod facts;
mod filters;
mod mailmap;
mod pretty;
mod promised;
mod queue;
mod rules;
mod source;
mod subst;
mod tar;
mod walk;
mod write;

pub(crate) use checkout::{nodes_of_checkout, CheckedOut};
pub use write::{write_archive, ExtraFile, TarOptions};

use crate::repository::Repository;
use crate::{Error, Result};
use batch::{Batcher, Item};
use bstr::BStr;
use content::Shared;
use hedgerow_engine::{CancelToken, Options};
use hedgerow_fs::threads::start_scoped;
use hedgerow_tree::{EntryKind, Node, NodeError};
use rules::RuleMaker;
use source::Source;
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::Arc;
use walk::{Selection, Walk};

/// Number of batches of nodes that wait for the consumer.
const WAITING: usize = 1;
/// Number of entries that are counted at a time.
const COUNTED_ENTRIES: usize = 1 << 10;

/// Options for listing a commit.
#[derive(Clone, Debug, Default)]
pub struct ArchiveOptions {
    /// Attribute files in the working tree are read, and not those in the listed tree.
    pub worktree_attributes: bool,
    /// The time of the entries of a tree that was named without a commit, in seconds since the
    /// epoch.
    pub tree_mtime_s: i64,
    /// A placeholder that is not expanded here is an error, and no warning.
    pub strict_placeholders: bool,
    /// As a checkout writes it: no attribute leaves an entry out or expands placeholders, and large
    /// files are converted, too.
    pub as_checkout: bool,
    /// Cancels the listing.
    pub cancel: CancelToken,
}

/// Result of a listing.
#[derive(Debug)]
pub struct Archived<T> {
    /// The result of the consumer.
    pub outcome: T,
    /// Git's warnings: ignored attributes, encodings that cannot express a content, failures of
    /// filters that are not required.
    pub warnings: Vec<String>,
    /// The first failure of a filter that is not required, also if git has no words for it.
    pub filter_failure: Option<String>,
}

/// Lists the tree that `revision` names for `consume`, which receives its nodes in canonical order,
/// the root first. Contents are read on demand; nothing is checked out.
///
/// Modes, owners and times are those of `git archive --format=tar`; `tar.umask` and the attributes
/// `export-ignore` and `export-subst` apply. Directories without any file are left out, and
/// submodules are empty directories. Unlike with git, the whole tree is listed even from a
/// subdirectory of the working tree. The root, which has no entry in an archive, is owned by root,
/// with mode 0755 and time 0.
///
/// Files whose content is the unchanged blob have its id as [`Node::content_id`].
///
/// # Errors
/// [`Error::Revision`] and others if nothing is listed. Trees that cannot be read, or that have
/// names unfit for paths, are reported as [`NodeError::Source`] by the iterator; contents that
/// cannot be read as [`NodeError::Entry`] by the node.
pub fn nodes_of_commit<T>(
    repository: &Repository,
    revision: &BStr,
    options: &ArchiveOptions,
    consume: impl FnOnce(Nodes) -> T,
) -> Result<Archived<T>> {
    let engine = Options {
        cancel: options.cancel.clone(),
        name: "list",
        ..Options::default()
    };
    let wanted = |_| -> Result<promised::IsRead> { Ok(Box::new(|_, _| true)) };
    match promised::supply(repository, revision, options, &engine, &wanted) {
        // Each file says by itself that it cannot be read, and may be left out.
        Err(Error::MissingBlob { .. }) => {}
        done => done?,
    }
    let source = Source::resolve(repository, revision, options)?;
    let shared = Arc::new(Shared::new(repository, &source, options)?);
    let root = batch::root(&shared, repository.hash_kind());
    let batcher = Batcher::new(repository, &shared, &source, options, Selection::default())?;
    let cancel = &options.cancel;
    let outcome = listed(
        batcher,
        &shared,
        cancel,
        Some(root),
        Item::into_node,
        consume,
    )?;
    let mut warnings = source.warnings;
    warnings.extend(shared.finish());
    Ok(Archived {
        outcome,
        warnings,
        filter_failure: shared.filters.failure(),
    })
}

/// Counts the entries that [`nodes_of_commit`] lists, for a total: only trees are read.
pub struct EntryCounter<'r> {
    walk: Walk<'r>,
}

impl<'r> EntryCounter<'r> {
    /// Takes the arguments of [`nodes_of_commit`].
    ///
    /// # Errors
    /// Like [`nodes_of_commit`].
    pub fn new(
        repository: &'r Repository,
        revision: &BStr,
        options: &ArchiveOptions,
    ) -> Result<Self> {
        let source = Source::resolve(repository, revision, options)?;
        let walk = Walk::new(
            repository,
            source.tree,
            RuleMaker::new(repository, options)?,
            source.commit.is_some(),
            Selection::default(),
            options.cancel.clone(),
        );
        Ok(EntryCounter { walk: walk? })
    }

    /// The number of entries, the root included, of which `keeps` keeps what it wants by the path
    /// and whether it is a directory.
    ///
    /// # Errors
    /// A tree cannot be read, or it was cancelled.
    pub fn count(mut self, mut keeps: impl FnMut(&[u8], bool) -> bool) -> Result<u64> {
        let mut count = 1;
        loop {
            let found = self.walk.find(COUNTED_ENTRIES)?;
            if found.is_empty() {
                return Ok(count);
            }
            for entry in found {
                let is_directory = entry.kind.is_directory() || entry.kind == EntryKind::Gitlink;
                count += u64::from(keeps(&entry.path, is_directory));
            }
        }
    }
}

/// The result of `consume`, which receives `first` and then what `convert` makes of the entries
/// that a thread of its own finds.
fn listed<N: Send, T>(
    mut batcher: Batcher<'_>,
    shared: &Shared,
    cancel: &CancelToken,
    first: Option<N>,
    convert: impl Fn(Item) -> N + Send,
    consume: impl FnOnce(Entries<N>) -> T,
) -> Result<T> {
    let (sender, receiver) = sync_channel(WAITING);
    let ready: Vec<_> = first.map(Ok).into_iter().collect();
    let entries = Entries {
        receiver,
        ready: ready.into_iter(),
    };
    std::thread::scope(|threads| {
        let list = move || loop {
            match batcher.next_items() {
                Ok(items) if items.is_empty() => return,
                // The receiver is gone if the consumer has already failed.
                Ok(items) => {
                    let converted = items.into_iter().map(|item| Ok(convert(item)));
                    if sender.send(converted.collect()).is_err() {
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
        let watch = shared.filters.watch(threads, cancel);
        let outcome = consume(entries);
        drop(watch);
        lister
            .join()
            .map(|()| outcome)
            .map_err(|_| Error::Internal {
                reason: "a worker panicked while the tree was listed".into(),
            })
    })
}

/// The nodes of a tree, in canonical order, and the errors of listing it.
pub type Nodes = Entries<Node>;

/// The entries of a tree, and the errors of listing it.
pub struct Entries<N> {
    receiver: Receiver<Vec<Result<N, NodeError>>>,
    ready: std::vec::IntoIter<Result<N, NodeError>>,
}

impl<N> Iterator for Entries<N> {
    type Item = Result<N, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.ready.next() {
                return Some(entry);
            }
            self.ready = self.receiver.recv().ok()?.into_iter();
        }
    }
}
