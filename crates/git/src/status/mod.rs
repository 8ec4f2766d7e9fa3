//! Status: the differences between working tree and index, and between index and HEAD.
//!
//! [`status`] makes one pass over the tree. Formatting the result as git does is left to the
//! caller.

mod collect;
mod colors;
mod configuration;
mod differences;
pub(crate) mod exclusion;
pub(crate) mod leading;
mod model;
pub mod operation;
mod options;
mod quiet;
mod records;
pub(crate) mod remarks;
pub mod rename;
mod renames;
pub(crate) mod rows;
mod scan;
mod sparse;
mod sparse_trees;
mod staged;
mod submodule_summary;
mod submodules;
mod submodules_by_git;
mod unstaged;
mod untracked;
mod write_back;

pub(crate) use submodules_by_git::variables_of_submodule;

pub use colors::Colors;
pub use configuration::{ignored_in_submodules, untracked_mode, Configuration};
pub use differences::{
    index_differences, tree_differences, Difference, DifferenceSide, Differences,
    Options as DifferenceOptions,
};
pub use model::{
    Change, ChangeKind, Conflict, ConflictKind, IgnoreSubmodules, IgnoredFiles, Remark, Rename,
    Sparse, Status, SubmoduleState, UntrackedFiles, Version,
};
pub use operation::{operation, Operation};
pub use options::{Options, RenameWish};
pub(crate) use staged::staged_within;
pub use staged::{staged, Staged, StagedChange};
pub use submodule_summary::{submodule_summary, SubmoduleSummary, SummarizedChanges};

use crate::diff::check_algorithm;
use crate::index::{Entry, Index, Mode, Stage};
use crate::monitor;
use crate::repository::Repository;
use crate::untracked_cache;
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::compare::Refreshed;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::state::{State, StateRules};
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::{Level, Stage as Progress};
use quiet::Quiet;
use remarks::{Said, Warning};
pub(crate) use scan::FoldedPaths;
use scan::{scan, Inputs, Scanned};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;
pub(crate) use submodules::Submodules;
use untracked::Wish;
use write_back::{may_write, write_back, News};

/// The status of the working tree of `repository`.
///
/// Refreshed stat data are written to the index, unless `options` forbid it, another process holds
/// the lock, or the index has changed meanwhile. [`Stage::Files`](Progress::Files) counts the files of
/// the index that were compared.
///
/// Fails without a working tree, if the index or a needed object cannot be read, or if it is
/// cancelled. Missing permissions in the working tree are warnings; other read errors are reported
/// in [`Status::failures`].
pub fn status(repository: &Repository, options: &Options) -> Result<Status> {
    check_algorithm(repository.config())?;
    repository.with_promised(|| try_to_find(repository, options))
}

