//! Changing a reference in two steps, so that whatever can refuse it does so before anything else
//! is done: its lock and the `reference-transaction` hook of githooks(5).

use super::Repository;
use crate::refs::{
    Expected, IsCancelled, LogMessage, Logged, RefChange, RefEdit, RefTransaction, RefValue,
    Signature, WriteOptions,
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

/// A change that the hook was told of. Where it is dropped, the hook is told that it does not
/// happen.
#[derive(Debug)]
struct Announced<'r> {
    repository: &'r Repository,
    line: Vec<u8>,
    is_over: bool,
}

impl<'r> Announced<'r> {
    /// Asks the hook, which may refuse.
    fn prepare(repository: &'r Repository, old: &str, new: &BStr, name: &BStr) -> Result<Self> {
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
    fn finish(&mut self, state: &str) -> Result<()> {
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
    /// Locks a reference and makes its change ready, then asks the hook, which may refuse. Waits for
    /// whoever holds the lock as long as `core.filesRefLockTimeout` says.
    pub(crate) fn prepare_reference(
        &self,
        edit: RefEdit<'_>,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'_>> {
        let options = WriteOptions {
            sharing: self.settings.sharing,
            sync: self.settings.fsync.reference,
            lock_timeout: self.lock_timeout(),
            is_cancelled,
        };
        let transaction = self.refs.prepare(std::slice::from_ref(&edit), &options)?;
        let null = self.null_id().to_string();
        let new: BString = match &edit.change {
            RefChange::Set(RefValue::Direct(id)) => id.to_string().into(),
            RefChange::Set(RefValue::Symbolic(name)) => [b"ref:", &name[..]].concat().into(),
            RefChange::Delete => null.as_str().into(),
        };
        Ok(RefUpdate {
            transaction,
            announced: Announced::prepare(self, &null, new.as_ref(), edit.name)?,
        })
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
                new: id,
                create: true,
            }),
        };
        self.prepare_reference(edit, &|| false)?
            .commit(message, committer)
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
        };
        self.prepare_reference(edit, &|| false)?.finish(None)?;
        Ok(true)
    }
}
