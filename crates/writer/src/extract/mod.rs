//! Extracts nodes into a directory.
//!
//! Nodes come in canonical order; who takes the next ones makes the directories among them, so that
//! a directory is there before anything is put into it. The rest is done by workers, many entries
//! at a time. A directory gets its attributes when nothing is left to be put into it, because its
//! permissions may forbid that and its time would change; so what is kept in memory is the
//! directories that are open, not the tree.

mod batches;
mod directory;
mod entry;
mod file;
mod links;
mod place;
mod settings;

use crate::Problem;
use batches::{Batch, Batches};
use entry::Worker;
use hedgerow_engine::{run_ordered, Execution, Window};
use hedgerow_fs::Dir;
use hedgerow_tree::{Node, NodeError};
use links::Links;
use settings::Settings;
use std::sync::atomic::{AtomicU64, Ordering};

/// Batches between the first that is not done and the last that is, counted as 256 bytes each:
/// a large file may hold up what is told, but not the others.
const WINDOW: Window = Window { bytes: 64 << 20 };

/// How nodes are extracted.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// Workers, and what ends the run early.
    pub execution: Execution,
    /// Entries get their owners.
    pub owners: bool,
    /// Entries are setuid and setgid also if they do not get their owners.
    pub setuid_anyway: bool,
    /// Device files are made; otherwise each is an entry that fails.
    pub devices: bool,
    /// Which extended attributes entries get.
    pub xattrs: XattrRule,
    /// Entries get their permissions; otherwise those that new files and directories have.
    pub permissions: bool,
    /// Entries get their times.
    pub times: bool,
    /// What is in the place of an entry is replaced, except for directories that are not empty;
    /// until the new entry is whole, the old one is there. Otherwise it is in the way.
    pub replace: bool,
    /// The root gets the attributes of the nodes' root.
    pub root_attributes: bool,
}

/// Which extended attributes entries get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XattrRule {
    /// None.
    None,
    /// Those in `user.`, which anybody may set.
    User,
    /// All.
    All,
}

/// What was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Entries that are there, without the root.
    pub entries: u64,
    /// Bytes of their contents, holes included.
    pub bytes: u64,
    /// Entries that failed, and directories whose attributes did.
    pub failed: u64,
}

/// An entry that could not be extracted, or not with all its attributes.
#[derive(Debug)]
pub struct Failed {
    /// Its path below the root, if it is known.
    pub path: Option<Vec<u8>>,
    /// Why.
    pub problem: Problem,
}

/// Why extracting ended early. What is complete by then stays.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The nodes' source cannot be read any further.
    #[error(transparent)]
    Source(NodeError),
    /// There is no room for more.
    #[error("{problem}")]
    Full {
        /// The path of the entry that did not fit.
        path: Vec<u8>,
        /// What the system said.
        problem: Problem,
    },
    /// The root cannot be looked at.
    #[error(transparent)]
    Root(hedgerow_fs::Error),
    /// A worker panicked: a defect of this program.
    #[error("internal error: {0}")]
    Panicked(String),
}

/// Makes the entries of `nodes`, which come in canonical order, below `root`, and tells `tell` of
/// those that fail, on the calling thread and in the order of the nodes; the others are finished.
///
/// A file is there as a whole or not at all. When the run ends early, directories that were being
/// filled have not got their attributes.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract(
    root: &Dir,
    nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
    options: &ExtractOptions,
    mut tell: impl FnMut(Failed),
) -> Result<Extracted, ExtractError> {
    let run = Run {
        root,
        settings: Settings::of(root, options).map_err(ExtractError::Root)?,
        links: Links::default(),
        entries: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    };
    let mut failed = 0;
    let ran = run_ordered(
        &options.execution.options("extract"),
        WINDOW,
        Batches::new(&run, nodes),
        |_| Worker::default(),
        |worker, batch: Batch| run.work(worker, batch),
        |_, failures: Vec<Failed>| {
            failed += failures.len() as u64;
            failures.into_iter().for_each(&mut tell);
            Ok(())
        },
    );
    use hedgerow_engine::Failure;
    match ran {
        Ok(_) => Ok(Extracted {
            entries: run.entries.into_inner(),
            bytes: run.bytes.into_inner(),
            failed,
        }),
        Err(Failure::Cancelled) => Err(ExtractError::Cancelled),
        Err(Failure::Failed(error)) => Err(error),
        Err(Failure::Panicked(message)) => Err(ExtractError::Panicked(message)),
    }
}

/// What all workers share.
struct Run<'r> {
    root: &'r Dir,
    settings: Settings,
    links: Links,
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Run<'_> {
    fn count(&self, bytes: u64) {
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.settings.cancel.is_cancelled()
    }
}
