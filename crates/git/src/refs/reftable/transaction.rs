//! Changing references in tables.
//!
//! One lock covers all references of a repository, so it is not held while a working tree is
//! written: everybody else would wait, or give up. A change is checked under the lock when it is
//! prepared, and again when it is made.

use super::addition::{log_update, Addition, HowToWrite, LockedStack};
use super::{Place, Reftable};
use crate::refs::model::{problem, RefValue, ReferenceProblem};
use crate::refs::names::is_safe_name;
use crate::refs::store::{
    follow_from, Expected, IsCancelled, LogMessage, Logged, RefChange, RefEdit, RefStore,
    RefTransaction, WriteOptions,
};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_reftable::RefTarget;
use std::collections::BTreeSet;
use std::time::Duration;

/// Whoever has changed a working tree already waits at least so long for the lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// A change that was checked.
#[derive(Debug)]
struct Prepared<'s> {
    store: &'s Reftable,
    how: HowToWrite,
    edits: Vec<Edit>,
}

/// A [`RefEdit`] that owns what it tells.
#[derive(Debug)]
struct Edit {
    name: BString,
    change: RefChange,
    expected: Expected,
    log: Option<Logged>,
    message: Option<BString>,
}

/// The stacks that a change concerns.
struct Locks<'s> {
    shared: Option<(LockedStack<'s>, Addition)>,
    own: Option<(LockedStack<'s>, Addition)>,
}

pub(super) fn prepare<'s>(
    store: &'s Reftable,
    edits: &[RefEdit<'_>],
    options: &WriteOptions<'_>,
) -> Result<impl RefTransaction + 's> {
    let edits = edits.iter().map(|edit| Edit {
        name: edit.name.to_owned(),
        change: edit.change.clone(),
        expected: edit.expected,
        log: edit.log,
        message: edit.message.map(BStr::to_owned),
    });
    let prepared = Prepared {
        store,
        how: HowToWrite::new(options),
        edits: edits.collect(),
    };
    let wait = (prepared.how.settings.lock_timeout, options.is_cancelled);
    let locks = prepared.plan(wait, None)?;
    for (locked, addition) in [&locks.shared, &locks.own].into_iter().flatten() {
        locked.try_add(addition, &prepared.how)?;
    }
    Ok(prepared)
}

impl RefTransaction for Prepared<'_> {
    fn commit(self: Box<Self>, message: Option<LogMessage<'_>>) -> Result<()> {
        let limit = self
            .how
            .settings
            .lock_timeout
            .map(|limit| limit.max(PATIENCE));
        let locks = self.plan((limit, &|| false), message)?;
        for (locked, addition) in [locks.shared, locks.own].into_iter().flatten() {
            let stack = locked.stack;
            if locked.add(addition, &self.how)? {
                // The change is made; a stack that stays long is as good.
                let _ = stack.compact(&self.how);
            }
        }
        Ok(())
    }
}

impl<'s> Prepared<'s> {
    /// Locks the stacks and finds what is added to them.
    fn plan(
        &self,
        (limit, is_cancelled): (Option<Duration>, IsCancelled<'_>),
        message: Option<LogMessage<'_>>,
    ) -> Result<Locks<'s>> {
        let store = self.store;
        let concerns = |wanted: Place| {
            let mut places = self
                .edits
                .iter()
                .map(|edit| store.place(edit.name.as_bstr()));
            places.any(|place| place == Some(wanted))
        };
        // In this order everywhere, so that no two wait for each other.
        let lock = |place: Place| -> Result<_> {
            if !concerns(place) {
                return Ok(None);
            }
            let locked = store.stack(place).lock(limit, is_cancelled)?;
            let addition = locked.addition()?;
            Ok(Some((locked, addition)))
        };
        let mut locks = Locks {
            shared: lock(Place::Shared)?,
            own: lock(Place::Own)?,
        };
        self.edits
            .iter()
            .try_for_each(|edit| self.plan_edit(edit, &mut locks, message))?;
        Ok(locks)
    }

