use super::{File, FragmentTail, Image, MetadataReader};
use crate::format::{SizeWord, SUPERBLOCK_BYTES};
use crate::{Damage, Part, Result};
use hedgerow_image::buffers::Buffer;
use std::sync::Arc;

/// A part of a file's content that is stored contiguously; at most one block long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its length in bytes.
    pub length: u32,
    pub(crate) stored: Stored,
}

/// Where a piece is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// A hole of zeros, which is not stored.
    Hole,
    Block {
        position: u64,
        word: SizeWord,
    },
    Tail(FragmentTail),
}

impl Piece {
    /// Whether the piece is a hole of zeros, which is not stored.
    pub fn is_hole(&self) -> bool {
        self.stored == Stored::Hole
    }

    /// The size of the piece's own block in the image in bytes, and whether it is uncompressed. The
    /// size is 0 for a hole, and for a tail, which shares a fragment block.
    pub fn stored_bytes(&self) -> (u32, bool) {
        match self.stored {
            Stored::Block { word, .. } => (word.stored_bytes(), word.is_raw()),
            Stored::Hole | Stored::Tail(_) => (0, false),
        }
    }
}

/// The pieces of a file in order. Ends after an error.
pub struct Pieces<'i> {
    reader: Option<MetadataReader<'i>>,
    block_size: u32,
    position: u64,
    blocks_left: u64,
    bytes_left: u64,
    tail: Option<FragmentTail>,
}

