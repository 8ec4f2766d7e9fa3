//! What hedgerow needs of whatever keeps the references of a repository.

use super::model::{problem, RefValue, Reference, ReferenceProblem};
use super::{Log, LogEntry, Signature};
use crate::config::{ReftableSettings, Sharing};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::ObjectId;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A chain of symbolic references may have so many links, the last reference included, as in git.
const SYMBOLIC_DEPTH: usize = 5;

/// Says whether the command was told to stop.
pub type IsCancelled<'a> = &'a dyn Fn() -> bool;

/// Is shown a reference that is listed: its full name, and what is stored under it, or why that
/// is no reference.
pub(crate) type Listed<'v> = dyn FnMut(&BStr, Result<RefValue>) -> Result<()> + 'v;

/// The references of a repository and their logs, as one working tree sees them.
///
/// Names are full names. A name that is not well-formed is that of no reference.
pub(crate) trait RefStore: Debug + Send + Sync {
    /// What is stored under `name`, links not followed; `None` if nothing is. A name that is
    /// neither below `refs/` nor `HEAD` may be that of anything: what cannot be read there is no
    /// reference.
    ///
    /// # Errors
    /// [`Error::Reference`](crate::Error::Reference) if what is stored is no reference, other
    /// errors if it cannot be read: that does not mean that there is none.
    fn read(&self, name: &BStr) -> Result<Option<RefValue>>;

    /// Whether anything is stored under `name`, be it a reference or not.
    fn contains(&self, name: &BStr) -> Result<bool>;

    /// Makes sure that `name`, which was not found, is not there: where files are removed because HEAD
    /// leads to no commit, a search that was led astray would cost them.
    ///
    /// # Errors
    /// It is there, but where it should not be.
    fn check_absent(&self, _name: &BStr) -> Result<()> {
        Ok(())
    }

    /// Shows all references whose full name starts with `prefix`, which ends in `/`, to `visit`, in
    /// the order of their names, each once. One that is deleted meanwhile may be left out.
    ///
    /// # Errors
    /// Those of `visit`, and those that leave unknown which references there are.
    fn list(&self, prefix: &BStr, visit: &mut Listed<'_>) -> Result<()>;

    /// Shows the log of `name` to `visit`, newest entry first; nothing if it has none. Lines that
    /// cannot be read are left out.
    fn read_log(&self, name: &BStr, visit: &mut dyn FnMut(LogEntry)) -> Result<()> {
        self.read_log_until(name, &mut |entry| {
            visit(entry);
            ControlFlow::Continue(())
        })
    }

    /// The same until `visit` breaks off: nothing older is read then, where the store can do that.
    fn read_log_until(
        &self,
        name: &BStr,
        visit: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Whether there is a log of `name`.
    fn has_log(&self, name: &BStr) -> bool;

    /// Appends to the log of `name` that it led to `old`, unless it is not to be logged.
    fn append_log(
        &self,
        name: &BStr,
        old: Option<ObjectId>,
        logged: Logged,
        options: &WriteOptions<'_>,
        message: LogMessage<'_>,
    ) -> Result<()>;

    /// Creates an empty log of `name`, where there is none.
    fn create_log(&self, name: &BStr, options: &WriteOptions<'_>) -> Result<()>;

    /// Deletes the entry `number`, counted from the newest, of the log of `name`, which becomes what
    /// the newest entry left says. Returns whether none is left; then `name` stays what it is.
    ///
    /// # Errors
    /// If there is no such entry; if a lock is held.
    fn drop_log_entry(
        &self,
        name: &BStr,
        number: usize,
        options: &WriteOptions<'_>,
    ) -> Result<bool>;

    /// Deletes the log of `name`, if there is one.
    fn delete_log(&self, name: &BStr, options: &WriteOptions<'_>) -> Result<()>;

    /// All logs that are kept with this working tree, those of references that are gone included.
    /// The main working tree has all that are shared.
    ///
    /// # Errors
    /// If one cannot be read: what it refers to would be lost.
    fn logs(&self) -> Result<Vec<Log>>;

    /// Locks the references of `edits` and makes everything ready, so that little can refuse the
    /// change any more. Nothing is changed before [`RefTransaction::commit`].
    ///
    /// # Errors
    /// [`ReferenceProblem::Changed`] if one is not what it is expected to be; if a lock is held
    /// longer than `options` say; if what is stored cannot be read.
    fn prepare<'s>(
        &'s self,
        edits: &[RefEdit<'_>],
        options: &WriteOptions<'_>,
    ) -> Result<Box<dyn RefTransaction + 's>>;

    /// Makes what a new working tree with the directory `git_dir` needs for references of its own.
    fn create_worktree_refs(&self, git_dir: &Path, sharing: Sharing) -> Result<()>;

    /// The references as the working tree with the directory `git_dir` sees them.
    fn worktree_refs(&self, git_dir: &Path) -> Arc<dyn RefStore>;
}

/// References that are locked and about to change. Dropped without
/// [`commit`](RefTransaction::commit) they stay what they were.
pub(crate) trait RefTransaction: Debug {
    /// Logs the changes, where they are to be logged and `message` tells what, and makes them. A
    /// reference that is already the id that it is set to is neither written nor logged.
    fn commit(self: Box<Self>, message: Option<LogMessage<'_>>) -> Result<()>;
}

/// Why references change, and who changes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogMessage<'a> {
    pub text: &'a BStr,
    pub committer: &'a Signature,
}

/// A change of one reference.
#[derive(Clone, Debug)]
pub(crate) struct RefEdit<'a> {
    /// Its full name.
    pub name: &'a BStr,
    /// What becomes of it.
    pub change: RefChange,
    /// What it must be before.
    pub expected: Expected,
    /// What its log is told, if anything.
    pub log: Option<Logged>,
    /// The message in its log, if it is not that of the whole change.
    pub message: Option<&'a BStr>,
}

/// What becomes of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefChange {
    /// It is created, or made this.
    Set(RefValue),
    /// It is deleted, and its log.
    Delete,
    /// It stays, and its log is told that what it leads to changes: that is the next edit.
    Follow,
}

/// What a reference must be before it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Whatever it is.
    Anything,
    /// It leads to nothing.
    Absent,
    /// It leads to this object.
    Id(ObjectId),
}

impl Expected {
    /// Fails with [`ReferenceProblem::Changed`] if `found` is not what is expected of `name`.
    pub(crate) fn check(self, name: &BStr, found: Option<ObjectId>) -> Result<()> {
        let is_met = match self {
            Expected::Anything => true,
            Expected::Absent => found.is_none(),
            Expected::Id(id) => found == Some(id),
        };
        if is_met {
            Ok(())
        } else {
            Err(problem(name, ReferenceProblem::Changed { found }))
        }
    }
}

/// What the log of a reference is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    /// What it led to before, if another change comes between; else what it is found to lead to.
    pub old: Option<ObjectId>,
    /// What it leads to from now on.
    pub new: ObjectId,
    /// Whether a log is created where there is none.
    pub create: bool,
}

