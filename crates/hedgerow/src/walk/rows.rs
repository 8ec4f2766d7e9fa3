//! The entries of a tree as columns, listed by other threads while the caller takes them.

use hedgerow_engine::{CancelToken, Failure};
use hedgerow_fs::{threads, OpenDirectory, Stat, Timestamp};
use hedgerow_tree::{Entry, NodeKind, Omission};
use hedgerow_walk::{walk, walk_sorted, Receiver, WalkOptions};
use std::path::Path;
use std::sync::mpsc::{sync_channel, Receiver as Incoming, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A worker passes on its rows when it has this many.
const WORKER_ROWS: usize = 1024;
/// Number of batches that may wait for the caller.
const WAITING: usize = 2;
/// Permission bits, setuid, setgid and sticky.
const MODE_MASK: u32 = 0o7777;

/// The kinds of entries and the words for them; [`RowBatch::kinds`] has positions in this list.
pub const KINDS: [(NodeKind, &str); 7] = [
    (NodeKind::File, "file"),
    (NodeKind::Directory, "directory"),
    (NodeKind::Symlink, "symlink"),
    (NodeKind::Fifo, "fifo"),
    (NodeKind::Socket, "socket"),
    (NodeKind::BlockDevice, "block_device"),
    (NodeKind::CharacterDevice, "character_device"),
];

/// How rows are made.
#[derive(Clone, Debug)]
pub struct RowOptions {
    /// What is walked, and how; with metadata, batches have [`RowBatch::stats`].
    pub walk: WalkOptions,
    /// Whether rows are in canonical order.
    pub sorted: bool,
    /// Number of rows in a batch, except the last.
    pub batch_rows: usize,
}

/// Entries of a tree, in columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    /// The paths, one after the other; each relative to the root of the walk.
    pub paths: Vec<u8>,
    /// Where each path ends in `paths`.
    pub ends: Vec<i32>,
    /// Positions in [`KINDS`].
    pub kinds: Vec<i8>,
    /// What was statted; empty if nothing was to be.
    pub stats: StatColumns,
}

/// Columns of stat data.
#[derive(Clone, Debug, Default)]
pub struct StatColumns {
    /// Permission bits with setuid, setgid and sticky.
    pub mode: Vec<u32>,
    /// Number of hard links.
    pub nlink: Vec<u64>,
    /// Owner.
    pub uid: Vec<u32>,
    /// Group.
    pub gid: Vec<u32>,
    /// Size in bytes; of a symbolic link, the length of its target.
    pub size_bytes: Vec<u64>,
    /// Time of the last content change, in nanoseconds since the epoch. `None` outside of the years
    /// 1678 to 2261, as for the other times.
    pub mtime: Vec<Option<i64>>,
    /// Time of the last status change.
    pub ctime: Vec<Option<i64>>,
    /// Time of the last access; `None` for a directory, because listing it changes that time.
    pub atime: Vec<Option<i64>>,
    /// Inode number.
    pub ino: Vec<u64>,
    /// The device it is on.
    pub dev: Vec<u64>,
    /// The device number, if the entry is a device.
    pub rdev: Vec<u64>,
    /// Disk usage in units of 512 bytes.
    pub blocks: Vec<u64>,
}

impl RowBatch {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    fn push(&mut self, entry: &Entry<'_>, stat: Option<&Stat>) {
        self.paths.extend_from_slice(entry.path);
        // A batch is passed on long before it has 2 GiB of paths.
        self.ends.push(self.paths.len() as i32);
        let kind = KINDS.iter().position(|(kind, _)| *kind == entry.kind);
        self.kinds.push(kind.unwrap_or_default() as i8);
        if let Some(stat) = stat {
            self.stats.push(entry.kind, stat);
        }
    }

    fn append(&mut self, other: &mut RowBatch) {
        let before = self.paths.len() as i32;
        self.paths.append(&mut other.paths);
        self.ends
            .extend(other.ends.drain(..).map(|end| before + end));
        self.kinds.append(&mut other.kinds);
        self.stats.append(&mut other.stats);
    }
}

