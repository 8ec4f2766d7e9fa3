//! Groups nodes into batches of entries, and creates directories on the way.

use super::directory::Directory;
use super::{ExtractError, Failed, Run};
use crate::Problem;
use hedgerow_fs::Dir;
use hedgerow_tree::{split_path, Node, NodeError, NodeKind};
use std::sync::Arc;

/// Maximum number of entries in a batch.
const ENTRIES: usize = 64;
/// Approximate size of the contents in a batch, in bytes. It exceeds the size of a fragment block,
/// so that files with tails in the same fragment block are mostly in the same batch.
const BYTES: u64 = 512 << 10;

/// Entries that a worker extracts one after the other.
pub(super) struct Batch {
    pub jobs: Vec<Job>,
    /// Entries that failed before extraction.
    pub failures: Vec<Failed>,
}

/// An entry that is not a directory.
pub(super) struct Job {
    /// Its parent directory.
    pub directory: Arc<Directory>,
    pub node: Node,
    /// Whether it is another hard link to an earlier entry.
    pub is_further_name: bool,
}

/// Creates the directories among the nodes and puts the other nodes into batches.
pub(super) struct Batches<'r, N> {
    run: &'r Run<'r>,
    nodes: Option<N>,
    /// The directories from the root to the last one visited.
    open: Vec<Arc<Directory>>,
    /// The handle of the last one, once it was needed.
    handle: Option<hedgerow_fs::Result<Dir>>,
    batch: Batch,
    bytes: u64,
}

impl<'r, N: Iterator<Item = Result<Node, NodeError>>> Batches<'r, N> {
    pub fn new(run: &'r Run<'r>, nodes: N) -> Self {
        Batches {
            run,
            nodes: Some(nodes),
            open: vec![Directory::root()],
            handle: None,
            batch: Batch::empty(),
            bytes: 0,
        }
    }

    fn is_full(&self) -> bool {
        let failures = self.batch.failures.len();
        self.batch.jobs.len() + failures >= ENTRIES || self.bytes >= BYTES
    }

    fn take(&mut self) -> Batch {
        self.bytes = 0;
        std::mem::replace(&mut self.batch, Batch::empty())
    }

    fn add(&mut self, node: Node) -> Result<(), ExtractError> {
        if node.path.is_empty() {
            if self.run.settings.root_attributes && node.kind == NodeKind::Directory {
                self.root().describe(node);
            }
            return Ok(());
        }
        // Such a path cannot be reached, so `go_to` would never end.
        if node.path.split(|byte| *byte == b'/').any(<[u8]>::is_empty) {
            let problem = Problem::Content("a component of its path is empty".into());
            let path = Some(node.path);
            self.batch.failures.push(Failed { path, problem });
            return Ok(());
        }
        let parent = split_path(&node.path).0.to_vec();
        self.go_to(&parent)?;
        if node.kind == NodeKind::Directory {
            let path = node.path.clone();
            return self.enter(&path, Some(node));
        }
        let is_further_name = match node.link {
            Some(key) => !self.run.links.is_first(key),
            None => false,
        };
        self.bytes += if is_further_name { 0 } else { node.size_bytes };
        let directory = self.deepest();
        self.batch.jobs.push(Job {
            directory,
            node,
            is_further_name,
        });
        Ok(())
    }

    /// Moves to the directory at `path`, creating directories that the source does not contain.
    fn go_to(&mut self, path: &[u8]) -> Result<(), ExtractError> {
        while !is_in(path, &self.deepest().path) {
            self.leave();
        }
        while self.deepest().path.len() < path.len() {
            let from = match self.deepest().path.len() {
                0 => 0,
                length => length + 1,
            };
            let rest = path.get(from..);
            let rest = rest.expect("the deepest directory is above the path");
            let name = rest.split(|byte| *byte == b'/').next();
            let name = name.expect("a split has a first part");
            let (next, _) = path.split_at(from + name.len());
            self.enter(next, None)?;
        }
        Ok(())
    }

    /// Creates a directory in the current one and moves into it.
    fn enter(&mut self, path: &[u8], node: Option<Node>) -> Result<(), ExtractError> {
        let parent = self.deepest();
        let handle = match (&mut self.handle, &parent.missing) {
            (_, Some(error)) => Err(error),
            (Some(handle), None) => handle.as_ref(),
            (none, None) => none.insert(self.run.root.open_dir(&parent.path)).as_ref(),
        };
        let is_named = node.is_some();
        let made = Directory::make(&self.run.settings, &parent, handle, path, node);
        let directory = match made {
            Ok(directory) => {
                if is_named {
                    self.run.count(0);
                }
                directory
            }
            Err((_, problem)) if problem.is_full() => {
                let path = path.to_vec();
                return Err(ExtractError::Full { path, problem });
            }
            Err((directory, problem)) => {
                let path = Some(path.to_vec());
                self.batch.failures.push(Failed { path, problem });
                directory
            }
        };
        self.open.push(directory);
        self.handle = None;
        Ok(())
    }

    fn leave(&mut self) {
        self.handle = None;
        if let Some(directory) = self.open.pop() {
            self.run.let_go(directory, &mut self.batch.failures);
        }
    }

    fn root(&self) -> Arc<Directory> {
        self.open.first().cloned().unwrap_or_else(Directory::root)
    }

    fn deepest(&self) -> Arc<Directory> {
        self.open.last().cloned().unwrap_or_else(Directory::root)
    }
}

impl<N: Iterator<Item = Result<Node, NodeError>>> Iterator for Batches<'_, N> {
    type Item = Result<(Batch, u64), ExtractError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_full() {
            let Some(nodes) = &mut self.nodes else {
                break;
            };
            match nodes.next() {
                Some(Ok(node)) => {
                    if let Err(error) = self.add(node) {
                        return Some(Err(error));
                    }
                }
                Some(Err(NodeError::Cancelled)) => return Some(Err(ExtractError::Cancelled)),
                Some(Err(error @ NodeError::Source(_))) => {
                    return Some(Err(ExtractError::Source(error)));
                }
                Some(Err(NodeError::Entry(error))) => self.batch.failures.push(Failed {
                    path: None,
                    problem: Problem::Content(error),
                }),
                None => {
                    self.nodes = None;
                    while !self.open.is_empty() {
                        self.leave();
                    }
                }
            }
        }
        if self.batch.jobs.is_empty() && self.batch.failures.is_empty() {
            None
        } else {
            Some(Ok((self.take(), 0)))
        }
    }
}

impl Batch {
    fn empty() -> Self {
        Batch {
            jobs: Vec::new(),
            failures: Vec::new(),
        }
    }
}

/// Whether `path` is equal to `directory` or below it.
fn is_in(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
