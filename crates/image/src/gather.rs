//! The first stage: reads and hashes contents in parallel, and passes them on in their order.

use crate::buffers::{Buffer, Buffers};
use crate::digest::{digests, Digest, FileDigest, LargeFiles};
use crate::item::{Item, Role, Treatment};
use crate::Entry;
use crate::WriteError;
use hedgerow_engine::{run_ordered, Options, Window};
use hedgerow_tree::{Content, Node, NodeError, NodeKind};
use std::collections::HashSet;
use std::sync::mpsc::SyncSender;

/// A worker reads a file of up to this many bytes as a whole; larger files are read piece by piece,
/// in order. A multiple of every block size.
pub const PIECE_BYTES: usize = 1 << 20;

/// A worker takes up to this many entries at once, as long as they have fewer bytes than this:
/// handing over small entries one by one would cost more than reading them.
const JOBS: usize = 8;
const JOBS_BYTES: u64 = 64 << 10;
/// Gathered contents are sent on when they have this many bytes or entries.
const BATCH_BYTES: usize = 256 << 10;
const BATCH_ENTRIES: usize = 64;

/// A gathered entry or piece.
pub enum Gathered {
    /// A piece of a file's content.
    Piece {
        /// Only with the first piece.
        entry: Option<Begun>,
        /// Its bytes.
        bytes: Bytes,
        /// The [`digests`] of `bytes`.
        digests: Vec<Digest>,
        /// Whether it is the last of the file.
        is_last: bool,
    },
    /// A file whose content came before, known by its id.
    Known {
        /// The file.
        entry: Entry,
        /// The id of its content.
        id: ContentId,
    },
    /// A large file with the same digest as one that came before.
    Same {
        /// The file.
        entry: Entry,
        /// Its digest.
        digest: Digest,
    },
    /// An entry without content, or another hard link to a file that came before.
    Other(Entry),
    /// An unreadable entry that is left out. Pieces of it that came before are discarded.
    Skipped(NodeError),
}

/// A file whose first piece was read.
pub struct Begun {
    /// The file.
    pub entry: Entry,
    /// The id under which its content is found later.
    pub id: Option<ContentId>,
    /// How its content is stored.
    pub treatment: Treatment,
    /// Whether only the content is stored here, and the entry comes later.
    pub is_nameless: bool,
}

/// Identifies a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentId {
    /// [`Node::content_id`].
    Source([u8; 32]),
    /// [`Role::Content`].
    Number(u32),
}

impl Gathered {
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Gathered::Piece {
                bytes: Bytes::Data(bytes),
                ..
            } => bytes.len(),
            _ => 0,
        }
    }
}

/// The bytes of a piece.
pub enum Bytes {
    /// These bytes.
    Data(Buffer),
    /// This many zeros; only such a piece may be larger than [`PIECE_BYTES`].
    Zeros(u64),
}

/// Options of the first stage.
#[derive(Clone, Copy, Debug)]
pub struct GatherOptions {
    /// Size of a block in bytes.
    pub block_bytes: usize,
    /// Whether extended attributes are read.
    pub xattrs: bool,
    /// Whether hard links stay together. If not, each name is a file of its own.
    pub hard_links: bool,
    /// Whether the content of a file of up to [`PIECE_BYTES`] is read even if the same content
    /// came before.
    pub rereads: bool,
    /// Whether equal contents are stored once.
    pub dedup: bool,
    /// Whether zeros become holes.
    pub holes: bool,
    /// Whether unreadable entries are left out.
    pub skip_unreadable: bool,
    /// Limit of the holes of all large files together, in bytes.
    pub hole_limit_bytes: u64,
}

/// A job of a worker.
enum Job {
    /// Read the whole entry.
    Whole(Item),
    /// Another hard link to a file that came before: do not read its content.
    Repeated(Node),
    /// An entry whose content came before: do not read it.
    Known(Node, ContentId),
    /// A large file whose digest is known already: its content was read and is not needed.
    Same(Node, Digest),
    /// Hash a piece of a large file, which has been read.
    Piece {
        item: Option<Item>,
        bytes: Bytes,
        is_last: bool,
    },
    Skipped(NodeError),
}

