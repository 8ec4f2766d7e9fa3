//! What comes before paths go back to HEAD: git adds them to the index first, as git-add(1) does, and
//! leaves the working tree alone if that fails.

use super::apply::like_tree;
use super::capture::Changes;
use super::embedded::Embedded;
use super::push::{PushOptions, Said};
use super::untracked::UntrackedWish;
use crate::checkout::{smudge_unexamined, Session};
use crate::index::{Index, Mode, Stage};
use crate::merge::{edited, kind};
use crate::objects::{write_tree, ObjectWriter};
use crate::tree::{Difference, Side};
use crate::worktree::pathspecs::{prefixed, Pathspecs};
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::state::State;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::FileKind;
use hedgerow_tree::split_path;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The paths outside of the sparse checkout.
pub(super) struct Outside<'a> {
    patterns: Option<SparsePatterns>,
    top: Option<&'a Path>,
}

impl<'a> Outside<'a> {
    pub(super) fn of(session: &Session<'a>) -> Result<Self> {
        Ok(Outside {
            patterns: session.sparse_patterns()?,
            top: session.repository.work_tree(),
        })
    }

    pub(super) fn has(&self, path: &BStr) -> bool {
        let patterns = self.patterns.as_ref();
        patterns.is_some_and(|patterns| patterns.excludes_entry(path, self.top))
    }
}

/// What is added.
pub(super) struct Adding<'a> {
    pub session: &'a Session<'a>,
    pub options: &'a PushOptions,
    pub changes: &'a Changes,
    pub outside: &'a Outside<'a>,
    /// The untracked files that the pathspecs match.
    pub untracked: &'a [BString],
    /// Those of them that are in the entry.
    pub saved: &'a [(BString, Mode, ObjectId)],
    /// How the working tree differs from the index.
    pub edits: &'a BTreeMap<BString, Option<Side>>,
}

/// What comes of adding, and whether anything goes back to HEAD then.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// In git's words, also why nothing goes back.
    pub said: Vec<Said>,
    /// Nothing goes back to HEAD.
    pub is_left: bool,
    /// The index that git leaves if nothing does, if it is another one.
    pub index: Option<Index>,
}

/// How much git adds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    Part,
    Nothing,
}

