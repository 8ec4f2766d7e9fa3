use super::{File, FragmentTail, Image, MetadataReader};
use crate::buffers::Buffer;
use crate::format::{SizeWord, SUPERBLOCK_BYTES};
use crate::{Damage, Part, Result};
use std::sync::Arc;

/// A part of a file's content that is stored in one piece, at most a block long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes.
    pub length: u32,
    pub(crate) stored: Stored,
}

/// Where a piece is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// Nowhere: it is zero.
    Hole,
    Block {
        position: u64,
        word: SizeWord,
    },
    Tail(FragmentTail),
}

impl Piece {
    /// Whether it is stored nowhere, being zero.
    pub fn is_hole(&self) -> bool {
        self.stored == Stored::Hole
    }

    /// Bytes that a block of its own takes in the image, and whether it is not compressed; 0 of a
    /// hole or of the end of a file, which shares a block.
    pub fn stored_bytes(&self) -> (u32, bool) {
        match self.stored {
            Stored::Block { word, .. } => (word.stored_bytes(), word.is_raw()),
            Stored::Hole | Stored::Tail(_) => (0, false),
        }
    }
}

/// The pieces of a file, one behind the other. Ends behind an error.
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

    /// Reads a piece to `content`, which it then fills.
    pub fn read_piece(&self, piece: &Piece, content: &mut Vec<u8>) -> Result<()> {
        content.clear();
        content.resize(piece.length as usize, 0);
        self.read_piece_into(piece, content)
    }

    /// Reads a piece to `content`, which is as long as it.
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

    /// Whether two pieces, the second of another image, are stored with the same bytes, so that
    /// they are equal. That they are not says nothing.
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

    /// A fragment block, decompressed.
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

    /// Reads a block to the start of `output`; returns its length.
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

    /// What is stored of a block.
    pub(crate) fn read_stored(&self, part: Part, position: u64, word: SizeWord) -> Result<Vec<u8>> {
        self.check_extent(part, position, word)?;
        let mut stored = vec![0; word.stored_bytes() as usize];
        self.bytes.read(part, position, &mut stored)?;
        Ok(stored)
    }

    /// Checks that a block of this size may stand at this position.
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
    /// What is left of the file: the same pieces can be asked for again.
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
