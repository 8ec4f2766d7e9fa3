//! Making a table: records in, bytes out.

use crate::block::{BlockKind, BLOCK_HEADER_BYTES};
use crate::header::{Header, Positions};
use crate::{Error, LogRecord, RefRecord, RefTarget, Result, NAME_LIMIT};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::{Kind, ObjectId};
use hedgerow_codec::deflate;
use hedgerow_object::offset_encoding::{encode, MAX_BYTES};

/// The largest size of a block: a number of three bytes.
pub const LARGEST_BLOCK_SIZE: u32 = 0x00ff_ffff;
/// So many restarts can be counted.
const RESTART_LIMIT: usize = u16::MAX as usize;
/// Up to so many blocks of references are searched without an index.
const UNINDEXED_REF_BLOCKS: usize = 3;
/// Entries of logs are seldom read: they may take time to write.
const DEFLATE_LEVEL: i32 = 9;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// The size of blocks in bytes: `reftable.blockSize`.
    pub block_size: u32,
    /// Every so manieth record is written with its whole name: `reftable.restartInterval`.
    pub restart_interval: u16,
    /// The kind of ids.
    pub hash: Kind,
}

/// What takes the bytes of a table, from its start to its end.
type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;

/// Writes a table: first references in order of their names, then entries of logs, in order of names
/// and the newest of each first. Nothing refers to objects by their ids: readers need not look for
/// those, and git does not.
pub struct TableWriter<'s> {
    sink: &'s mut Sink<'s>,
    options: WriterOptions,
    header: Header,
    /// How many bytes were written.
    position: u64,
    /// Zeros that come before the next block, unless it is one of logs.
    padding: u64,
    kind: BlockKind,
    block: BlockBuilder,
    /// The key of the last record.
    last: Vec<u8>,
    /// The last key of each block of this kind, and where the block is.
    index: Vec<(Vec<u8>, u64)>,
    positions: Positions,
}

impl<'s> TableWriter<'s> {
    /// A table with the changes from one update index to another one, for `sink`.
    pub fn new(sink: &'s mut Sink<'s>, options: WriterOptions, update_indexes: (u64, u64)) -> Self {
        let block_size = options.block_size.min(LARGEST_BLOCK_SIZE);
        let header = Header::new(block_size, update_indexes, options.hash);
        TableWriter {
            sink,
            options,
            header,
            position: 0,
            padding: 0,
            kind: BlockKind::Refs,
            block: BlockBuilder::new(header.len(), options.restart_interval),
            last: Vec::new(),
            index: Vec::new(),
            positions: Positions::default(),
        }
    }

    /// Adds a reference.
    ///
    /// # Errors
    /// If it does not belong behind the one before, or does not fit into a block; those of the sink.
    pub fn add_ref(&mut self, record: &RefRecord) -> Result<()> {
        let (min, max) = (self.header.min_update_index, self.header.max_update_index);
        let is_within = (min..=max).contains(&record.update_index);
        let name = record.name.as_bstr();
        if self.kind != BlockKind::Refs || !is_within || name.is_empty() {
            return Err(misplaced(name));
        }
        if name.len() > NAME_LIMIT {
            return Err(self.too_large(name));
        }
        let mut value = Vec::new();
        push_number(&mut value, record.update_index - min);
        let kind = match &record.target {
            RefTarget::Deleted => 0,
            RefTarget::Id(id) => {
                push_id(&mut value, id);
                1
            }
            RefTarget::Peeled(id, peeled) => {
                push_id(&mut value, id);
                push_id(&mut value, peeled);
                2
            }
            RefTarget::Symbolic(target) => {
                push_text(&mut value, target);
                3
            }
        };
        self.add(name, name, kind, &value)
    }

    /// Adds an entry of a log.
    ///
    /// # Errors
    /// As [`TableWriter::add_ref`]. The format has room for entries that are larger than other
    /// blocks, but git cannot compact a table that has one.
    pub fn add_log(&mut self, record: &LogRecord) -> Result<()> {
        let name = record.name.as_bstr();
        if name.len() > NAME_LIMIT {
            return Err(self.too_large(name));
        }
        if self.kind == BlockKind::Refs {
            self.end_section()?;
            self.kind = BlockKind::Logs;
            self.last.clear();
            if self.position > 0 {
                self.positions.logs = self.position;
            }
        }
        let mut value = Vec::new();
        if let Some(update) = &record.update {
            push_id(&mut value, &update.old);
            push_id(&mut value, &update.new);
            push_text(&mut value, &update.name);
            push_text(&mut value, &update.email);
            push_number(&mut value, update.seconds);
            value.extend_from_slice(&update.zone.to_be_bytes());
            push_text(&mut value, &update.message);
        }
        let kind = u8::from(record.update.is_some());
        self.add(name, &record.key(), kind, &value)
    }

    /// Writes what is left, and the end.
    pub fn finish(mut self) -> Result<()> {
        self.end_section()?;
        let mut end = Vec::new();
        if self.position == 0 {
            self.header.write(&mut end);
        }
        self.positions.write(&self.header, &mut end);
        self.put(&end)
    }

