//! Changing a reference in two steps, so that whatever can refuse it does so before anything else
//! is done: its lock and the `reference-transaction` hook of githooks(5).

use super::Repository;
use crate::config::ReftableSettings;
use crate::refs::{
    Expected, IsCancelled, LogMessage, Logged, RefChange, RefEdit, RefStorage, RefStore,
    RefTransaction, RefValue, Signature, WriteOptions,
};
use crate::{Error, Result};
use bstr::{BStr, BString};
use hedgerow_fs::Exit;
use hedgerow_pack::ObjectId;

/// A reference that is locked and about to change. Dropped without [`RefUpdate::commit`] it stays
/// what it was, and the hook is told so.
#[derive(Debug)]
pub struct RefUpdate<'r> {
    transaction: Box<dyn RefTransaction + 'r>,
    announced: Announced<'r>,
}

impl RefUpdate<'_> {
    /// Logs the change and makes it.
    pub fn commit(self, message: &BStr, committer: &Signature) -> Result<()> {
        let text = message;
        self.finish(Some(LogMessage { text, committer }))
    }

    fn finish(self, message: Option<LogMessage<'_>>) -> Result<()> {
        let RefUpdate {
            transaction,
            mut announced,
        } = self;
        transaction.commit(message)?;
        announced.finish("committed")
    }
}

/// Changes that the hook was told of. Where they are dropped, the hook is told that they do not
/// happen.
#[derive(Debug)]
struct Announced<'r> {
    repository: &'r Repository,
    lines: Vec<u8>,
    is_over: bool,
}

impl<'r> Announced<'r> {
    fn new(repository: &'r Repository, lines: Vec<u8>) -> Self {
        Announced {
            repository,
            lines,
            is_over: true,
        }
    }

    /// Asks the hook, which may refuse: in the state `preparing` before anything is locked, in
    /// `prepared` after that.
    fn ask(&mut self, state: &str) -> Result<()> {
        self.is_over = false;
        match self.tell(state)? {
            None | Some(Exit::Status(0)) => {
                // That it fails to lock is no news to the hook, as with git.
                self.is_over = state == "preparing";
                Ok(())
            }
            Some(_) => Err(Error::Setup {
                reason: format!(
                    "in '{state}' phase, update aborted by the reference-transaction hook"
                ),
            }),
        }
    }

    /// Tells the hook how it ended. What it says to that does not matter.
    fn finish(&mut self, state: &str) -> Result<()> {
        self.is_over = true;
        self.tell(state).map(drop)
    }