/// Reads the entries of `items` and sends the results in their order. Returns how many bytes they
/// hold together. Ends early with
/// [`WriteError::Cancelled`] if the receiver is gone.
pub fn gather<T: Into<Item>>(
    items: impl Iterator<Item = Result<T, NodeError>> + Send,
    workers: &Options,
    window: Window,
    options: GatherOptions,
    (large, buffers): (&LargeFiles, &Buffers),
    sender: &SyncSender<Vec<Gathered>>,
) -> Result<u64, WriteError> {
    let jobs = Jobs {
        large_files: large,
        buffers,
        failed: None,
        items: items.map(|item| item.map(Into::into)),
        options,
        large: None,
        hole_bytes: 0,
        links: HashSet::new(),
        contents: HashSet::new(),
    };
    let work = |(): &mut (), jobs: Vec<Job>| {
        let skipped = |error| passed_over(error, options);
        let finish = |job| finish(job, options, buffers).or_else(skipped);
        jobs.into_iter()
            .map(finish)
            .collect::<Result<Vec<Gathered>, WriteError>>()
    };
    let send = |batch| sender.send(batch).map_err(|_| WriteError::Cancelled);
    let (mut batch, mut bytes, mut sum) = (Vec::new(), 0, 0);
    let commit = |_, gathered: Vec<Gathered>| {
        bytes += gathered.iter().map(Gathered::held_bytes).sum::<usize>();
        batch.extend(gathered);
        if bytes < BATCH_BYTES && batch.len() < BATCH_ENTRIES {
            return Ok(());
        }
        sum += std::mem::take(&mut bytes) as u64;
        send(std::mem::take(&mut batch))
    };
    run_ordered(workers, window, jobs, |_| (), work, commit)?;
    send(batch)?;
    Ok(sum + bytes as u64)
}

/// Converts an error about a single entry into a skipped entry, if the options say so.
fn passed_over(error: NodeError, options: GatherOptions) -> Result<Gathered, WriteError> {
    match error {
        NodeError::Entry(_) if options.skip_unreadable => Ok(Gathered::Skipped(error)),
        error => Err(error.into()),
    }
}

/// Turns entries into jobs.
struct Jobs<'l, I> {
    items: I,
    large_files: &'l LargeFiles,
    buffers: &'l Buffers,
    /// An error to return after jobs that precede it.
    failed: Option<Result<(Job, u64), WriteError>>,
    options: GatherOptions,
    large: Option<Large>,
    /// Bytes of holes of large files so far.
    hole_bytes: u64,
    /// Files with several names met so far.
    links: HashSet<(u64, u64)>,
    contents: HashSet<[u8; 32]>,
}

/// A large file in the middle of being read.
struct Large {
    item: Option<Item>,
    /// Whether its holes are stored, and so are read in pieces like data.
    not_sparse: bool,
    rest: Rest,
}

/// The unread rest of a content.
struct Rest {
    path: Vec<u8>,
    content: Box<dyn Content>,
    left_bytes: u64,
    /// Bytes left of a hole at the start of the rest.
    hole_bytes: u64,
    /// Bytes of holes found since this was last reset.
    all_hole_bytes: u64,
}

impl<I: Iterator<Item = Result<Item, NodeError>>> Iterator for Jobs<'_, I> {
    type Item = Result<(Vec<Job>, u64), WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        while jobs.len() < JOBS && bytes < JOBS_BYTES {
            match self.failed.take().or_else(|| self.job()) {
                Some(Ok((job, own))) => {
                    jobs.push(job);
                    bytes += own;
                }
                Some(Err(error)) if jobs.is_empty() => return Some(Err(error)),
                failed => {
                    self.failed = failed;
                    break;
                }
            }
        }
        (!jobs.is_empty()).then_some(Ok((jobs, bytes)))
    }
}

impl<I: Iterator<Item = Result<Item, NodeError>>> Jobs<'_, I> {
    /// The next job, and the number of bytes that it holds or reads.
    fn job(&mut self) -> Option<Result<(Job, u64), WriteError>> {
        let job = match self.large.take() {
            Some(large) => self.piece(large),
            None => self.items.next()?.and_then(|item| self.begin(item)),
        };
        Some(match job {
            Ok(job) => Ok(job),
            Err(error @ NodeError::Entry(_)) if self.options.skip_unreadable => {
                Ok((Job::Skipped(error), 0))
            }
            Err(error) => Err(error.into()),
        })
    }
}

