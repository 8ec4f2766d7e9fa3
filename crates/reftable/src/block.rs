//! Blocks: what is read at once. Each has records in ascending order of their keys, of which each
//! leaves out what its key has in common with the key before.

use crate::error::malformed;
use crate::record::split_log_key;
use crate::{Error, LogRecord, LogUpdate, RefRecord, RefTarget, Result, NAME_LIMIT};
use bstr::BString;
use gix_hash::{Kind, ObjectId};
use hedgerow_object::offset_encoding::decode;

/// The longest key: that of an entry of a log.
const KEY_LIMIT: usize = NAME_LIMIT + 9;
/// A kind and a length stand at the start of each block.
pub(crate) const BLOCK_HEADER_BYTES: usize = 4;
const RESTART_BYTES: usize = 3;

/// What a block is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Refs,
    Index,
    Objects,
    Logs,
}

impl BlockKind {
    pub(crate) fn of_letter(letter: u8) -> Option<Self> {
        match letter {
            b'r' => Some(BlockKind::Refs),
            b'i' => Some(BlockKind::Index),
            b'o' => Some(BlockKind::Objects),
            b'g' => Some(BlockKind::Logs),
            _ => None,
        }
    }

    pub(crate) fn letter(self) -> u8 {
        match self {
            BlockKind::Refs => b'r',
            BlockKind::Index => b'i',
            BlockKind::Objects => b'o',
            BlockKind::Logs => b'g',
        }
    }
}

/// A block that was read, inflated if it was deflated.
#[derive(Debug)]
pub(crate) struct Block {
    pub kind: BlockKind,
    /// Where it begins in the table; for the first one, that of the header.
    pub position: u64,
    /// Where the next one begins.
    pub end: u64,
    hash: Kind,
    /// All of it: first the header of the table, if it is the first, then its own.
    content: Vec<u8>,
    /// Where records begin and end in `content`.
    records: (usize, usize),
}

impl Block {
    /// The block in `content`, whose records begin at `start`, which is behind its header. It is at
    /// `position` in the table, and the next one at `end`.
    ///
    /// The table of restarts must be one, but nothing is looked up in it: a block is read as a
    /// whole, so going through it from its start costs no more than that did, and misses nothing
    /// that a wrong restart hides.
    pub(crate) fn new(
        (kind, hash): (BlockKind, Kind),
        (position, end): (u64, u64),
        content: Vec<u8>,
        start: usize,
    ) -> Result<Self> {
        let wrong = |reason| malformed(reason, position);
        let (rest, count) = content
            .split_last_chunk::<2>()
            .ok_or_else(|| wrong("a block without restarts"))?;
        let count = usize::from(u16::from_be_bytes(*count));
        let records_end = rest
            .len()
            .checked_sub(count * RESTART_BYTES)
            .filter(|end| count > 0 && *end >= start)
            .ok_or_else(|| wrong("a block with wrong restarts"))?;
        let mut last = None;
        for restart in rest[records_end..].chunks_exact(RESTART_BYTES) {
            let offset = restart
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            let is_behind = last.is_none_or(|last| offset > last);
            if !is_behind || offset < start || offset >= records_end {
                return Err(wrong("a block with wrong restarts"));
            }
            last = Some(offset);
        }
        Ok(Block {
            kind,
            position,
            end,
            hash,
            content,
            records: (start, records_end),
        })
    }

    /// Puts `cursor` before the first record. The key that it has is that of the record before.
    pub(crate) fn enter(&self, cursor: &mut RecordCursor) {
        cursor.at = self.records.0;
    }

    /// Goes to the next record; false at the end. Keys must ascend from the one `cursor` has.
    pub(crate) fn advance(&self, cursor: &mut RecordCursor) -> Result<bool> {
        if cursor.at >= self.records.1 {
            return Ok(false);
        }
        let mut fields = self.fields(cursor.at);
        let is_first = cursor.at == self.records.0;
        let shared = fields.length()?;
        let word = fields.number()?;
        cursor.kind = (word & 7) as u8;
        let length = usize::try_from(word >> 3).unwrap_or(usize::MAX);
        if shared.saturating_add(length) > KEY_LIMIT {
            return Err(malformed("a name that is too long", self.position));
        }
        let suffix = fields.bytes(length)?;
        // What is shared is equal, so only what follows has to be greater.
        let is_greater = cursor.key.get(shared..).is_some_and(|rest| suffix > rest);
        let is_allowed = if is_first {
            shared == 0 && (cursor.key.is_empty() || is_greater)
        } else {
            is_greater
        };
        if !is_allowed {
            return Err(malformed("records that are not in order", self.position));
        }
        cursor.key.truncate(shared);
        cursor.key.extend_from_slice(suffix);
        cursor.value = fields.at;
        self.skip_value(cursor.kind, &mut fields, &cursor.key)?;
        cursor.at = fields.at;
        Ok(true)
    }

