//! Going through a section of a table, from a key on.

use crate::block::{Block, BlockKind, RecordCursor};
use crate::error::malformed;
use crate::header::Positions;
use crate::{LogRecord, RefRecord, Result, Table};
use bstr::{BStr, ByteSlice};

/// An index has so many levels at most: with two records a block, those of 2^32 blocks.
const INDEX_DEPTH_LIMIT: usize = 32;

/// Where the sections of a table are, in bytes from its start.
#[derive(Debug)]
pub(crate) struct Sections {
    refs: Option<Section>,
    logs: Option<Section>,
}

/// The blocks of one kind, and the index of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    kind: BlockKind,
    start: u64,
    end: u64,
    /// Where the highest level of its index begins, and where that ends. Lower levels stand before
    /// it, behind the blocks.
    index: Option<(u64, u64)>,
}

impl Sections {
    /// The sections of a table that has blocks of the kind `first` at its start and others up to
    /// `end`.
    pub(crate) fn new(first: Option<BlockKind>, positions: &Positions, end: u64) -> Result<Self> {
        let begins = [
            positions.ref_index,
            positions.objects,
            positions.object_index,
            positions.logs,
            positions.log_index,
        ];
        if begins.iter().any(|begin| *begin >= end && *begin > 0) {
            return Err(malformed("a section behind the end", 0));
        }
        // The section that begins at `begin` ends where another one does begin.
        let ends = |begin: u64| {
            let behind = begins.into_iter().filter(|other| *other > begin);
            behind.min().unwrap_or(end)
        };
        let index = |begin: u64| (begin > 0).then(|| (begin, ends(begin)));
        let section = |kind, start, index_begins| Section {
            kind,
            start,
            end: ends(start),
            index: index(index_begins),
        };
        let refs = match first {
            Some(BlockKind::Refs) => Some(section(BlockKind::Refs, 0, positions.ref_index)),
            Some(BlockKind::Logs) | None => None,
            Some(_) => return Err(malformed("an unknown kind of block", 0)),
        };
        let logs_begin = match (first, positions.logs) {
            (Some(BlockKind::Logs), _) => Some(0),
            (_, begin) => Some(begin).filter(|begin| *begin > 0),
        };
        let logs = logs_begin.map(|start| section(BlockKind::Logs, start, positions.log_index));
        Ok(Sections { refs, logs })
    }
}

/// Goes through the records of a section in ascending order.
#[derive(Debug)]
struct Cursor<'t> {
    table: &'t Table,
    section: Section,
    /// The block that `record` is in; `None` behind the last one.
    block: Option<Block>,
    record: RecordCursor,
    /// Whether `record` stands on one that was not handed out yet.
    is_ahead: bool,
}

impl<'t> Cursor<'t> {
    /// Stands before the first record of `section` whose key is `key` or more.
    fn seek(table: &'t Table, section: Section, key: &[u8]) -> Result<Self> {
        let mut cursor = Cursor {
            table,
            section,
            block: None,
            record: RecordCursor::default(),
            is_ahead: false,
        };
        match section.index {
            None => cursor.enter(section.start)?,
            Some(index) => {
                let Some((bounds, block)) = cursor.locate(index, key)? else {
                    return Ok(cursor);
                };
                if bounds.check(&block)? > key.to_vec() {
                    cursor.check_end_before(&bounds, block.position)?;
                }
                block.enter(&mut cursor.record);
                cursor.record.key = bounds.before.key;
                cursor.block = Some(block);
            }
        }
        while cursor.step()? {
            if cursor.record.key.as_slice() >= key {
                cursor.is_ahead = true;
                break;
            }
        }
        Ok(cursor)
    }

