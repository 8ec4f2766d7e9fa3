//! References in tables: git's Documentation/technical/reftable.
//!
//! A repository has one stack of tables, and each linked working tree has another one for the
//! references of its own. Some files that are read as references stay files.

mod addition;
mod compaction;
mod stack;
mod transaction;

use super::files::Files;
use super::log::LogEntry;
use super::model::{problem, RefValue, ReferenceProblem};
use super::names::is_safe_name;
use super::{Listed, Log, LogMessage, Logged, RefEdit, RefStore, RefTransaction, WriteOptions};
use crate::config::Sharing;
use crate::Result;
use addition::{log_update, marker, Addition, HowToWrite, LockedStack};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::OutputFile;
use hedgerow_reftable::{LogRecord, LogUpdate, RefRecord, RefTarget};
use stack::{Snapshot, Stack};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the tables of a working tree, or of the repository, are in its directory.
const TABLES: &str = "reftable";
/// What are files in any repository: they may hold more than a reference.
const FILES: [&str; 2] = ["FETCH_HEAD", "MERGE_HEAD"];
/// What references of one working tree begin with, besides those without a slash.
const OWN: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// The references of a repository in tables, as one working tree sees them.
#[derive(Debug)]
pub(super) struct Reftable {
    common_dir: PathBuf,
    hash: Kind,
    shared: Arc<Stack>,
    /// The stack of a linked working tree.
    own: Option<Arc<Stack>>,
    files: Files,
}

/// Which stack a reference is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Shared,
    Own,
}

impl Reftable {
    /// Those of the working tree with the directory `git_dir`. Nothing is read yet.
    pub(super) fn new(git_dir: &Path, common_dir: &Path, hash: Kind) -> Self {
        let shared = Arc::new(Stack::new(common_dir.join(TABLES), hash));
        Self::with(git_dir, common_dir, hash, shared)
    }

    fn with(git_dir: &Path, common_dir: &Path, hash: Kind, shared: Arc<Stack>) -> Self {
        let is_linked = git_dir != common_dir;
        Reftable {
            common_dir: common_dir.to_owned(),
            hash,
            shared,
            own: is_linked.then(|| Arc::new(Stack::new(git_dir.join(TABLES), hash))),
            files: Files::new(git_dir, common_dir, hash),
        }
    }

    /// Where the reference `name` is; `None` for what is a file, or of another working tree.
    fn place(&self, name: &BStr) -> Option<Place> {
        if FILES.iter().any(|file| *file == name) || other_worktree(name).is_some() {
            return None;
        }
        let is_own = !name.contains(&b'/') || is_own(name);
        let is_linked = self.own.is_some();
        Some(if is_own && is_linked {
            Place::Own
        } else {
            Place::Shared
        })
    }

    fn stack(&self, place: Place) -> &Arc<Stack> {
        match (place, &self.own) {
            (Place::Own, Some(own)) => own,
            _ => &self.shared,
        }
    }