fn try_to_find(repository: &Repository, options: &Options) -> Result<Status> {
    let worktree = Worktree::open(repository, &options.execution, "status")?;
    let mut old = worktree.read_index()?;
    let form = sparse::read(&worktree, &mut old)?;
    let pathspecs = if options.pathspecs.is_empty() {
        None
    } else {
        Some(Pathspecs::new(repository, &options.pathspecs)?)
    };
    let pathspecs = pathspecs.as_ref();
    let mut warnings = Vec::new();
    let is_whole = pathspecs.is_none();
    let (quiet, news) = recall(&worktree, &mut old, options, is_whole, &mut warnings)?;
    let takes_notes = news.moment_s.is_some();
    let started = Instant::now();
    let mut scanned = examine(&worktree, &old, options, pathspecs, &quiet, takes_notes)?;
    let search_time = started.elapsed();
    let files = options.execution.progress.stage(Progress::Files);
    files.step(old.index.entries().len() as u64);
    look_for_attributes(&mut scanned, &old.index);
    let settled = worktree.settle(&mut scanned.states, &old.index, Some(&scanned.attributes))?;
    worktree.end_filters();
    let mut said = Said::default();
    said.while_refreshing(&worktree, &old, &settled, pathspecs);
    said.of_unreadable(&settled);
    let changed = refresh(&mut old.index, &settled.clean);
    if news.may_write {
        // A failure to write is harmless: the next status finds it out again. A lock that stays keeps
        // others out, but what was found is right.
        let write = || write_back(&worktree, &mut old, &scanned, changed, news);
        let (_, left) = hedgerow_fs::left_locks_of(write);
        warnings.extend(left.iter().map(ToString::to_string));
    }
    let unstaged = find_unstaged(&worktree, &old, &scanned, options, pathspecs, &mut said)?;
    let staged = find_staged(&worktree, &old.index, options, pathspecs)?;
    let unanswered = settled.unanswered.iter().map(ToString::to_string);
    let (mut failures, found) = Warning::parted(std::mem::take(&mut scanned.warnings));
    failures.extend(unanswered);
    warnings.extend(found);
    let (untracked, ignored) = untracked::lines(
        std::mem::take(&mut scanned.found),
        &scanned.folders,
        wish(options),
        &old.index,
    );
    Ok(Status {
        changes: collect::collect(&old.index, staged, unstaged),
        untracked,
        ignored,
        sparse: sparse::share(repository, &old.index, form),
        has_submodules: has_submodules(&old.index),
        search_time,
        remarks: said.remarks,
        warnings,
        failures,
    })
}

fn wish(options: &Options) -> Wish {
    Wish {
        untracked: options.untracked,
        ignored: options.ignored,
    }
}

/// What is known of the working tree before it is looked at, and what of that the next reader of the
/// index is to know. `is_whole`: no pathspecs limit the search. `warnings` get those about the
/// untracked cache.
fn recall(
    worktree: &Worktree<'_>,
    old: &mut OldIndex,
    options: &Options,
    is_whole: bool,
    warnings: &mut Vec<String>,
) -> Result<(Quiet, News)> {
    let repository = worktree.repository;
    if let Some(known) = monitor::as_in_image(repository, &old.index) {
        let quiet = Quiet::of_image(&old.index, known, is_whole);
        let news = News {
            heard: None,
            prepared: None,
            may_write: may_write(worktree, old, options)?,
            is_searched: true,
            moment_s: None,
        };
        let log = &options.execution.log;
        log.tell(Level::Info, || {
            "the working tree is searched where its layer of changes has anything".to_owned()
        });
        return Ok((quiet, news));
    }
    let heard = monitor::consult(repository, &mut old.index);
    let flags = wish(options).flags().filter(|_| is_whole);
    let prepared = flags
        .and_then(|flags| untracked_cache::prepare(repository, &mut old.index, flags, warnings));
    let cache = prepared.as_ref().map(|prepared| &prepared.cache);
    let quiet = Quiet::of(worktree, old, &rules(worktree, old), cache, heard.as_ref())?;
    let may_write = may_write(worktree, old, options)?;
    let is_searched = quiet.directory(b"".into()).is_none();
    options.execution.log.tell(Level::Info, || {
        let used = |is_used| if is_used { "used" } else { "not used" };
        format!(
            "file system monitor: {}; untracked cache: {}; the working tree is {}",
            used(heard.is_some()),
            used(prepared.is_some()),
            if is_searched {
                "searched"
            } else {
                "not searched: nothing changed"
            }
        )
    });
    let takes_notes = may_write && is_searched && prepared.is_some();
    let moment_s = takes_notes.then(|| untracked_cache::moment_s(repository));
    let news = News {
        heard,
        prepared,
        may_write,
        is_searched,
        moment_s: moment_s.flatten(),
    };
    Ok((quiet, news))
}