    fn add(&mut self, name: &BStr, key: &[u8], kind: u8, value: &[u8]) -> Result<()> {
        if key <= self.last.as_slice() {
            return Err(misplaced(name));
        }
        let limit = self.options.block_size as usize;
        if !self.block.add(key, kind, value, limit) {
            if !self.block.is_empty() {
                self.end_block()?;
            }
            if !self.block.add(key, kind, value, limit) {
                return Err(self.too_large(name));
            }
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        Ok(())
    }

    fn too_large(&self, name: &BStr) -> Error {
        Error::TooLarge {
            name: name.to_owned(),
            block_size: self.options.block_size as usize,
        }
    }

    /// Ends the last block of a kind, and writes the index of all of them.
    fn end_section(&mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let unindexed = if self.kind == BlockKind::Refs {
            UNINDEXED_REF_BLOCKS
        } else {
            1
        };
        let of_what = self.kind;
        let mut level = std::mem::take(&mut self.index);
        if level.len() <= unindexed {
            return Ok(());
        }
        self.kind = BlockKind::Index;
        let mut start = self.position;
        while level.len() > 1 {
            start = self.position + self.padding;
            for (key, position) in &level {
                let mut value = Vec::new();
                push_number(&mut value, *position);
                let limit = self.options.block_size as usize;
                let fits = self.block.add(key, 0, &value, limit);
                // With two records a block, each level has at most half as many blocks.
                if !fits && self.block.records >= 2 {
                    self.end_block()?;
                }
                let limit = LARGEST_BLOCK_SIZE as usize;
                if !fits && !self.block.add(key, 0, &value, limit) {
                    return Err(self.too_large(key.as_bstr()));
                }
                self.last.clone_from(key);
            }
            self.end_block()?;
            level = std::mem::take(&mut self.index);
        }
        self.kind = of_what;
        if of_what == BlockKind::Refs {
            self.positions.ref_index = start;
        } else {
            self.positions.log_index = start;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        if self.position == 0 {
            self.header.write(&mut bytes);
        }
        let is_of_logs = self.kind == BlockKind::Logs;
        if !is_of_logs {
            let padding = vec![0; std::mem::take(&mut self.padding) as usize];
            self.put(&padding)?;
        }
        self.padding = 0;
        let start = self.position;
        let before = bytes.len();
        let next = BlockBuilder::new(0, self.options.restart_interval);
        let block = std::mem::replace(&mut self.block, next);
        let records = block.finish();
        let length = (before + BLOCK_HEADER_BYTES + records.len()) as u32;
        let head = u32::from(self.kind.letter()) << 24 | length;
        bytes.extend_from_slice(&head.to_be_bytes());
        if is_of_logs {
            bytes.extend_from_slice(&deflate(&records, DEFLATE_LEVEL));
        } else {
            bytes.extend_from_slice(&records);
            let size = u64::from(self.header.block_size);
            self.padding = size.saturating_sub(u64::from(length));
        }
        self.index.push((self.last.clone(), start));
        self.put(&bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        (self.sink)(bytes)
    }
}

fn misplaced(name: &BStr) -> Error {
    Error::Misplaced {
        name: BString::from(name),
    }
}

/// The records of a block that is being made.
struct BlockBuilder {
    /// What stands before the records in the block: its header, and that of the table in the first.
    before: usize,
    interval: u16,
    bytes: Vec<u8>,
    restarts: Vec<usize>,
    records: usize,
    last: Vec<u8>,
}

impl BlockBuilder {
    fn new(before: usize, interval: u16) -> Self {
        BlockBuilder {
            before: before + BLOCK_HEADER_BYTES,
            interval,
            bytes: Vec::new(),
            restarts: Vec::new(),
            records: 0,
            last: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Adds a record, if the block is not larger than `limit` then; says whether it is in.
    fn add(&mut self, key: &[u8], kind: u8, value: &[u8], limit: usize) -> bool {
        let interval = usize::from(self.interval.max(1));
        let is_restart =
            self.records.is_multiple_of(interval) && self.restarts.len() < RESTART_LIMIT;
        let shared = if is_restart {
            0
        } else {
            let same = self.last.iter().zip(key).take_while(|(a, b)| a == b);
            same.count()
        };
        let suffix = &key[shared..];
        let mut record = Vec::with_capacity(2 * MAX_BYTES + suffix.len() + value.len());
        push_number(&mut record, shared as u64);
        push_number(&mut record, (suffix.len() as u64) << 3 | u64::from(kind));
        record.extend_from_slice(suffix);
        record.extend_from_slice(value);
        let restarts = self.restarts.len() + usize::from(is_restart);
        let size = self.before + self.bytes.len() + record.len() + 3 * restarts + 2;
        if size > limit {
            return false;
        }
        if is_restart {
            self.restarts.push(self.before + self.bytes.len());
        }
        self.bytes.extend_from_slice(&record);
        self.records += 1;
        self.last.clear();
        self.last.extend_from_slice(key);
        true
    }

    fn finish(mut self) -> Vec<u8> {
        for restart in &self.restarts {
            self.bytes
                .extend_from_slice(&(*restart as u32).to_be_bytes()[1..]);
        }
        let count = self.restarts.len() as u16;
        self.bytes.extend_from_slice(&count.to_be_bytes());
        self.bytes
    }
}

fn push_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(encode(number, &mut [0; MAX_BYTES]));
}

fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    push_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

fn push_id(bytes: &mut Vec<u8>, id: &ObjectId) {
    bytes.extend_from_slice(id.as_bytes());
}
