//! Several tables as one: of records with the same key, that of the newest table counts.

use crate::record::log_key;
use crate::{LogCursor, LogRecord, RefCursor, RefRecord, RefTarget, Result, Table};
use bstr::{BStr, BString, ByteSlice};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The references of `tables`, the oldest first, whose names are `from` or come after it. One that
/// was deleted is [`RefTarget::Deleted`].
pub fn merged_refs<'t>(
    tables: impl IntoIterator<Item = &'t Table>,
    from: &BStr,
) -> Result<MergedRefs<'t>> {
    let cursors = tables.into_iter().map(|table| table.refs_from(from));
    Merged::new(cursors.collect::<Result<_>>()?).map(MergedRefs)
}

/// The entries of logs in `tables`, the oldest first: those of `from`, newest first, and those of
/// names after it. An entry that was deleted has no update.
pub fn merged_logs<'t>(
    tables: impl IntoIterator<Item = &'t Table>,
    from: &BStr,
) -> Result<MergedLogs<'t>> {
    let cursors = tables.into_iter().map(|table| table.logs_from(from));
    Merged::new(cursors.collect::<Result<_>>()?).map(MergedLogs)
}

/// References in order of their names, each once.
#[derive(Debug)]
pub struct MergedRefs<'t>(Merged<RefCursor<'t>>);

/// Entries of logs in order of names, the newest of each first, each once.
#[derive(Debug)]
pub struct MergedLogs<'t>(Merged<LogCursor<'t>>);

impl Iterator for MergedRefs<'_> {
    type Item = Result<RefRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().transpose()
    }
}

impl<'t> MergedRefs<'t> {
    /// Leaves out references that were deleted.
    pub fn existing(self) -> impl Iterator<Item = Result<RefRecord>> + use<'t> {
        self.filter(|record| !matches!(record, Ok(record) if record.target == RefTarget::Deleted))
    }
}

impl Iterator for MergedLogs<'_> {
    type Item = Result<LogRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().transpose()
    }
}

/// What records are taken from, in ascending order of keys.
trait Records {
    type Key: Ord;
    type Record;
    fn next_record(&mut self) -> Result<Option<Self::Record>>;
    fn key(record: &Self::Record) -> Self::Key;
}

impl Records for RefCursor<'_> {
    type Key = BString;
    type Record = RefRecord;

    fn next_record(&mut self) -> Result<Option<RefRecord>> {
        RefCursor::next_record(self)
    }

    fn key(record: &RefRecord) -> BString {
        record.name.clone()
    }
}

impl Records for LogCursor<'_> {
    type Key = Vec<u8>;
    type Record = LogRecord;

    fn next_record(&mut self) -> Result<Option<LogRecord>> {
        LogCursor::next_record(self)
    }

    fn key(record: &LogRecord) -> Vec<u8> {
        log_key(record.name.as_bstr(), record.update_index)
    }
}

/// The next record of each table.
#[derive(Debug)]
struct Merged<C: Records> {
    cursors: Vec<C>,
    next: BinaryHeap<Reverse<Next<C::Key, C::Record>>>,
}

/// The next record of the table `source`.
#[derive(Debug)]
struct Next<K, R> {
    key: K,
    source: usize,
    record: R,
}

impl<K: Ord, R> Ord for Next<K, R> {
    /// Of the same key, the newest table comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = self.key.cmp(&other.key);
        by_key.then_with(|| other.source.cmp(&self.source))
    }
}

impl<K: Ord, R> PartialOrd for Next<K, R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, R> PartialEq for Next<K, R> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<K: Ord, R> Eq for Next<K, R> {}

impl<C: Records> Merged<C> {
    fn new(cursors: Vec<C>) -> Result<Self> {
        let count = cursors.len();
        let mut merged = Merged {
            cursors,
            next: BinaryHeap::with_capacity(count),
        };
        (0..count).try_for_each(|source| merged.fetch(source))?;
        Ok(merged)
    }

    fn fetch(&mut self, source: usize) -> Result<()> {
        if let Some(record) = self.cursors[source].next_record()? {
            let key = C::key(&record);
            self.next.push(Reverse(Next {
                key,
                source,
                record,
            }));
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<C::Record>> {
        let Some(Reverse(first)) = self.next.pop() else {
            return Ok(None);
        };
        self.fetch(first.source)?;
        // Older tables had this key too.
        while self
            .next
            .peek()
            .is_some_and(|Reverse(next)| next.key == first.key)
        {
            if let Some(Reverse(older)) = self.next.pop() {
                self.fetch(older.source)?;
            }
        }
        Ok(Some(first.record))
    }
}
