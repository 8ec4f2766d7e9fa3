//! The first stage: contents are read and hashed, in parallel; they come out in canonical order.

use super::input::{Content, Node};
use super::WriteError;
use bstr::ByteSlice;
use hedgerow_engine::{run_ordered, Options, Window};
use hedgerow_tree::NodeKind;
use std::collections::HashSet;
use std::io::Read;
use std::sync::mpsc::SyncSender;

/// Files of up to so many bytes are read at once by whoever takes them, larger ones a piece after
/// the other. A multiple of every block size.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// What is known of some content: its BLAKE3 hash.
pub(super) type Digest = [u8; 32];

/// A piece of a file, or an entry without content.
pub(super) struct Gathered {
    /// With the first piece of an entry.
    pub node: Option<Node>,
    pub target: Vec<u8>,
    pub bytes: Vec<u8>,
    pub digest: Digest,
    /// The digest of what does not fill a block.
    pub tail_digest: Digest,
    /// Whether the entry ends with it.
    pub is_last: bool,
    /// Whether it is another name of a file that came before: then nothing of it was read.
    pub is_repeated: bool,
}

/// What a worker does.
pub(super) enum Job {
    /// Read all of an entry.
    Whole(Node),
    /// Do nothing: it is another name of a file that came before.
    Repeated(Node),
    /// Hash a piece of a large file that has been read.
    Piece {
        node: Option<Node>,
        bytes: Vec<u8>,
        is_last: bool,
    },
}

/// Reads the entries of `nodes` and sends what comes of them in their order. Ends early, without an
/// error, if nobody receives any more.
pub(super) fn gather(
    nodes: impl Iterator<Item = Result<Node, WriteError>> + Send,
    options: &Options,
    window: Window,
    block_bytes: usize,
    sender: &SyncSender<Gathered>,
) -> Result<(), WriteError> {
    let jobs = Jobs {
        nodes,
        large: None,
        links: HashSet::new(),
    };
    let work = |(): &mut (), job: Job| finish(job, block_bytes);
    let commit = |_, gathered| sender.send(gathered).map_err(|_| WriteError::Cancelled);
    run_ordered(options, window, jobs, |_| (), work, commit)?;
    Ok(())
}

/// The jobs that the entries make.
struct Jobs<I> {
    nodes: I,
    large: Option<Large>,
    /// Files of several names that came.
    links: HashSet<(u64, u64)>,
}

/// A large file that is being read.
struct Large {
    node: Option<Node>,
    path: Vec<u8>,
    content: Content,
    left_bytes: u64,
}

impl<I: Iterator<Item = Result<Node, WriteError>>> Iterator for Jobs<I> {
    type Item = Result<(Job, u64), WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(large) = self.large.take() {
            return Some(self.piece(large));
        }
        let mut node = match self.nodes.next()? {
            Ok(node) => node,
            Err(error) => return Some(Err(error)),
        };
        if node.link.is_some_and(|link| !self.links.insert(link)) {
            return Some(Ok((Job::Repeated(node), 0)));
        }
        if node.kind != NodeKind::File || node.size_bytes <= PIECE_BYTES as u64 {
            let bytes = node.size_bytes;
            return Some(Ok((Job::Whole(node), bytes)));
        }
        let content = match node.handle.open() {
            Ok(content) => content,
            Err(error) => return Some(Err(error)),
        };
        Some(self.piece(Large {
            path: node.path.clone(),
            left_bytes: node.size_bytes,
            node: Some(node),
            content,
        }))
    }
}

impl<I> Jobs<I> {
    fn piece(&mut self, mut large: Large) -> Result<(Job, u64), WriteError> {
        let size = large.left_bytes.min(PIECE_BYTES as u64);
        let mut bytes = Vec::with_capacity(size as usize);
        read(&mut large.content, size, &large.path, &mut bytes)?;
        large.left_bytes -= size;
        let is_last = large.left_bytes == 0;
        let node = large.node.take();
        if !is_last {
            self.large = Some(large);
        }
        let job = Job::Piece {
            node,
            bytes,
            is_last,
        };
        Ok((job, size))
    }
}

/// Reads exactly `size` bytes: a file that has become shorter would not be what its entry says.
fn read(
    content: &mut Content,
    size: u64,
    path: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let refused = |reason: String| WriteError::Entry {
        path: path.into(),
        reason,
    };
    let mut limited = content.take(size);
    let count = limited
        .read_to_end(bytes)
        .map_err(|error| refused(error.to_string()))?;
    match count as u64 == size {
        true => Ok(()),
        false => Err(refused("it has become shorter while it was read".into())),
    }
}

fn finish(job: Job, block_bytes: usize) -> Result<Gathered, WriteError> {
    let mut is_repeated = false;
    let (node, bytes, is_last) = match job {
        Job::Repeated(node) => {
            is_repeated = true;
            (Some(node), Vec::new(), true)
        }
        Job::Piece {
            node,
            bytes,
            is_last,
        } => (node, bytes, is_last),
        Job::Whole(mut node) => {
            let mut bytes = Vec::new();
            if node.kind == NodeKind::File && node.size_bytes > 0 {
                bytes.reserve_exact(node.size_bytes as usize);
                let mut content = node.handle.open()?;
                read(&mut content, node.size_bytes, &node.path, &mut bytes)?;
            }
            (Some(node), bytes, true)
        }
    };
    let mut gathered = Gathered {
        target: Vec::new(),
        digest: hash(&bytes),
        tail_digest: Digest::default(),
        node,
        bytes,
        is_last,
        is_repeated,
    };
    let tail = gathered.bytes.len() % block_bytes;
    let head = gathered.bytes.len() - tail;
    gathered.tail_digest = match head {
        0 => gathered.digest,
        _ => hash(gathered.bytes.get(head..).unwrap_or_default()),
    };
    if let Some(node) = gathered.node.as_mut() {
        if node.kind == NodeKind::Symlink && !is_repeated {
            gathered.target = node.handle.target()?;
            if gathered.target.is_empty() || gathered.target.len() > 4095 {
                return Err(WriteError::Entry {
                    path: node.path.as_bstr().to_owned(),
                    reason: format!("the target of the link is {} bytes", gathered.target.len()),
                });
            }
        }
    }
    Ok(gathered)
}

fn hash(bytes: &[u8]) -> Digest {
    match bytes.is_empty() {
        true => Digest::default(),
        false => blake3::hash(bytes).into(),
    }
}
