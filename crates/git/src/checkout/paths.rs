//! Checking out single paths, from the index or from a tree: HEAD stays.

use super::obstacles::{clear, Obstacle};
use super::outcome::Done;
use super::rejects::Rejects;
use super::session::{Execution, OldIndex, Session};
use super::state::{states, State};
use super::transition::{mode, Transition, Write};
use super::update::{settle_racy, smudge_racy, write};
use crate::index::{Builder, CacheTree, Entry, EntryStat, Flags, Mode, Stage};
use crate::tree::Difference;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use gix_pathspec::{Pattern, Search};

/// Which paths, and from where.
#[derive(Clone, Debug, Default)]
pub struct PathOptions {
    /// Pathspecs as the user gave them, relative to where he is.
    pub pathspecs: Vec<BString>,
    /// The tree to take them from; the index if there is none.
    pub tree: Option<ObjectId>,
    /// Leave out paths in conflict instead of refusing.
    pub force: bool,
    /// How to run it.
    pub execution: Execution,
}

/// What became of the paths.
#[derive(Debug)]
pub enum PathOutcome {
    /// It was done, apart from the failures it names.
    Done(Done),
    /// Some pathspecs matched nothing; nothing was touched.
    Unmatched(Vec<BString>),
    /// These paths are in conflict; nothing was touched.
    Unmerged(Vec<BString>),
}

/// Checks out the paths that match.
pub fn checkout_paths(
    repository: &crate::repository::Repository,
    options: &PathOptions,
) -> Result<PathOutcome> {
    let mut matcher = Matcher::new(repository, &options.pathspecs)?;
    let mut session = Session::begin(repository, &options.execution)?;
    session.set_source(None, options.tree);
    let old = session.read_index()?;
    let source = match options.tree {
        None => None,
        Some(tree) => Some(Difference::between(
            repository,
            None,
            Some(tree),
            session.names(),
            &session.engine(),
        )?),
    };
    let mut plan = Plan {
        old: &old,
        chosen: Vec::new(),
        unmerged: Vec::new(),
        builder: Builder::replacing(&old.index),
    };
    match &source {
        Some(tree) => plan.from_tree(tree, &mut matcher)?,
        None => plan.from_index(&mut matcher)?,
    }
    let unmatched = matcher.unmatched();
    if !unmatched.is_empty() {
        return Ok(PathOutcome::Unmatched(unmatched));
    }
    let unmerged = plan.take_unmerged();
    if !unmerged.is_empty() && !options.force {
        return Ok(PathOutcome::Unmerged(unmerged));
    }
    let mut done = Done::default();
    done.warnings.extend(
        unmerged
            .iter()
            .map(|path| format!("path '{path}' is unmerged")),
    );
    let (mut next, states) = plan.transition(&session)?;
    let obstacles = in_the_way(&session, &next, &states)?;
    clear(&session.root, &obstacles)?;
    let converter = session.converter_of_tree(&next.index)?;
    write(&session, &mut next, &converter, &mut done)?;
    smudge_racy(&mut next, &old, &states);
    let has = |id: &ObjectId| matches!(repository.has_object(id), Ok(true));
    next.index
        .set_cache_tree(CacheTree::build(&next.index, has));
    session.write_index(&next.index)?;
    drop(session);
    let head = repository
        .head()?
        .id()
        .unwrap_or_else(|| repository.null_id());
    repository.run_post_checkout(&head, &head, false)?;
    Ok(PathOutcome::Done(done))
}

/// Pathspecs, and which of them have matched something.
struct Matcher {
    search: Search,
    given: Vec<BString>,
    matched: Vec<bool>,
}

impl Matcher {
    fn new(repository: &crate::repository::Repository, given: &[BString]) -> Result<Self> {
        let bad = |spec: &BString, reason: String| Error::Revision {
            spec: spec.clone(),
            reason,
        };
        let mut patterns: Vec<Pattern> = Vec::with_capacity(given.len());
        for spec in given {
            let pattern = gix_pathspec::parse(spec, gix_pathspec::Defaults::default())
                .map_err(|error| bad(spec, error.to_string()))?;
            patterns.push(pattern);
        }
        let prefix = repository
            .prefix()
            .trim_end_with(|character| character == '/');
        let prefix = gix_path(prefix);
        let root = repository.require_work_tree()?;
        let search = Search::from_specs(patterns, Some(&prefix), root).map_err(|error| {
            bad(
                &given.first().cloned().unwrap_or_default(),
                error.to_string(),
            )
        })?;
        Ok(Matcher {
            search,
            given: given.to_vec(),
            matched: vec![false; given.len()],
        })
    }

    fn matches(&mut self, path: &BStr) -> bool {
        let found =
            self.search
                .pattern_matching_relative_path(path, Some(false), &mut |_, _, _, _| false);
        match found {
            Some(found) => {
                if let Some(matched) = self.matched.get_mut(found.sequence_number) {
                    *matched = true;
                }
                !found.is_excluded()
            }
            None => false,
        }
    }

    fn unmatched(&self) -> Vec<BString> {
        let unmatched = self
            .given
            .iter()
            .zip(&self.matched)
            .filter(|(_, matched)| !**matched);
        unmatched.map(|(spec, _)| spec.clone()).collect()
    }
}

fn gix_path(path: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(path).into()
}