impl StatColumns {
    fn push(&mut self, kind: NodeKind, stat: &Stat) {
        let is_directory = kind == NodeKind::Directory;
        self.mode.push(stat.mode & MODE_MASK);
        self.nlink.push(stat.nlink);
        self.uid.push(stat.uid);
        self.gid.push(stat.gid);
        self.size_bytes.push(stat.size);
        self.mtime.push(nanoseconds(stat.mtime));
        self.ctime.push(nanoseconds(stat.ctime));
        let atime = nanoseconds(stat.atime).filter(|_| !is_directory);
        self.atime.push(atime);
        self.ino.push(stat.ino);
        self.dev.push(stat.dev);
        self.rdev.push(stat.rdev);
        self.blocks.push(stat.blocks);
    }

    fn append(&mut self, other: &mut StatColumns) {
        self.mode.append(&mut other.mode);
        self.nlink.append(&mut other.nlink);
        self.uid.append(&mut other.uid);
        self.gid.append(&mut other.gid);
        self.size_bytes.append(&mut other.size_bytes);
        self.mtime.append(&mut other.mtime);
        self.ctime.append(&mut other.ctime);
        self.atime.append(&mut other.atime);
        self.ino.append(&mut other.ino);
        self.dev.append(&mut other.dev);
        self.rdev.append(&mut other.rdev);
        self.blocks.append(&mut other.blocks);
    }
}

fn nanoseconds(time: Timestamp) -> Option<i64> {
    let seconds = time.seconds.checked_mul(1_000_000_000)?;
    seconds.checked_add(time.nanoseconds.into())
}

/// Walks the tree below the directory at `path`, which `root` is, in other threads, as far ahead of
/// the caller as a few batches. They end when the stream is dropped.
///
/// # Errors
/// No thread can be started.
///
/// ```
/// use hedgerow::walk::{rows, Next, OpenDirectory, RowOptions, WalkOptions};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let path = env!("CARGO_MANIFEST_DIR").as_ref();
/// let options = RowOptions {
///     walk: WalkOptions { metadata: true, ..WalkOptions::default() },
///     sorted: true,
///     batch_rows: 1000,
/// };
/// let mut stream = rows(OpenDirectory::open(path)?, path, options)?;
/// let mut bytes = 0;
/// loop {
///     match stream.next(Duration::from_secs(1)) {
///         Next::Batch(batch) => bytes += batch.stats.size_bytes.iter().sum::<u64>(),
///         Next::Pending => {}
///         Next::End => break,
///         Next::Failed(message) => panic!("{message}"),
///     }
/// }
/// assert!(bytes > 10_000 && stream.omissions().is_empty());
/// # Ok(())
/// # }
/// ```
pub fn rows(
    root: OpenDirectory,
    path: &Path,
    options: RowOptions,
) -> Result<RowStream, hedgerow_fs::Error> {
    let (sender, incoming) = sync_channel(WAITING);
    let omissions = Arc::<Mutex<Vec<Omission>>>::default();
    let cancel = options.walk.execution.cancel.clone();
    let collector = Collector {
        batch_rows: options.batch_rows.max(1),
        shared: Mutex::new((RowBatch::default(), sender.clone())),
        omissions: omissions.clone(),
    };
    let path = path.to_owned();
    let thread = threads::start("walk-0", move || {
        let ended = if options.sorted {
            walk_sorted(root, &path, &&collector, &options.walk).map(drop)
        } else {
            walk(root, &path, &&collector, &options.walk).map(drop)
        };
        let ended = match ended {
            Ok(()) => collector.finish(),
            Err(failure) => Err(failure),
        };
        match ended {
            Ok(()) | Err(Failure::Failed(Gone)) => {}
            Err(Failure::Cancelled) => tell(&sender, "interrupted".to_owned()),
            Err(Failure::Panicked(message)) => {
                tell(&sender, format!("a worker panicked: {message}"));
            }
        }
    })?;
    Ok(RowStream {
        incoming: Some(incoming),
        cancel,
        omissions,
        thread: Some(thread),
    })
}