    /// The block in which `key` is if it is anywhere, and what the index, whose highest level is
    /// from `start` to `end`, says about it; `None` if it would be behind the last one.
    fn locate(&self, (start, end): (u64, u64), key: &[u8]) -> Result<Option<(Bounds, Block)>> {
        let mut found = None;
        let mut position = start;
        let mut before = Before::default();
        while found.is_none() && position < end {
            let block = self.table.block(position, end)?;
            if block.kind != BlockKind::Index {
                break;
            }
            found = look_up(&block, key, &mut before)?;
            position = block.end;
        }
        let Some((mut bounds, mut child)) = found else {
            return Ok(None);
        };
        let mut above = start;
        for _ in 0..INDEX_DEPTH_LIMIT {
            // A level stands before the one above it, so this ends.
            if child >= above || child < self.section.start {
                return Err(malformed("an index that leads nowhere", above));
            }
            let block = self.table.block(child, above)?;
            if block.kind == self.section.kind {
                return Ok(Some((bounds, block)));
            }
            if block.kind != BlockKind::Index {
                return Err(malformed("an index that leads nowhere", above));
            }
            bounds.check(&block)?;
            above = child;
            // It is not behind the last one, which `bounds` names.
            let lower = look_up(&block, key, &mut bounds.before)?;
            let lower = lower.ok_or_else(|| malformed("an index that leads nowhere", above))?;
            (bounds, child) = lower;
        }
        Err(malformed("an index with too many levels", start))
    }

    /// Checks that the block before that at `position`, of which `bounds` tells, ends where they say:
    /// what is not in the one might be in the other.
    fn check_end_before(&self, bounds: &Bounds, position: u64) -> Result<()> {
        let Some(mut child) = bounds.before.child else {
            return Ok(());
        };
        let mut above = self.section.index.map_or(0, |(start, _)| start);
        for _ in 0..INDEX_DEPTH_LIMIT {
            if child >= above || child < self.section.start {
                break;
            }
            let block = self.table.block(child, above)?;
            let mut record = RecordCursor::default();
            block.enter(&mut record);
            while block.advance(&mut record)? {}
            if record.key != bounds.before.key {
                break;
            }
            if block.kind == self.section.kind {
                return Ok(());
            }
            above = child;
            child = block.child(&record)?;
        }
        Err(malformed("a block that its index does not fit", position))
    }

    /// The last key of the section, as its index has it.
    fn last_key(&self, (start, end): (u64, u64)) -> Result<Vec<u8>> {
        let mut record = RecordCursor::default();
        let mut position = start;
        while position < end {
            let block = self.table.block(position, end)?;
            if block.kind != BlockKind::Index {
                break;
            }
            block.enter(&mut record);
            while block.advance(&mut record)? {}
            position = block.end;
        }
        Ok(record.key)
    }

    /// Stands before the first record of the block at `position`; behind all if there is none.
    fn enter(&mut self, position: u64) -> Result<()> {
        self.block = None;
        let mut following = None;
        if position < self.section.end {
            let block = self.table.block(position, self.section.end)?;
            if block.kind == self.section.kind {
                block.enter(&mut self.record);
                self.block = Some(block);
                return Ok(());
            }
            following = Some(block.kind);
        }
        match (self.section.index, following) {
            (None, None) => Ok(()),
            // Lower levels of the index begin where its blocks end, or the highest one does.
            (Some(index), None | Some(BlockKind::Index))
                if self.last_key(index)? == self.record.key =>
            {
                Ok(())
            }
            _ => Err(malformed(
                "a section that does not end where it should",
                position,
            )),
        }
    }

    /// Goes to the next record; false at the end.
    fn step(&mut self) -> Result<bool> {
        loop {
            let Some(block) = &self.block else {
                return Ok(false);
            };
            if block.advance(&mut self.record)? {
                return Ok(true);
            }
            let next = block.end;
            self.enter(next)?;
        }
    }

    /// The block of the next record, if there is one.
    fn advance(&mut self) -> Result<Option<&Block>> {
        if !std::mem::take(&mut self.is_ahead) && !self.step()? {
            return Ok(None);
        }
        Ok(self.block.as_ref())
    }
}

