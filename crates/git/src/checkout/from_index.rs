//! Copying files of the index to the working tree, below another directory, or to temporary files:
//! git-checkout-index(1).

mod place;
mod selection;

pub use selection::Selection;

use super::carry_out::write_to;
use super::examine::smudge_unexamined;
use super::obstacles::{clear, Obstacle};
use super::outcome::Done;
use super::rejects::Rejects;
use super::session::Session;
use super::supplies::supplies;
use super::transition::{Transition, Write};
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::attribute_files::Direction;
use crate::worktree::state::State;
use crate::worktree::Filtering;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_tree::split_path;
use place::{Places, Target};
use selection::Selected;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What to copy, and where to.
#[derive(Clone, Debug, Default)]
pub struct CheckoutIndexOptions {
    /// The files.
    pub selection: Selection,
    /// The stage of the files that is copied; all that a conflict has if `None`.
    pub stage: Option<Stage>,
    /// Write to temporary files at the top of the working tree.
    pub temporary: bool,
    /// Overwrite what is there.
    pub force: bool,
    /// Write only files that are there already.
    pub no_create: bool,
    /// Store the stat data of the files in the index; not for files with a prefix, nor for
    /// temporary ones.
    pub update_index: bool,
    /// Put before all paths; it may lead out of the working tree.
    pub prefix: BString,
    /// Copy files outside the sparse checkout, too.
    pub with_skipped: bool,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// What was copied.
#[derive(Debug, Default)]
pub struct CheckedOut {
    /// The files written, and the failures.
    pub done: Done,
    /// What was not copied and why, in git's words and order.
    pub remarks: Vec<String>,
    /// The temporary files, if that was asked for, in order.
    pub temporary: Vec<TemporaryFiles>,
}

/// The temporary files of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemporaryFiles {
    /// The path in the index.
    pub path: BString,
    /// The files of the stages 1 to 3 if all were asked for, else only one; `None` where the
    /// path has no such stage.
    pub files: Vec<Option<BString>>,
}

/// Copies files of the index. In a partial clone, what is missing is fetched before anything is
/// touched. A file whose object nobody has promised is told in the remarks and, unlike by git, stays what
/// it is.
///
/// # Errors
/// [`Error::Setup`], in git's words, if something is in the way of a directory; a promised object that
/// cannot be fetched. Nothing was touched then.
pub fn checkout_index(
    repository: &Repository,
    options: &CheckoutIndexOptions,
) -> Result<CheckedOut> {
    let copy = |absent: &[ObjectId]| {
        let absent = absent.iter().copied().collect();
        try_to_copy(repository, options, &absent)
    };
    match repository.with_promised(|| copy(&[])) {
        Err(Error::MissingContent { ids, .. }) if repository.promisor_remotes().is_empty() => {
            copy(&ids)
        }
        copied => copied,
    }
}

/// Copies all but the files with the objects `absent`.
fn try_to_copy(
    repository: &Repository,
    options: &CheckoutIndexOptions,
    absent: &HashSet<ObjectId>,
) -> Result<CheckedOut> {
    let writes_index = options.update_index && options.prefix.is_empty() && !options.temporary;
    let execution = &options.execution;
    let mut session = if writes_index {
        Session::begin(repository, options.threshold, execution)?
    } else {
        Session::read_only(repository, options.threshold, execution)?
    };
    session.set_filtering(Filtering::Copy);
    let mut old = session.read_index()?;
    session.include_present(&mut old)?;
    let Selected {
        rows,
        positions,
        mut remarks,
    } = selection::select(&session, &old, options)?;
    let target = Target::of_prefix(repository, options)?;
    let places = Places::new(&session, &old, &rows, &target, options)?;
    let mut plan = Plan {
        repository,
        options,
        index: &old.index,
        places: &places,
        absent,
        writes: Vec::new(),
        obstacles: Vec::new(),
    };
    for (at, row) in rows.iter().enumerate() {
        let remark = plan.decide(&target, at, *row)?;
        remarks.extend(remark.map(|remark| (positions[at], remark)));
    }
    let Plan {
        mut writes,
        obstacles,
        ..
    } = plan;
    writes.sort_by_key(|(at, _)| places.path(*at));
    // Like git, which removes a file before it reads the attributes for what it writes in its place.
    let replaces = options.prefix.is_empty() && !options.temporary;
    let written: Vec<&BStr> = writes.iter().map(|(at, _)| places.path(*at)).collect();
    let is_gone = |path: &BStr| replaces && is_first_below(&written, path);
    let listed = writes.iter().map(|(_, write)| *write).collect();
    let mut next = transition(&old.index, listed);
    let direction = Direction::CheckIn {
        listed: None,
        is_gone: &is_gone,
    };
    let supplies = supplies(&session, &next, &direction)?;
    let mut result = CheckedOut::default();
    if !next.writes.is_empty() {
        let root = target.open(&session)?;
        let chosen = places.chosen(&old.index, &writes)?;
        clear(&root, &obstacles)?;
        let place = (&root, Some(&chosen));
        write_to(&session, place, &mut next, supplies, &mut result.done)?;
        if options.temporary {
            result.temporary = place::temporary_files(&old.index, &places, &writes, options);
            place::restrict(repository, &chosen)?;
        }
    }
    remarks.sort_by_key(|(at, _)| *at);
    result.remarks = remarks.into_iter().map(|(_, remark)| remark).collect();
    let is_whole = result.remarks.is_empty() && result.done.failures.is_empty();
    if writes_index && is_whole {
        let written: HashSet<usize> = next.writes.iter().map(|it| it.row as usize).collect();
        let is_kept = |row: usize| !written.contains(&row);
        smudge_unexamined(&session, old.mtime, &mut next.index, is_kept)?;
        let tree = old.index.cache_tree().cloned();
        next.index.set_cache_tree(tree);
        let warning = session.write_index(&next.index, false)?;
        result.done.warnings.extend(warning);
    }
    Ok(result)
}