/// An entry of the new index, without its path.
#[derive(Clone, Copy)]
struct Row {
    id: ObjectId,
    mode: Mode,
    stat: EntryStat,
    flags: Flags,
}

impl Row {
    fn new(id: ObjectId, mode: Mode) -> Self {
        Row {
            id,
            mode,
            stat: EntryStat::default(),
            flags: Flags::default(),
        }
    }
}

impl From<&Entry> for Row {
    fn from(entry: &Entry) -> Self {
        Row {
            id: entry.id,
            mode: entry.mode,
            stat: entry.stat,
            flags: entry.flags,
        }
    }
}

/// The index as it will be, entry by entry, and which entries were asked for.
struct Plan<'a> {
    old: &'a OldIndex,
    /// For each entry: the row it comes from, and whether it is to be written.
    chosen: Vec<(Option<u32>, bool)>,
    /// Paths in conflict that were asked for.
    unmerged: Vec<BString>,
    builder: Builder,
}

impl Plan<'_> {
    fn from_index(&mut self, matcher: &mut Matcher) -> Result<()> {
        for (row, entry) in self.old.index.entries().iter().enumerate() {
            let path = self.old.index.path(entry);
            let chosen = !entry.flags.skip_worktree && matcher.matches(path);
            self.push(path, Some(row), Row::from(entry), chosen)?;
        }
        Ok(())
    }

    /// Paths that the tree has and that match take the tree's place; all others stay.
    fn from_tree(&mut self, tree: &Difference, matcher: &mut Matcher) -> Result<()> {
        let entries = self.old.index.entries();
        let mut files = tree.changes().iter().peekable();
        let mut row = 0;
        loop {
            let current = entries.get(row).map(|entry| self.old.index.path(entry));
            let Some(file) = files.peek() else { break };
            let path = tree.path(file);
            if current.is_some_and(|current| current < path) {
                self.push(
                    current.unwrap_or_default(),
                    Some(row),
                    Row::from(&entries[row]),
                    false,
                )?;
                row += 1;
                continue;
            }
            let file = files.next();
            let Some(side) = file.and_then(|file| file.new) else {
                continue;
            };
            if !matcher.matches(path) {
                continue;
            }
            let mut entry = Row::new(side.id, mode(side.kind));
            let mut from = None;
            while entries
                .get(row)
                .is_some_and(|entry| self.old.index.path(entry) == path)
            {
                let old = entries[row];
                if old.flags.stage == Stage::Merged && (old.id, old.mode) == (entry.id, entry.mode)
                {
                    entry = Row::from(&old);
                }
                from = Some(row);
                row += 1;
            }
            self.push(path, from, entry, true)?;
        }
        for (row, entry) in entries.iter().enumerate().skip(row) {
            self.push(
                self.old.index.path(entry),
                Some(row),
                Row::from(entry),
                false,
            )?;
        }
        Ok(())
    }

    fn push(&mut self, path: &BStr, row: Option<usize>, entry: Row, chosen: bool) -> Result<()> {
        if chosen && entry.flags.stage != Stage::Merged {
            self.unmerged.push(path.to_owned());
        }
        self.builder
            .push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
        self.chosen.push((row.map(|row| row as u32), chosen));
        Ok(())
    }

    fn take_unmerged(&mut self) -> Vec<BString> {
        let mut paths = std::mem::take(&mut self.unmerged);
        paths.dedup();
        paths
    }

    /// Files that are as their entries say are not written again.
    fn transition(self, session: &Session<'_>) -> Result<(Transition, Vec<State>)> {
        let index = self.builder.finish_replacing(&self.old.index);
        let mut states = states(
            &session.root,
            &index,
            &session.rules(self.old),
            &session.engine(),
        )?;
        settle_racy(&mut states, &index, session, self.old)?;
        let mut writes = Vec::new();
        let mut kept_from = Vec::with_capacity(states.len());
        for (row, (from, chosen)) in self.chosen.iter().enumerate() {
            let entry = &index.entries()[row];
            let merged = entry.flags.stage == Stage::Merged;
            let write = *chosen && merged && states[row] != State::Clean;
            kept_from.push((!write && from.is_some()).then_some(row as u32));
            if write {
                let replaces = states[row].is_file();
                let untracked = !replaces && entry.mode != Mode::Gitlink;
                writes.push(Write {
                    row: row as u32,
                    replaces,
                    untracked,
                });
            }
        }
        let next = Transition {
            index,
            writes,
            removals: Vec::new(),
            must_be_absent: Vec::new(),
            kept_from,
            rejects: Rejects::default(),
        };
        Ok((next, states))
    }
}

/// What the files of the checkout replace: git overwrites whatever is there.
fn in_the_way(session: &Session<'_>, next: &Transition, states: &[State]) -> Result<Vec<Obstacle>> {
    let mut obstacles = Vec::new();
    for write in &next.writes {
        let path = next.index.path(&next.index.entries()[write.row as usize]);
        match states[write.row as usize] {
            State::Directory => {
                obstacles.push(Obstacle {
                    path: path.to_owned(),
                    directory: true,
                });
            }
            State::Blocked => {
                let blocking = super::obstacles::first_blocking(&session.root, path)?;
                obstacles.extend(blocking.map(|path| Obstacle {
                    path: path.to_owned(),
                    directory: false,
                }));
            }
            _ => {}
        }
    }
    obstacles.dedup();
    Ok(obstacles)
}
