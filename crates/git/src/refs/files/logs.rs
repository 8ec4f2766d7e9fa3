//! The logs of references: gitrepository-layout(5) under `logs`.

use super::{Files, NESTING_LIMIT};
use crate::config::{sync_if, Sharing};
use crate::refs::log::{log_line, parse};
use crate::refs::model::problem;
use crate::refs::{Log, LogEntry, LogMessage, Logged, ReferenceProblem, WriteOptions};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{FileKind, LockFile, ReadFile};
use hedgerow_pack::ObjectId;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A log larger than this is refused.
const LOG_LIMIT_BYTES: u64 = 1 << 30;

/// So much of the end of a log is read first, and up to so much at once before that.
const FIRST_BLOCK_BYTES: usize = 2 << 10;
const BLOCK_LIMIT_BYTES: usize = 64 << 10;

impl Files {
    /// Shows the log to `visit` from its end on, reading no more of it than that needs.
    pub(super) fn read_log_file(
        &self,
        name: &BStr,
        visit: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<()> {
        let Some(path) = self.log_path(name) else {
            return Ok(());
        };
        let file = match ReadFile::open_regular(&path) {
            Err(error) if error.is_missing() => return Ok(()),
            opened => opened?,
        };
        let mut position = file.stat()?.size;
        let is_beyond = position > LOG_LIMIT_BYTES;
        let end = position;
        let mut block = FIRST_BLOCK_BYTES;
        // A line, with its end, of which the start is not read yet.
        let mut line = Vec::new();
        while position > 0 {
            // A line of any length is looked through only once or twice.
            block = (2 * block).min(BLOCK_LIMIT_BYTES).max(line.len());
            let count = position.min(block as u64) as usize;
            position -= count as u64;
            if is_beyond && end - position > LOG_LIMIT_BYTES {
                // It tells that the file is too large.
                hedgerow_fs::read_file(&path, LOG_LIMIT_BYTES)?;
            }
            let mut content = vec![0; count];
            let read = file.read_at(&mut content, position)?;
            content.truncate(read);
            let mut start = content.len();
            content.append(&mut line);
            let mut line_end = content.len();
            while let Some(at) = content
                .get(..start)
                .and_then(|before| before.rfind_byte(b'\n'))
            {
                if let Some(entry) = content.get(at + 1..line_end).and_then(parse) {
                    if visit(entry).is_break() {
                        return Ok(());
                    }
                }
                (start, line_end) = (at, at + 1);
            }
            content.truncate(line_end);
            line = content;
        }
        if let Some(entry) = parse(&line) {
            let _ = visit(entry);
        }
        Ok(())
    }

    /// Appends to the log of `name` that it was `old`, creating the log where that is wanted.
    pub(super) fn append_log_file(
        &self,
        name: &BStr,
        (old, logged): (Option<ObjectId>, Logged),
        sharing: Sharing,
        message: LogMessage<'_>,
    ) -> Result<()> {
        let Some(path) = self.log_path(name) else {
            return Ok(());
        };
        let old = logged.old.or(old).unwrap_or(ObjectId::null(self.hash));
        let line = log_line(old, logged.new, message);
        if logged.create {
            if let Some(directory) = path.parent() {
                sharing.create_directories(directory)?;
            }
        }
        let append = || hedgerow_fs::append_file(&path, &line, logged.create);
        let is_written = match append() {
            // A reference with a slash in its name was there once.
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                if !logged.create {
                    return Ok(());
                }
                hedgerow_fs::remove_empty_directories(&path)?;
                append()?
            }
            outcome => outcome?,
        };
        if is_written {
            sharing.open_file(&path)?;
        }
        Ok(())
    }

