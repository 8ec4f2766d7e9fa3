//! Which paths go back to HEAD when only some are put aside: those that are in the entry, and no
//! others. What lies in the place of one and is in no entry stays.

use super::adding::Outside;
use super::capture::Changes;
use crate::checkout::{first_blocking, Failure, Session};
use crate::index::{Mode, Stage};
use crate::worktree::state::State;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::FileKind;
use hedgerow_tree::split_path;
use std::collections::BTreeSet;

/// The paths to set to HEAD.
#[derive(Debug, Default)]
pub(super) struct Taking {
    pub paths: BTreeSet<BString>,
    /// Paths that stay, because something that is not in the entry is in their places.
    pub in_the_way: Vec<Failure>,
    /// Why all stay, in git's words.
    pub misfits: Vec<String>,
}

impl Taking {
    /// Finds them. `saved` are the untracked files of the entry. Files outside of the sparse checkout stay
    /// as they are.
    pub(super) fn of(
        session: &Session<'_>,
        changes: &Changes,
        outside: &Outside<'_>,
        saved: &[(BString, Mode, gix_hash::ObjectId)],
    ) -> Result<Taking> {
        let index = &changes.old.index;
        let saved: BTreeSet<&BString> = saved.iter().map(|(path, ..)| path).collect();
        let places = Places {
            session,
            changes,
            is_known: &|path| saved.contains(&path.to_owned()),
        };
        let mut taking = Taking::default();
        for change in &changes.staged.changes {
            let row = index.find(change.path.as_bstr(), Stage::Merged);
            if row.is_ok_and(|row| changes.is_held(row)) {
                let misfit = format!("{}: does not match index", change.path);
                taking.misfits.push(misfit);
            }
            let mode = change.head.map(|head| head.mode);
            let may_be_blocked = change.index.is_none();
            let mode = mode.filter(|_| may_be_blocked);
            taking.add(&places, change.path.as_ref(), mode)?;
        }
        for row in changes.unstaged() {
            let entry = &index.entries()[row];
            let (path, state) = (index.path(entry), changes.states[row]);
            if outside.has(path) {
                if taking.paths.contains(path.as_bytes()) {
                    taking.misfits.push(format!("{path}: does not match index"));
                }
                continue;
            }
            let may_be_blocked = matches!(state, State::Directory | State::Blocked);
            let mode = Some(entry.mode).filter(|_| may_be_blocked);
            taking.add(&places, path, mode)?;
        }
        // Git goes through a patch from its end to take it back.
        taking.misfits.reverse();
        Ok(taking)
    }

    /// Adds a path. `mode` is that of its file in HEAD, if something may be in the way.
    fn add(&mut self, places: &Places<'_>, path: &BStr, mode: Option<Mode>) -> Result<()> {
        let mode = mode.filter(|mode| *mode != Mode::Gitlink);
        let Some(mode) = mode else {
            self.paths.insert(path.to_owned());
            return Ok(());
        };
        self.misfits.extend(places.file(path)?);
        let (path, reason) = (path.to_owned(), places.obstacle(path, mode)?);
        match reason {
            Some(reason) => self.in_the_way.push(Failure { path, reason }),
            None => {
                self.paths.insert(path);
            }
        }
        Ok(())
    }
}

pub(super) struct Places<'a> {
    pub session: &'a Session<'a>,
    pub changes: &'a Changes,
    /// Whether an untracked file is in the entry.
    pub is_known: &'a dyn Fn(&BStr) -> bool,
}

impl Places<'_> {
    /// What git says if a file is at `path` that is not in the entry.
    pub(super) fn file(&self, path: &BStr) -> Result<Option<String>> {
        let is_there = self.is_file(path)? && !self.is_safe(path);
        Ok(is_there.then(|| format!("{path}: already exists in working directory")))
    }

    /// Why the file at `path` cannot be written without a loss, in git's words.
    pub(super) fn obstacle(&self, path: &BStr, mode: Mode) -> Result<Option<String>> {
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

    /// Whether the entry has the file at `path`. Of one that is only to be added later, the index has no
    /// content; of one that no pathspec matches, the entry has what is staged, not what the file has.
    fn is_safe(&self, path: &BStr) -> bool {
        let index = &self.changes.old.index;
        let is_recorded = |row: usize| {
            let is_intended = index.entries()[row].flags.intent_to_add;
            !is_intended && self.changes.is_meant[row] && !self.changes.is_held(row)
        };
        let row = index.find(path, Stage::Merged);
        row.is_ok_and(is_recorded) || (self.is_known)(path)
    }
}