impl<I> Jobs<'_, I> {
    /// Decides how an item is read. A large file is read piece by piece by this iterator; if a file
    /// of the same size was planned before, its digest is computed first, in an extra pass.
    fn begin(&mut self, mut item: Item) -> Result<(Job, u64), NodeError> {
        item.treatment.not_sparse |= !self.options.holes;
        let node = &mut item.node;
        node.link = node.link.filter(|_| self.options.hard_links);
        if let Role::Name(number) = item.role {
            return Ok((Job::Known(item.node, ContentId::Number(number)), 0));
        }
        if item.role == Role::Whole {
            if node.link.is_some_and(|link| !self.links.insert(link)) {
                return Ok((Job::Repeated(item.node), 0));
            }
            let is_read = self.options.rereads && node.size_bytes <= PIECE_BYTES as u64;
            let id = node.content_id;
            let id = id.filter(|_| self.options.dedup && !is_read);
            if let Some(id) = id.filter(|_| item.treatment == Treatment::default()) {
                if !self.contents.insert(id) {
                    return Ok((Job::Known(item.node, ContentId::Source(id)), 0));
                }
            }
        }
        if node.kind != NodeKind::File || node.size_bytes <= PIECE_BYTES as u64 {
            let bytes = node.size_bytes;
            return Ok((Job::Whole(item), bytes));
        }
        let mut content = node.handle.open()?;
        node.size_bytes = content.size_bytes();
        let is_plain = item.role == Role::Whole && item.treatment == Treatment::default();
        let may_be_known = self.options.dedup && is_plain;
        if may_be_known && self.large_files.have_size(node.size_bytes) {
            let size_bytes = node.size_bytes;
            let digest = self.digest(Rest::new(content, size_bytes, &node.path))?;
            if self.large_files.contain(size_bytes, digest) {
                return Ok((Job::Same(item.node, digest), 0));
            }
            content = node.handle.open()?;
        }
        self.piece(Large {
            rest: Rest::new(content, node.size_bytes, &node.path),
            not_sparse: item.treatment.not_sparse,
            item: Some(item),
        })
    }

    fn piece(&mut self, mut large: Large) -> Result<(Job, u64), NodeError> {
        let bytes = large.rest.next_piece(self.buffers, !large.not_sparse)?;
        self.hole_bytes += std::mem::take(&mut large.rest.all_hole_bytes);
        if self.hole_bytes > self.options.hole_limit_bytes {
            let limit_bytes = self.options.hole_limit_bytes;
            let path = large.rest.path.into();
            return Err(NodeError::source(WriteError::Holes { path, limit_bytes }));
        }
        let is_last = large.rest.left_bytes == 0;
        let item = large.item.take();
        if !is_last {
            self.large = Some(large);
        }
        let held = match &bytes {
            Bytes::Data(bytes) => bytes.len() as u64,
            Bytes::Zeros(_) => 0,
        };
        let job = Job::Piece {
            item,
            bytes,
            is_last,
        };
        Ok((job, held))
    }

    /// Reads a large file only to compute its digest. Its holes are counted when it is read again.
    fn digest(&self, mut rest: Rest) -> Result<Digest, NodeError> {
        let (size_bytes, block_bytes) = (rest.left_bytes, self.options.block_bytes);
        let mut digest = FileDigest::default();
        while rest.left_bytes > 0 {
            let bytes = rest.next_piece(self.buffers, true)?;
            digest.add(&bytes, &digests(&bytes, block_bytes), block_bytes);
        }
        Ok(digest.finish(size_bytes))
    }
}

impl Rest {
    fn new(content: Box<dyn Content>, size_bytes: u64, path: &[u8]) -> Self {
        Rest {
            path: path.to_vec(),
            content,
            left_bytes: size_bytes,
            hole_bytes: 0,
            all_hole_bytes: 0,
        }
    }

