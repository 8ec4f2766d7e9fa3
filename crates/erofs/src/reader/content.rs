//! Contents, read from start to end.

use super::map::Map;
use super::{Image, Inode, Piece, Stored};
use hedgerow_fs::{is_zero, HOLE_BYTES};
use hedgerow_image::{Error, Part, Result};
use hedgerow_numbers::counted;
use hedgerow_tree::{Content, NodeError, NodeKind};
use std::ops::Range;
use std::sync::Arc;

/// Larger clusters are not cached.
const CACHED_BYTES: usize = 1 << 20;
/// Holes begin and end where file systems have blocks.
const BLOCK_BYTES: usize = 4 << 10;

/// The pieces of a content in order.
pub struct Pieces<'i> {
    image: &'i Image,
    inode: Inode,
    map: Option<Map>,
    offset: u64,
}

impl Image {
    /// The pieces of the content of an inode.
    pub fn pieces(&self, inode: &Inode) -> Pieces<'_> {
        self.pieces_from(inode, 0)
    }

    /// The pieces of the content of an inode from the byte `offset` on: the first begins there.
    pub fn pieces_from(&self, inode: &Inode, offset: u64) -> Pieces<'_> {
        Pieces {
            image: self,
            inode: *inode,
            map: None,
            offset,
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
            Stored::Cluster {
                position,
                bytes,
                form,
                around,
            } => {
                if self.zeros.contain(piece) {
                    return Ok(());
                }
                let see = |whole: &[u8]| {
                    if whole.len() >= HOLE_BYTES && is_zero(whole) {
                        self.zeros.add(piece);
                    }
                };
                if around == (0, 0) {
                    self.read_cluster(position, bytes, form, content)?;
                    see(content);
                    return Ok(());
                }
                let mut whole = vec![0; (around.0 + piece.length + around.1) as usize];
                self.read_cluster(position, bytes, form, &mut whole)?;
                see(&whole);
                let found = whole.get(around.0 as usize..).unwrap_or_default();
                content.clear();
                content.extend(found.iter().take(piece.length as usize));
                Ok(())
            }
            Stored::Packed(place) => self.read_packed(place, content),
        }
    }

    /// Fills `content` from the packed inode, from `place` on.
    pub(super) fn read_packed(&self, mut place: u64, mut content: &mut [u8]) -> Result<()> {
        let (inode, map) = self.packed_inode()?;
        while !content.is_empty() {
            let Some(piece) = self.piece(&inode, &map, place)? else {
                return Err(inode.damage("parts of files behind its end").into());
            };
            let (cluster, skipped) = self.packed_cluster(&piece)?;
            let found = cluster.get(skipped..).unwrap_or_default();
            let count = found.len().min(content.len());
            if count == 0 {
                return Err(inode.damage("a part without content").into());
            }
            let (filled, rest) = content.split_at_mut(count);
            filled.copy_from_slice(found.get(..count).unwrap_or_default());
            place += count as u64;
            content = rest;
        }
        Ok(())
    }

    /// The inode that holds parts of other files.
    pub(crate) fn packed_inode(&self) -> Result<(Inode, Map)> {
        if let Some(known) = self.packed.get() {
            return Ok(*known);
        }
        let number = self.superblock.packed;
        let inode = self.inode(number)?;
        let map = self.map(&inode)?;
        let is_circle = matches!(map, Map::Clusters(map) if map.uses_packed());
        let is_too_long = self.index_bytes(&inode)? > self.bytes.length();
        if number == 0 || inode.kind != NodeKind::File || is_circle || is_too_long {
            return Err(inode.damage("no inode for parts of files").into());
        }
        Ok(*self.packed.get_or_init(|| (inode, map)))
    }

    /// The whole cluster of a piece of the packed inode, from the cache or from the image, and the
    /// number of its bytes before the piece. Neighbours need the same cluster.
    fn packed_cluster(&self, piece: &Piece) -> Result<(Arc<Vec<u8>>, usize)> {
        let Some(((position, bytes, form, length), before)) = piece.cluster() else {
            let mut content = Vec::new();
            self.read_piece(piece, &mut content)?;
            return Ok((Arc::new(content), 0));
        };
        let length = length as usize;
        let read = || {
            let mut content = vec![0; length];
            self.read_cluster(position, bytes, form, &mut content)?;
            Ok::<_, Error>(content)
        };
        let cluster = if length <= CACHED_BYTES {
            self.clusters.get(position, read)?
        } else {
            Arc::new(read()?)
        };
        // Another map of a hostile image may have cut the same cluster elsewhere.
        if cluster.len() != length {
            return Ok((Arc::new(read()?), before as usize));
        }
        Ok((cluster, before as usize))
    }

    /// The whole content of an inode of at most `limit` bytes.
    pub(crate) fn small_content(&self, inode: &Inode, limit: u64) -> Result<Vec<u8>> {
        if inode.size > limit {
            return Err(inode
                .damage(format!("a content of {}", counted(inode.size, "byte")))
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
        let map = match self.map {
            Some(map) => map,
            None => match self.image.map(&self.inode) {
                Ok(map) => *self.map.insert(map),
                // Told once; there are no pieces to go on with.
                Err(error) if self.offset < self.inode.size => {
                    self.offset = self.inode.size;
                    return Some(Err(error));
                }
                Err(_) => return None,
            },
        };
        let piece = self
            .image
            .piece(&self.inode, &map, self.offset)
            .transpose()?;
        match &piece {
            Ok(piece) => self.offset += piece.length,
            Err(_) => self.offset = self.inode.size,
        }
        Some(piece)
    }
}

/// The content of a regular file of an image. Clusters have no holes, so long runs of zeros in them are
/// found when they are read.
pub(super) struct InFile {
    image: Arc<Image>,
    inode: Inode,
    map: Option<Map>,
    /// Where the next piece begins.
    offset: u64,
    /// The piece at `offset`, if it is known.
    piece: Option<Piece>,
    /// The piece before that.
    content: Vec<u8>,
    /// Number of bytes of `content` already returned.
    taken: usize,
    /// The next hole in `content` behind them; empty if there is none.
    zeros: Range<usize>,
}

impl InFile {
    pub(super) fn new(image: &Arc<Image>, inode: &Inode) -> Self {
        InFile {
            image: image.clone(),
            inode: *inode,
            map: None,
            offset: 0,
            piece: None,
            content: Vec::new(),
            taken: 0,
            zeros: 0..0,
        }
    }

    fn next_piece(&mut self) -> Result<Option<Piece>> {
        if self.piece.is_none() {
            let map = match self.map {
                Some(map) => map,
                None => *self.map.insert(self.image.map(&self.inode)?),
            };
            self.piece = self.image.piece(&self.inode, &map, self.offset)?;
        }
        Ok(self.piece)
    }

    /// Reads the piece at `offset`, which is known, or the first `most` bytes of it.
    fn load(&mut self, mut piece: Piece, most: u64) -> Result<()> {
        let left = piece.length.saturating_sub(most);
        piece.length -= left;
        if let Stored::Cluster { around, .. } = &mut piece.stored {
            around.1 += left;
        }
        self.piece = None;
        self.offset += piece.length;
        self.taken = 0;
        self.zeros = 0..0;
        self.image.read_piece(&piece, &mut self.content)?;
        self.find_zeros();
        Ok(())
    }

    /// Finds the next hole in what is left of `content`.
    fn find_zeros(&mut self) {
        let begin = self.offset - self.content.len() as u64;
        self.zeros = long_zeros(&self.content, begin, self.taken);
    }

    fn read_on(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.taken >= self.content.len() {
            let Some(piece) = self.next_piece()? else {
                return Ok(0);
            };
            // A reader that does not ask for holes gets them in parts.
            let most = match piece.stored {
                Stored::Hole => buffer.len() as u64,
                _ => u64::MAX,
            };
            self.load(piece, most)?;
        }
        let end = match &self.zeros {
            zeros if zeros.is_empty() => self.content.len(),
            zeros if self.taken < zeros.start => zeros.start,
            zeros => zeros.end,
        };
        let rest = self.content.get(self.taken..end).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.taken += count;
        if self.taken == self.zeros.end {
            self.find_zeros();
        }
        Ok(count)
    }

    /// Where in the piece at `offset` a hole begins, and its length, if it is known to be zeros: the
    /// hole that would be found if it was read.
    fn hole_in(&self, piece: &Piece) -> Option<(u64, u64)> {
        if !self.image.zeros.contain(piece) {
            return None;
        }
        let block = BLOCK_BYTES as u64;
        let before = self.offset.checked_next_multiple_of(block)? - self.offset;
        let rest = piece.length.checked_sub(before)?;
        let hole = rest - rest % block;
        (hole >= HOLE_BYTES as u64).then_some((before, hole))
    }

    fn pass_hole(&mut self) -> Result<u64> {
        let mut passed = 0;
        loop {
            if self.zeros.contains(&self.taken) {
                passed += (self.zeros.end - self.taken) as u64;
                self.taken = self.zeros.end;
                self.find_zeros();
            }
            if self.taken < self.content.len() {
                return Ok(passed);
            }
            match self.next_piece()? {
                Some(piece) if piece.stored == Stored::Hole => {
                    passed += piece.length;
                    self.offset += piece.length;
                    self.piece = None;
                }
                Some(piece) => match self.hole_in(&piece) {
                    Some((0, hole)) => {
                        passed += hole;
                        self.offset += hole;
                        self.piece = None;
                    }
                    Some((before, _)) => self.load(piece, before)?,
                    None => self.load(piece, u64::MAX)?,
                },
                None => return Ok(passed),
            }
        }
    }
}

/// The first run of at least [`HOLE_BYTES`] zeros in `content`, which begins at the byte `begin` of a file, at or
/// behind `from`: whole blocks of the file. Empty if there is none.
fn long_zeros(content: &[u8], begin: u64, from: usize) -> Range<usize> {
    let behind_block = (begin.wrapping_add(from as u64) % BLOCK_BYTES as u64) as usize;
    let mut at = from + (BLOCK_BYTES - behind_block) % BLOCK_BYTES;
    let mut run = at..at;
    while let Some(block) = content.get(at..at + BLOCK_BYTES) {
        at += BLOCK_BYTES;
        if is_zero(block) {
            run.end = at;
            continue;
        }
        if run.len() >= HOLE_BYTES {
            return run;
        }
        run = at..at;
    }
    if run.len() >= HOLE_BYTES {
        run
    } else {
        0..0
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