/// The differences between HEAD and the index.
fn find_staged(
    worktree: &Worktree<'_>,
    index: &Index,
    options: &Options,
    pathspecs: Option<&Pathspecs>,
) -> Result<Vec<rename::Filepair>> {
    let repository = worktree.repository;
    let head = match repository.head()?.id() {
        Some(commit) => Some(repository.commit(&commit)?.tree),
        None => None,
    };
    let mut staged = staged(repository, index, head, &worktree.engine())?;
    if let Some(pathspecs) = pathspecs {
        let fits = |path: &BString, version: Option<Version>| {
            version.is_some_and(|version| pathspecs.fits(path.as_bstr(), version.mode))
        };
        staged
            .changes
            .retain(|change| fits(&change.path, change.index.or(change.head)));
        staged
            .unmerged
            .retain(|(path, head)| fits(path, Some(*head)));
    }
    // Git ignores the option before the first commit.
    if options.ignore_submodules == Some(IgnoreSubmodules::All) && head.is_some() {
        // A path that became a submodule, or is no longer one, still counts as a type change.
        let is_link = |version: Option<Version>| version.is_none_or(|v| v.mode == Mode::Gitlink);
        let links = |change: &StagedChange| is_link(change.head) && is_link(change.index);
        staged.changes.retain(|change| !links(change));
    }
    let renames = renames::options(repository, options.renames)?;
    renames::of_staged(repository, staged, &renames, &worktree.engine())
}

/// The differences between the index and the working tree.
fn find_unstaged(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    scanned: &Scanned,
    options: &Options,
    pathspecs: Option<&Pathspecs>,
    said: &mut Said,
) -> Result<collect::Unstaged> {
    let (repository, index) = (worktree.repository, &old.index);
    let submodules = submodules(worktree, index, options)?;
    let states = states(submodules.as_ref(), index, scanned)?;
    let is_link = |entry: &Entry| is_link(repository, index, entry);
    let rules = rules(worktree, old);
    let mut rows = unstaged::unstaged(index, scanned, &rules, &states, Stage::Ours, is_link);
    // A hidden submodule is not a change, but rows in conflict stay listed.
    if let Some(submodules) = &submodules {
        rows.retain_mut(|change| {
            let entry = &index.entries()[change.compared as usize];
            let is_submodule = entry.mode == Mode::Gitlink && change.kind.is_some();
            if is_submodule && submodules.hides(index.path(entry)) {
                change.kind = None;
            }
            change.kind.is_some() || entry.flags.stage != Stage::Merged
        });
    }
    if let Some(pathspecs) = pathspecs {
        rows.retain(|change| {
            let entry = &index.entries()[change.row as usize];
            pathspecs.fits(index.path(entry), entry.mode)
        });
    }
    if rows.is_empty() {
        return Ok(collect::Unstaged::default());
    }
    let path = |row: u32| index.path(&index.entries()[row as usize]);
    let directories = directories_above(rows.iter().map(|change| path(change.row)));
    let listed = Some(scanned.attributes.as_slice());
    let direction = Direction::CheckIn {
        listed,
        is_gone: &|_| false,
    };
    let (converter, warnings) = worktree.converter(index, &directories, &direction)?;
    let comparison = worktree.comparison(index, &converter);
    said.warnings = warnings;
    let renames = renames::options(repository, options.renames)?;
    let engine = worktree.engine();
    let pairs = renames::of_unstaged(&comparison, repository, &rows, &renames, &engine, said)?;
    Ok(collect::Unstaged { rows, pairs })
}

/// Rules for comparing stat data: by whole seconds, as git is built by default.
fn rules(worktree: &Worktree<'_>, old: &OldIndex) -> StateRules {
    let mut rules = worktree.rules(old);
    rules.stat.nanoseconds = false;
    rules
}

/// Scans the working tree.
fn examine(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    options: &Options,
    pathspecs: Option<&Pathspecs>,
    quiet: &Quiet,
    takes_notes: bool,
) -> Result<Scanned> {
    let repository = worktree.repository;
    let settings = worktree.settings();
    let inputs = Inputs {
        objects: repository.shared_objects(),
        others: repository.other_repositories(),
        work_tree: repository.require_work_tree()?,
        index: &old.index,
        state: rules(worktree, old),
        exclusion: exclusion::Rules {
            keeps_contents: takes_notes,
            ..exclusion::Rules::standard(worktree)?
        },
        wish: wish(options),
        pathspecs,
        folded: settings.ignore_case.then(|| FoldedPaths::of(&old.index)),
        quiet,
        takes_notes,
        has_skipped: old
            .index
            .entries()
            .iter()
            .any(|entry| entry.flags.skip_worktree),
    };
    scan(&inputs, worktree.engine())
}