    /// The stack that the reference `name` is in, and its name there. `None` for what is a file.
    fn find<'n>(&self, name: &'n BStr) -> Option<(Arc<Stack>, &'n BStr)> {
        if !is_safe_name(name) {
            return None;
        }
        match other_worktree(name) {
            None => Some((Arc::clone(self.stack(self.place(name)?)), name)),
            Some((None, name)) => Some((Arc::clone(&self.shared), name)),
            Some((Some(id), name)) => {
                let directory = self.common_dir.join("worktrees");
                let directory = directory.join(OsStr::from_bytes(id)).join(TABLES);
                Some((Arc::new(Stack::new(directory, self.hash)), name))
            }
        }
    }

    fn null(&self) -> ObjectId {
        ObjectId::null(self.hash)
    }

    /// Shows all references whose names start with `prefix` to `visit`, in order, as long as that
    /// returns true. What belongs to a working tree is taken from its own stack only.
    fn visit(
        &self,
        prefix: &BStr,
        visit: &mut dyn FnMut(&BStr, RefTarget) -> Result<bool>,
    ) -> Result<()> {
        let shared = self.shared.now()?;
        let own = self.own.as_ref().map(|own| own.now()).transpose()?;
        let is_linked = own.is_some();
        let below = |record: &Result<RefRecord>| !matches!(record, Ok(record) if !record.name.starts_with(prefix));
        let is_seen = |record: &Result<RefRecord>, from_own: bool| match record {
            Ok(record) => !is_linked || is_own(record.name.as_bstr()) == from_own,
            Err(_) => true,
        };
        let of_shared = shared.refs_from(prefix)?.take_while(below);
        let mut of_shared = of_shared.filter(|record| is_seen(record, false)).peekable();
        let of_own = own.as_ref().map(|own| own.refs_from(prefix)).transpose()?;
        let of_own = of_own.into_iter().flatten().take_while(below);
        let mut of_own = of_own.filter(|record| is_seen(record, true)).peekable();
        loop {
            let is_next_own = match (of_shared.peek(), of_own.peek()) {
                (None, None) => return Ok(()),
                (Some(Ok(shared)), Some(Ok(own))) => own.name < shared.name,
                (shared, own) => own.is_some() && (shared.is_none() || matches!(own, Some(Err(_)))),
            };
            let next = if is_next_own {
                of_own.next()
            } else {
                of_shared.next()
            };
            let Some(record) = next.transpose()? else {
                return Ok(());
            };
            let name = record.name.as_bstr();
            if is_safe_name(name) && !visit(name, record.target)? {
                return Ok(());
            }
        }
    }

    /// What `target` means as the value of `name`.
    fn value(&self, name: &BStr, target: RefTarget) -> Result<RefValue> {
        let id = match target {
            RefTarget::Symbolic(target) if is_safe_name(target.as_bstr()) => {
                return Ok(RefValue::Symbolic(target));
            }
            RefTarget::Symbolic(target) => {
                return Err(problem(name, ReferenceProblem::BadTarget(target)));
            }
            RefTarget::Id(id) | RefTarget::Peeled(id, _) => Some(id),
            RefTarget::Deleted => None,
        };
        let id = id.filter(|id| !id.is_null());
        let id = id.ok_or_else(|| problem(name, ReferenceProblem::NoObjectId))?;
        Ok(RefValue::Direct(id))
    }

    /// Changes the stack of `name` under its lock by what `change` adds, then compacts it.
    fn change<T>(
        &self,
        name: &BStr,
        options: &WriteOptions<'_>,
        change: impl FnOnce(&LockedStack<'_>, &mut Addition) -> Result<T>,
    ) -> Result<T> {
        let place = self.place(name).filter(|_| is_safe_name(name));
        let place = place.ok_or_else(|| problem(name, ReferenceProblem::NoName))?;
        let how = HowToWrite::new(options);
        let stack = self.stack(place);
        let locked = stack.lock(how.settings.lock_timeout, options.is_cancelled)?;
        let mut addition = locked.addition()?;
        let outcome = change(&locked, &mut addition)?;
        if locked.add(addition, &how)? {
            // The change is made; a stack that stays long is as good.
            let _ = stack.compact(&how);
        }
        Ok(outcome)
    }
}

impl RefStore for Reftable {
    fn read(&self, name: &BStr) -> Result<Option<RefValue>> {
        if FILES.iter().any(|file| *file == name) {
            return self.files.read(name);
        }
        let Some((stack, inner)) = self.find(name) else {
            return Ok(None);
        };
        let found = stack.now()?.find(inner)?;
        found.map(|target| self.value(name, target)).transpose()
    }

    fn contains(&self, name: &BStr) -> Result<bool> {
        if FILES.iter().any(|file| *file == name) {
            return self.files.contains(name);
        }
        match self.find(name) {
            Some((stack, inner)) => Ok(stack.now()?.find(inner)?.is_some()),
            None => Ok(false),
        }
    }

    fn list(&self, prefix: &BStr, visit: &mut Listed<'_>) -> Result<()> {
        self.visit(prefix, &mut |name, target| {
            visit(name, self.value(name, target))?;
            Ok(true)
        })
    }

    fn read_log_until(
        &self,
        name: &BStr,
        visit: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<()> {
        let Some((stack, inner)) = self.find(name) else {
            return Ok(());
        };
        let log = stack.now()?.log(inner)?;
        let _ = log.into_iter().filter_map(log_entry).try_for_each(visit);
        Ok(())
    }

    fn has_log(&self, name: &BStr) -> bool {
        let has_log = |snapshot: &Snapshot, name| snapshot.has_log(name).unwrap_or(false);
        self.find(name).is_some_and(|(stack, inner)| {
            stack.now().is_ok_and(|snapshot| has_log(&snapshot, inner))
        })
    }

    fn append_log(
        &self,
        name: &BStr,
        old: Option<ObjectId>,
        logged: Logged,
        options: &WriteOptions<'_>,
        message: LogMessage<'_>,
    ) -> Result<()> {
        self.change(name, options, |locked, addition| {
            if logged.create || locked.snapshot.has_log(name)? {
                let old = logged.old.or(old).unwrap_or(self.null());
                addition.log(name, log_update(old, logged.new, message));
            }
            Ok(())
        })
    }

    fn create_log(&self, name: &BStr, options: &WriteOptions<'_>) -> Result<()> {
        self.change(name, options, |locked, addition| {
            if !locked.snapshot.has_log(name)? {
                addition.log(name, marker(self.null()));
            }
            Ok(())
        })
    }

    fn drop_log_entry(
        &self,
        name: &BStr,
        number: usize,
        options: &WriteOptions<'_>,
    ) -> Result<bool> {
        self.change(name, options, |locked, addition| {
            drop_entry(name, number, locked, addition, self.null())
        })
    }

    fn delete_log(&self, name: &BStr, options: &WriteOptions<'_>) -> Result<()> {
        if !self.has_log(name) {
            return Ok(());
        }
        self.change(name, options, |locked, addition| {
            addition.delete_log(name, &locked.snapshot.log(name)?);
            Ok(())
        })
    }

    fn logs(&self) -> Result<Vec<Log>> {
        let snapshot = self.stack(Place::Own).now()?;
        let mut logs: BTreeMap<BString, BTreeSet<ObjectId>> = BTreeMap::new();
        for record in snapshot.logs_from("".into())? {
            let record = record?;
            let ids = record
                .update
                .iter()
                .flat_map(|update| [update.old, update.new]);
            let log = logs.entry(record.name).or_default();
            log.extend(ids.filter(|id| !id.is_null()));
        }
        let logs = logs.into_iter().map(|(name, ids)| Log { name, ids });
        Ok(logs.collect())
    }

    fn prepare<'s>(
        &'s self,
        edits: &[RefEdit<'_>],
        options: &WriteOptions<'_>,
    ) -> Result<Box<dyn RefTransaction + 's>> {
        Ok(Box::new(transaction::prepare(self, edits, options)?))
    }