    /// Passes over the value of a record, which must be whole.
    fn skip_value(&self, kind: u8, fields: &mut Fields<'_>, key: &[u8]) -> Result<()> {
        let wrong = || malformed("a record of an unknown kind", self.position);
        match self.kind {
            BlockKind::Refs => {
                fields.number()?;
                match kind {
                    0 => {}
                    1 => fields.skip_ids(1)?,
                    2 => fields.skip_ids(2)?,
                    3 => fields.skip_text()?,
                    _ => return Err(wrong()),
                }
            }
            BlockKind::Logs => {
                split_log_key(key).ok_or_else(wrong)?;
                match kind {
                    0 => {}
                    1 => {
                        fields.skip_ids(2)?;
                        fields.skip_text()?;
                        fields.skip_text()?;
                        fields.number()?;
                        fields.zone()?;
                        fields.skip_text()?;
                    }
                    _ => return Err(wrong()),
                }
            }
            BlockKind::Index => {
                fields.number()?;
            }
            BlockKind::Objects => return Err(wrong()),
        }
        Ok(())
    }

    fn fields(&self, at: usize) -> Fields<'_> {
        Fields {
            content: &self.content,
            at,
            end: self.records.1,
            position: self.position,
            hash: self.hash,
        }
    }

    /// The reference that `cursor` stands on, of a table whose update indexes are in `range`.
    pub(crate) fn ref_record(&self, cursor: &RecordCursor, range: (u64, u64)) -> Result<RefRecord> {
        let mut fields = self.fields(cursor.value);
        let index = range.0.checked_add(fields.number()?);
        let index = index.filter(|index| *index <= range.1);
        let target = match cursor.kind {
            0 => RefTarget::Deleted,
            1 => RefTarget::Id(fields.id()?),
            2 => RefTarget::Peeled(fields.id()?, fields.id()?),
            _ => RefTarget::Symbolic(fields.text()?),
        };
        Ok(RefRecord {
            name: cursor.key.as_slice().into(),
            update_index: index
                .ok_or_else(|| malformed("an update index that is too high", self.position))?,
            target,
        })
    }

    /// The entry of a log that `cursor` stands on.
    pub(crate) fn log_record(&self, cursor: &RecordCursor) -> Result<LogRecord> {
        let mut fields = self.fields(cursor.value);
        let (name, update_index) = split_log_key(&cursor.key)
            .ok_or_else(|| malformed("a record of an unknown kind", self.position))?;
        let update = if cursor.kind == 0 {
            None
        } else {
            Some(LogUpdate {
                old: fields.id()?,
                new: fields.id()?,
                name: fields.text()?,
                email: fields.text()?,
                seconds: fields.number()?,
                zone: fields.zone()?,
                message: fields.text()?,
            })
        };
        Ok(LogRecord {
            name: name.to_owned(),
            update_index,
            update,
        })
    }

    /// Where the block is whose last key `cursor` stands on.
    pub(crate) fn child(&self, cursor: &RecordCursor) -> Result<u64> {
        self.fields(cursor.value).number()
    }
}

/// A record of a block: its key, and where its value is.
#[derive(Debug, Default)]
pub(crate) struct RecordCursor {
    at: usize,
    pub key: Vec<u8>,
    value: usize,
    kind: u8,
}

/// What is left of the records of a block.
struct Fields<'b> {
    content: &'b [u8],
    at: usize,
    end: usize,
    position: u64,
    hash: Kind,
}

impl<'b> Fields<'b> {
    fn cut_off(&self) -> Error {
        malformed("a record that is cut off", self.position)
    }

    fn bytes(&mut self, length: usize) -> Result<&'b [u8]> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.end);
        let found = end.and_then(|end| Some((end, self.content.get(self.at..end)?)));
        let (end, found) = found.ok_or_else(|| self.cut_off())?;
        self.at = end;
        Ok(found)
    }

    fn number(&mut self) -> Result<u64> {
        let rest = self.content.get(self.at..self.end);
        let rest = rest.ok_or_else(|| self.cut_off())?;
        let (number, length) = decode(rest, u64::MAX).map_err(|_| self.cut_off())?;
        self.at += length;
        Ok(number)
    }

    fn length(&mut self) -> Result<usize> {
        let number = self.number()?;
        usize::try_from(number).map_err(|_| self.cut_off())
    }

    fn text(&mut self) -> Result<BString> {
        let length = self.length()?;
        Ok(self.bytes(length)?.into())
    }

    fn skip_text(&mut self) -> Result<()> {
        let length = self.length()?;
        self.bytes(length).map(drop)
    }

    fn id(&mut self) -> Result<ObjectId> {
        let bytes = self.bytes(self.hash.len_in_bytes())?;
        ObjectId::try_from(bytes).map_err(|_| self.cut_off())
    }

    fn skip_ids(&mut self, count: usize) -> Result<()> {
        self.bytes(count * self.hash.len_in_bytes()).map(drop)
    }

    fn zone(&mut self) -> Result<i16> {
        let bytes = self.bytes(2)?.first_chunk::<2>();
        bytes
            .map(|bytes| i16::from_be_bytes(*bytes))
            .ok_or_else(|| self.cut_off())
    }
}
