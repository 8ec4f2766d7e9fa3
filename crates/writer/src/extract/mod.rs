//! Extracts nodes into a directory.
//!
//! Nodes come in canonical order. The worker that takes the next nodes creates the directories
//! among them, so a directory exists before anything is put into it. All other entries are
//! extracted in parallel. A directory gets its attributes when it is complete, because its
//! permissions may forbid new entries and its modification time would change. So only the open
//! directories are kept in memory, not the whole tree. If it could not be entered any more then, and has
//! the first name of a file with several names, it waits until all links are made.

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

/// How far batches may be completed ahead of the first unfinished one; a batch counts as 256 bytes.
/// A large file may delay reports, but not other entries.
const WINDOW: Window = Window { bytes: 64 << 20 };

/// How nodes are extracted.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// Workers, progress and cancellation.
    pub execution: Execution,
    /// Whether entries get their owners.
    pub owners: bool,
    /// Whether entries become setuid and setgid even if they do not get their owners.
    pub setuid_anyway: bool,
    /// Whether device files are created; if not, each of them is a failed entry.
    pub devices: bool,
    /// Which extended attributes entries get.
    pub xattrs: XattrRule,
    /// Whether entries get their permissions; if not, they get those of new files and directories.
    pub permissions: bool,
    /// Whether entries get their modification times.
    pub times: bool,
    /// Whether existing entries are replaced, except for nonempty directories. The old entry stays
    /// until the new one is complete. If not, an existing entry is a collision.
    pub replace: bool,
    /// Whether the root gets the attributes of the root node.
    pub root_attributes: bool,
}

/// Which extended attributes entries get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XattrRule {
    /// None.
    None,
    /// Only those in `user.`, which every user may set.
    User,
    /// All.
    All,
}

/// The result of an extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Number of extracted entries, without the root.
    pub entries: u64,
    /// Size of their contents in bytes, including holes.
    pub bytes: u64,
    /// Number of entries that failed, including directories whose attributes could not be set.
    pub failed: u64,
}

/// An entry that could not be extracted, or not with all its attributes.
#[derive(Debug)]
pub struct Failed {
    /// Its path below the root, if it is known.
    pub path: Option<Vec<u8>>,
    /// The reason.
    pub problem: Problem,
}

/// Why an extraction ended early. Completed entries stay.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// The source of the nodes cannot be read any further.
    #[error(transparent)]
    Source(NodeError),
    /// The file system is full.
    #[error("{problem}")]
    Full {
        /// The path of the entry that did not fit.
        path: Vec<u8>,
        /// The system's message.
        problem: Problem,
    },
    /// The root cannot be examined.
    #[error(transparent)]
    Root(hedgerow_fs::Error),
    /// A worker panicked: a defect of this program.
    #[error("internal error: {0}")]
    Panicked(String),
}

/// Creates the entries of `nodes`, which come in canonical order, below `root`. Calls `tell` for
/// each failed entry, on the calling thread and in the order of the nodes; the other entries are
/// completed.
///
/// A file exists completely or not at all. If the run ends early, directories that were being
/// filled do not have their attributes.
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
    if ran.is_ok() {
        let mut failures = Vec::new();
        for directory in run.links.release() {
            run.let_go(directory, &mut failures);
        }
        failed += failures.len() as u64;
        failures.into_iter().for_each(&mut tell);
    }
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

/// The state shared by all workers.
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
