//! An image as a source of nodes.

use super::{Body, File, Image, Piece};
use crate::{Error, Result};
use hedgerow_image::tree::{Entries, FoundEntry};
use hedgerow_image::Selection;
use hedgerow_tree::{split_path, Content, Handle, Node, NodeError, NodeKind, Xattr};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of pieces whose positions are read at a time; the list of all pieces of a file
/// may not fit into memory.
const PIECES: usize = 256;

/// The nodes of an image in canonical order, the root first. An unreadable entry is returned as an
/// error, and iteration continues.
pub struct ImageNodes(Entries<Image>);

/// The nodes of `image`: all of them, or those at and below `paths`, with their parent directories.
/// Contents are read on demand.
///
/// # Errors
/// [`Error::NotFound`] for a path that does not exist, and errors about the root.
pub fn nodes_of_image(image: &Arc<Image>, paths: &[&[u8]]) -> Result<ImageNodes> {
    for path in paths {
        image.find(path)?;
    }
    Entries::new(image, Selection::new(paths)).map(ImageNodes)
}

impl Iterator for ImageNodes {
    type Item = std::result::Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let image = &self.0.image.clone();
        Some(match self.0.next()? {
            Ok(found) => Ok(node(image, found)),
            Err(omission) if omission.path.is_empty() => Err(NodeError::source(omission)),
            Err(omission) => Err(NodeError::entry(omission)),
        })
    }
}

fn node(image: &Arc<Image>, found: FoundEntry<Image>) -> Node {
    let FoundEntry {
        path,
        inode,
        metadata,
        reference,
    } = found;
    let is_linked = inode.nlink > 1 && inode.kind != NodeKind::Directory;
    Node {
        kind: inode.kind,
        mode: metadata.mode as u16,
        uid: metadata.uid,
        gid: metadata.gid,
        mtime_s: metadata.mtime_s,
        mtime_ns: 0,
        size_bytes: match inode.kind {
            NodeKind::File => metadata.size_bytes,
            _ => 0,
        },
        device: hedgerow_fs::device_numbers(metadata.rdev),
        // The reference keeps two inodes apart that have the same number.
        link: is_linked.then_some((reference.0, inode.number.into())),
        content_id: None,
        handle: Box::new(InImage {
            image: image.clone(),
            name: split_path(&path).1.into(),
            xattrs: inode.xattrs,
            body: inode.body,
        }),
        path,
    }
}

/// An entry of an image.
struct InImage {
    image: Arc<Image>,
    /// The last component of its path, for errors; the caller knows the rest.
    name: Box<[u8]>,
    body: Body,
    xattrs: Option<u32>,
}

impl InImage {
    fn wrong(&self, expected: &'static str) -> NodeError {
        NodeError::entry(Error::Kind {
            path: self.name.to_vec().into(),
            expected,
        })
    }
}

impl Handle for InImage {
    fn target(&mut self) -> std::result::Result<Vec<u8>, NodeError> {
        match &self.body {
            Body::Symlink(target) => Ok(target.to_vec()),
            _ => Err(self.wrong("symbolic link")),
        }
    }

    fn open(&mut self) -> std::result::Result<Box<dyn Content>, NodeError> {
        match &self.body {
            Body::File(file) => Ok(Box::new(InFile::new(&self.image, file))),
            _ => Err(self.wrong("regular file")),
        }
    }

    fn xattrs(&mut self) -> std::result::Result<Vec<Xattr>, NodeError> {
        let Some(index) = self.xattrs else {
            return Ok(Vec::new());
        };
        let xattrs = self.image.xattrs(index).map_err(NodeError::entry)?;
        xattrs
            .map(|xattr| xattr.map_err(NodeError::entry))
            .collect()
    }
}

/// The content of a regular file of an image.
pub(crate) struct InFile {
    image: Arc<Image>,
    size_bytes: u64,
    /// The part of the file after `pieces`.
    rest: File,
    /// The pieces that are read next.
    pieces: VecDeque<Piece>,
    /// A block that was larger than the caller's buffer.
    block: Vec<u8>,
    /// Number of bytes of `block` already returned.
    taken: usize,
}

impl InFile {
    pub fn new(image: &Arc<Image>, file: &File) -> Self {
        InFile {
            image: image.clone(),
            size_bytes: file.size,
            rest: *file,
            pieces: VecDeque::new(),
            block: Vec::new(),
            taken: 0,
        }
    }

    fn next_piece(&mut self) -> Result<Option<&Piece>> {
        if self.pieces.is_empty() && (self.rest.block_count > 0 || self.rest.tail.is_some()) {
            let mut pieces = self.image.pieces(&self.rest)?;
            for piece in pieces.by_ref().take(PIECES) {
                self.pieces.push_back(piece?);
            }
            self.rest = pieces.rest(&self.rest);
        }
        Ok(self.pieces.front())
    }

    /// Reads at most to the end of the current piece. Returns 0 at the end of the content.
    pub fn read_on(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.taken >= self.block.len() {
            let Some(piece) = self.next_piece()?.copied() else {
                return Ok(0);
            };
            self.pieces.pop_front();
            if let Some(buffer) = buffer.get_mut(..piece.length as usize) {
                self.image.read_piece_into(&piece, buffer)?;
                return Ok(buffer.len());
            }
            self.taken = 0;
            self.image.read_piece(&piece, &mut self.block)?;
        }
        let rest = self.block.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.taken += count;
        Ok(count)
    }

    /// Skips the hole at the current position. Returns its length in bytes, 0 if there is none.
    pub fn pass_hole(&mut self) -> Result<u64> {
        let mut passed: u64 = 0;
        while self.taken >= self.block.len() {
            match self.next_piece()? {
                Some(piece) if piece.is_hole() => passed += u64::from(piece.length),
                _ => break,
            }
            self.pieces.pop_front();
        }
        Ok(passed)
    }
}

impl Content for InFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn skip_hole(&mut self) -> std::result::Result<u64, NodeError> {
        self.pass_hole().map_err(NodeError::entry)
    }

    fn read(&mut self, buffer: &mut [u8]) -> std::result::Result<usize, NodeError> {
        self.read_on(buffer).map_err(NodeError::entry)
    }
}