/// The caller may be gone: then nobody waits for it.
fn tell(sender: &SyncSender<Passed>, message: String) {
    let _ = sender.send(Err(message));
}

type Passed = Result<RowBatch, String>;

/// The batches of a walk. Dropping it ends the walk.
#[derive(Debug)]
pub struct RowStream {
    incoming: Option<Incoming<Passed>>,
    cancel: CancelToken,
    omissions: Arc<Mutex<Vec<Omission>>>,
    thread: Option<JoinHandle<()>>,
}

/// What a stream has next.
#[derive(Debug)]
pub enum Next {
    /// Some rows.
    Batch(Box<RowBatch>),
    /// Nothing yet.
    Pending,
    /// No more.
    End,
    /// The walk failed, for this reason.
    Failed(String),
}

impl RowStream {
    /// The next batch; waits for it at most this long.
    pub fn next(&mut self, patience: Duration) -> Next {
        let Some(incoming) = &self.incoming else {
            return Next::End;
        };
        match incoming.recv_timeout(patience) {
            Ok(Ok(batch)) => Next::Batch(Box::new(batch)),
            Ok(Err(message)) => {
                self.end();
                Next::Failed(message)
            }
            Err(RecvTimeoutError::Timeout) => Next::Pending,
            Err(RecvTimeoutError::Disconnected) => {
                self.end();
                Next::End
            }
        }
    }

    /// What could not be read and is missing in the batches, so far; each is returned once.
    pub fn omissions(&self) -> Vec<Omission> {
        let mut omissions = self
            .omissions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *omissions)
    }

    /// Ends the threads. A panic of theirs was told as a failure.
    fn end(&mut self) {
        self.cancel.cancel();
        self.incoming = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for RowStream {
    fn drop(&mut self) {
        self.end();
    }
}

/// Puts the rows of all workers together.
struct Collector {
    batch_rows: usize,
    shared: Mutex<(RowBatch, SyncSender<Passed>)>,
    omissions: Arc<Mutex<Vec<Omission>>>,
}

/// Nobody takes the rows any more.
struct Gone;

/// The rows of a worker that were not passed on.
struct Part<'c> {
    collector: &'c Collector,
    rows: RowBatch,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // If the caller is gone, the walk ends by other ways.
        let _ = self.collector.pass_on(&mut self.rows);
    }
}

impl Collector {
    fn pass_on(&self, rows: &mut RowBatch) -> Result<(), Gone> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (batch, sender) = &mut *shared;
        batch.append(rows);
        if batch.len() >= self.batch_rows {
            let full = std::mem::take(batch);
            // It waits with the lock: others would have to wait, too.
            sender.send(Ok(full)).map_err(|_| Gone)?;
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Failure<Gone>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (batch, sender) = &mut *shared;
        if batch.is_empty() {
            return Ok(());
        }
        let last = std::mem::take(batch);
        sender.send(Ok(last)).map_err(|_| Failure::Failed(Gone))
    }

    fn add(&self, part: &mut Part<'_>, entry: &Entry<'_>, stat: Option<&Stat>) -> Result<(), Gone> {
        part.rows.push(entry, stat);
        if part.rows.len() >= WORKER_ROWS.min(self.batch_rows) {
            self.pass_on(&mut part.rows)?;
        }
        Ok(())
    }
}

/// A collector lent to a walk.
impl<'c> Receiver for &'c Collector {
    type Worker = Part<'c>;
    type Error = Gone;

    fn worker(&self) -> Part<'c> {
        Part {
            collector: self,
            rows: RowBatch::default(),
        }
    }

    fn entry(&self, part: &mut Part<'c>, entry: Entry<'_>) -> Result<(), Gone> {
        self.add(part, &entry, None)
    }

    fn statted(&self, part: &mut Part<'c>, entry: Entry<'_>, stat: &Stat) -> Result<(), Gone> {
        self.add(part, &entry, Some(stat))
    }

    fn omitted(&self, _: &mut Part<'c>, omission: Omission) -> Result<(), Gone> {
        let mut omissions = self
            .omissions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        omissions.push(omission);
        Ok(())
    }
}
