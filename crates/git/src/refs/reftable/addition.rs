//! Adding a table to a stack, under the lock of its list.

use super::stack::{broken, Snapshot, Stack};
use crate::config::{sync_if, ReftableSettings, Sharing};
use crate::refs::log::one_line;
use crate::refs::{IsCancelled, LogMessage, WriteOptions};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::{LockFile, OutputFile};
use hedgerow_reftable::{
    table_name, LogRecord, LogUpdate, RefRecord, RefTarget, TableWriter, WriterOptions,
};
use std::collections::hash_map::RandomState;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What is longer is cut off, as by git, so that an entry fits into a block.
const MESSAGE_LIMIT: usize = 2048;

/// How a stack is written, without what waits for its lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct HowToWrite {
    pub sharing: Sharing,
    pub sync: bool,
    pub settings: ReftableSettings,
}

impl HowToWrite {
    pub(super) fn new(options: &WriteOptions<'_>) -> Self {
        HowToWrite {
            sharing: options.sharing,
            sync: options.sync,
            settings: options.reftable,
        }
    }

    fn writer_options(&self, stack: &Stack) -> WriterOptions {
        WriterOptions {
            block_size: self.settings.block_size,
            restart_interval: self.settings.restart_interval,
            hash: stack.hash(),
        }
    }
}

/// A stack that nobody else changes.
#[derive(Debug)]
pub(super) struct LockedStack<'s> {
    pub stack: &'s Stack,
    pub snapshot: Arc<Snapshot>,
    lock: LockFile,
}

/// What a change adds to a stack.
#[derive(Debug)]
pub(super) struct Addition {
    /// The number of the change.
    first_index: u64,
    last_index: u64,
    refs: BTreeMap<BString, RefRecord>,
    /// By name, the newest entry first.
    logs: BTreeMap<(BString, std::cmp::Reverse<u64>), LogRecord>,
}

impl Stack {
    /// Locks the stack. Waits for whoever holds it up to `limit`, or without a limit until
    /// `is_cancelled`.
    ///
    /// # Errors
    /// In git's words if it is held; if it cannot be read.
    pub(super) fn lock(
        &self,
        limit: Option<Duration>,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<LockedStack<'_>> {
        let lock = match LockFile::acquire_within(&self.list_path(), limit, is_cancelled) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::Setup {
                    reason: "cannot lock references".into(),
                });
            }
            lock => lock?,
        };
        Ok(LockedStack {
            stack: self,
            snapshot: self.now()?,
            lock,
        })
    }
}

impl LockedStack<'_> {
    /// A change of this stack.
    pub(super) fn addition(&self) -> Result<Addition> {
        let index = self.snapshot.next_update_index()?;
        Ok(Addition {
            first_index: index,
            last_index: index,
            refs: BTreeMap::new(),
            logs: BTreeMap::new(),
        })
    }

    /// Checks that `addition` can become a table.
    pub(super) fn try_add(&self, addition: &Addition, how: &HowToWrite) -> Result<()> {
        let mut sink = |_: &[u8]| Ok(());
        let range = (addition.first_index, addition.last_index);
        let mut writer = TableWriter::new(&mut sink, how.writer_options(self.stack), range);
        let written = addition.write(&mut writer).and_then(|()| writer.finish());
        written.map_err(|error| not_written(&self.stack.list_path(), error))
    }

    /// Makes `addition` the newest table. Returns whether there was anything to add.
    pub(super) fn add(self, addition: Addition, how: &HowToWrite) -> Result<bool> {
        if addition.is_empty() {
            return Ok(false);
        }
        let range = (addition.first_index, addition.last_index);
        let mut table = NewTable::create(self.stack, range, how)?;
        table.fill(how, |writer| addition.write(writer))?;
        let name = table.install(self.stack, range)?;
        let tables = &self.snapshot.tables;
        let mut names: Vec<BString> = tables.iter().map(|table| table.name.clone()).collect();
        names.push(name.clone());
        let stack = self.stack;
        let replaced = self.replace_list(names, how);
        if replaced.is_err() {
            stack.remove(name.as_bstr());
        }
        replaced.map(|()| true)
    }

    /// Writes a new list and gives up the lock.
    pub(super) fn replace_list(mut self, names: Vec<BString>, how: &HowToWrite) -> Result<()> {
        let mut list = Vec::new();
        for name in names {
            list.extend_from_slice(&name);
            list.push(b'\n');
        }
        self.lock.write_all(&list)?;
        how.sharing.open_lock(&self.lock)?;
        sync_if(how.sync, &self.lock)?;
        self.lock.commit()?;
        Ok(())
    }
}

impl Addition {
    pub(super) fn is_empty(&self) -> bool {
        self.refs.is_empty() && self.logs.is_empty()
    }

    fn write(&self, writer: &mut TableWriter<'_>) -> hedgerow_reftable::Result<()> {
        let mut refs = self.refs.values();
        refs.try_for_each(|record| writer.add_ref(record))?;
        let mut logs = self.logs.values();
        logs.try_for_each(|record| writer.add_log(record))
    }

