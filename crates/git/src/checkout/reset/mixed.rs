//! Setting the index, or paths of it, to a tree. The working tree is only looked at.

use super::super::examine::may_differ;
use super::super::from_known::changes_from;
use super::super::obstacles::first_blocking;
use super::super::paths;
use super::super::rejects::all_ancestors;
use super::super::session::Session;
use super::super::transition::kind;
use super::super::update;
use super::{LocalChange, Reset, ResetOptions};
use crate::index::{Builder, CacheTree, Entry, EntryStat, Flags, Index, Mode, Stage};
use crate::monitor;
use crate::objects::ObjectWriter;
use crate::repository::Repository;
use crate::status::{IgnoreSubmodules, Options, Submodules};
use crate::tree::{Change, Difference, Enters, Side};
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::state::{states_of, State};
use crate::worktree::OldIndex;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::FileKind;
use hedgerow_pack::ObjectKind;
use hedgerow_tree::split_path;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

/// The tree that the index is set to, and for which paths; for all if there are no pathspecs.
pub(super) struct MixedReset<'a> {
    pub tree: ObjectId,
    pub pathspecs: &'a [BString],
    pub options: &'a ResetOptions,
}

impl MixedReset<'_> {
    /// `prepare` is called when nothing but writing the index is left; if it fails, the index stays.
    pub(super) fn run(
        &self,
        repository: &Repository,
        prepare: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Reset> {
        let specs = Pathspecs::new(repository, self.pathspecs)?;
        let has_worktree = repository.work_tree().is_some();
        let execution = &self.options.execution;
        let mut session = Session::of_index(repository, None, execution, has_worktree)?;
        let mut old = session.read_index()?;
        if has_worktree {
            session.include_present(&mut old)?;
        }
        if has_worktree && !self.options.no_refresh {
            monitor::consult_or_doubt(repository, &mut old.index);
        }
        let mut join = Join {
            job: self,
            old: &old.index,
            specs,
            sparse: session.sparse_patterns()?,
            overlaid: BTreeSet::new(),
            builder: Builder::replacing(&old.index),
            kept: Vec::new(),
        };
        let changes = self.changes(&session, &old, &join.specs)?;
        join.all(&changes)?;
        let Join { builder, kept, .. } = join;
        let mut index = builder.finish_replacing(&old.index);
        index.keep_resolve_undo(&old.index);
        if index.iter().any(|(_, entry)| entry.flags.intent_to_add) {
            write_empty_blob(repository)?;
        }
        let mut reset = Reset::default();
        if has_worktree {
            self.refresh(&session, &old, &kept, &mut index, &mut reset)?;
        }
        let whole = self.pathspecs.is_empty();
        let tree = match &old.sparse_directories {
            // Expanding the sparse index read all its trees; git knows all of them then, too.
            Some(_) => CacheTree::build(&index, |id| repository.has_tree(id)),
            None if whole => update::cache_tree(&session, &old.index, &index),
            None => paths::cache_tree(&old.index, &index),
        };
        index.set_cache_tree(tree);
        prepare()?;
        reset.done.warnings.extend(session.sparse_warnings()?);
        let warning = session.write_reset_index(&index)?;
        reset.done.warnings.extend(warning);
        Ok(reset)
    }

    /// The differences of the tree from the index; all of the tree if the index is no known tree. Where no
    /// pathspec matches, nothing is looked for.
    fn changes(&self, session: &Session<'_>, old: &OldIndex, specs: &Pathspecs) -> Result<Changes> {
        let leads = |path: &BStr| specs.lead_into(path);
        let enters: Option<Enters<'_>> = (!specs.mean_all()).then_some(&leads);
        let (list, complete) = changes_from(session, &old.index, Some(self.tree), enters)?;
        Ok(Changes { list, complete })
    }

    /// Compares files with the new index, as far as that is asked for or needed, and stores the stat
    /// data of those that match it. `kept` tells which entries were in the old index.
    fn refresh(
        &self,
        session: &Session<'_>,
        old: &OldIndex,
        kept: &[bool],
        index: &mut Index,
        reset: &mut Reset,
    ) -> Result<()> {
        let started = Instant::now();
        let wanted = !self.options.no_refresh;
        let rules = session.rules(old);
        let is_asked = |row: usize| {
            let entry = &index.entries()[row];
            // Racy entries get a new index file's time, so it must be known whether they changed.
            let is_racy = kept[row] && index.is_racy(row, old.mtime);
            is_racy || wanted && is_looked_at(entry)
        };
        // Git counts what it cannot examine as changed.
        let mut states = states_of(session, index, &rules, is_asked)?.states;
        let refreshed = session.settle(&mut states, index, None)?.clean;
        session.end_filters();
        index.smudge_racily_clean(old.mtime, |row| kept[row] && may_differ(states[row]));
        if wanted {
            for (row, stat) in refreshed {
                index.entries_mut()[row as usize].stat = stat;
            }
            reset.unstaged = unstaged(session, index, &states)?;
            reset.refreshed_in = started.elapsed();
        }
        Ok(())
    }
}

