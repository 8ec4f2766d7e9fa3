//! Changing references that are files, under their locks.

use super::packed::PackedLock;
use super::Files;
use crate::config::{sync_if, Sharing};
use crate::refs::model::{problem, RefValue, ReferenceProblem};
use crate::refs::store::{
    follow_from, in_the_way, LogMessage, Logged, RefChange, RefEdit, RefStore, RefTransaction,
    WriteOptions,
};
use crate::{Error, Result};
use bstr::{BStr, BString};
use hedgerow_fs::LockFile;
use hedgerow_pack::ObjectId;
use std::path::PathBuf;

/// Files that are locked, with what they become in the locks.
#[derive(Debug)]
struct Locked<'s> {
    files: &'s Files,
    sharing: Sharing,
    changes: Vec<Change>,
    /// Held where references are deleted, so that nobody packs one meanwhile.
    packed: Option<PackedLock>,
}

#[derive(Debug)]
struct Change {
    name: BString,
    lock: LockFile,
    outcome: Outcome,
    /// What the reference led to.
    old: Option<ObjectId>,
    log: Option<Logged>,
    message: Option<BString>,
}

/// What becomes of the file of a reference.
#[derive(Debug)]
enum Outcome {
    /// It is that already.
    Unchanged,
    /// It stays; only its log grows.
    Followed,
    /// The lock takes its place.
    Replaced,
    /// It is removed.
    Removed(PathBuf),
}

pub(super) fn prepare<'s>(
    files: &'s Files,
    edits: &[RefEdit<'_>],
    options: &WriteOptions<'_>,
) -> Result<impl RefTransaction + 's> {
    let changes = edits.iter().map(|edit| lock(files, edit, options));
    let changes = changes.collect::<Result<_>>()?;
    let is_deleted = |edit: &&RefEdit<'_>| edit.change == RefChange::Delete;
    let deleted = edits.iter().filter(is_deleted).map(|edit| edit.name);
    // Only references below `refs/` are ever packed.
    let deleted: Vec<&BStr> = deleted.filter(|name| name.starts_with(b"refs/")).collect();
    let packed = match deleted.as_slice() {
        [] => None,
        names => {
            // Nobody could tell afterwards what is gone.
            files.check_packed()?;
            Some(files.packed.without(names, options)?)
        }
    };
    Ok(Locked {
        files,
        sharing: options.sharing,
        changes,
        packed,
    })
}

/// Locks the file of a reference and fills the lock.
fn lock(files: &Files, edit: &RefEdit<'_>, options: &WriteOptions<'_>) -> Result<Change> {
    let name = edit.name;
    let path = files.path(name);
    let path = path.ok_or_else(|| problem(name, ReferenceProblem::NoName))?;
    // `HEAD` and its like stand beside directories that are there.
    let is_below = name.contains(&b'/');
    if is_below && matches!(edit.change, RefChange::Set(_)) {
        check_nothing_is_in_the_way(files, name)?;
    }
    if let Some(directory) = path.parent().filter(|_| is_below) {
        options.sharing.create_directories(directory)?;
    }
    let mut lock = LockFile::acquire_within(&path, options.lock_timeout, options.is_cancelled)?;
    let (value, old) = match (current(files, name), &edit.change) {
        // What is no reference may be deleted.
        (Err(Error::Reference { .. }), RefChange::Delete) => (None, None),
        (current, _) => current?,
    };
    edit.expected.check(name, old)?;
    let outcome = match &edit.change {
        RefChange::Delete => Outcome::Removed(path),
        RefChange::Follow => Outcome::Followed,
        RefChange::Set(new @ RefValue::Direct(_)) if value.as_ref() == Some(new) => {
            Outcome::Unchanged
        }
        RefChange::Set(new) => {
            if is_below {
                hedgerow_fs::remove_empty_directories(&path)?;
            }
            lock.write_all(&content(new))?;
            options.sharing.open_lock(&lock)?;
            sync_if(options.sync, &lock)?;
            Outcome::Replaced
        }
    };
    Ok(Change {
        name: name.to_owned(),
        lock,
        outcome,
        old,
        log: edit.log,
        message: edit.message.map(BStr::to_owned),
    })
}

/// Refuses a new reference with the name `name`, in git's words, if another one is in its way.
fn check_nothing_is_in_the_way(files: &Files, name: &BStr) -> Result<()> {
    if !matches!(files.read(name), Ok(None)) {
        return Ok(());
    }
    let Some(other) = in_the_way(files, name)? else {
        return Ok(());
    };
    Err(Error::Setup {
        reason: format!("cannot lock ref '{name}': '{other}' exists; cannot create '{name}'"),
    })
}

/// What is stored under `name`, and the object that it leads to.
fn current(files: &Files, name: &BStr) -> Result<(Option<RefValue>, Option<ObjectId>)> {
    let Some(value) = files.read(name)? else {
        return Ok((None, None));
    };
    let found = follow_from(files, name.to_owned(), value.clone())?;
    Ok((Some(value), found.id))
}

/// The content of the file of a reference.
fn content(value: &RefValue) -> Vec<u8> {
    match value {
        RefValue::Direct(id) => format!("{id}\n").into_bytes(),
        RefValue::Symbolic(target) => [b"ref: ", &target[..], b"\n"].concat(),
    }
}

impl RefTransaction for Locked<'_> {
    fn commit(self: Box<Self>, message: Option<LogMessage<'_>>) -> Result<()> {
        let Locked {
            files,
            sharing,
            changes,
            packed,
        } = *self;
        let mut removed = Vec::new();
        for change in changes {
            let name: &BStr = change.name.as_ref();
            let is_logged = matches!(change.outcome, Outcome::Followed | Outcome::Replaced);
            if let (Some(log), Some(message), true) = (change.log, message, is_logged) {
                let own = change.message.as_ref().map(|text| text.as_ref());
                let text = own.unwrap_or(message.text);
                let message = LogMessage { text, ..message };
                files.append_log_file(name, (change.old, log), sharing, message)?;
            }
            match change.outcome {
                Outcome::Unchanged | Outcome::Followed => {}
                Outcome::Replaced => {
                    change.lock.commit()?;
                }
                Outcome::Removed(path) => {
                    if let Some(log) = files.log_path(name) {
                        hedgerow_fs::remove_file(&log)?;
                    }
                    removed.push((path, change.lock));
                }
            }
        }
        // A file hides what is packed, so it goes last: else what was packed would come back.
        let held = packed.map(PackedLock::commit).transpose()?;
        for (path, lock) in removed {
            hedgerow_fs::remove_file(&path)?;
            drop(lock);
        }
        drop(held);
        Ok(())
    }
}
