//! Directories in which there is nothing to look for: the untracked cache of the index knows their
//! untracked files, all their tracked files are unchanged, and so is everything below. That they are
//! as the index says is known from a file system monitor, or from the stat data of the directories. Of
//! a working tree that is mounted over an image, both are known from its layer of changes.
//!
//! A record is made for one kind of search and one set of patterns; whatever does not fit means
//! that the directory is searched as if there were no cache.

use crate::index::{joined, Entry, Index, Mode, Stage, StatRules, UntrackedCache};
use crate::monitor::{AsInImage, Heard};
use crate::untracked_cache::{pattern_id, IGNORE_FILE};
use crate::worktree::state::{states, State, StateRules};
use crate::worktree::survey::{survey, PathState};
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::FileKind;
use hedgerow_object::{hash_object, ObjectKind};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const IGNORE_LIMIT_BYTES: u64 = 100 << 20;

/// What is known before the working tree is looked at.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// Whether each entry of the index is known to be unchanged; empty if of none.
    unchanged: Vec<bool>,
    /// The outermost directories with nothing to look for, by their paths.
    directories: HashMap<BString, Known>,
}

/// A directory with nothing to look for.
#[derive(Debug)]
pub(super) struct Known {
    /// The entries of the index below it.
    pub rows: Range<u32>,
    /// The records of the untracked cache for it and what is below it.
    pub records: Range<usize>,
    /// The untracked paths below it, until they are taken.
    untracked: Mutex<Vec<BString>>,
}

impl Known {
    /// The untracked paths below it; none the second time.
    pub(super) fn take_untracked(&self) -> Vec<BString> {
        let mut untracked = self
            .untracked
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut untracked)
    }
}

impl Quiet {
    /// What `heard` and the untracked `cache` tell; the cache fits the search.
    pub(super) fn of(
        worktree: &Worktree<'_>,
        old: &OldIndex,
        rules: &StateRules,
        cache: Option<&UntrackedCache>,
        heard: Option<&Heard>,
    ) -> Result<Self> {
        let monitored = heard.is_some_and(|heard| heard.changed.is_some());
        let mut quiet = Quiet::default();
        if monitored {
            quiet.unchanged = unchanged(&old.index, |entry, _| entry.flags.fsmonitor_valid);
        }
        let Some(cache) = cache.filter(|cache| !cache.directories.is_empty()) else {
            return Ok(quiet);
        };
        if !monitored {
            let states = states(worktree, &old.index, rules)?.states;
            quiet.unchanged = unchanged(&old.index, |_, row| states[row] == State::Clean);
        }
        let paths = cache.paths();
        let valid = match heard.and_then(|heard| heard.changed.as_ref()) {
            Some(changed) => unnamed(cache, changed),
            None => unmoved(worktree, old, rules, cache, &paths)?,
        };
        let mut search = Search {
            top: worktree.repository.require_work_tree()?,
            old,
            cache,
            ends: cache.ends(),
            paths: &paths,
            valid,
            quiet: &mut quiet,
        };
        search.distrust_changed_patterns();
        search.collect();
        Ok(quiet)
    }

    /// What the image of a mounted working tree tells. `is_whole`: no pathspecs limit the search.
    pub(super) fn of_image(index: &Index, known: AsInImage, is_whole: bool) -> Self {
        let directories = known.directories.into_iter().filter(|_| is_whole);
        let directories = directories.map(|(path, rows)| {
            let known = Known {
                rows: rows.start as u32..rows.end as u32,
                records: 0..0,
                untracked: Mutex::default(),
            };
            (path, known)
        });
        Quiet {
            unchanged: unchanged(index, |_, row| known.entries[row]),
            directories: directories.collect(),
        }
    }

    /// Whether the file of the entry `row` is known to be the one that the index has.
    pub(super) fn is_unchanged(&self, row: u32) -> bool {
        self.unchanged.get(row as usize) == Some(&true)
    }

    /// What is known of the directory `path`, if there is nothing to look for.
    pub(super) fn directory(&self, path: &BStr) -> Option<&Known> {
        self.directories.get(path)
    }
}

/// Which entries need not be looked at, if `is_same` tells whose files are those that the index has.
fn unchanged(index: &Index, is_same: impl Fn(&Entry, usize) -> bool) -> Vec<bool> {
    let is_unchanged = |(row, entry): (usize, &Entry)| {
        let flags = entry.flags;
        let is_left_alone = flags.skip_worktree || flags.assume_valid;
        let has_file = entry.mode != Mode::Gitlink && flags.stage == Stage::Merged;
        has_file && (is_left_alone || is_same(entry, row))
    };
    index
        .entries()
        .iter()
        .enumerate()
        .map(is_unchanged)
        .collect()
}

/// The ids that Git may give to the pattern file `path`: with a line end after it, as Git reads it,
/// or as it is. None if there is no file; `None` if it cannot be read.
fn pattern_ids(path: &Path, hash: gix_hash::Kind) -> Option<Vec<ObjectId>> {
    match hedgerow_fs::lstat(path) {
        Ok(Some(stat)) if stat.kind == FileKind::File => {}
        Ok(None) => return Some(Vec::new()),
        _ => return None,
    }
    let content = hedgerow_fs::read_file(path, IGNORE_LIMIT_BYTES).ok()??;
    let plain = hash_object(hash, ObjectKind::Blob, &content)?;
    Some(vec![plain, pattern_id(&content, hash)?])
}