/// Where directories were not listed, it is unknown whether they hold attribute files: looks for
/// them in the directories above the files that may be read.
fn look_for_attributes(scanned: &mut Scanned, index: &Index) {
    if scanned.lists_all {
        return;
    }
    let rows = index.entries().iter().zip(&scanned.states);
    let read = rows.filter(|(_, state)| state.may_be_read() || **state == State::Modified);
    let read = read.map(|(entry, _)| index.path(entry));
    let mut directories = directories_above(read);
    directories.extend(
        scanned
            .attributes
            .iter()
            .map(|directory| directory.as_bstr()),
    );
    let directories = directories.into_iter().map(BStr::to_owned);
    scanned.attributes = directories.collect();
}

/// Stores refreshed stat data in the index. Returns whether that changes it.
fn refresh(index: &mut Index, refreshed: &[Refreshed]) -> bool {
    let mut changed = false;
    let entries = index.entries_mut();
    for (row, stat) in refreshed {
        let entry = &mut entries[*row as usize];
        changed |= entry.stat != *stat;
        entry.stat = *stat;
    }
    changed
}

fn has_submodules(index: &Index) -> bool {
    let mut entries = index.entries().iter();
    entries.any(|entry| entry.mode == Mode::Gitlink)
}

/// How to examine submodules, if the index has any.
fn submodules<'a>(
    worktree: &Worktree<'a>,
    index: &Index,
    options: &'a Options,
) -> Result<Option<Submodules<'a>>> {
    if !has_submodules(index) {
        return Ok(None);
    }
    let (repository, root) = (worktree.repository, &worktree.root);
    Submodules::new(repository, root, index, options, &options.execution).map(Some)
}

/// The submodules with differences inside, by the first row of their paths.
fn states(
    submodules: Option<&Submodules<'_>>,
    index: &Index,
    scanned: &Scanned,
) -> Result<HashMap<u32, SubmoduleState>> {
    let mut states = HashMap::new();
    let Some(submodules) = submodules else {
        return Ok(states);
    };
    for (row, compared) in unstaged::compared_rows(index, Stage::Ours) {
        let entry = &index.entries()[compared as usize];
        if entry.mode != Mode::Gitlink {
            continue;
        }
        let flags = entry.flags;
        let state = scanned.states[row as usize];
        let is_there = matches!(state, State::Clean | State::Directory);
        if !is_there || flags.assume_valid || flags.skip_worktree {
            continue;
        }
        if let Some(state) = submodules.state(index.path(entry), &entry.id)? {
            states.insert(row, state);
        }
    }
    Ok(states)
}

/// Whether the directory in the place of an entry is the working tree of a repository that has a
/// commit: git then treats it as a submodule.
fn is_link(repository: &Repository, index: &Index, entry: &Entry) -> bool {
    let Some(top) = repository.work_tree() else {
        return false;
    };
    let directory = top.join(OsStr::from_bytes(index.path(entry)));
    let opened = repository
        .other_repositories()
        .has(&directory.join(".git"))
        .then(|| Repository::open_submodule(&directory, repository.environment()));
    let head = opened.and_then(|opened| opened.ok()?.head().ok()?.id());
    head.is_some()
}

/// Whether the index has the path at any stage.
fn is_tracked(index: &Index, path: &[u8]) -> bool {
    let path = bstr::BStr::new(path);
    match index.find(path, Stage::Merged) {
        Ok(_) => true,
        Err(row) => {
            let next = index.entries().get(row);
            next.is_some_and(|entry| index.path(entry) == path)
        }
    }
}