impl Image {
    /// The pieces of a file's content.
    pub fn pieces(&self, file: &File) -> Result<Pieces<'_>> {
        let reader = match file.block_count {
            0 => None,
            _ => Some(MetadataReader::new(self, self.layout.inodes, file.words)?),
        };
        Ok(Pieces {
            reader,
            block_size: self.superblock.block_size,
            position: file.blocks_start,
            blocks_left: file.block_count,
            bytes_left: file.size,
            tail: file.tail,
        })
    }

    /// Reads a piece into `content`, which gets the length of the piece.
    pub fn read_piece(&self, piece: &Piece, content: &mut Vec<u8>) -> Result<()> {
        content.clear();
        content.resize(piece.length as usize, 0);
        self.read_piece_into(piece, content)
    }

    /// Reads a piece into `content`, which must be as long as the piece.
    pub(crate) fn read_piece_into(&self, piece: &Piece, content: &mut [u8]) -> Result<()> {
        let length = content.len();
        match piece.stored {
            Stored::Hole => content.fill(0),
            Stored::Block { position, word } => {
                let read = self.read_block(Part::Data, position, word, content)?;
                if read != length {
                    let what = format!("a block of {read} bytes in place of {length}");
                    return Err(Damage::new(Part::Data, position, what).into());
                }
            }
            Stored::Tail(tail) => {
                let block = self.fragment(tail.index)?;
                let start = tail.offset as usize;
                let Some(bytes) = block.get(start..start.saturating_add(length)) else {
                    let what = format!(
                        "a tail of {length} bytes at {start} of fragment block {}, which has {}",
                        tail.index,
                        block.len()
                    );
                    return Err(Damage::new(Part::Fragments, 0, what).into());
                };
                content.copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    /// Whether two pieces, the second of another image, are stored with the same bytes, and so have
    /// equal contents. Pieces stored with different bytes may be equal, too.
    pub(crate) fn is_stored_alike(&self, piece: &Piece, other: (&Image, &Piece)) -> Result<bool> {
        let (image, other) = other;
        let (
            Stored::Block { position, word },
            Stored::Block {
                position: at,
                word: same,
            },
        ) = (piece.stored, other.stored)
        else {
            return Ok(piece.is_hole() && other.is_hole());
        };
        if word != same || self.compressor != image.compressor || piece.length != other.length {
            return Ok(false);
        }
        self.check_extent(Part::Data, position, word)?;
        image.check_extent(Part::Data, at, word)?;
        let length = word.stored_bytes() as usize;
        let (mut first, mut second) = (self.buffers.take(length), self.buffers.take(length));
        self.bytes.read(Part::Data, position, &mut first)?;
        image.bytes.read(Part::Data, at, &mut second)?;
        Ok(*first == *second)
    }

    /// The decompressed fragment block `index`, from the cache or from the image.
    fn fragment(&self, index: u32) -> Result<Arc<Buffer>> {
        self.fragments.get(index.into(), || {
            let entry = self.fragment_block(index)?;
            let size = self.superblock.block_size as usize;
            let mut block = self.buffers.take(size);
            let length =
                self.read_block(Part::Fragments, entry.position, entry.word, &mut block)?;
            block.truncate(length);
            Ok(block)
        })
    }

    /// Reads and decompresses a block to the start of `output`. Returns its length.
    pub(crate) fn read_block(
        &self,
        part: Part,
        position: u64,
        word: SizeWord,
        output: &mut [u8],
    ) -> Result<usize> {
        self.check_extent(part, position, word)?;
        let length = word.stored_bytes() as usize;
        if word.is_raw() {
            return match output.get_mut(..length) {
                Some(output) => self.bytes.read(part, position, output).map(|()| length),
                None => {
                    let what = format!("a block of {length} bytes in place of {}", output.len());
                    Err(Damage::new(part, position, what).into())
                }
            };
        }
        let mut stored = self.buffers.take(length);
        self.bytes.read(part, position, &mut stored)?;
        self.decompress(part, position, &stored, output)
    }

    /// Reads a block as it is stored, without decompressing it.
    pub(crate) fn read_stored(&self, part: Part, position: u64, word: SizeWord) -> Result<Vec<u8>> {
        self.check_extent(part, position, word)?;
        let mut stored = vec![0; word.stored_bytes() as usize];
        self.bytes.read(part, position, &mut stored)?;
        Ok(stored)
    }

    /// Checks that the size word is valid for a stored block and that the block lies in the data
    /// area.
    pub(crate) fn check_extent(&self, part: Part, position: u64, word: SizeWord) -> Result<()> {
        let end = position.checked_add(word.stored_bytes().into());
        let fits = position >= SUPERBLOCK_BYTES
            && end.is_some_and(|end| end <= self.superblock.inode_table_start);
        if word.is_valid(self.superblock.block_size) && !word.is_sparse() && fits {
            Ok(())
        } else {
            let what = format!("a block with the size word {:#x}", word.0);
            Err(Damage::new(part, position, what).into())
        }
    }
}

impl Pieces<'_> {
    /// `file` without the pieces already returned, so that reading can continue later.
    pub(super) fn rest(&self, file: &File) -> File {
        File {
            blocks_start: self.position,
            size: self.bytes_left,
            sparse: 0,
            tail: self.tail,
            block_count: self.blocks_left,
            words: self
                .reader
                .as_ref()
                .map_or(file.words, |reader| reader.place()),
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        let length = self.bytes_left.min(self.block_size.into()) as u32;
        if self.blocks_left == 0 {
            self.bytes_left = 0;
            let stored = Stored::Tail(self.tail.take()?);
            return Some(Ok(Piece { length, stored }));
        }
        let mut reader = self.reader.take()?;
        let word = match reader.u32() {
            Ok(word) => SizeWord(word),
            Err(error) => {
                self.blocks_left = 0;
                self.tail = None;
                return Some(Err(error));
            }
        };
        self.reader = Some(reader);
        self.blocks_left -= 1;
        self.bytes_left -= u64::from(length);
        let stored = match word.0 {
            0 => Stored::Hole,
            _ => Stored::Block {
                position: self.position,
                word,
            },
        };
        self.position = self.position.saturating_add(word.stored_bytes().into());
        Some(Ok(Piece { length, stored }))
    }
}
