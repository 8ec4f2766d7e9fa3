//! Taking what is staged out of the working tree, and nothing else: as git-apply(1) with `-R` does it
//! with the changes of the index as a patch. All of it fits, or nothing is touched.

use super::apply::new_index;
use super::capture::{Changes, Files};
use super::index_patch::Patch;
use super::taking::Places;
use crate::checkout::Session;
use crate::index::{Entry, Mode};
use crate::merge::{edited, kind};
use crate::objects::{write_tree, ObjectWriter};
use crate::status::{StagedChange, Version};
use crate::tree::Side;
use crate::worktree::state::State;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

/// The lines around a change that must be there for it to fit.
const CONTEXT: usize = 1;

/// What becomes of the working tree.
#[derive(Debug)]
pub(super) struct Reversal {
    /// The paths that change.
    pub paths: BTreeSet<BString>,
    /// What they get: HEAD's tree, but for files that keep what is not staged.
    pub tree: ObjectId,
    /// No file keeps anything.
    pub is_whole: bool,
    /// Why it cannot be done, in git's words.
    pub misfits: Vec<String>,
    /// Git's warnings.
    pub warnings: Vec<String>,
}

impl Reversal {
    /// Finds it out; `head` is the tree of HEAD. Nothing but objects is written.
    pub(super) fn of(
        session: &Session<'_>,
        writer: &ObjectWriter<'_>,
        changes: &Changes,
        head: ObjectId,
    ) -> Result<Reversal> {
        let mut search = Search {
            places: Places {
                session,
                changes,
                is_known: &|_| false,
            },
            writer,
            changes,
            misfits: BTreeMap::new(),
            edits: BTreeMap::new(),
            warnings: Vec::new(),
        };
        search.run()?;
        let Search {
            misfits,
            edits,
            warnings,
            ..
        } = search;
        let is_whole = edits.is_empty();
        let tree = if is_whole || !misfits.is_empty() {
            head
        } else {
            let base = new_index(session, Some(head))?;
            let rows = edited(&base, &edits).into_iter();
            write_tree(session.repository, writer, rows, &session.engine())?
        };
        let staged = changes.staged.changes.iter();
        Ok(Reversal {
            paths: staged.map(|change| change.path.clone()).collect(),
            tree,
            is_whole,
            // Git goes through a patch from its end to take it back.
            misfits: misfits.into_values().rev().flatten().collect(),
            warnings,
        })
    }
}

struct Search<'a> {
    places: Places<'a>,
    writer: &'a ObjectWriter<'a>,
    changes: &'a Changes,
    /// By the paths that do not fit.
    misfits: BTreeMap<BString, Vec<String>>,
    /// The files that keep something.
    edits: BTreeMap<BString, Option<Side>>,
    warnings: Vec<String>,
}

impl<'a> Search<'a> {
    fn run(&mut self) -> Result<()> {
        let mut wanted: Vec<(&StagedChange, Version)> = Vec::new();
        for change in &self.changes.staged.changes {
            let path = change.path.as_bstr();
            let misfit = match (change.index, change.head) {
                (Some(version), _) if version.mode == Mode::Gitlink => None,
                (Some(version), _) => {
                    let (row, entry, state) = self.entry(path);
                    match state {
                        _ if entry.flags.skip_worktree => Some(absent(path)),
                        State::Clean | State::Unchanged => None,
                        State::Absent => Some(absent(path)),
                        State::Blocked => Some(format!("{path}: Not a directory")),
                        State::TypeChanged | State::Directory => {
                            Some(format!("{path}: wrong type"))
                        }
                        State::Unknown => Some(self.changes.why_unknown(row)),
                        State::Suspect | State::Touched | State::Modified => {
                            wanted.push((change, version));
                            None
                        }
                    }
                }
                (None, Some(head)) if head.mode != Mode::Gitlink => {
                    match self.places.file(path)? {
                        None => self.places.obstacle(path, head.mode)?,
                        misfit => misfit,
                    }
                }
                (None, _) => None,
            };
            if let Some(misfit) = misfit {
                self.misfits.insert(path.to_owned(), vec![misfit]);
            }
        }
        self.patch(&wanted)
    }

    fn entry(&self, path: &BStr) -> (usize, Entry, State) {
        let index = &self.changes.old.index;
        let row = index.find(path, crate::index::Stage::Merged);
        let row = row.expect("what is staged is in the index");
        let state = if self.changes.is_held(row) {
            State::Modified
        } else {
            self.changes.states[row]
        };
        (row, index.entries()[row], state)
    }

    /// Takes what is staged out of files with other changes.
    fn patch(&mut self, wanted: &[(&StagedChange, Version)]) -> Result<()> {
        let files = Files {
            session: self.places.session,
            writer: self.writer,
            index: &self.changes.old.index,
        };
        let paths = wanted
            .iter()
            .map(|(change, version)| (change.path.as_bstr(), Some(version.mode)));
        for (file, (change, version)) in files.save(paths.collect())?.into_iter().zip(wanted) {
            let path = file.path.as_bstr();
            let Some(current) = file.side else {
                self.misfits.insert(path.to_owned(), vec![absent(path)]);
                continue;
            };
            let side = |version: Version| Side {
                kind: kind(version.mode),
                id: version.id,
            };
            let (old, head) = (side(*version), change.head.map(side));
            let is_link = |side: &Side| Mode::from(side.kind) == Mode::Symlink;
            let patch = Patch {
                path,
                old,
                // A link in the place of a file, or the other way round: one goes, the other comes.
                new: head.filter(|head| is_link(head) == is_link(&old)),
                context: CONTEXT,
            };
            if current.kind != old.kind {
                let [is, was] = [current, old].map(|side| Mode::from(side.kind).to_u32());
                let warning = format!("{path} has type {is:o}, expected {was:o}");
                self.warnings.push(warning);
            }
            match patch.applied(self.places.session, self.writer, current)? {
                Err(reasons) => {
                    self.misfits.insert(path.to_owned(), reasons);
                }
                Ok(Some(side)) if Some(side) != head => {
                    self.edits.insert(path.to_owned(), Some(side));
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

fn absent(path: &BStr) -> String {
    format!("{path}: No such file or directory")
}
