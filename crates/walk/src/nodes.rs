//! A directory tree as a source of nodes.

use crate::metadata::metadata as metadata_of;
use crate::selection::node_kind;
use crate::{DirectorySource, FileContent, SourceError, WalkOptions};
use hedgerow_fs::threads::start_scoped;
use hedgerow_fs::{Dir, Error, ReadFile, Stat};
use hedgerow_tree::{
    split_path, Content, Entry, Handle, Metadata, Node, NodeError, NodeKind, TreeSource, Xattr,
};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc::{sync_channel, IntoIter, SyncSender};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Entries are handed over when there are this many of them, or when the first of them has waited
/// this long: handing over each one separately would wake the consumer each time.
const BATCH: usize = 128;
const BATCH_TIME: Duration = Duration::from_micros(500);
/// Maximum number of batches that wait for the consumer.
const WAITING: usize = 32;

/// The nodes of a directory in the order in which they are found.
pub type Nodes = std::iter::Flatten<IntoIter<Vec<Result<Node, NodeError>>>>;

/// Lists the tree below the directory at `path` for `consume`, which receives its nodes in
/// canonical order, the root first. Contents are read on demand. Errors of listing follow after the
/// nodes.
pub fn nodes_of_directory<T>(
    path: &Path,
    mut options: WalkOptions,
    consume: impl FnOnce(Nodes) -> T,
) -> Result<T, NodeError> {
    let root = Arc::new(Dir::open(path).map_err(NodeError::source)?);
    let stat = root.stat_self().map_err(NodeError::source)?;
    options.metadata = true;
    let numbered = options.numbered;
    let (sender, receiver) = sync_channel(WAITING);
    let first = root_node(&root, &stat);
    let source = DirectorySource::new(path.to_owned(), options);
    std::thread::scope(|threads| {
        let list = move || {
            // The receiver is gone if the consumer has already failed.
            let mut batches = Batches::new(sender);
            if batches.add(Ok(first)).is_break() {
                return;
            }
            let listed = source.list(&mut |entry| match entry.metadata {
                Some(metadata) => batches.add(Ok(node(&root, entry, metadata, numbered))),
                None => ControlFlow::Continue(()),
            });
            let errors: Vec<NodeError> = match listed {
                Ok(omissions) => omissions
                    .into_iter()
                    .map(|omission| {
                        let path = root.path_of(&omission.path);
                        let error = Error::new(omission.operation, path, omission.source);
                        NodeError::entry(error)
                    })
                    .collect(),
                Err(SourceError::Cancelled) => vec![NodeError::Cancelled],
                Err(error) => vec![NodeError::source(error)],
            };
            for error in errors {
                if batches.add(Err(error)).is_break() {
                    return;
                }
            }
            let _ = batches.send();
        };
        let lister = start_scoped(threads, "list", list).map_err(NodeError::source)?;
        let outcome = consume(receiver.into_iter().flatten());
        match lister.join() {
            Ok(()) => Ok(outcome),
            Err(_) => Err(NodeError::source(
                "a worker panicked while the tree was listed",
            )),
        }
    })
}

