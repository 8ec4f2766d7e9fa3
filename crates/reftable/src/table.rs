//! A table: where its blocks are, and how they are read.

use crate::block::{Block, BlockKind, BLOCK_HEADER_BYTES};
use crate::cursor::{LogCursor, RefCursor, Sections};
use crate::error::malformed;
use crate::header::{Header, Positions, FOOTER_LIMIT, HEADER_LIMIT};
use crate::{RefRecord, Result};
use bstr::BStr;
use gix_hash::Kind;
use hedgerow_codec::{can_expand_to, Inflater};
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// Where the bytes of a table come from.
pub trait TableBytes: Debug + Send + Sync {
    /// How many there are. It never changes.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads from `position` until `buffer` is full or the table ends, and returns how many bytes
    /// that were.
    ///
    /// # Errors
    /// [`Error::Bytes`](crate::Error::Bytes).
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize>;
}

impl TableBytes for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize> {
        let rest = usize::try_from(position).ok().and_then(|at| self.get(at..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// How much is read at once where nothing tells how long a block is.
const UNALIGNED_READ_BYTES: u32 = 4096;

/// A table that can be read. Its header and footer were checked, its blocks were not.
#[derive(Debug)]
pub struct Table {
    bytes: Box<dyn TableBytes>,
    header: Header,
    /// What the table is about, and where its sections are.
    sections: Sections,
    inflater: Mutex<Inflater>,
}

impl Table {
    /// Reads the header and the footer of the table in `bytes`, whose ids are of the kind `hash`.
    ///
    /// # Errors
    /// If they are none, contradict each other, or name another hash.
    pub fn open(bytes: Box<dyn TableBytes>, hash: Kind) -> Result<Self> {
        let mut start = [0; HEADER_LIMIT + BLOCK_HEADER_BYTES];
        let count = bytes.read_at(&mut start, 0)?;
        let header = Header::read(&start[..count], hash)?;
        let wrong = |reason| malformed(reason, 0);
        let end = bytes
            .len()
            .checked_sub(header.footer_len() as u64)
            .filter(|end| *end >= header.len() as u64)
            .ok_or_else(|| wrong("no whole footer"))?;
        let mut footer = [0; FOOTER_LIMIT];
        let footer = &mut footer[..header.footer_len()];
        if bytes.read_at(footer, end)? != footer.len() {
            return Err(wrong("no whole footer"));
        }
        let positions = Positions::read(footer, &header)?;
        let first = if end == header.len() as u64 {
            None
        } else {
            let letter = start.get(header.len()).copied().unwrap_or_default();
            let kind = BlockKind::of_letter(letter);
            Some(kind.ok_or_else(|| wrong("an unknown kind of block"))?)
        };
        Ok(Table {
            sections: Sections::new(first, &positions, end)?,
            bytes,
            header,
            inflater: Mutex::default(),
        })
    }

    /// The lowest and the highest update index of its changes.
    pub fn update_indexes(&self) -> (u64, u64) {
        (self.header.min_update_index, self.header.max_update_index)
    }

    /// What it takes beside its header and footer, in bytes.
    pub fn content_bytes(&self) -> u64 {
        let frame = self.header.len() + self.header.footer_len();
        self.bytes.len().saturating_sub(frame as u64)
    }

    /// What it says about the reference `name`; `None` if it does not know it.
    pub fn find_ref(&self, name: &BStr) -> Result<Option<RefRecord>> {
        let mut cursor = RefCursor::new(self, name)?;
        let found = cursor.next_record()?;
        Ok(found.filter(|record| record.name == name))
    }

    /// Its references whose names are `from` or come after it.
    pub fn refs_from<'t>(&'t self, from: &BStr) -> Result<RefCursor<'t>> {
        RefCursor::new(self, from)
    }

    /// Its entries of the log of `from`, newest first, and of the logs whose names come after it.
    pub fn logs_from<'t>(&'t self, from: &BStr) -> Result<LogCursor<'t>> {
        LogCursor::new(self, from)
    }

    pub(crate) fn sections(&self) -> &Sections {
        &self.sections
    }

    /// The block at `position`; it must end at `limit`, which is where its section does.
    pub(crate) fn block(&self, position: u64, limit: u64) -> Result<Block> {
        let wrong = |reason| malformed(reason, position);
        // The first block begins with the header of the table.
        let before = if position == 0 { self.header.len() } else { 0 };
        let start = before + BLOCK_HEADER_BYTES;
        let room = limit.saturating_sub(position);
        let guess = match self.header.block_size {
            0 => UNALIGNED_READ_BYTES,
            aligned => aligned,
        };
        let mut content = vec![0; u64::from(guess).min(room) as usize];
        self.fill(&mut content, position, 0)?;
        let head = content
            .get(before..start)
            .and_then(|head| head.first_chunk::<4>());
        let head = head.ok_or_else(|| wrong("a block that is cut off"))?;
        let kind =
            BlockKind::of_letter(head[0]).ok_or_else(|| wrong("an unknown kind of block"))?;
        let length = u32::from_be_bytes(*head) & 0x00ff_ffff;
        let length = Some(length as usize).filter(|length| *length > start);
        let length = length.ok_or_else(|| wrong("a block that is cut off"))?;
        if kind == BlockKind::Logs {
            return self.log_block((position, room), content, (start, length));
        }
        if length as u64 > room {
            return Err(wrong("a block that is cut off"));
        }
        let read = content.len();
        let next = content.get(length).copied();
        content.resize(length, 0);
        if length > read {
            self.fill(&mut content, position, read)?;
        }
        let end = self.end_of_padding(position, length as u64, next, limit)?;
        Block::new((kind, self.header.hash), (position, end), content, start)
    }

    /// Where the block after that at `position` begins, which is `length` bytes long and followed by
    /// `next`. Zeros fill it up to what the table is aligned to; no block begins with a zero.
    fn end_of_padding(
        &self,
        position: u64,
        length: u64,
        next: Option<u8>,
        limit: u64,
    ) -> Result<u64> {
        let end = position + length;
        let aligned = position + u64::from(self.header.block_size);
        if aligned <= end || end >= limit {
            return Ok(end.min(limit));
        }
        let next = match next {
            Some(next) => next,
            None => {
                let mut next = [0];
                self.fill(&mut next, end, 0)?;
                next[0]
            }
        };
        Ok(if next == 0 { aligned.min(limit) } else { end })
    }

    /// The block of entries of logs at `position`, with `room` bytes for it, of which `head` has
    /// some. Its records begin at `start`, and it is `length` bytes long when it is inflated.
    fn log_block(
        &self,
        (position, room): (u64, u64),
        mut head: Vec<u8>,
        (start, length): (usize, usize),
    ) -> Result<Block> {
        let wrong = |reason| malformed(reason, position);
        let inflated = length - start;
        let most = room.saturating_sub(start as u64);
        if !can_expand_to(most, inflated as u64) {
            return Err(wrong("a block that cannot be so long"));
        }
        // What cannot be compressed grows, by less than this.
        let window = (start + inflated + inflated / 64 + 64) as u64;
        let read = head.len();
        let window = window.min(room) as usize;
        if window > read {
            head.resize(window, 0);
            self.fill(&mut head, position, read)?;
        }
        let deflated = head.get(start..).unwrap_or_default();
        let mut content = vec![0; length];
        content[..start].copy_from_slice(&head[..start]);
        let mut inflater = self.inflater.lock().unwrap_or_else(PoisonError::into_inner);
        let used = inflater
            .zlib_into(deflated, &mut content[start..])
            .map_err(|_| wrong("a block that does not inflate"))?;
        let end = position + (start + used) as u64;
        let kind = (BlockKind::Logs, self.header.hash);
        Block::new(kind, (position, end), content, start)
    }

    /// Fills `buffer` from `filled` on with what the table has there, `buffer` being at `position`.
    fn fill(&self, buffer: &mut [u8], position: u64, filled: usize) -> Result<()> {
        let rest = &mut buffer[filled..];
        let count = self.bytes.read_at(rest, position + filled as u64)?;
        if count == rest.len() {
            Ok(())
        } else {
            Err(malformed("a table that became shorter", position))
        }
    }
}
