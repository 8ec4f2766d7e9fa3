//! Which paths go back to HEAD when only some are put aside: those that are in the entry, and no
//! others. What lies in the place of one and is in no entry stays.

use super::capture::Changes;
use crate::checkout::{first_blocking, Failure, Session};
use crate::index::{Index, Mode, Stage};
use crate::worktree::state::State;
use crate::Result;
use bstr::{BStr, BString};
use hedgerow_fs::FileKind;
use hedgerow_tree::split_path;
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
            has_files: !staged_only,
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
        if staged_only && !taking.in_the_way.is_empty() {
            // As with git: one patch takes all of it back, or nothing.
            taking.paths.clear();
        }
        Ok(taking)
    }

    /// Adds a path. `mode` is that of its file in HEAD, if something may be in the way.
    fn add(&mut self, places: &Places<'_>, path: &BStr, mode: Option<Mode>) -> Result<()> {
        let mode = mode.filter(|mode| *mode != Mode::Gitlink);
        let reason = match mode {
            Some(mode) => places.obstacle(path, mode)?,
            None => None,
        };
        let path = path.to_owned();
        match reason {
            Some(reason) => self.in_the_way.push(Failure { path, reason }),
            None => {
                self.paths.insert(path);
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
    /// The entry has the files of the working tree, also those that the index has no longer.
    has_files: bool,
}

impl Places<'_> {
    /// Why the file at `path` cannot be written without a loss, in git's words.
    fn obstacle(&self, path: &BStr, mode: Mode) -> Result<Option<String>> {
        let root = &self.session.root;
        let mode = mode.to_u32();
        let unwritable = |what| {
            Some(format!(
                "unable to write file '{path}' mode {mode:o}: {what}"
            ))
        };
        if let Some(above) = first_blocking(root, path)? {
            let is_safe = self.is_safe(above);
            return Ok(unwritable("Not a directory").filter(|_| !is_safe));
        }
        if !self.has_files && self.is_file(path)? {
            return Ok(Some(format!("{path}: already exists in working directory")));
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
                    return Ok(unwritable("Directory not empty"));
                }
            }
        }
        Ok(None)
    }

    fn is_file(&self, path: &BStr) -> Result<bool> {
        let (parent, name) = split_path(path);
        let parent = match self.session.root.open_dir(parent) {
            Ok(parent) => parent,
            Err(error) if error.is_absent() => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        match parent.stat(name) {
            Ok(stat) => Ok(stat.kind != FileKind::Directory),
            Err(error) if error.is_absent() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn is_safe(&self, path: &BStr) -> bool {
        self.index.find(path, Stage::Merged).is_ok() || (self.is_known)(path)
    }
}
