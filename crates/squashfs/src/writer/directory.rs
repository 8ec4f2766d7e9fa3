//! A directory as the source of an image.

use super::input::{Content, Handle, Node};
use super::WriteError;
use hedgerow_fs::{Dir, ReadFile};
use hedgerow_tree::{split_path, Entry, Metadata, NodeKind, TreeSource};
use hedgerow_walk::{DirectorySource, WalkOptions};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{sync_channel, IntoIter};
use std::sync::Arc;

/// Entries that were found and wait to be read.
const WAITING: usize = 4096;

/// Lists the tree below the directory at `path` for `consume`, which gets its entries in canonical
/// order, the root first. Contents are read when they are asked for. What cannot be listed is an
/// error in place of the end.
pub fn nodes_of_directory<T>(
    path: &Path,
    mut options: WalkOptions,
    consume: impl FnOnce(IntoIter<Result<Node, WriteError>>) -> T,
) -> Result<T, WriteError> {
    let root = Arc::new(Dir::open(path)?);
    let stat = root.stat_self()?;
    options.metadata = true;
    let (sender, receiver) = sync_channel(WAITING);
    let first = Node {
        path: Vec::new(),
        kind: NodeKind::Directory,
        mode: (stat.mode & 0o7777) as u16,
        uid: stat.uid,
        gid: stat.gid,
        mtime_s: stat.mtime.seconds,
        size_bytes: 0,
        device: (0, 0),
        link: None,
        handle: Box::new(InDirectory::new(&root, b"")),
    };
    let source = DirectorySource::new(path.to_owned(), options);
    std::thread::scope(|threads| {
        let lister = threads.spawn(move || {
            let send = |node| match sender.send(node) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            if send(Ok(first)).is_break() {
                return;
            }
            let listed = source.list(&mut |entry| match entry.metadata {
                Some(metadata) => send(Ok(node(&root, entry, metadata))),
                None => ControlFlow::Continue(()),
            });
            // Nobody receives it if the consumer has failed already.
            let _ = match listed {
                Ok(omissions) => omissions
                    .into_iter()
                    .next()
                    .map(|omission| send(Err(omission.into()))),
                Err(error) => Some(send(Err(error.into()))),
            };
        });
        let outcome = consume(receiver.into_iter());
        match lister.join() {
            Ok(()) => Ok(outcome),
            Err(_) => Err(WriteError::Panicked("while the tree was listed".into())),
        }
    })
}

fn node(root: &Arc<Dir>, entry: Entry<'_>, metadata: &Metadata) -> Node {
    let is_linked = metadata.nlink > 1 && entry.kind != NodeKind::Directory;
    Node {
        path: entry.path.to_vec(),
        kind: entry.kind,
        mode: metadata.mode as u16,
        uid: metadata.uid,
        gid: metadata.gid,
        mtime_s: metadata.mtime_s,
        size_bytes: match entry.kind {
            NodeKind::File => metadata.size_bytes,
            _ => 0,
        },
        device: hedgerow_fs::device_numbers(metadata.rdev),
        link: is_linked.then_some((metadata.dev, metadata.ino)),
        handle: Box::new(InDirectory::new(root, entry.path)),
    }
}

/// An entry below a directory that is open.
struct InDirectory {
    root: Arc<Dir>,
    path: Vec<u8>,
}

impl InDirectory {
    fn new(root: &Arc<Dir>, path: &[u8]) -> Self {
        InDirectory {
            root: root.clone(),
            path: path.to_vec(),
        }
    }
}

impl Handle for InDirectory {
    fn target(&mut self) -> Result<Vec<u8>, WriteError> {
        let (directory, name) = split_path(&self.path);
        Ok(self.root.open_dir(directory)?.read_link(name)?)
    }

    fn open(&mut self) -> Result<Content, WriteError> {
        Ok(Box::new(FileContent(self.root.open_file(&self.path)?)))
    }
}

struct FileContent(ReadFile);

impl Read for FileContent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| error.source)
    }
}