    /// Reads the next piece. If `joins_holes`, a long hole becomes a single piece, except at the
    /// end of the content.
    fn next_piece(&mut self, buffers: &Buffers, joins_holes: bool) -> Result<Bytes, NodeError> {
        self.find_hole()?;
        let before_last = self.left_bytes.saturating_sub(1);
        let pieces = self.hole_bytes.min(before_last) / PIECE_BYTES as u64;
        if joins_holes && pieces > 1 {
            let size = pieces * PIECE_BYTES as u64;
            self.hole_bytes -= size;
            self.left_bytes -= size;
            return Ok(Bytes::Zeros(size));
        }
        let size = self.left_bytes.min(PIECE_BYTES as u64);
        let bytes = self.read(size as usize, buffers)?;
        self.left_bytes -= size;
        Ok(bytes)
    }

    fn find_hole(&mut self) -> Result<(), NodeError> {
        if self.hole_bytes == 0 {
            self.hole_bytes = self.content.skip_hole()?;
            self.all_hole_bytes = self.all_hole_bytes.saturating_add(self.hole_bytes);
        }
        Ok(())
    }

    /// Reads exactly `size` bytes. A file that has become shorter is an error, because it would not
    /// have the size in its entry.
    fn read(&mut self, size: usize, buffers: &Buffers) -> Result<Bytes, NodeError> {
        self.find_hole()?;
        if size > 0 && self.hole_bytes >= size as u64 {
            self.hole_bytes -= size as u64;
            return Ok(Bytes::Zeros(size as u64));
        }
        let mut bytes = buffers.take(size);
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            self.find_hole()?;
            let hole = usize::try_from(self.hole_bytes).unwrap_or(usize::MAX);
            let zeros = hole.min(rest.len());
            if zeros > 0 {
                rest[..zeros].fill(0);
                self.hole_bytes -= zeros as u64;
                filled += zeros;
                continue;
            }
            let count = self.content.read(rest)?;
            if count == 0 {
                let reason = "it has become shorter while it was read";
                return Err(NodeError::entry(WriteError::entry(&self.path, reason)));
            }
            filled += count;
        }
        Ok(Bytes::Data(bytes))
    }
}

/// Does a job on a worker. Another hard link adds only a name, so its attributes are not read
/// again.
fn finish(job: Job, options: GatherOptions, buffers: &Buffers) -> Result<Gathered, NodeError> {
    let (begun, bytes, is_last) = match job {
        Job::Skipped(error) => return Ok(Gathered::Skipped(error)),
        Job::Repeated(node) => {
            let without = GatherOptions {
                xattrs: false,
                ..options
            };
            return Ok(Gathered::Other(Entry::of(node, without)?));
        }
        Job::Known(node, id) => {
            let entry = Entry::of(node, options)?;
            return Ok(Gathered::Known { entry, id });
        }
        Job::Same(node, digest) => {
            let entry = Entry::of(node, options)?;
            return Ok(Gathered::Same { entry, digest });
        }
        Job::Piece {
            item,
            bytes,
            is_last,
        } => {
            let begun = item.map(|item| begun(item, options));
            (begun.transpose()?, bytes, is_last)
        }
        Job::Whole(item) if item.node.kind != NodeKind::File => {
            return Ok(Gathered::Other(Entry::of(item.node, options)?));
        }
        Job::Whole(mut item) => {
            let content = item.node.handle.open()?;
            item.node.size_bytes = content.size_bytes();
            let size = usize::try_from(item.node.size_bytes).map_err(NodeError::entry)?;
            let mut rest = Rest::new(content, item.node.size_bytes, &item.node.path);
            let bytes = rest.read(size, buffers)?;
            (Some(begun(item, options)?), bytes, true)
        }
    };
    Ok(Gathered::Piece {
        entry: begun,
        digests: digests(&bytes, options.block_bytes),
        bytes,
        is_last,
    })
}

fn begun(item: Item, options: GatherOptions) -> Result<Begun, NodeError> {
    let (id, is_nameless) = match item.role {
        Role::Content(number) => (Some(ContentId::Number(number)), true),
        _ => (item.node.content_id.map(ContentId::Source), false),
    };
    let options = GatherOptions {
        xattrs: options.xattrs && !is_nameless,
        ..options
    };
    Ok(Begun {
        entry: Entry::of(item.node, options)?,
        id,
        treatment: item.treatment,
        is_nameless,
    })
}