    /// Readers who know no tables must take the directory for one of a repository, and find no
    /// branch in it.
    fn create_worktree_refs(&self, git_dir: &Path, sharing: Sharing) -> Result<()> {
        sharing.create_directories(&git_dir.join("refs"))?;
        sharing.create_directories(&git_dir.join(TABLES))?;
        let heads = b"this repository uses the reftable format\n";
        for (name, content) in [
            ("refs/heads", heads.as_slice()),
            ("HEAD", b"ref: refs/heads/.invalid\n"),
        ] {
            let file = OutputFile::create(&git_dir.join(name))?;
            file.write_at(content, 0)?;
            sharing.open_output(&file)?;
            file.commit(true)?;
        }
        Ok(())
    }

    fn worktree_refs(&self, git_dir: &Path) -> Arc<dyn RefStore> {
        let shared = Arc::clone(&self.shared);
        Arc::new(Self::with(git_dir, &self.common_dir, self.hash, shared))
    }
}

/// Deletes the entry `number` of the log of `name`, counted from the newest. The newer one follows
/// on the older one then, and `name` becomes what the newest one says.
fn drop_entry(
    name: &BStr,
    number: usize,
    locked: &LockedStack<'_>,
    addition: &mut Addition,
    null: ObjectId,
) -> Result<bool> {
    let entries = locked.snapshot.log(name)?.into_iter();
    let entries = entries.filter_map(|entry| Some((entry.update_index, entry.update?)));
    let mut entries: Vec<(u64, LogUpdate)> =
        entries.filter(|(_, update)| !update.is_marker()).collect();
    if number >= entries.len() {
        return Err(problem(name, ReferenceProblem::Absent));
    }
    let (index, dropped) = entries.remove(number);
    addition.set_log(name, index, None);
    // As with files. From tables, git deletes the oldest entry without a change of the next one,
    // whose number one more then still stands for what is deleted.
    let newer = number.checked_sub(1).and_then(|at| entries.get_mut(at));
    if let Some((index, update)) = newer {
        update.old = dropped.old;
        addition.set_log(name, *index, Some(update.clone()));
    }
    match entries.first() {
        None => addition.log(name, marker(null)),
        Some((_, newest)) => {
            let target = RefTarget::Id(newest.new);
            if locked.snapshot.find(name)?.as_ref() != Some(&target) {
                addition.set(name, target);
            }
        }
    }
    Ok(entries.is_empty())
}

/// What a record says; `None` if it only says that there is a log.
fn log_entry(record: LogRecord) -> Option<LogEntry> {
    let update = record.update.filter(|update| !update.is_marker())?;
    let zone = i32::from(update.zone);
    let offset = (zone / 100 * 60 + zone % 100) * 60;
    let mut message = update.message;
    if message.ends_with(b"\n") {
        message.pop();
    }
    Some(LogEntry {
        old: update.old,
        new: update.new,
        time: gix_date::Time::new(i64::try_from(update.seconds).ok()?, offset),
        message,
    })
}

/// Whether `name`, below `refs/`, belongs to one working tree.
fn is_own(name: &BStr) -> bool {
    OWN.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// The linked working tree (`None` for the main one) that `name` says whose reference it means, and
/// what it is called there.
fn other_worktree(name: &BStr) -> Option<(Option<&BStr>, &BStr)> {
    if let Some(inner) = name.strip_prefix(b"main-worktree/") {
        return Some((None, inner.as_bstr()));
    }
    let rest = name.strip_prefix(b"worktrees/")?;
    let (id, inner) = rest.split_once_str("/")?;
    Some((Some(id.as_bstr()), inner.as_bstr()))
}