/// Which records are right although `changed` changed since they were made.
pub(super) fn unnamed(cache: &UntrackedCache, changed: &[BString]) -> Vec<bool> {
    let records = cache.directories.iter();
    let mut valid: Vec<bool> = records.map(|record| record.is_valid()).collect();
    let ends = cache.ends();
    for path in changed {
        let bare = path.strip_suffix(b"/").unwrap_or(path);
        let leading = cache.rows_to(bare, &ends);
        leading.iter().for_each(|row| valid[*row] = false);
        let depth = bare.split(|byte| *byte == b'/').count();
        if leading.len() > depth {
            // It is a directory itself: everything in it may have changed.
            let row = leading[depth];
            valid[row..ends[row]].fill(false);
        }
    }
    valid
}

/// Which records are right because the directory was not changed since, as far as lstat can tell.
fn unmoved(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    rules: &StateRules,
    cache: &UntrackedCache,
    paths: &[BString],
) -> Result<Vec<bool>> {
    let mut rows: Vec<usize> = (1..paths.len()).collect();
    rows.sort_unstable_by(|a, b| paths[*a].cmp(&paths[*b]));
    let is_same = |row: usize, stat: &hedgerow_fs::Stat| {
        let known = &cache.directories[row].stat;
        stat.kind == FileKind::Directory
            && known.as_ref().is_some_and(|known| {
                // Git ignores nanoseconds, though it records them.
                let precise = StatRules {
                    nanoseconds: true,
                    ..rules.stat
                };
                known.matches(&stat.into(), &precise) && !known.is_racy(old.mtime, &rules.stat)
            })
    };
    let judge = |at: usize, found: PathState<'_>| match found {
        PathState::Present(stat) => u8::from(is_same(rows[at], stat)),
        _ => 0,
    };
    let path = |at: usize| paths[rows[at]].as_slice();
    let found = survey(&worktree.root, rows.len(), path, judge, &worktree.engine())?;
    let mut valid = vec![false; paths.len()];
    for (row, verdict) in rows.iter().zip(found.verdicts) {
        valid[*row] = verdict == 1;
    }
    if let Some(first) = valid.first_mut() {
        let top = hedgerow_fs::lstat(worktree.repository.require_work_tree()?)?;
        *first = top.is_some_and(|stat| is_same(0, &stat));
    }
    Ok(valid)
}

struct Search<'a, 'q> {
    top: &'a Path,
    old: &'a OldIndex,
    cache: &'a UntrackedCache,
    ends: Vec<usize>,
    paths: &'a [BString],
    valid: Vec<bool>,
    quiet: &'q mut Quiet,
}

impl Search<'_, '_> {
    /// A changed pattern file changes what is untracked in all directories below it.
    fn distrust_changed_patterns(&mut self) {
        let mut row = 0;
        while row < self.valid.len() {
            let record = &self.cache.directories[row];
            // Where nothing was known and nothing changed, no file appeared.
            let is_asked = record.exclude_id.is_some() || !self.valid[row];
            if is_asked && !self.has_same_patterns(row) {
                self.valid[row..self.ends[row]].fill(false);
                row = self.ends[row];
            } else {
                row += 1;
            }
        }
    }

    fn has_same_patterns(&self, row: usize) -> bool {
        let index = &self.old.index;
        let known = self.cache.directories[row].exclude_id;
        let path = joined(self.paths[row].as_bstr(), IGNORE_FILE.as_bstr());
        let tracked = index.find(path.as_bstr(), Stage::Merged).ok();
        if let Some(at) = tracked {
            let entry = &index.entries()[at];
            if self.quiet.unchanged.get(at) == Some(&true) && known == Some(entry.id) {
                return true;
            }
        }
        let place = self.top.join(OsStr::from_bytes(&path));
        match pattern_ids(&place, index.hash()) {
            None => false,
            // One outside the sparse checkout is read from the index.
            Some(ids) if ids.is_empty() => known.is_none() && tracked.is_none(),
            Some(ids) => known.is_some_and(|known| ids.contains(&known)),
        }
    }

    /// Finds the outermost directories with nothing to look for.
    fn collect(&mut self) {
        let doubted = sums(&self.valid);
        let changed = sums(&self.quiet.unchanged);
        let mut row = 0;
        while row < self.valid.len() {
            let (end, path) = (self.ends[row], self.paths[row].as_bstr());
            let rows = self.old.index.range_under(path);
            let is_quiet = doubted[end] == doubted[row]
                && changed[rows.end] == changed[rows.start]
                && !self.cache.directories[row].check_only;
            if is_quiet {
                let known = Known {
                    rows: rows.start as u32..rows.end as u32,
                    records: row..end,
                    untracked: Mutex::new(self.untracked(row..end)),
                };
                self.quiet.directories.insert(path.into(), known);
                row = end;
            } else {
                row += 1;
            }
        }
    }

    /// The untracked paths of these records.
    fn untracked(&self, rows: Range<usize>) -> Vec<BString> {
        let mut found = Vec::new();
        for row in rows {
            let record = &self.cache.directories[row];
            if record.check_only {
                continue;
            }
            let above = self.paths[row].as_bstr();
            // Directories are in order; so all are, mostly, and need little sorting later.
            let mut names: Vec<&BStr> = record.untracked().collect();
            names.sort_unstable();
            found.extend(names.into_iter().map(|name| joined(above, name)));
        }
        found
    }
}

/// For each position, how many before it are false.
fn sums(flags: &[bool]) -> Vec<u32> {
    let mut sums = Vec::with_capacity(flags.len() + 1);
    let mut sum = 0;
    sums.push(sum);
    for flag in flags {
        sum += u32::from(!flag);
        sums.push(sum);
    }
    sums
}