/// Whether `path` is among the `written` paths, which are in order, and before all others of its directory
/// and below.
fn is_first_below(written: &[&BStr], path: &BStr) -> bool {
    let directory = split_path(path).0;
    let is_below = |other: &BStr| {
        let rest = other.strip_prefix(directory);
        directory.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
    };
    let at = written.partition_point(|other| *other < path);
    let before = at.checked_sub(1).map(|before| written[before]);
    written.get(at) == Some(&path) && !before.is_some_and(is_below)
}

/// What to write, as far as it is decided.
struct Plan<'a> {
    repository: &'a Repository,
    options: &'a CheckoutIndexOptions,
    index: &'a Index,
    places: &'a Places,
    /// The objects that are not there.
    absent: &'a HashSet<ObjectId>,
    /// Each with its position among the selected rows.
    writes: Vec<(usize, Write)>,
    obstacles: Vec<Obstacle>,
}

impl Plan<'_> {
    /// Decides about the selected row at `at`; returns why it is not copied, if git tells.
    fn decide(&mut self, target: &Target, at: usize, row: usize) -> Result<Option<String>> {
        let (options, entry) = (self.options, &self.index.entries()[row]);
        let is_absent = entry.mode != Mode::Gitlink && self.absent.contains(&entry.id);
        let unreadable = || {
            let (path, id) = (self.index.path(entry), entry.id);
            let remark = format!("error: unable to read sha1 file of {path} ({id})");
            Ok(Some(remark))
        };
        if options.temporary {
            if entry.mode == Mode::Gitlink {
                let path = self.index.path(entry);
                let remark = format!("error: cannot create temporary submodule {path}");
                return Ok(Some(remark));
            }
            if is_absent {
                return unreadable();
            }
            self.write(at, row, false);
            return Ok(None);
        }
        let state = self.places.states[at];
        let place = self.places.path(at);
        let is_there = state.is_file() || state == State::Directory;
        match state {
            State::Clean if self.options.force => return Ok(None),
            State::Clean if self.index.entries()[row].mode == Mode::Gitlink => {
                let moved = self.has_moved(row)?;
                let remark = || format!("{}{place} already exists, no checkout", target.shown);
                return Ok(moved.then(remark));
            }
            State::Clean => return Ok(None),
            _ if !is_there && options.no_create => return Ok(None),
            _ if is_there && !options.force => {
                let remark = format!("{}{place} already exists, no checkout", target.shown);
                return Ok(Some(remark));
            }
            _ if is_absent => return unreadable(),
            State::Directory => self.obstacles.push(Obstacle {
                path: place.to_owned(),
                directory: true,
            }),
            State::Blocked => {
                let blocking = self.places.first_blocking(target, place)?;
                if let Some(path) = blocking {
                    if !options.force {
                        let reason = format!(
                            "cannot create directory at '{}{path}': File exists",
                            target.shown
                        );
                        return Err(Error::Setup { reason });
                    }
                    let directory = false;
                    self.obstacles.push(Obstacle { path, directory });
                }
            }
            _ => {}
        }
        self.write(at, row, state.is_file());
        Ok(None)
    }

    /// Whether the submodule of a row has another commit than the index.
    fn has_moved(&self, row: usize) -> Result<bool> {
        let entry = &self.index.entries()[row];
        let path = OsStr::from_bytes(self.index.path(entry));
        let directory = self.repository.require_work_tree()?.join(path);
        if !self
            .repository
            .other_repositories()
            .has(&directory.join(".git"))
        {
            return Ok(false);
        }
        let submodule = Repository::open_submodule(&directory, self.repository.environment())?;
        let head = submodule.head()?.id();
        Ok(head.is_some_and(|head| head != entry.id))
    }

    fn write(&mut self, at: usize, row: usize, replaces: bool) {
        let write = Write {
            row: row as u32,
            replaces,
            untracked: false,
        };
        self.writes.push((at, write));
    }
}

/// The index as it is, with files to write.
fn transition(old: &Index, writes: Vec<Write>) -> Transition {
    let mut index = old.successor();
    index.keep_resolve_undo(old);
    let mut kept_from: Vec<Option<u32>> = (0..old.entries().len() as u32).map(Some).collect();
    for write in &writes {
        kept_from[write.row as usize] = None;
    }
    Transition {
        index,
        writes,
        removals: Vec::new(),
        must_be_absent: Vec::new(),
        absent_links: Vec::new(),
        became_directories: Vec::new(),
        kept_from,
        left_despite_sparse: Vec::new(),
        rejects: Rejects::default(),
    }
}

/// Whether an entry is of the stage that is asked for.
fn is_of_stage(stage: Stage, wanted: Option<Stage>) -> bool {
    match wanted {
        Some(wanted) => stage == wanted,
        None => stage != Stage::Merged,
    }
}

/// The directory part of a prefix, up to the last slash, and the rest.
fn split_prefix(prefix: &BString) -> (&[u8], &[u8]) {
    let end = prefix.rfind_byte(b'/').map_or(0, |at| at + 1);
    prefix.split_at(end)
}