    fn tell(&self, state: &str) -> Result<Option<Exit>> {
        let arguments = vec![state.into()];
        self.repository
            .run_hook("reference-transaction", arguments, &self.lines)
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
    /// Locks a reference and makes its change ready, then asks the hook, which may refuse. Waits for
    /// whoever holds the lock as long as `core.filesRefLockTimeout` says.
    pub(crate) fn prepare_reference(
        &self,
        edit: RefEdit<'_>,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'_>> {
        self.prepare_references(std::slice::from_ref(&edit), is_cancelled)
    }

    /// As [`Repository::prepare_reference`], for the references `refs` of any working tree.
    pub(crate) fn prepare_reference_in<'r>(
        &'r self,
        refs: &'r dyn RefStore,
        edit: RefEdit<'_>,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'r>> {
        self.prepare_in(refs, std::slice::from_ref(&edit), is_cancelled)
    }

    /// The same for several references, in one transaction: the hook is told of all of them at once.
    pub(crate) fn prepare_references(
        &self,
        edits: &[RefEdit<'_>],
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'_>> {
        self.prepare_in(&*self.refs, edits, is_cancelled)
    }

    fn prepare_in<'r>(
        &'r self,
        refs: &'r dyn RefStore,
        edits: &[RefEdit<'_>],
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'r>> {
        self.refuse_quarantine()?;
        let options = self.write_options(is_cancelled)?;
        Announced::new(self, self.lines(&asked(edits))).ask("preparing")?;
        let transaction = refs.prepare(edits, &options)?;
        let mut announced = Announced::new(self, self.lines(edits));
        announced.ask("prepared")?;
        Ok(RefUpdate {
            transaction,
            announced,
        })
    }

    /// Whether `HEAD` could be set to `id` now: it is locked for a moment. The hook is not asked.
    pub(crate) fn try_head_lock(&self, id: ObjectId, is_cancelled: IsCancelled<'_>) -> Result<()> {
        let edit = RefEdit {
            name: "HEAD".into(),
            change: RefChange::Set(RefValue::Direct(id)),
            expected: Expected::Anything,
            log: None,
            message: None,
        };
        self.refuse_quarantine()?;
        let options = self.write_options(is_cancelled)?;
        self.refs.prepare(&[edit], &options).map(drop)
    }

    /// Refuses all changes while objects that were received are not accepted: a reference would lead to
    /// what may be gone.
    fn refuse_quarantine(&self) -> Result<()> {
        if self.environment.is_quarantined {
            return Err(Error::Setup {
                reason: "ref updates forbidden inside quarantine environment".into(),
            });
        }
        Ok(())
    }

    /// How references are written here.
    ///
    /// # Errors
    /// A setting that git does not take, in its words. As with git, it hinders nobody who reads.
    pub(crate) fn write_options<'a>(
        &self,
        is_cancelled: IsCancelled<'a>,
    ) -> Result<WriteOptions<'a>> {
        let reftable = match self.ref_storage {
            RefStorage::Reftable => ReftableSettings::resolve(&self.config)?,
            RefStorage::Files => ReftableSettings::default(),
        };
        Ok(WriteOptions {
            sharing: self.settings.sharing,
            sync: self.settings.fsync.reference,
            lock_timeout: self.lock_timeout(),
            packed_lock_timeout: self.packed_lock_timeout(),
            reftable,
            is_cancelled,
        })
    }

    fn lines(&self, edits: &[RefEdit<'_>]) -> Vec<u8> {
        let lines = edits.iter().flat_map(|edit| self.announcement(edit));
        lines.collect()
    }

    /// The line about a change that the hook reads; it is not told of what only a log is told of.
    fn announcement(&self, edit: &RefEdit<'_>) -> Vec<u8> {
        let null = self.null_id();
        let old = match (&edit.change, edit.expected) {
            (RefChange::Set(_), Expected::Id(id)) => id,
            _ => null,
        };
        let new: BString = match &edit.change {
            RefChange::Set(RefValue::Direct(id)) => id.to_string().into(),
            RefChange::Set(RefValue::Symbolic(name)) => [b"ref:", &name[..]].concat().into(),
            RefChange::Delete => null.to_string().into(),
            RefChange::Follow => return Vec::new(),
        };
        let old = old.to_string();
        [old.as_bytes(), b" ", &new, b" ", edit.name, b"\n"].concat()
    }

    /// Sets the reference `name` to `id`, whatever it was, and logs that; a log is created if there
    /// is none.
    pub(crate) fn set_reference(
        &self,
        name: &BStr,
        id: ObjectId,
        committer: &Signature,
        message: &BStr,
    ) -> Result<()> {
        let edit = RefEdit {
            name,
            change: RefChange::Set(RefValue::Direct(id)),
            expected: Expected::Anything,
            log: Some(Logged {
                old: None,
                new: id,
                create: true,
            }),
            message: None,
        };
        self.prepare_reference(edit, &|| false)?
            .commit(message, committer)
    }

    /// Lets the branch with the full name `name`, which is not born yet, have a log from now on, where
    /// `core.logAllRefUpdates` would not.
    pub(crate) fn create_log(&self, name: &BStr) -> Result<()> {
        let settings = self.settings();
        if settings.log_ref_updates.covers(name) {
            return Ok(());
        }
        self.refs.create_log(name, &self.write_options(&|| false)?)
    }

    /// Deletes the entry `number`, counted from the newest, of the log of `name`, and lets `name`
    /// follow. Returns whether none is left; then `name` stays what it is.
    pub(crate) fn drop_log_entry(&self, name: &BStr, number: usize) -> Result<bool> {
        let options = self.write_options(&|| false)?;
        self.refs.drop_log_entry(name, number, &options)
    }

    /// Deletes the log of `name`, if there is one.
    pub(crate) fn delete_log(&self, name: &BStr) -> Result<()> {
        self.refs.delete_log(name, &self.write_options(&|| false)?)
    }

    /// Deletes a reference that is `expected`; says whether there was one.
    pub(crate) fn delete_reference(&self, name: &BStr, expected: Expected) -> Result<bool> {
        if !self.refs.contains(name)? {
            return Ok(false);
        }
        let edit = RefEdit {
            name,
            change: RefChange::Delete,
            expected,
            log: None,
            message: None,
        };
        self.prepare_reference(edit, &|| false)?.finish(None)?;
        Ok(true)
    }
}

/// The changes as they are asked for: of a reference that leads to another one, which is changed.
fn asked<'e>(edits: &[RefEdit<'e>]) -> Vec<RefEdit<'e>> {
    let mut asked: Vec<RefEdit<'_>> = Vec::new();
    let mut led_from = None;
    for edit in edits {
        match edit.change {
            RefChange::Follow => led_from = Some(edit.name),
            _ => asked.push(RefEdit {
                name: led_from.take().unwrap_or(edit.name),
                ..edit.clone()
            }),
        }
    }
    asked
}
