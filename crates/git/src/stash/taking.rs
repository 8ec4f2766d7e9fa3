//! Which paths go back to HEAD when only some are put aside: those that are in the entry, and no
//! others. What lies in the place of one and is in no entry stays.

use super::capture::Changes;
use crate::checkout::{first_blocking, Failure, Session};
use crate::index::{Index, Mode, Stage};
use crate::worktree::state::State;
use crate::Result;
use bstr::{BStr, BString};
use hedgerow_fs::FileKind;
use std::collections::BTreeSet;

/// The paths to set to HEAD.
#[derive(Debug, Default)]
pub(super) struct Taking {
    pub paths: BTreeSet<BString>,
    /// Paths of them that stay, because something that is not in the entry is in their places.
    pub in_the_way: Vec<Failure>,
}

impl Taking {
    /// Finds them. `saved` are the untracked files of the entry.
    pub(super) fn of(
        session: &Session<'_>,
        changes: &Changes,
        staged_only: bool,
        saved: &[(BString, Mode, gix_hash::ObjectId)],
    ) -> Result<Taking> {
        let index = &changes.old.index;
        let saved: BTreeSet<&BString> = saved.iter().map(|(path, ..)| path).collect();
        let places = Places {
            session,
            index,
            is_known: &|path| saved.contains(&path.to_owned()),
        };
        let mut taking = Taking::default();
        for change in &changes.staged.changes {
            let mode = change.head.map(|head| head.mode);
            let may_be_blocked = change.index.is_none();
            let mode = mode.filter(|_| may_be_blocked);
            taking.add(&places, change.path.as_ref(), mode)?;
        }
        for row in changes.unstaged().filter(|_| !staged_only) {
            let entry = &index.entries()[row];
            let state = changes.states[row];
            let may_be_blocked = matches!(state, State::Directory | State::Blocked);
            let mode = Some(entry.mode).filter(|_| may_be_blocked);
            taking.add(&places, index.path(entry), mode)?;
        }
        Ok(taking)
    }

    /// Adds a path. `mode` is that of its file in HEAD, if something may be in the way.
    fn add(&mut self, places: &Places<'_>, path: &BStr, mode: Option<Mode>) -> Result<()> {
        let mode = mode.filter(|mode| *mode != Mode::Gitlink);
        let obstacle = mode.map(|mode| Ok::<_, crate::Error>((mode, places.obstacle(path)?)));
        match obstacle.transpose()? {
            Some((mode, Some(what))) => {
                let mode = mode.to_u32();
                self.in_the_way.push(Failure {
                    path: path.to_owned(),
                    reason: format!("unable to write file '{path}' mode {mode:o}: {what}"),
                });
            }
            _ => {
                self.paths.insert(path.to_owned());
            }
        }
        Ok(())
    }
}

struct Places<'a> {
    session: &'a Session<'a>,
    index: &'a Index,
    /// Whether an untracked file is in the entry.
    is_known: &'a dyn Fn(&BStr) -> bool,
}

impl Places<'_> {
    /// What is in the place of `path` and would be lost, in the words of the system.
    fn obstacle(&self, path: &BStr) -> Result<Option<&'static str>> {
        let root = &self.session.root;
        if let Some(above) = first_blocking(root, path)? {
            return Ok((!self.is_safe(above)).then_some("Not a directory"));
        }
        let mut pending = vec![path.to_owned()];
        while let Some(directory) = pending.pop() {
            let handle = match root.open_dir(&directory) {
                Ok(handle) => handle,
                // A file: it is what was put aside.
                Err(error) if error.is_absent() => continue,
                Err(error) => return Err(error.into()),
            };
            for entry in handle.list()? {
                let mut path = directory.clone();
                path.push(b'/');
                path.extend_from_slice(&entry.name);
                let kind = match entry.kind {
                    Some(kind) => kind,
                    None => handle.stat(&entry.name)?.kind,
                };
                if kind == FileKind::Directory && !entry.name.eq_ignore_ascii_case(b".git") {
                    pending.push(path);
                } else if !self.is_safe(path.as_ref()) {
                    return Ok(Some("Directory not empty"));
                }
            }
        }
        Ok(None)
    }

    fn is_safe(&self, path: &BStr) -> bool {
        self.index.find(path, Stage::Merged).is_ok() || (self.is_known)(path)
    }
}