/// Entries to be added later have the id of the empty blob, and git reads it. So do attributes, if it is
/// `.gitattributes` that is to be added.
fn write_empty_blob(repository: &Repository) -> Result<()> {
    let objects = ObjectWriter::new(repository)?;
    objects.write_one(ObjectKind::Blob, b"").map(drop)
}

struct Changes {
    list: Difference,
    /// Paths that are not listed are not in the tree; else they are as in the index.
    complete: bool,
}

/// The new index, entry by entry.
struct Join<'a> {
    job: &'a MixedReset<'a>,
    old: &'a Index,
    specs: Pathspecs,
    sparse: Option<SparsePatterns>,
    /// Paths that give way to others below them.
    overlaid: BTreeSet<BString>,
    builder: Builder,
    /// For each entry of the new index, whether it comes from the old one.
    kept: Vec<bool>,
}

impl Join<'_> {
    fn all(&mut self, changes: &Changes) -> Result<()> {
        let clashing = self.clashing(&changes.list);
        if self.job.options.intent_to_add {
            self.overlaid = self.overlaid(&changes.list);
        }
        let entries = self.old.entries();
        let mut listed = changes.list.changes().iter().peekable();
        // Then what is not listed is as in the tree, or is not meant.
        let others_stay = !changes.complete && clashing.is_empty() && !self.old.is_unmerged();
        let mut row = 0;
        loop {
            if others_stay {
                let next = listed.peek().map(|change| changes.list.path(change));
                let staying = self.old.rows_before(row..entries.len(), next);
                row = staying.end;
                self.keep(staying)?;
            }
            let current = entries.get(row).map(|entry| self.old.path(entry));
            let next = listed.peek().map(|change| changes.list.path(change));
            let path = match (current, next) {
                (None, None) => return Ok(()),
                (Some(path), Some(next)) => path.min(next),
                (Some(path), None) | (None, Some(path)) => path,
            };
            let at_path = |entry: &&Entry| self.old.path(entry) == path;
            let stages = entries[row..].iter().take_while(at_path).count();
            let change = listed.next_if(|change| changes.list.path(change) == path);
            let rows = row..row + stages;
            row += stages;
            if !clashing.contains(&rows.start) || rows.is_empty() {
                self.visit(path, rows, change, changes.complete)?;
            }
        }
    }

    /// The rows that have to give way to paths of the tree.
    fn clashing(&self, list: &Difference) -> BTreeSet<usize> {
        if self.job.pathspecs.is_empty() {
            return BTreeSet::new();
        }
        let added = list.changes().iter().filter(|change| {
            let path = list.path(change);
            let is_new = self.old.find(path, Stage::Merged).is_err();
            is_new && change.new.is_some_and(|side| self.is_meant(path, &side))
        });
        let mut clashing = paths::clashing(self.old, added.map(|change| list.path(change)));
        // Paths in conflict stay beside directories of their names.
        clashing.retain(|row| self.old.entries()[*row].flags.stage == Stage::Merged);
        if self.job.options.intent_to_add {
            // Those that are to be added later stay, and what is above them goes.
            clashing.retain(|row| {
                let entry = &self.old.entries()[*row];
                !self.specs.fits(self.old.path(entry), entry.mode)
            });
        }
        clashing
    }

    /// The directories above what may be new: a path to be added later and a directory in its place
    /// cannot both be in the index, and git adds the deeper one last.
    fn overlaid(&self, list: &Difference) -> BTreeSet<BString> {
        let listed = list.changes().iter().map(|change| list.path(change));
        let indexed = self.old.iter().map(|(path, _)| path);
        let new = indexed.chain(listed).filter(|path| {
            let entry = self.old.find(path, Stage::Merged);
            let mode = entry.map_or(Mode::File, |row| self.old.entries()[row].mode);
            self.specs.fits(path, mode)
        });
        all_ancestors(new).map(BStr::to_owned).collect()
    }

    fn is_meant(&self, path: &BStr, side: &Side) -> bool {
        self.specs.fits(path, Mode::from(side.kind))
    }

    fn visit(
        &mut self,
        path: &BStr,
        rows: Range<usize>,
        change: Option<&Change>,
        complete: bool,
    ) -> Result<()> {
        let old = self.old.entries();
        let first = old.get(rows.start).filter(|_| !rows.is_empty());
        let new = match (change, first) {
            (Some(change), _) => change.new,
            (None, Some(entry)) if !complete => Some(Side {
                kind: kind(entry.mode),
                id: entry.id,
            }),
            (None, _) => None,
        };
        let is_of_index = first.is_some_and(|entry| self.specs.fits(path, entry.mode));
        let is_meant = is_of_index || new.is_some_and(|side| self.is_meant(path, &side));
        let is_same = |entry: &Entry, side: &Side| {
            entry.flags.stage == Stage::Merged
                && (entry.id, entry.mode) == (side.id, Mode::from(side.kind))
        };
        match (first, new) {
            (Some(entry), Some(side)) if is_meant && is_same(entry, &side) => self.keep(rows),
            (_, _) if is_meant && self.overlaid.contains(path) => Ok(()),
            (_, Some(side)) if is_meant => {
                let flags = Flags {
                    skip_worktree: self.is_skipped(path, first),
                    ..Flags::default()
                };
                self.push(path, side.id, Mode::from(side.kind), flags)
            }
            (Some(_), None) if is_meant && self.job.options.intent_to_add => {
                let flags = Flags {
                    intent_to_add: true,
                    skip_worktree: self.is_skipped(path, first),
                    ..Flags::default()
                };
                let empty = self.old.hash().empty_blob();
                self.push(path, empty, Mode::File, flags)
            }
            _ if is_meant => Ok(()),
            _ => self.keep(rows),
        }
    }

    /// Whether a new entry is outside the sparse checkout.
    fn is_skipped(&self, path: &BStr, first: Option<&Entry>) -> bool {
        match first.filter(|entry| entry.flags.stage == Stage::Merged) {
            Some(entry) => entry.flags.skip_worktree,
            None => self.sparse.as_ref().is_some_and(|it| it.excludes(path)),
        }
    }

    fn keep(&mut self, rows: Range<usize>) -> Result<()> {
        self.kept.extend(rows.clone().map(|_| true));
        self.builder.extend_from(self.old, rows)
    }

    fn push(&mut self, path: &BStr, id: ObjectId, mode: Mode, flags: Flags) -> Result<()> {
        self.builder
            .push(path, id, mode, EntryStat::default(), flags)?;
        self.kept.push(false);
        Ok(())
    }
}