impl Adding<'_> {
    /// Whether it fails, or is done in vain because of `misfits`.
    pub(super) fn outcome(
        &self,
        writer: &ObjectWriter<'_>,
        specs: &Pathspecs,
        misfits: &[String],
    ) -> Result<Added> {
        if let Some(said) = self.refusal(specs)? {
            return Ok(Added {
                said: vec![said],
                is_left: true,
                index: None,
            });
        }
        let embedded = self.embedded();
        let added = self.added(&embedded);
        let (mut said, extent) = self.complaints(specs, &embedded)?;
        let mut is_left = extent != Extent::All;
        if !is_left {
            let reasons = match misfits {
                [] if self.is_vain(&added) => vec![NO_PATCH.into()],
                misfits => misfits.to_vec(),
            };
            is_left = !reasons.is_empty();
            said.extend(Said::errors(&reasons));
        }
        if !is_left {
            said.extend(embedded.iter().rev().map(Embedded::said_of_removal));
        }
        let has_index = is_left && extent != Extent::Nothing;
        let index = has_index.then(|| self.index_with(&added, writer));
        let index = index.transpose()?;
        Ok(Added {
            said,
            is_left,
            index,
        })
    }

    /// The repositories among the untracked files: git adds them as submodules.
    fn embedded(&self) -> Vec<Embedded> {
        let paths = self.untracked.iter();
        let paths = paths.filter(|path| !self.outside.has(path.as_bstr()));
        let repository = self.session.repository;
        let embedded = paths.filter_map(|path| Embedded::find(repository, path.as_bstr()));
        embedded.collect()
    }

    /// What changes in the index; `None` goes.
    fn added(&self, embedded: &[Embedded]) -> BTreeMap<BString, Option<Side>> {
        let index = self.index();
        let is_within = |path: &BString| !self.outside.has(path.as_bstr());
        let tracked = self.edits.iter().filter(|(path, _)| {
            index.find(path.as_bstr(), Stage::Merged).is_ok() && is_within(path)
        });
        let mut added: BTreeMap<BString, Option<Side>> =
            tracked.map(|(path, side)| (path.clone(), *side)).collect();
        for row in self.changes.unstaged() {
            let entry = &index.entries()[row];
            let (path, state) = (index.path(entry).to_owned(), self.changes.states[row]);
            let is_gone = matches!(state, State::Absent | State::Blocked | State::Directory);
            if is_gone && entry.mode != Mode::Gitlink && is_within(&path) {
                added.insert(path, None);
            }
        }
        let saved = self.saved.iter().filter(|saved| is_within(&saved.0));
        for (path, mode, id) in saved {
            let (kind, id) = (kind(*mode), *id);
            added.insert(path.clone(), Some(Side { kind, id }));
        }
        let submodules = embedded.iter().filter_map(|it| Some((it, it.head?)));
        for (submodule, id) in submodules {
            let kind = kind(Mode::Gitlink);
            added.insert(submodule.path.clone(), Some(Side { kind, id }));
        }
        added
    }

    /// Whether the index then has what HEAD has, so that there is nothing to take back.
    fn is_vain(&self, added: &BTreeMap<BString, Option<Side>>) -> bool {
        let index = self.index();
        let side = |id: ObjectId, mode: Mode| Side {
            kind: kind(mode),
            id,
        };
        let mut staged = self.changes.staged.changes.iter();
        let are_undone = staged.all(|change| {
            let head = change.head.map(|head| side(head.id, head.mode));
            added.get(&change.path).is_some_and(|added| *added == head)
        });
        let staged = &self.changes.staged.changes;
        let is_staged = |path: &BString| {
            let found = staged.binary_search_by(|change| change.path.cmp(path));
            found.is_ok()
        };
        let is_unchanged = |(path, new): (&BString, &Option<Side>)| {
            let row = index.find(path.as_bstr(), Stage::Merged);
            let entry = row.ok().map(|row| index.entries()[row]);
            is_staged(path) || *new == entry.map(|entry| side(entry.id, entry.mode))
        };
        let mut rows = self.changes.unstaged();
        let has_submodule = rows.any(|row| index.entries()[row].mode == Mode::Gitlink);
        are_undone && added.iter().all(is_unchanged) && !has_submodule
    }

    fn index(&self) -> &Index {
        &self.changes.old.index
    }

    /// What git says if it ends before anything is added: a pathspec matches nothing.
    fn refusal(&self, specs: &Pathspecs) -> Result<Option<Said>> {
        let [seen, beyond] = self.seen(specs);
        let beyond: Vec<usize> = beyond.idle().collect();
        let top = self.session.repository.require_work_tree()?;
        for at in seen.idle().filter(|at| beyond.contains(at)) {
            let (given, name) = seen.named(at);
            let is_there = match name {
                // A slash at the end asks for a directory.
                Some(name) => hedgerow_fs::is_there(&top.join(OsStr::from_bytes(name)))?,
                None => false,
            };
            if !is_there {
                let spec = prefixed(self.session.repository, given);
                return Ok(Some(Said {
                    words: format!("fatal: pathspec '{spec}' did not match any files"),
                    advice: None,
                }));
            }
        }
        Ok(None)
    }

    /// What git says while it adds, and how much it adds.
    fn complaints(&self, specs: &Pathspecs, embedded: &[Embedded]) -> Result<(Vec<Said>, Extent)> {
        let [seen, beyond] = self.seen(specs);
        let beyond: Vec<usize> = beyond.idle().collect();
        let unseen = seen.idle().filter(|at| !beyond.contains(at));
        let repository = self.session.repository;
        let unseen = unseen.map(|at| prefixed(repository, seen.named(at).0));
        let mut said = Vec::new();
        said.extend(outside(unseen.collect()));
        if self.options.untracked == UntrackedWish::Untracked {
            said.extend(ignored(self.ignored(specs)?));
        }
        let mut is_whole = said.is_empty();
        for (number, submodule) in embedded.iter().enumerate() {
            said.push(submodule.said_of_addition(number == 0));
            if submodule.head.is_none() {
                return Ok((said, Extent::Nothing));
            }
        }
        let untracked = self.untracked.iter();
        let untracked = untracked.filter(|path| self.outside.has(path.as_bstr()));
        let untracked = outside(untracked.cloned().collect());
        is_whole &= untracked.is_none();
        said.extend(untracked);
        let extent = if is_whole { Extent::All } else { Extent::Part };
        Ok((said, extent))
    }

    /// The pathspecs, knowing what they match in the sparse checkout, and outside of it.
    fn seen(&self, specs: &Pathspecs) -> [Pathspecs; 2] {
        let [mut seen, mut beyond] = [specs.clone(), specs.clone()];
        for (path, entry) in self.index().iter() {
            if entry.flags.skip_worktree || self.outside.has(path) {
                beyond.matches(path, entry.mode);
            } else {
                seen.matches(path, entry.mode);
            }
        }
        for path in self.untracked {
            let (path, mode) = match path.strip_suffix(b"/") {
                Some(path) => (path.as_bstr(), Mode::Gitlink),
                None => (path.as_bstr(), Mode::File),
            };
            seen.matches(path, mode);
        }
        [seen, beyond]
    }

    /// The ignored files and directories that the pathspecs name, or below which they do.
    fn ignored(&self, specs: &Pathspecs) -> Result<Vec<BString>> {
        let (root, ignore) = (&self.session.root, self.session.ignore()?);
        let mut found = BTreeSet::new();
        for start in specs.starts() {
            let start = trimmed(start.as_bstr());
            for end in start.find_iter(b"/").chain([start.len()]) {
                let path = start[..end].as_bstr();
                let (parent, name) = split_path(path);
                let stat = root.open_dir(parent).and_then(|parent| parent.stat(name));
                let is_directory = match stat {
                    Ok(stat) => stat.kind == FileKind::Directory,
                    Err(error) if error.is_absent() => break,
                    Err(error) => return Err(error.into()),
                };
                if !self.is_tracked(path) && ignore.is_ignored(root, path, is_directory)? {
                    found.insert(path.to_owned());
                    break;
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    fn is_tracked(&self, path: &BStr) -> bool {
        self.index().find(path, Stage::Merged).is_ok() || !self.index().range_under(path).is_empty()
    }

    /// The index with what is added.
    fn index_with(
        &self,
        added: &BTreeMap<BString, Option<Side>>,
        writer: &ObjectWriter<'_>,
    ) -> Result<Index> {
        let (session, index) = (self.session, self.index());
        let (rows, engine) = (edited(index, added).into_iter(), session.engine());
        let tree = Some(write_tree(session.repository, writer, rows, &engine)?);
        let (repository, names) = (session.repository, session.names());
        let tree = Difference::between(repository, None, tree, names, &engine)?;
        let mut left = like_tree(index, &tree)?;
        smudge_unexamined(session, self.changes.old.mtime, &mut left, |_| true)?;
        Ok(left)
    }
}

const NO_PATCH: &str = "No valid patches in input (allow with \"--allow-empty\")";

/// A path without a slash at its end.
fn trimmed(path: &BStr) -> &BStr {
    path.strip_suffix(b"/").unwrap_or(path).as_bstr()
}

fn list(before: &str, paths: &[BString]) -> String {
    [before.into(), bstr::join("\n", paths).to_str_lossy()].concat()
}

fn outside(paths: Vec<BString>) -> Option<Said> {
    const WORDS: &str = "The following paths and/or pathspecs matched paths that exist\n\
        outside of your sparse-checkout definition, so will not be\n\
        updated in the index:\n";
    const ADVICE: &str = "If you intend to update such entries, try one of the following:\n\
        * Use the --sparse option.\n\
        * Disable or modify the sparsity rules.";
    (!paths.is_empty()).then(|| Said {
        words: list(WORDS, &paths),
        advice: Some(("updateSparsePath", ADVICE.into())),
    })
}

fn ignored(paths: Vec<BString>) -> Option<Said> {
    const WORDS: &str = "The following paths are ignored by one of your .gitignore files:\n";
    (!paths.is_empty()).then(|| Said {
        words: list(WORDS, &paths),
        advice: Some((
            "addIgnoredFile",
            "Use -f if you really want to add them.".into(),
        )),
    })
}
