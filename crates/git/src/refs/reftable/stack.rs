//! A stack of tables on the disk: a directory of them, and the list of those that count.

use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::Kind;
use hedgerow_fs::{ReadFile, Stat};
use hedgerow_reftable::{
    merged_logs, merged_refs, parse_list, LogRecord, MergedRefs, RefRecord, RefTarget, Table,
    TableBytes,
};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A list of tables that is larger is refused.
const LIST_LIMIT_BYTES: u64 = 4 << 20;
/// Smaller tables are read at once. The files of larger ones stay open, up to so many.
const READ_WHOLE_BYTES: u64 = 64 << 10;
const OPEN_FILES: usize = 64;
/// A table that is read at once since too many files are open is refused if it is larger.
const TABLE_LIMIT_BYTES: u64 = 1 << 30;

/// The tables in one directory.
#[derive(Debug)]
pub(super) struct Stack {
    directory: PathBuf,
    hash: Kind,
    known: Mutex<Option<Arc<Snapshot>>>,
}

/// A stack as its list was at some time. Its tables can be read even when they are replaced.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The list, and its stat data. While it is open, no other list has its inode number.
    list: Option<(ReadFile, Stat)>,
    /// The oldest first.
    pub tables: Vec<Arc<NamedTable>>,
    directory: PathBuf,
}

/// A table, and the name of its file.
#[derive(Debug)]
pub(super) struct NamedTable {
    pub name: BString,
    pub table: Table,
}

impl Stack {
    /// The tables in `directory`. Nothing is read yet.
    pub(super) fn new(directory: PathBuf, hash: Kind) -> Self {
        Stack {
            directory,
            hash,
            known: Mutex::default(),
        }
    }

    pub(super) fn hash(&self) -> Kind {
        self.hash
    }

    pub(super) fn list_path(&self) -> PathBuf {
        self.directory.join("tables.list")
    }

    /// The file of the table `name`.
    pub(super) fn table_path(&self, name: &BStr) -> PathBuf {
        self.directory.join(OsStr::from_bytes(name))
    }

    /// Removes the table `name`, which no list has. What stays is in nobody's way; git removes it
    /// with its next `pack-refs`.
    pub(super) fn remove(&self, name: &BStr) {
        let _ = hedgerow_fs::remove_file(&self.table_path(name));
    }

    /// The stack as it is now. Without a list there are no tables.
    ///
    /// # Errors
    /// If the list or a table is damaged, or cannot be read.
    pub(super) fn now(&self) -> Result<Arc<Snapshot>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.list_path();
        let stat = hedgerow_fs::stat(&path)?;
        if let Some(known) = known.as_ref() {
            let then = known.list.as_ref().map(|(_, stat)| stat);
            if Stat::are_as_before(stat.as_ref(), then) {
                return Ok(Arc::clone(known));
            }
        }
        let old = known.take();
        let read = Arc::new(self.read(old.as_deref())?);
        *known = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Reads the list and opens the tables that `old` has not. A table that is gone was replaced by
    /// another one, which is in a new list.
    fn read(&self, old: Option<&Snapshot>) -> Result<Snapshot> {
        let mut known: HashMap<BString, Arc<NamedTable>> = HashMap::new();
        let old = old.map(|old| old.tables.as_slice()).unwrap_or_default();
        known.extend(
            old.iter()
                .map(|table| (table.name.clone(), Arc::clone(table))),
        );
        let mut missing: Option<(Stat, hedgerow_fs::Error)> = None;
        loop {
            let Some((file, stat)) = self.open_list()? else {
                return Ok(Snapshot {
                    list: None,
                    tables: Vec::new(),
                    directory: self.directory.clone(),
                });
            };
            // It is the same list, and the table is not there.
            if let Some((_, error)) = missing.take_if(|(then, _)| stat.is_as_before(then)) {
                return Err(error.into());
            }
            let mut list = Vec::new();
            file.read_to_end(&mut list, LIST_LIMIT_BYTES)?;
            let names = parse_list(&list).ok_or_else(|| Error::Setup {
                reason: format!("'{}' names no tables", self.list_path().display()),
            })?;
            match self.open_tables(&names, &mut known)? {
                Ok(tables) => {
                    return Ok(Snapshot {
                        list: Some((file, stat)),
                        tables,
                        directory: self.directory.clone(),
                    });
                }
                Err(error) => missing = Some((stat, error)),
            }
        }
    }

