//! The roots that keep objects alive: references, `HEAD`s, logs and indexes of all working trees.

use super::sources::Sources;
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_pack::ObjectId;
use hedgerow_reach::Tip;
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
        let mut tips = Vec::new();
        if self.references {
            add_references(repository, sources, &mut tips)?;
        }
        if self.logs {
            add_logs(repository, warn, &mut tips)?;
        }
        if self.indexes {
            for object in repository.indexed_objects()? {
                if exists(repository, &object.id)? {
                    tips.push(Tip {
                        path: object.path.into(),
                        ..Tip::new(object.id, false)
                    });
                }
            }
        }
        tips.sort_by(|a, b| a.id.cmp(&b.id).then(b.path.cmp(&a.path)));
        tips.dedup_by_key(|tip| tip.id);
        Ok(tips)
    }
}

fn add_references(repository: &Repository, sources: &Sources, tips: &mut Vec<Tip>) -> Result<()> {
    for reference in repository.all_references()? {
        let Some(id) = reference.id else { continue };
        if exists(repository, &id)? {
            tips.push(Tip::new(id, false));
        } else if !id.is_empty_tree() {
            let name = reference.name;
            return Err(bad_object(&name));
        }
    }
    if let Some(id) = repository.head()?.id() {
        if !exists(repository, &id)? {
            return Err(bad_object(&"HEAD"));
        }
        tips.push(Tip::new(id, false));
    }
    let others = repository.worktree_references()?;
    for id in others.into_iter().chain(sources.graft_parents()) {
        if exists(repository, &id)? {
            tips.push(Tip::new(id, false));
        }
    }
    Ok(())
}

fn add_logs(repository: &Repository, warn: &dyn Fn(String), tips: &mut Vec<Tip>) -> Result<()> {
    for log in repository.all_logs()? {
        let mut has_gone = false;
        for id in log.ids {
            if exists(repository, &id)? {
                tips.push(Tip::new(id, false))
            } else {
                has_gone = true
            }
        }
        if has_gone && repository.partial_clone_remote().is_none() {
            let name = log.name;
            warn(format!("reflog of '{name}' references pruned commits"));
        }
    }
    Ok(())
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
