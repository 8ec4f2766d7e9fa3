//! Making one table of several, so that a stack stays short.

use super::addition::{HowToWrite, NewTable};
use super::stack::{NamedTable, Stack};
use crate::Result;
use bstr::{BString, ByteSlice};
use hedgerow_fs::LockFile;
use hedgerow_reftable::{merged_logs, merged_refs, tables_to_compact, RefTarget, Table};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

impl Stack {
    /// Compacts tables where that is due. What others have locked is left to them.
    ///
    /// # Errors
    /// If tables cannot be read or written. The stack is what it was then, and may be used.
    pub(super) fn compact(&self, how: &HowToWrite) -> Result<()> {
        if self.due(how)?.is_none() {
            return Ok(());
        }
        let Ok(locked) = self.lock(Some(Duration::ZERO), &|| false) else {
            return Ok(());
        };
        let Some(range) = self.due(how)? else {
            return Ok(());
        };
        let is_oldest = range.start == 0;
        let mut tables: Vec<Arc<NamedTable>> = locked.snapshot.tables[range].to_vec();
        // The newest first, so that what is left when one is locked is a part without a gap.
        let mut locks = Vec::new();
        for table in tables.iter().rev() {
            match LockFile::acquire(&self.table_path(table.name.as_bstr())) {
                Ok(lock) => locks.push(lock),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => break,
                Err(error) => return Err(error.into()),
            }
        }
        let left_out = tables.len() - locks.len();
        tables.drain(..left_out);
        if tables.len() < 2 {
            return Ok(());
        }
        // Others may add tables while these are merged.
        drop(locked);
        let merged = self.merge(&tables, is_oldest && left_out == 0, how)?;
        let locked = self.lock(how.settings.lock_timeout, &|| false)?;
        let now = &locked.snapshot.tables;
        let names: Vec<BString> = now.iter().map(|table| table.name.clone()).collect();
        let compacted: Vec<BString> = tables.iter().map(|table| table.name.clone()).collect();
        let place = names
            .windows(compacted.len())
            .position(|part| part == compacted);
        let Some(place) = place else {
            return Ok(());
        };
        let range = update_indexes(&tables);
        let merged = merged
            .map(|merged| merged.install(self, range))
            .transpose()?;
        let mut names = names;
        names.splice(place..place + compacted.len(), merged.clone());
        let replaced = locked.replace_list(names, how);
        let unlisted = if replaced.is_ok() {
            compacted
        } else {
            merged.into_iter().collect()
        };
        unlisted.iter().for_each(|name| self.remove(name.as_bstr()));
        replaced
    }

    /// Which tables are to become one.
    fn due(&self, how: &HowToWrite) -> Result<Option<std::ops::Range<usize>>> {
        let now = self.now()?;
        let sizes: Vec<u64> = now
            .tables
            .iter()
            .map(|table| table.table.content_bytes())
            .collect();
        Ok(tables_to_compact(
            &sizes,
            u64::from(how.settings.geometric_factor),
        ))
    }

    /// A table of what `tables` have, which are the `oldest` of the stack or not; `None` if that is
    /// nothing. That something is deleted need not be said where nothing is older.
    fn merge(
        &self,
        tables: &[Arc<NamedTable>],
        oldest: bool,
        how: &HowToWrite,
    ) -> Result<Option<NewTable>> {
        let mut merged = NewTable::create(self, update_indexes(tables), how)?;
        let mut is_empty = true;
        let sources: Vec<&Table> = tables.iter().map(|table| &table.table).collect();
        merged.fill(how, |writer| {
            for record in merged_refs(sources.iter().copied(), "".into())? {
                let record = record?;
                if !(oldest && record.target == RefTarget::Deleted) {
                    writer.add_ref(&record)?;
                    is_empty = false;
                }
            }
            for record in merged_logs(sources.iter().copied(), "".into())? {
                let record = record?;
                if !(oldest && record.update.is_none()) {
                    writer.add_log(&record)?;
                    is_empty = false;
                }
            }
            Ok(())
        })?;
        Ok((!is_empty).then_some(merged))
    }
}

/// The lowest and the highest update index of `tables`.
fn update_indexes(tables: &[Arc<NamedTable>]) -> (u64, u64) {
    let ranges = tables.iter().map(|table| table.table.update_indexes());
    ranges.fold((u64::MAX, 0), |(min, max), range| {
        (min.min(range.0), max.max(range.1))
    })
}