    /// Deletes an entry of a log, under the locks of the reference and of its log.
    pub(super) fn drop_from_log(
        &self,
        name: &BStr,
        number: usize,
        options: &WriteOptions<'_>,
    ) -> Result<bool> {
        let no_entry = || problem(name, ReferenceProblem::Absent);
        let (path, log_path) = self
            .path(name)
            .zip(self.log_path(name))
            .ok_or_else(no_entry)?;
        let wait = (options.lock_timeout, options.is_cancelled);
        let mut lock = LockFile::acquire_within(&path, wait.0, wait.1)?;
        let mut log = LockFile::acquire_within(&log_path, wait.0, wait.1)?;
        let content = hedgerow_fs::read_file(&log_path, LOG_LIMIT_BYTES)?.unwrap_or_default();
        let lines: Vec<&[u8]> = content.lines_with_terminator().collect();
        let lines = lines
            .into_iter()
            .filter_map(|line| Some((line, parse(line)?)));
        let mut entries: Vec<(BString, LogEntry)> =
            lines.map(|(line, entry)| (line.into(), entry)).collect();
        if entries.is_empty() && number == 0 {
            // Then the reference itself is the newest entry.
            return Ok(true);
        }
        let at = entries.len().checked_sub(number + 1).ok_or_else(no_entry)?;
        let (_, dropped) = entries.remove(at);
        // The entry behind follows on the one before now.
        if let Some((line, _)) = entries.get_mut(at) {
            let digits = self.hash.len_in_hex();
            let old = dropped.old.to_string();
            line.splice(..digits, old.bytes());
        }
        for (line, _) in &entries {
            log.write_all(line)?;
        }
        options.sharing.open_lock(&log)?;
        if let Some((_, newest)) = entries.last() {
            lock.write_all(format!("{}\n", newest.new).as_bytes())?;
            options.sharing.open_lock(&lock)?;
            sync_if(options.sync, &lock)?;
        }
        log.commit()?;
        if !entries.is_empty() {
            lock.commit()?;
        }
        Ok(entries.is_empty())
    }

    pub(super) fn create_log_file(&self, name: &BStr, sharing: Sharing) -> Result<()> {
        let Some(path) = self.log_path(name) else {
            return Ok(());
        };
        if let Some(directory) = path.parent() {
            sharing.create_directories(directory)?;
        }
        if hedgerow_fs::append_file(&path, b"", true)? {
            sharing.open_file(&path)?;
        }
        Ok(())
    }

    pub(super) fn log_path(&self, name: &BStr) -> Option<PathBuf> {
        let path = self.path(name)?;
        let base = if path.starts_with(&self.git_dir) {
            &self.git_dir
        } else {
            &self.common_dir
        };
        let inner = path.strip_prefix(base).ok()?;
        Some(base.join("logs").join(inner))
    }
}

/// The logs in the files below `directory`.
pub(super) fn all_below(directory: &Path) -> Result<Vec<Log>> {
    let mut logs = Vec::new();
    read_directory(directory, &BString::default(), 0, &mut logs)?;
    Ok(logs)
}

fn read_directory(
    directory: &Path,
    name: &BString,
    depth: usize,
    logs: &mut Vec<Log>,
) -> Result<()> {
    let entries = hedgerow_fs::list_directory(directory)?.unwrap_or_default();
    for entry in entries {
        let path = directory.join(OsStr::from_bytes(&entry.name));
        let name = if name.is_empty() {
            BString::from(entry.name.clone())
        } else {
            [name.as_bytes(), b"/", &entry.name].concat().into()
        };
        match hedgerow_fs::stat(&path)?.map(|stat| stat.kind) {
            Some(FileKind::Directory) if depth < NESTING_LIMIT => {
                read_directory(&path, &name, depth + 1, logs)?;
            }
            Some(FileKind::File) => {
                let content = hedgerow_fs::read_file(&path, LOG_LIMIT_BYTES)?.unwrap_or_default();
                let entries = content.lines_with_terminator().filter_map(parse);
                let ids = entries.flat_map(|entry| [entry.old, entry.new]);
                let ids = ids.filter(|id| !id.is_null()).collect();
                logs.push(Log { name, ids });
            }
            _ => {}
        }
    }
    Ok(())
}