    /// Lets the reference `name` be `target`.
    pub(super) fn set(&mut self, name: &BStr, target: RefTarget) {
        let record = RefRecord {
            name: name.to_owned(),
            update_index: self.first_index,
            target,
        };
        self.refs.insert(name.to_owned(), record);
    }

    /// Adds an entry to the log of `name`, newer than all others.
    pub(super) fn log(&mut self, name: &BStr, update: LogUpdate) {
        let is_of_name = |(other, _): &&(BString, _)| *other == name;
        let before = self
            .logs
            .keys()
            .filter(is_of_name)
            .map(|(_, index)| index.0);
        let newest = before.max().filter(|newest| *newest >= self.first_index);
        let index = newest.map_or(self.first_index, |newest| newest.saturating_add(1));
        self.last_index = self.last_index.max(index);
        self.set_log(name, index, Some(update));
    }

    /// Makes the entry `update_index` of the log of `name` another one, or deletes it.
    pub(super) fn set_log(&mut self, name: &BStr, update_index: u64, update: Option<LogUpdate>) {
        let key = (name.to_owned(), std::cmp::Reverse(update_index));
        let record = LogRecord {
            name: name.to_owned(),
            update_index,
            update,
        };
        self.logs.insert(key, record);
    }

    /// Deletes `entries` of the log of `name`.
    pub(super) fn delete_log(&mut self, name: &BStr, entries: &[LogRecord]) {
        for entry in entries {
            self.set_log(name, entry.update_index, None);
        }
    }
}

/// The entry that tells of a change from `old` to `new`.
pub(super) fn log_update(old: ObjectId, new: ObjectId, message: LogMessage<'_>) -> LogUpdate {
    let time = message.committer.time;
    let minutes = time.offset.abs() / 60;
    let zone = minutes / 60 * 100 + minutes % 60;
    let mut text = one_line(message.text);
    text.truncate(MESSAGE_LIMIT);
    text.push(b'\n');
    LogUpdate {
        old,
        new,
        name: message.committer.name.clone(),
        email: message.committer.email.clone(),
        // There is no number for times before the epoch.
        seconds: u64::try_from(time.seconds).unwrap_or(0),
        zone: (zone * time.offset.signum()) as i16,
        message: text,
    }
}

/// The entry that only says that there is a log.
pub(super) fn marker(null: ObjectId) -> LogUpdate {
    LogUpdate {
        old: null,
        new: null,
        name: BString::default(),
        email: BString::default(),
        seconds: 0,
        zone: 0,
        message: BString::default(),
    }
}

/// A table that is being written and has no name yet.
#[derive(Debug)]
pub(super) struct NewTable {
    file: OutputFile,
    path: PathBuf,
    range: (u64, u64),
    options: WriterOptions,
}

impl NewTable {
    pub(super) fn create(stack: &Stack, range: (u64, u64), how: &HowToWrite) -> Result<Self> {
        let path = stack.table_path(random_name(range).as_bstr());
        Ok(NewTable {
            file: OutputFile::create(&path)?,
            path,
            range,
            options: how.writer_options(stack),
        })
    }

    /// Writes the records that `add` adds.
    pub(super) fn fill(
        &mut self,
        how: &HowToWrite,
        add: impl FnOnce(&mut TableWriter<'_>) -> hedgerow_reftable::Result<()>,
    ) -> Result<()> {
        let file = &self.file;
        let mut position = 0;
        let mut sink = |bytes: &[u8]| {
            let written = file.write_at(bytes, position);
            position += bytes.len() as u64;
            written.map_err(hedgerow_reftable::Error::bytes)
        };
        let mut writer = TableWriter::new(&mut sink, self.options, self.range);
        let written = add(&mut writer).and_then(|()| writer.finish());
        written.map_err(|error| not_written(&self.path, error))?;
        how.sharing.open_output(&self.file)?;
        if how.sync {
            self.file.sync()?;
        }
        Ok(())
    }

    /// Gives the table a name that none has, which it returns.
    pub(super) fn install(mut self, stack: &Stack, range: (u64, u64)) -> Result<BString> {
        let mut name = random_name(range);
        while hedgerow_fs::is_there(&stack.table_path(name.as_bstr()))? {
            name = random_name(range);
        }
        self.file.set_target(&stack.table_path(name.as_bstr()));
        self.file.commit(false)?;
        Ok(name)
    }
}

/// That the table at `path` could not be written.
fn not_written(path: &Path, error: hedgerow_reftable::Error) -> Error {
    match error {
        hedgerow_reftable::Error::TooLarge { .. } => Error::Setup {
            reason: "reftable: transaction failure: entry too large".into(),
        },
        error => broken(path, error),
    }
}

fn random_name(range: (u64, u64)) -> BString {
    let random = RandomState::new().hash_one(range);
    table_name(range, random as u32).into()
}
