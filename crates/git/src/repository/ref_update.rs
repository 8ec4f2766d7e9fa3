//! Changing a reference in two steps, so that whatever can refuse it does so before anything else
//! is done: its lock and the `reference-transaction` hook of githooks(5).

use super::{Repository, Signature};
use crate::config::sync_if;
use crate::{Error, Result};
use bstr::{BStr, BString};
use hedgerow_fs::{Exit, LockFile};
use hedgerow_pack::ObjectId;
use std::path::Path;
use std::time::Duration;

/// Says whether the command was told to stop.
pub type IsCancelled<'a> = &'a dyn Fn() -> bool;

/// A reference that is locked and about to change. Dropped without [`RefUpdate::commit`] it stays
/// what it was, and the hook is told so.
#[derive(Debug)]
pub struct RefUpdate<'r> {
    repository: &'r Repository,
    name: BString,
    /// Until it is committed.
    lock: Option<LockFile>,
    /// Whether it changes at all.
    changes: bool,
    /// What is logged, if anything.
    log: Option<Logged>,
    announced: Announced<'r>,
}

/// What the log of a reference is told.
#[derive(Debug)]
pub(crate) struct Logged {
    pub old: Option<ObjectId>,
    pub new: ObjectId,
    /// The log is created whatever `core.logAllRefUpdates` says.
    pub always: bool,
}

/// What a reference is to become.
pub(crate) struct NewValue<'a> {
    pub name: &'a BStr,
    /// The content of its file; `None` if it is that already.
    pub content: Option<Vec<u8>>,
    /// What the hook is told that it was and becomes.
    pub words: (String, BString),
    pub log: Option<Logged>,
}

impl<'r> RefUpdate<'r> {
    /// Fills `lock` and asks the hook, which may refuse.
    pub(crate) fn prepare(
        repository: &'r Repository,
        mut lock: LockFile,
        value: NewValue<'_>,
    ) -> Result<Self> {
        let changes = value.content.is_some();
        if let Some(content) = &value.content {
            lock.write_all(content)?;
            repository.settings.sharing.open_lock(&lock)?;
            sync_if(repository.settings.fsync.reference, &lock)?;
        }
        let (old, new) = value.words;
        Ok(RefUpdate {
            announced: Announced::prepare(repository, &old, new.as_ref(), value.name)?,
            repository,
            name: value.name.to_owned(),
            lock: Some(lock),
            changes,
            log: value.log,
        })
    }

    /// Logs the change and makes it.
    pub fn commit(mut self, message: &BStr, committer: &Signature) -> Result<()> {
        let Some(lock) = self.lock.take() else {
            return Ok(());
        };
        if self.changes {
            if let Some(log) = &self.log {
                let name = self.name.as_ref();
                self.repository.append_log(name, log, committer, message)?;
            }
            lock.commit()?;
        }
        self.announced.finish("committed")
    }
}

/// A change that the hook was told of. Where it is dropped, the hook is told that it does not
/// happen.
#[derive(Debug)]
pub(crate) struct Announced<'r> {
    repository: &'r Repository,
    line: Vec<u8>,
    is_over: bool,
}

impl<'r> Announced<'r> {
    /// Asks the hook, which may refuse.
    pub(crate) fn prepare(
        repository: &'r Repository,
        old: &str,
        new: &BStr,
        name: &BStr,
    ) -> Result<Self> {
        let line = [old.as_bytes(), b" ", new, b" ", name, b"\n"].concat();
        let announced = Announced {
            repository,
            line,
            is_over: false,
        };
        match announced.tell("prepared")? {
            None | Some(Exit::Status(0)) => Ok(announced),
            Some(_) => Err(Error::Setup {
                reason: "in 'prepared' phase, update aborted by the reference-transaction hook"
                    .into(),
            }),
        }
    }

    /// Tells the hook how it ended. What it says to that does not matter.
    pub(crate) fn finish(&mut self, state: &str) -> Result<()> {
        self.is_over = true;
        self.tell(state).map(drop)
    }

    fn tell(&self, state: &str) -> Result<Option<Exit>> {
        let arguments = vec![state.into()];
        self.repository
            .run_hook("reference-transaction", arguments, &self.line)
    }
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The reason why it does not happen is told already.
            let _ = self.finish("aborted");
        }
    }
}

impl Repository {
    /// Locks the file `path` of a reference, or of the configuration. Waits for whoever holds it as
    /// long as `core.filesRefLockTimeout` says.
    pub(crate) fn lock_reference(
        &self,
        path: &Path,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<LockFile> {
        let limit = u64::try_from(self.settings.ref_lock_timeout_ms).ok();
        let limit = limit.map(Duration::from_millis);
        Ok(LockFile::acquire_within(path, limit, is_cancelled)?)
    }

    /// Has the reference `name` be `id`, whatever it was, and logs that.
    pub(crate) fn set_reference(
        &self,
        name: &BStr,
        id: ObjectId,
        committer: &Signature,
        message: &BStr,
    ) -> Result<()> {
        let Some(path) = self.reference_path(name) else {
            return Err(super::refs::broken(name, "not the name of a reference"));
        };
        if let Some(directory) = path.parent() {
            self.settings.sharing.create_directories(directory)?;
        }
        let lock = self.lock_reference(&path, &|| false)?;
        let old = self.reference(name)?.and_then(|found| found.id);
        let value = NewValue {
            name,
            content: Some(format!("{id}\n").into_bytes()),
            words: (self.null_id().to_string(), id.to_string().into()),
            log: Some(Logged {
                old,
                new: id,
                always: true,
            }),
        };
        RefUpdate::prepare(self, lock, value)?.commit(message, committer)
    }
}