/// The node of a single entry, whose path is empty. Its name is not followed if it is a link; the
/// directories before it are.
pub fn node_at(path: &Path) -> Result<Node, NodeError> {
    let Some(name) = path.file_name().map(OsStrExt::as_bytes) else {
        let root = Arc::new(Dir::open(path).map_err(NodeError::entry)?);
        let stat = root.stat_self().map_err(NodeError::entry)?;
        return Ok(root_node(&root, &stat));
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = Dir::open(parent.unwrap_or(Path::new("."))).map_err(NodeError::entry)?;
    let stat = parent.stat(name).map_err(NodeError::entry)?;
    let root = Arc::new(parent);
    let metadata = metadata_of(&stat);
    let entry = Entry {
        path: name,
        kind: node_kind(stat.kind),
        metadata: Some(&metadata),
    };
    // Other names may be given as sources of their own.
    let mut node = node(&root, entry, &metadata, true);
    node.path.clear();
    Ok(node)
}

/// The node of an open directory.
fn root_node(root: &Arc<Dir>, stat: &Stat) -> Node {
    Node {
        path: Vec::new(),
        kind: NodeKind::Directory,
        mode: (stat.mode & 0o7777) as u16,
        uid: stat.uid,
        gid: stat.gid,
        mtime_s: stat.mtime.seconds,
        mtime_ns: stat.mtime.nanoseconds,
        size_bytes: 0,
        device: (0, 0),
        link: None,
        content_id: None,
        handle: Box::new(InDirectory::new(root, b"", 0, false)),
    }
}

/// Nodes on their way to the consumer.
struct Batches {
    sender: SyncSender<Vec<Result<Node, NodeError>>>,
    batch: Vec<Result<Node, NodeError>>,
    begun: Instant,
}

impl Batches {
    fn new(sender: SyncSender<Vec<Result<Node, NodeError>>>) -> Self {
        Batches {
            sender,
            batch: Vec::new(),
            begun: Instant::now(),
        }
    }

    /// Adds a node; breaks if the consumer wants no more.
    fn add(&mut self, node: Result<Node, NodeError>) -> ControlFlow<()> {
        if self.batch.is_empty() {
            self.begun = Instant::now();
        }
        self.batch.push(node);
        if self.batch.len() >= BATCH || self.begun.elapsed() >= BATCH_TIME {
            self.send()
        } else {
            ControlFlow::Continue(())
        }
    }

    fn send(&mut self) -> ControlFlow<()> {
        let batch = std::mem::take(&mut self.batch);
        match self.sender.send(batch) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

fn node(root: &Arc<Dir>, entry: Entry<'_>, metadata: &Metadata, numbered: bool) -> Node {
    let is_linked = (numbered || metadata.nlink > 1) && entry.kind != NodeKind::Directory;
    let size_bytes = match entry.kind {
        NodeKind::File => metadata.size_bytes,
        _ => 0,
    };
    let has_holes = metadata.blocks.saturating_mul(512) < size_bytes;
    Node {
        path: entry.path.to_vec(),
        kind: entry.kind,
        mode: metadata.mode as u16,
        uid: metadata.uid,
        gid: metadata.gid,
        mtime_s: metadata.mtime_s,
        mtime_ns: metadata.mtime_ns,
        size_bytes,
        device: hedgerow_fs::device_numbers(metadata.rdev),
        link: is_linked.then_some((metadata.dev, metadata.ino)),
        content_id: None,
        handle: Box::new(InDirectory::new(root, entry.path, size_bytes, has_holes)),
    }
}

/// An entry below an open directory.
struct InDirectory {
    root: Arc<Dir>,
    path: Vec<u8>,
    size_bytes: u64,
    /// Whether its allocated space is smaller than its size.
    has_holes: bool,
    file: Option<Arc<ReadFile>>,
}

impl InDirectory {
    fn new(root: &Arc<Dir>, path: &[u8], size_bytes: u64, has_holes: bool) -> Self {
        InDirectory {
            root: root.clone(),
            path: path.to_vec(),
            size_bytes,
            has_holes,
            file: None,
        }
    }
}

impl Handle for InDirectory {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        let (directory, name) = split_path(&self.path);
        let directory = self.root.open_dir(directory).map_err(NodeError::entry)?;
        directory.read_link(name).map_err(NodeError::entry)
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let file = self.root.open_file(&self.path).map_err(NodeError::entry)?;
        let file = self.file.insert(Arc::new(file));
        let content = FileContent::new(file.clone(), self.size_bytes, self.has_holes);
        Ok(Box::new(content))
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        let listed = match self.file.take() {
            Some(file) => file.xattrs(),
            None => self.root.xattrs_of(&self.path),
        };
        let named = |(name, value): (Vec<u8>, Vec<u8>)| Xattr {
            name: name.into(),
            value,
        };
        let listed = listed.map_err(NodeError::entry)?;
        Ok(listed.into_iter().map(named).collect())
    }
}