    fn open_list(&self) -> Result<Option<(ReadFile, Stat)>> {
        match ReadFile::open(&self.list_path()) {
            Ok(file) => {
                let stat = file.stat()?;
                Ok(Some((file, stat)))
            }
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The tables `names`; that one is missing is no error of its own.
    fn open_tables(
        &self,
        names: &[BString],
        known: &mut HashMap<BString, Arc<NamedTable>>,
    ) -> Result<Result<Vec<Arc<NamedTable>>, hedgerow_fs::Error>> {
        let mut tables = Vec::with_capacity(names.len());
        let mut open_files = 0;
        for name in names {
            if let Some(table) = known.get(name) {
                tables.push(Arc::clone(table));
                continue;
            }
            let path = self.table_path(name.as_bstr());
            let file = match ReadFile::open(&path) {
                Ok(file) => file,
                Err(error) if error.is_missing() => return Ok(Err(error)),
                Err(error) => return Err(error.into()),
            };
            let length = file.stat()?.size;
            let bytes: Box<dyn TableBytes> =
                if length <= READ_WHOLE_BYTES || open_files >= OPEN_FILES {
                    let mut bytes = Vec::new();
                    file.read_to_end(&mut bytes, TABLE_LIMIT_BYTES)?;
                    Box::new(bytes)
                } else {
                    open_files += 1;
                    Box::new(OpenFile { file, length })
                };
            let table = Table::open(bytes, self.hash).map_err(|error| broken(&path, error))?;
            let name = name.clone();
            let table = Arc::new(NamedTable { name, table });
            known.insert(table.name.clone(), Arc::clone(&table));
            tables.push(table);
        }
        Ok(Ok(tables))
    }
}

impl Snapshot {
    fn tables(&self) -> impl DoubleEndedIterator<Item = &Table> {
        self.tables.iter().map(|table| &table.table)
    }

    /// What is stored under `name`.
    pub(super) fn find(&self, name: &BStr) -> Result<Option<RefTarget>> {
        for table in self.tables.iter().rev() {
            let path = || self.directory.join(OsStr::from_bytes(&table.name));
            let found = table.table.find_ref(name);
            if let Some(record) = found.map_err(|error| broken(&path(), error))? {
                let target = record.target;
                return Ok(Some(target).filter(|target| *target != RefTarget::Deleted));
            }
        }
        Ok(None)
    }

    /// The references whose names are `from` or come after it.
    pub(super) fn refs_from(
        &self,
        from: &BStr,
    ) -> Result<impl Iterator<Item = Result<RefRecord>> + use<'_>> {
        let merged: MergedRefs<'_> =
            merged_refs(self.tables(), from).map_err(|error| self.broken(error))?;
        let existing = merged.existing();
        Ok(existing.map(|record| record.map_err(|error| self.broken(error))))
    }

    /// The entries of the log of `from`, newest first, and of the logs whose names come after it.
    pub(super) fn logs_from(
        &self,
        from: &BStr,
    ) -> Result<impl Iterator<Item = Result<LogRecord>> + use<'_>> {
        let merged = merged_logs(self.tables(), from).map_err(|error| self.broken(error))?;
        let existing = merged.filter(|record| !matches!(record, Ok(it) if it.update.is_none()));
        Ok(existing.map(|record| record.map_err(|error| self.broken(error))))
    }

    /// The entries of the log of `name`, newest first; what only says that there is one included.
    pub(super) fn log(&self, name: &BStr) -> Result<Vec<LogRecord>> {
        let behind = self.logs_from(name)?;
        let own = behind.take_while(|record| !matches!(record, Ok(it) if it.name != name));
        own.collect()
    }

    pub(super) fn has_log(&self, name: &BStr) -> Result<bool> {
        let first = self.logs_from(name)?.next().transpose()?;
        Ok(first.is_some_and(|record| record.name == name))
    }

    /// The number of the next change.
    pub(super) fn next_update_index(&self) -> Result<u64> {
        let highest = self.tables().map(|table| table.update_indexes().1).max();
        let next = highest.unwrap_or(0).checked_add(1);
        next.ok_or_else(|| Error::Setup {
            reason: format!("'{}': no change can be counted", self.directory.display()),
        })
    }

    fn broken(&self, error: hedgerow_reftable::Error) -> Error {
        broken(&self.directory, error)
    }
}

/// The file of a table, which is read where it is needed.
#[derive(Debug)]
struct OpenFile {
    file: ReadFile,
    length: u64,
}

impl TableBytes for OpenFile {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> hedgerow_reftable::Result<usize> {
        let read = self.file.read_at(buffer, position);
        read.map_err(hedgerow_reftable::Error::bytes)
    }
}

/// That a table at `path` cannot be read, or not be written.
pub(super) fn broken(path: &Path, error: hedgerow_reftable::Error) -> Error {
    match error {
        hedgerow_reftable::Error::Bytes(error) => match error.downcast::<hedgerow_fs::Error>() {
            Ok(error) => Error::Fs(*error),
            Err(error) => Error::Setup {
                reason: format!("'{}': {error}", path.display()),
            },
        },
        error => Error::Setup {
            reason: format!("'{}' is no table of references: {error}", path.display()),
        },
    }
}