    fn plan_edit(
        &self,
        edit: &Edit,
        locks: &mut Locks<'_>,
        message: Option<LogMessage<'_>>,
    ) -> Result<()> {
        let (store, name) = (self.store, edit.name.as_bstr());
        let no_name = || problem(name, ReferenceProblem::NoName);
        let place = store.place(name).filter(|_| is_safe_name(name));
        let part = match place.ok_or_else(no_name)? {
            Place::Shared => locks.shared.as_mut(),
            Place::Own => locks.own.as_mut(),
        };
        let (locked, addition) = part.expect("the stack of each name was locked");
        let (value, old) = match (current(store, name), &edit.change) {
            // What is no reference may be deleted.
            (Err(Error::Reference { .. }), RefChange::Delete) => (None, None),
            (current, _) => current?,
        };
        edit.expected.check(name, old)?;
        match &edit.change {
            RefChange::Delete => {
                if locked.snapshot.find(name)?.is_some() {
                    addition.set(name, RefTarget::Deleted);
                }
                addition.delete_log(name, &locked.snapshot.log(name)?);
                return Ok(());
            }
            RefChange::Follow => {}
            RefChange::Set(new @ RefValue::Direct(_)) if value.as_ref() == Some(new) => {
                return Ok(());
            }
            RefChange::Set(new) => {
                if value.is_none() {
                    self.check_no_conflict(name)?;
                }
                let target = match new {
                    // Only commits and trees are set here: there is nothing to peel.
                    RefValue::Direct(id) => RefTarget::Id(*id),
                    RefValue::Symbolic(target) => RefTarget::Symbolic(target.clone()),
                };
                addition.set(name, target);
            }
        }
        if let (Some(logged), Some(message)) = (edit.log, message) {
            if logged.create || locked.snapshot.has_log(name)? {
                let own = edit.message.as_ref().map(|text| text.as_bstr());
                let text = own.unwrap_or(message.text);
                let message = LogMessage { text, ..message };
                let old = logged.old.or(old).unwrap_or(store.null());
                addition.log(name, log_update(old, logged.new, message));
            }
        }
        Ok(())
    }

    /// A name and one that continues it with `/` cannot both be references.
    fn check_no_conflict(&self, name: &BStr) -> Result<()> {
        let with = |wanted: fn(&RefChange) -> bool| {
            let edits = self.edits.iter().filter(|edit| wanted(&edit.change));
            edits
                .map(|edit| edit.name.as_bstr())
                .collect::<BTreeSet<&BStr>>()
        };
        let deleted = with(|change| *change == RefChange::Delete);
        let created = with(|change| matches!(change, RefChange::Set(_)));
        let above = name.find_iter("/").map(|end| name[..end].as_bstr());
        for other in above.filter(|above| *above != "refs") {
            if created.contains(other) {
                return Err(at_the_same_time(other, name));
            }
            if !deleted.contains(other) && self.store.contains(other)? {
                return Err(conflict(other, name));
            }
        }
        let below = BString::from([name.as_bytes(), b"/"].concat());
        let mut found = None;
        self.store.visit(below.as_bstr(), &mut |other, _| {
            found = Some(other.to_owned()).filter(|_| !deleted.contains(other));
            Ok(found.is_none())
        })?;
        if let Some(other) = found {
            return Err(conflict(other.as_bstr(), name));
        }
        match created.iter().find(|other| other.starts_with(&below)) {
            Some(other) => Err(at_the_same_time(other, name)),
            None => Ok(()),
        }
    }
}

fn conflict(other: &BStr, name: &BStr) -> Error {
    Error::Setup {
        reason: format!("'{other}' exists; cannot create '{name}'"),
    }
}

fn at_the_same_time(one: &BStr, other: &BStr) -> Error {
    Error::Setup {
        reason: format!(
            "cannot process '{}' and '{}' at the same time",
            one.min(other),
            one.max(other)
        ),
    }
}

/// What is stored under `name`, and the object that it leads to.
fn current(store: &Reftable, name: &BStr) -> Result<(Option<RefValue>, Option<ObjectId>)> {
    let Some(value) = store.read(name)? else {
        return Ok((None, None));
    };
    let found = follow_from(store, name.to_owned(), value.clone())?;
    Ok((Some(value), found.id))
}