/// Whether git looks at the file of an entry when it refreshes the index.
fn is_looked_at(entry: &Entry) -> bool {
    let flags = entry.flags;
    flags.stage == Stage::Merged
        && !flags.skip_worktree
        && !flags.assume_valid
        && !flags.fsmonitor_valid
}

/// The files that differ from the index, as git lists them.
fn unstaged(session: &Session<'_>, index: &Index, states: &[State]) -> Result<Vec<LocalChange>> {
    let options = Options {
        ignore_submodules: Some(IgnoreSubmodules::Dirty),
        ..Options::default()
    };
    let is_submodule = |entry: &Entry| entry.mode == Mode::Gitlink;
    let submodules = if index.entries().iter().any(is_submodule) {
        Some(Submodules::of_worktree(session, index, &options)?)
    } else {
        None
    };
    let mut changes: Vec<LocalChange> = Vec::new();
    for (entry, state) in index.entries().iter().zip(states) {
        let path = index.path(entry);
        let status = if entry.flags.stage != Stage::Merged {
            let is_listed = changes.last().is_some_and(|last| last.path == path);
            (!is_listed).then_some('U')
        } else if !is_looked_at(entry) {
            None
        } else if let (Some(submodules), State::Clean, true) =
            (&submodules, state, is_submodule(entry))
        {
            let letter = if entry.flags.intent_to_add { 'A' } else { 'M' };
            submodules.state(path, &entry.id)?.map(|_| letter)
        } else {
            status(session, path, entry, *state)?
        };
        changes.extend(status.map(|status| LocalChange {
            status,
            path: path.to_owned(),
        }));
    }
    Ok(changes)
}

fn status(session: &Session<'_>, path: &BStr, entry: &Entry, state: State) -> Result<Option<char>> {
    Ok(match state {
        State::Absent => Some('D'),
        State::Blocked if is_below_link(session, path)? => Some('D'),
        State::Blocked | State::Unknown if entry.flags.intent_to_add => Some('A'),
        State::Blocked | State::Unknown => Some('M'),
        _ if entry.flags.intent_to_add => Some('A'),
        State::TypeChanged | State::Directory => Some('T'),
        State::Modified | State::Suspect | State::Touched => Some('M'),
        State::Clean | State::Unchanged => None,
    })
}

/// Whether what is in the way of a path is a link: git counts the path as gone then.
fn is_below_link(session: &Session<'_>, path: &BStr) -> Result<bool> {
    let Some(blocking) = first_blocking(&session.root, path)? else {
        return Ok(false);
    };
    let (parent, name) = split_path(blocking);
    let stat = session.root.open_dir(parent.as_bstr())?.stat(name)?;
    Ok(stat.kind == FileKind::Symlink)
}