/// The first record of `block`, of an index, whose key is `key` or more: what it says about a
/// block, and where that is. `before` becomes the record before.
fn look_up(block: &Block, key: &[u8], before: &mut Before) -> Result<Option<(Bounds, u64)>> {
    let mut record = RecordCursor::default();
    record.key.clone_from(&before.key);
    block.enter(&mut record);
    while block.advance(&mut record)? {
        let child = block.child(&record)?;
        if record.key.as_slice() >= key {
            let bounds = Bounds {
                before: std::mem::take(before),
                last: record.key,
            };
            return Ok(Some((bounds, child)));
        }
        before.key.clone_from(&record.key);
        before.child = Some(child);
    }
    Ok(None)
}

/// What an index says about a block: its keys are behind that of `before`, and `last` is the last of
/// them.
#[derive(Debug)]
struct Bounds {
    before: Before,
    last: Vec<u8>,
}

/// A record of an index, if there is one: the last key of a block, and where that is.
#[derive(Debug, Default)]
struct Before {
    key: Vec<u8>,
    child: Option<u64>,
}

impl Bounds {
    /// A key is looked for in one block only, so that block must be the one that the index means.
    /// Returns its first key.
    fn check(&self, block: &Block) -> Result<Vec<u8>> {
        let mut record = RecordCursor::default();
        record.key.clone_from(&self.before.key);
        block.enter(&mut record);
        let mut first = None;
        while block.advance(&mut record)? {
            first.get_or_insert_with(|| record.key.clone());
        }
        match first {
            Some(first) if record.key == self.last => Ok(first),
            _ => Err(malformed(
                "a block that its index does not fit",
                block.position,
            )),
        }
    }
}

/// The references of a table, in order of their names.
#[derive(Debug)]
pub struct RefCursor<'t> {
    cursor: Option<Cursor<'t>>,
}

impl<'t> RefCursor<'t> {
    pub(crate) fn new(table: &'t Table, from: &BStr) -> Result<Self> {
        let section = table.sections().refs;
        let cursor = section.map(|section| Cursor::seek(table, section, from.as_bytes()));
        Ok(RefCursor {
            cursor: cursor.transpose()?,
        })
    }

    /// The next one; `None` behind the last.
    ///
    /// # Errors
    /// If the table is damaged. Then nothing that follows can be read.
    pub fn next_record(&mut self) -> Result<Option<RefRecord>> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(None);
        };
        let range = cursor.table.update_indexes();
        if cursor.advance()?.is_none() {
            return Ok(None);
        }
        let block = cursor.block.as_ref();
        block
            .map(|block| block.ref_record(&cursor.record, range))
            .transpose()
    }
}

/// The entries of the logs of a table, in order of names, the newest of each first.
#[derive(Debug)]
pub struct LogCursor<'t> {
    cursor: Option<Cursor<'t>>,
}

impl<'t> LogCursor<'t> {
    pub(crate) fn new(table: &'t Table, from: &BStr) -> Result<Self> {
        let section = table.sections().logs;
        // The newest entry comes first, and no other name comes between.
        let key = [from.as_bytes(), b"\0"].concat();
        let key = if from.is_empty() { Vec::new() } else { key };
        let cursor = section.map(|section| Cursor::seek(table, section, &key));
        Ok(LogCursor {
            cursor: cursor.transpose()?,
        })
    }

    /// The next one; `None` behind the last.
    ///
    /// # Errors
    /// If the table is damaged. Then nothing that follows can be read.
    pub fn next_record(&mut self) -> Result<Option<LogRecord>> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(None);
        };
        if cursor.advance()?.is_none() {
            return Ok(None);
        }
        let block = cursor.block.as_ref();
        block
            .map(|block| block.log_record(&cursor.record))
            .transpose()
    }
}