/// How references are written.
pub(crate) struct WriteOptions<'a> {
    /// Who else may use what is written.
    pub sharing: Sharing,
    /// Whether it is on the disk before it counts.
    pub sync: bool,
    /// How long a lock that somebody else holds is waited for; without a limit if `None`.
    pub lock_timeout: Option<Duration>,
    /// The same for the lock on all packed references.
    pub packed_lock_timeout: Option<Duration>,
    /// How tables of references are written, where there are any.
    pub reftable: ReftableSettings,
    /// Ends the wait for a lock.
    pub is_cancelled: IsCancelled<'a>,
}

/// The reference that is in the way of a new one with the name `name`: a name and one that continues
/// it with `/` cannot both be references.
pub(crate) fn in_the_way(store: &dyn RefStore, name: &BStr) -> Result<Option<BString>> {
    let above = name.find_iter("/").map(|end| name[..end].as_bstr());
    for other in above.filter(|above| *above != "refs") {
        match store.read(other) {
            Ok(None) => {}
            Ok(Some(_)) | Err(Error::Reference { .. }) => return Ok(Some(other.to_owned())),
            Err(error) => return Err(error),
        }
    }
    let below = BString::from([name.as_bytes(), b"/"].concat());
    let mut found = None;
    store.list(below.as_ref(), &mut |other, _| {
        found.get_or_insert_with(|| other.to_owned());
        Ok(())
    })?;
    Ok(found)
}

/// The reference `name`, symbolic ones followed; `None` if there is none.
pub(crate) fn follow(store: &dyn RefStore, name: &BStr) -> Result<Option<Reference>> {
    match store.read(name)? {
        Some(value) => follow_from(store, name.to_owned(), value).map(Some),
        None => Ok(None),
    }
}

/// The reference `name`, under which `value` is stored, with symbolic ones followed.
///
/// # Errors
/// Those of [`RefStore::read`], and [`ReferenceProblem::EndlessChain`].
pub(crate) fn follow_from(
    store: &dyn RefStore,
    name: BString,
    mut value: RefValue,
) -> Result<Reference> {
    let mut target = None;
    let mut links = 0;
    let id = loop {
        let next = match value {
            RefValue::Direct(id) => break Some(id),
            RefValue::Symbolic(_) if links + 1 == SYMBOLIC_DEPTH => {
                return Err(problem(name.as_ref(), ReferenceProblem::EndlessChain));
            }
            RefValue::Symbolic(next) => next,
        };
        links += 1;
        let read = store.read(next.as_ref())?;
        target = Some(next);
        match read {
            Some(found) => value = found,
            None => break None,
        }
    };
    Ok(Reference { name, target, id })
}
