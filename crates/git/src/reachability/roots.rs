//! The roots that keep objects alive: references, `HEAD`s, logs and indexes of all working trees.

use super::sources::Sources;
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_pack::ObjectId;
use hedgerow_reach::Tip;
use std::collections::HashSet;
use std::fmt::Display;

/// Which roots to use: git-pack-objects(1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// References, and the `HEAD`s of all working trees.
    pub references: bool,
    /// Reflogs.
    pub logs: bool,
    /// Indexes.
    pub indexes: bool,
}

impl Roots {
    /// All of them.
    pub const ALL: Roots = Roots {
        references: true,
        logs: true,
        indexes: true,
    };

    /// The objects that they name. Logs and indexes may name missing ones.
    ///
    /// # Errors
    /// If a reference is broken or names nothing, or a log or an index cannot be read, because the
    /// objects that it keeps alive are then unknown.
    pub fn tips(
        self,
        repository: &Repository,
        sources: &Sources,
        warn: &dyn Fn(String),
    ) -> Result<Vec<Tip>> {
        self.tips_besides(repository, sources, &HashSet::new(), warn)
    }

    /// The same without those in `known`, which are not looked for.
    ///
    /// # Errors
    /// As of [`Roots::tips`].
    pub fn tips_besides(
        self,
        repository: &Repository,
        sources: &Sources,
        known: &HashSet<ObjectId>,
        warn: &dyn Fn(String),
    ) -> Result<Vec<Tip>> {
        let mut gathered = Gathered {
            repository,
            known,
            tips: Vec::new(),
        };
        if self.references {
            gathered.add_references(sources)?;
        }
        if self.logs {
            gathered.add_logs(warn)?;
        }
        if self.indexes {
            for object in repository.indexed_objects()? {
                let path = object.path.into();
                gathered.add(object.id, path)?;
            }
        }
        let mut tips = gathered.tips;
        // The start of an id decides nearly always.
        let start = |tip: &Tip| {
            tip.id
                .as_bytes()
                .first_chunk()
                .map(|it| u64::from_be_bytes(*it))
        };
        tips.sort_by(|a, b| {
            let by_id = start(a).cmp(&start(b)).then_with(|| a.id.cmp(&b.id));
            by_id.then_with(|| b.path.cmp(&a.path))
        });
        tips.dedup_by_key(|tip| tip.id);
        Ok(tips)
    }
}

/// The tips that were found so far.
struct Gathered<'r> {
    repository: &'r Repository,
    known: &'r HashSet<ObjectId>,
    tips: Vec<Tip>,
}

impl Gathered<'_> {
    /// Adds the object unless it is known. Returns whether it exists.
    fn add(&mut self, id: ObjectId, path: Vec<u8>) -> Result<bool> {
        if self.known.contains(&id) {
            return Ok(true);
        }
        let exists = exists(self.repository, &id)?;
        if exists {
            self.tips.push(Tip {
                path,
                ..Tip::new(id, false)
            });
        }
        Ok(exists)
    }

    fn add_references(&mut self, sources: &Sources) -> Result<()> {
        for reference in self.repository.all_references()? {
            let Some(id) = reference.id else { continue };
            if !self.add(id, Vec::new())? && !id.is_empty_tree() {
                let name = reference.name;
                return Err(bad_object(&name));
            }
        }
        if let Some(id) = self.repository.head()?.id() {
            if !self.add(id, Vec::new())? {
                return Err(bad_object(&"HEAD"));
            }
        }
        let others = self.repository.worktree_references()?;
        for id in others.into_iter().chain(sources.graft_parents()) {
            self.add(id, Vec::new())?;
        }
        Ok(())
    }

    fn add_logs(&mut self, warn: &dyn Fn(String)) -> Result<()> {
        for log in self.repository.all_logs()? {
            let mut has_gone = false;
            for id in log.ids {
                has_gone |= !self.add(id, Vec::new())?;
            }
            if has_gone && self.repository.partial_clone_remote().is_none() {
                let name = log.name;
                warn(format!("reflog of '{name}' references pruned commits"));
            }
        }
        Ok(())
    }
}

/// Whether the object exists.
pub fn exists(repository: &Repository, id: &ObjectId) -> Result<bool> {
    let found = repository.objects().locate(id)?;
    Ok(found.is_some())
}

fn bad_object(name: &dyn Display) -> Error {
    let reason = format!("bad object {name}");
    Error::Setup { reason }
}
