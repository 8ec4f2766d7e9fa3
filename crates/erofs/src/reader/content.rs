//! Contents, read from start to end.

use super::{Image, Inode, Piece, Stored};
use hedgerow_image::{Part, Result};
use hedgerow_tree::{Content, NodeError, NodeKind};
use std::sync::Arc;

/// The pieces of a content in order.
pub struct Pieces<'i> {
    image: &'i Image,
    inode: Inode,
    offset: u64,
}

impl Image {
    /// The pieces of the content of an inode.
    pub fn pieces(&self, inode: &Inode) -> Pieces<'_> {
        Pieces {
            image: self,
            inode: *inode,
            offset: 0,
        }
    }

    /// Reads a piece into `content`, which is replaced.
    ///
    /// # Errors
    /// The piece cannot be read.
    pub fn read_piece(&self, piece: &Piece, content: &mut Vec<u8>) -> Result<()> {
        content.clear();
        content.resize(piece.length as usize, 0);
        match piece.stored {
            Stored::Hole => Ok(()),
            Stored::Raw(position) => self.bytes.read(Part::Data, position, content),
        }
    }

    /// The whole content of an inode of at most `limit` bytes.
    pub(crate) fn small_content(&self, inode: &Inode, limit: u64) -> Result<Vec<u8>> {
        if inode.size > limit {
            return Err(inode
                .damage(format!("a content of {} bytes", inode.size))
                .into());
        }
        let (mut all, mut content) = (Vec::new(), Vec::new());
        for piece in self.pieces(inode) {
            self.read_piece(&piece?, &mut content)?;
            all.extend_from_slice(&content);
        }
        Ok(all)
    }

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// It cannot be read, or has a length that no link has.
    pub fn target(&self, inode: &Inode) -> Result<Vec<u8>> {
        const TARGET_BYTES: u64 = 4096;
        if inode.kind != NodeKind::Symlink || inode.size == 0 {
            return Err(inode.damage("a link without a target").into());
        }
        let target = self.small_content(inode, TARGET_BYTES)?;
        if target.contains(&0) {
            return Err(inode.damage("a target with a zero byte").into());
        }
        Ok(target)
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.image.piece(&self.inode, self.offset).transpose()?;
        match &piece {
            Ok(piece) => self.offset += piece.length,
            Err(_) => self.offset = self.inode.size,
        }
        Some(piece)
    }
}

/// The content of a regular file of an image.
pub(super) struct InFile {
    image: Arc<Image>,
    inode: Inode,
    offset: u64,
    /// The piece at `offset`, if it is known.
    piece: Option<Piece>,
    /// A piece that is longer than the caller's buffer.
    content: Vec<u8>,
    /// Number of bytes of `content` already returned.
    taken: usize,
}

impl InFile {
    pub(super) fn new(image: &Arc<Image>, inode: &Inode) -> Self {
        InFile {
            image: image.clone(),
            inode: *inode,
            offset: 0,
            piece: None,
            content: Vec::new(),
            taken: 0,
        }
    }

    fn next_piece(&mut self) -> Result<Option<Piece>> {
        if self.piece.is_none() {
            self.piece = self.image.piece(&self.inode, self.offset)?;
        }
        Ok(self.piece)
    }

    fn read_on(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.taken >= self.content.len() {
            let Some(mut piece) = self.next_piece()? else {
                return Ok(0);
            };
            if piece.stored == Stored::Hole {
                // A reader that does not ask for holes gets them in parts.
                piece.length = piece.length.min(buffer.len() as u64);
            }
            self.piece = None;
            self.offset += piece.length;
            self.taken = 0;
            self.image.read_piece(&piece, &mut self.content)?;
        }
        let rest = self.content.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.taken += count;
        Ok(count)
    }

    fn pass_hole(&mut self) -> Result<u64> {
        let mut passed = 0;
        while self.taken >= self.content.len() {
            match self.next_piece()? {
                Some(piece) if piece.stored == Stored::Hole => {
                    passed += piece.length;
                    self.offset += piece.length;
                    self.piece = None;
                }
                _ => break,
            }
        }
        Ok(passed)
    }
}

impl Content for InFile {
    fn size_bytes(&self) -> u64 {
        self.inode.size
    }

    fn skip_hole(&mut self) -> std::result::Result<u64, NodeError> {
        self.pass_hole().map_err(NodeError::entry)
    }

    fn read(&mut self, buffer: &mut [u8]) -> std::result::Result<usize, NodeError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.read_on(buffer).map_err(NodeError::entry)
    }
}
