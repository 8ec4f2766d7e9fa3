//! References in memory.

use super::check;
use crate::config::Sharing;
use crate::refs::store::in_the_way;
use crate::refs::{
    follow, problem, Listed, Log, LogEntry, LogMessage, Logged, RefChange, RefEdit, RefStore,
    RefTransaction, RefValue, ReferenceProblem, WriteOptions,
};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// References in memory, the same for all working trees.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    content: Arc<Mutex<Content>>,
}

#[derive(Clone, Debug, Default)]
struct Content {
    values: BTreeMap<BString, RefValue>,
    /// Oldest entries first.
    logs: BTreeMap<BString, Vec<LogEntry>>,
}

impl Content {
    fn log(&mut self, name: &BStr, old: Option<ObjectId>, logged: Logged, message: LogMessage<'_>) {
        if !logged.create && !self.logs.contains_key(name) {
            return;
        }
        let entry = LogEntry {
            old: logged.old.or(old).unwrap_or(logged.new.kind().null()),
            new: logged.new,
            time: message.committer.time,
            message: message.text.to_owned(),
        };
        self.logs.entry(name.to_owned()).or_default().push(entry);
    }
}

impl Memory {
    pub(super) fn set(&self, name: &str, value: RefValue) {
        self.content
            .lock()
            .unwrap()
            .values
            .insert(name.into(), value);
    }
}

impl RefStore for Memory {
    fn read(&self, name: &BStr) -> Result<Option<RefValue>> {
        Ok(self.content.lock().unwrap().values.get(name).cloned())
    }

    fn contains(&self, name: &BStr) -> Result<bool> {
        Ok(self.read(name)?.is_some())
    }

    fn list(&self, prefix: &BStr, visit: &mut Listed<'_>) -> Result<()> {
        let values = self.content.lock().unwrap().values.clone();
        let mut below = values
            .into_iter()
            .filter(|(name, _)| name.starts_with(prefix));
        below.try_for_each(|(name, value)| visit(name.as_bstr(), Ok(value)))
    }

    fn read_log_until(
        &self,
        name: &BStr,
        visit: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<()> {
        let log = self.content.lock().unwrap().logs.get(name).cloned();
        let _ = log
            .unwrap_or_default()
            .into_iter()
            .rev()
            .try_for_each(visit);
        Ok(())
    }

    fn has_log(&self, name: &BStr) -> bool {
        self.content.lock().unwrap().logs.contains_key(name)
    }

    fn append_log(
        &self,
        name: &BStr,
        old: Option<ObjectId>,
        logged: Logged,
        _: &WriteOptions<'_>,
        message: LogMessage<'_>,
    ) -> Result<()> {
        let mut content = self.content.lock().unwrap();
        content.log(name, old, logged, message);
        Ok(())
    }

    fn create_log(&self, name: &BStr, _: &WriteOptions<'_>) -> Result<()> {
        let mut content = self.content.lock().unwrap();
        content.logs.entry(name.to_owned()).or_default();
        Ok(())
    }

    fn drop_log_entry(&self, name: &BStr, number: usize, _: &WriteOptions<'_>) -> Result<bool> {
        let mut content = self.content.lock().unwrap();
        let entries = content.logs.get_mut(name);
        let at = entries
            .as_ref()
            .and_then(|it| it.len().checked_sub(number + 1));
        let (Some(entries), Some(at)) = (entries, at) else {
            return Err(problem(name, ReferenceProblem::Absent));
        };
        let dropped = entries.remove(at);
        if let Some(next) = entries.get_mut(at) {
            next.old = dropped.old;
        }
        let newest = entries.last().map(|entry| entry.new);
        if let Some(id) = newest {
            content.values.insert(name.to_owned(), RefValue::Direct(id));
        }
        Ok(newest.is_none())
    }

    fn delete_log(&self, name: &BStr, _: &WriteOptions<'_>) -> Result<()> {
        self.content.lock().unwrap().logs.remove(name);
        Ok(())
    }

    fn logs(&self) -> Result<Vec<Log>> {
        let content = self.content.lock().unwrap();
        let logs = content.logs.iter().map(|(name, entries)| Log {
            name: name.clone(),
            ids: entries
                .iter()
                .flat_map(|entry| [entry.old, entry.new])
                .filter(|id| !id.is_null())
                .collect(),
        });
        Ok(logs.collect())
    }

    fn prepare<'s>(
        &'s self,
        edits: &[RefEdit<'_>],
        _: &WriteOptions<'_>,
    ) -> Result<Box<dyn RefTransaction + 's>> {
        let mut changes = Vec::new();
        for edit in edits {
            let old = follow(self, edit.name)?.and_then(|found| found.id);
            edit.expected.check(edit.name, old)?;
            if let Some(other) = in_the_way(self, edit.name)? {
                return Err(Error::Setup {
                    reason: format!("'{other}' exists; cannot create '{}'", edit.name),
                });
            }
            if !crate::refs::is_safe_name(edit.name) {
                return Err(problem(edit.name, ReferenceProblem::NoName));
            }
            let is_same = match &edit.change {
                RefChange::Set(new @ RefValue::Direct(_)) => {
                    self.read(edit.name)?.as_ref() == Some(new)
                }
                _ => false,
            };
            if !is_same {
                changes.push(Change {
                    name: edit.name.to_owned(),
                    change: edit.change.clone(),
                    old,
                    log: edit.log,
                    message: edit.message.map(BStr::to_owned),
                });
            }
        }
        Ok(Box::new(Prepared {
            store: self,
            changes,
        }))
    }

    fn create_worktree_refs(&self, _: &Path, _sharing: Sharing) -> Result<()> {
        Ok(())
    }

    fn worktree_refs(&self, _: &Path) -> Arc<dyn RefStore> {
        Arc::new(self.clone())
    }
}

#[derive(Debug)]
struct Prepared<'s> {
    store: &'s Memory,
    changes: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    name: BString,
    change: RefChange,
    old: Option<ObjectId>,
    log: Option<Logged>,
    message: Option<BString>,
}

impl RefTransaction for Prepared<'_> {
    fn commit(self: Box<Self>, message: Option<LogMessage<'_>>) -> Result<()> {
        let mut content = self.store.content.lock().unwrap();
        for change in self.changes {
            let Change { name, old, log, .. } = change;
            if change.change == RefChange::Delete {
                content.values.remove(&name);
                content.logs.remove(&name);
                continue;
            }
            if let (Some(log), Some(message)) = (log, message) {
                let text = change
                    .message
                    .as_ref()
                    .map_or(message.text, |it| it.as_bstr());
                let message = LogMessage { text, ..message };
                content.log(name.as_ref(), old, log, message);
            }
            if let RefChange::Set(value) = change.change {
                content.values.insert(name, value);
            }
        }
        Ok(())
    }
}

#[test]
fn memory_does_what_every_store_must() {
    check(&Memory::default());
}
