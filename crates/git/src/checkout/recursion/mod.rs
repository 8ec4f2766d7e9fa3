//! Submodules that move along with the working tree around them: `--recurse-submodules` of
//! git-checkout(1), git-reset(1) and others, and `submodule.recurse`.
//!
//! A submodule is a repository, so it is moved by the same machine as any other: trees are read into
//! its index and its working tree ([`read_within`]), and submodules in it move along in turn. This is
//! done twice, as git does: first for a trial, for every submodule before anything is touched, and
//! then in earnest. Those that go leave before the files around them are written, those that come or
//! change follow afterwards, several at a time.

mod leftovers;
mod step;

use super::outcome::{Done, Failure};
use super::read_tree::read_within;
use super::rejects::{ancestors, Reason};
use super::session::Session;
use super::transition::{Remove, Transition};
use crate::index::{Entry, Index, Mode, Stage};
use crate::submodule::{git_dir_of, in_parallel, shared, Linked, Modules, DEPTH_LIMIT, FILE};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::FileKind;
pub(super) use leftovers::{Leaving, MayGo};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use step::{Runner, Stepped, Trial};

/// That submodules move along, and where the repository is in the one that the user named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recursion {
    /// Its path there, with a slash at the end; empty for that one itself.
    pub above: BString,
    /// How many repositories are around it.
    pub depth: usize,
    /// Changes in submodules are never overwritten, even where those around them are.
    pub keeps_changes: bool,
    /// Nor are untracked files.
    pub keeps_untracked: bool,
}

/// What is known of a move when its submodules are looked for.
pub(super) struct Around<'a> {
    /// The index before the move.
    pub old: &'a Index,
    /// The user's changes are overwritten.
    pub force: bool,
    /// Paths are restored one after the other: where `.gitmodules` is one of them, git knows only the
    /// submodules of the new one when it comes to these.
    pub restores_paths: bool,
    /// Only the index changes: as in git, each submodule has to be able to move, and none does.
    pub only_tries: bool,
    /// Whether the submodule in this row of the new index moves to its commit though the index had the
    /// same.
    pub moves_kept: &'a dyn Fn(usize) -> bool,
}

/// A submodule that moves.
struct Task {
    /// Its path in the repository around it, and in the one that the user named.
    path: BString,
    shown: BString,
    name: BString,
    directory: PathBuf,
    /// Where its Git directory belongs.
    git_dir: PathBuf,
    linked: Linked,
    /// Whether there is a directory in its place.
    is_there: bool,
    /// The commit that the index had, and the one it gets. Without a new one, the submodule goes.
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    force: bool,
    /// Its commit is the same in the index: it stays where it is if it cannot move.
    is_optional: bool,
    /// Only a trial: the index no longer has it, and it stays whatever comes of it.
    is_only_tried: bool,
    /// Something else comes into its place.
    is_replaced: bool,
    /// What goes from its place before it comes: paths in it.
    freed: BTreeSet<BString>,
}

/// The submodules that a move takes along.
#[derive(Default)]
pub(super) struct SubmoduleMoves {
    leaving: Vec<Task>,
    arriving: Vec<Task>,
    /// What the obstacles have to know of those that go.
    pub left: Vec<Leaving>,
    /// Why submodules stay that could.
    told: Vec<String>,
}

impl SubmoduleMoves {
    /// Finds the submodules that move, and tries each. What cannot move is added to the rejects of
    /// `next`.
    ///
    /// # Errors
    /// A submodule that cannot be used, or would have to be cloned.
    pub(super) fn plan(
        session: &Session<'_>,
        around: &Around<'_>,
        next: &mut Transition,
    ) -> Result<Self> {
        let Some(recursion) = &session.recursion else {
            return Ok(SubmoduleMoves::default());
        };
        if recursion.depth > DEPTH_LIMIT {
            return Err(Error::Setup {
                reason: format!("submodules are nested more than {DEPTH_LIMIT} deep"),
            });
        }
        let planner = Planner {
            session,
            around,
            recursion,
            next,
        };
        let tasks = planner.tasks()?;
        let runner = runner(session, recursion, tasks.len());
        let trials = one_at_a_time(session, &tasks, |task| runner.attempt(task))?;
        let mut moves = SubmoduleMoves::default();
        for (task, trial) in tasks.into_iter().zip(trials) {
            moves.admit(task, trial, next);
        }
        Ok(moves)
    }

    fn admit(&mut self, task: Task, trial: Trial, next: &mut Transition) {
        if !trial.said.is_empty() && task.is_optional && task.is_there {
            self.told.extend(trial.said);
        } else if !trial.said.is_empty() {
            next.rejects.say(task.path.as_bstr(), trial.said);
            if trial.is_changed {
                next.rejects.add(Reason::NotUpToDate, task.path.clone());
            }
            next.rejects.add(Reason::Submodule, task.path);
        } else if trial.stays || task.is_only_tried {
        } else if task.new.is_some() {
            self.arriving.push(task);
        } else {
            self.left.push(Leaving {
                path: task.path.clone(),
                leftovers: trial.leftovers,
            });
            self.leaving.push(task);
        }
    }

    /// Takes away those that go.
    pub(super) fn depart(&self, session: &Session<'_>, done: &mut Done) -> Result<()> {
        done.said.extend(self.told.iter().cloned());
        perform(session, &self.leaving, done).map(drop)
    }

    /// Moves those that come or change.
    pub(super) fn arrive(&self, session: &Session<'_>, done: &mut Done) -> Result<()> {
        done.unwritten += perform(session, &self.arriving, done)?;
        Ok(())
    }
}

/// Moves submodules. Returns how many of them were not moved.
fn perform(session: &Session<'_>, tasks: &[Task], done: &mut Done) -> Result<u64> {
    let Some(recursion) = session.recursion.as_ref().filter(|_| !tasks.is_empty()) else {
        return Ok(0);
    };
    let mut failed = 0;
    let runner = runner(session, recursion, tasks.len());
    let stepped = one_at_a_time(session, tasks, |task| runner.perform(task))?;
    for (task, stepped) in tasks.iter().zip(stepped) {
        let Stepped {
            said,
            failures,
            is_moved,
        } = stepped;
        failed += u64::from(!is_moved);
        done.said.extend(said);
        done.failures
            .extend(failures.into_iter().map(|reason| Failure {
                path: task.path.clone(),
                reason,
            }));
    }
    Ok(failed)
}

/// Runs `work` for several submodules at a time, but for one at a time of those that share a Git
/// directory: one that moves goes from its old place and comes to the new one.
fn one_at_a_time<T: Send>(
    session: &Session<'_>,
    tasks: &[Task],
    work: impl Fn(&Task) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let places = tasks.iter().map(|task| (&task.git_dir, Mutex::new(())));
    let places: BTreeMap<&PathBuf, Mutex<()>> = places.collect();
    in_parallel(session.execution(), tasks, |task| {
        let place = places.get(&task.git_dir).map(Mutex::lock);
        let _alone = place.map(|held| held.unwrap_or_else(PoisonError::into_inner));
        work(task)
    })
}

fn runner<'a>(session: &Session<'_>, recursion: &'a Recursion, tasks: usize) -> Runner<'a> {
    Runner {
        environment: session.repository.environment().clone(),
        recursion,
        execution: shared(session.execution(), tasks).with_own_progress(),
        threshold: session.threshold(),
    }
}

/// Finds the submodules that move.
struct Planner<'a> {
    session: &'a Session<'a>,
    around: &'a Around<'a>,
    recursion: &'a Recursion,
    next: &'a Transition,
}

/// The commits of a submodule that moves.
struct Commits {
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    is_optional: bool,
    is_only_tried: bool,
}

/// The submodules that differ between the indexes, to be tried.
fn changed_links(old: &Index, new: &Index) -> BTreeMap<BString, Commits> {
    let mut found: BTreeMap<BString, Commits> = BTreeMap::new();
    let links = |index: &Index| -> Vec<(BString, ObjectId)> {
        let links = index.entries().iter().filter(|entry| is_submodule(entry));
        links
            .map(|entry| (index.path(entry).to_owned(), entry.id))
            .collect()
    };
    let only_tried = || Commits {
        old: None,
        new: None,
        is_optional: false,
        is_only_tried: true,
    };
    for (path, id) in links(old) {
        found.entry(path).or_insert_with(only_tried).old = Some(id);
    }
    for (path, id) in links(new) {
        found.entry(path).or_insert_with(only_tried).new = Some(id);
    }
    found.retain(|_, commits| commits.old != commits.new);
    // Of one that goes from the index, git asks only whether it can be what it was.
    for commits in found.values_mut() {
        commits.new = commits.new.or(commits.old);
    }
    found
}

impl Planner<'_> {
    /// In the order of their paths.
    fn tasks(&self) -> Result<Vec<Task>> {
        let candidates = self.candidates();
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let repository = self.session.repository;
        let before = Modules::read(repository, self.around.old)?;
        let restores_paths = self.around.restores_paths;
        let after = if self.next.writes_to(FILE.as_bstr()) {
            Some(Modules::of_index(repository, &self.next.index)?)
        } else if restores_paths && self.next.removes(self.around.old, FILE.as_bstr()) {
            Some(Modules::none())
        } else {
            None
        };
        let mut tasks = Vec::new();
        for (path, commits) in candidates {
            let modules = match &after {
                Some(after) if commits.new.is_some() => after,
                _ => &before,
            };
            let path = path.as_bstr();
            let is_forgotten = after.as_ref().is_some_and(|after| after.at(path).is_none());
            if restores_paths && is_forgotten {
                continue;
            }
            if let Some(module) = modules.at(path) {
                if modules.is_active(repository, path)? {
                    tasks.extend(self.task(path, module.name.as_bstr(), commits)?);
                }
            }
        }
        Ok(tasks)
    }

    /// The submodules that may have to move, by path.
    fn candidates(&self) -> BTreeMap<BString, Commits> {
        let (old, next) = (self.around.old, self.next);
        if self.around.only_tries {
            return changed_links(old, &next.index);
        }
        let before = |path: &BStr| {
            let row = old.find(path, Stage::Merged).ok()?;
            Some(old.entries()[row]).filter(is_submodule)
        };
        let mut found = BTreeMap::new();
        let goes = |entry: &Entry| Commits {
            old: Some(entry.id),
            new: None,
            is_optional: false,
            is_only_tried: false,
        };
        for removal in &next.removals {
            let entry = &old.entries()[removal.row as usize];
            if is_submodule(entry) {
                found.insert(old.path(entry).to_owned(), goes(entry));
            }
        }
        for write in &next.writes {
            let entry = &next.index.entries()[write.row as usize];
            let path = next.index.path(entry);
            let known = before(path);
            if is_submodule(entry) {
                let commits = Commits {
                    old: known.map(|known| known.id),
                    new: Some(entry.id),
                    is_optional: false,
                    is_only_tried: false,
                };
                found.insert(path.to_owned(), commits);
            } else if let Some(known) = known {
                found.insert(path.to_owned(), goes(&known));
            }
        }
        for (row, entry) in next.index.entries().iter().enumerate() {
            let is_kept = is_submodule(entry) && !entry.flags.skip_worktree;
            if is_kept && (self.around.moves_kept)(row) {
                let path = next.index.path(entry).to_owned();
                found.entry(path).or_insert(Commits {
                    old: Some(entry.id),
                    new: Some(entry.id),
                    is_optional: !self.around.force,
                    is_only_tried: false,
                });
            }
        }
        for (path, id) in &next.absent_links {
            found.entry(path.clone()).or_insert(Commits {
                old: Some(*id),
                new: None,
                is_optional: false,
                is_only_tried: true,
            });
        }
        found
    }

    fn task(&self, path: &BStr, name: &BStr, commits: Commits) -> Result<Option<Task>> {
        let repository = self.session.repository;
        // Settings and `.git` files lose it at the end of a line, and would lead elsewhere.
        if path.contains(&b'\r') || name.contains(&b'\r') {
            return Err(Error::Setup {
                reason: format!("the submodule '{name}' has a carriage return in its path or name"),
            });
        }
        let directory = repository.require_work_tree()?;
        let directory = directory.join(OsStr::from_bytes(path));
        // Never through a link: what is behind one is not below the working tree.
        let is_there = match self.session.root.open_dir(path) {
            Ok(_) => true,
            Err(error) if error.is_absent() => false,
            Err(error) => return Err(error.into()),
        };
        let linked = if is_there {
            Linked::of(repository, &directory, path)?
        } else if hedgerow_fs::is_there(&directory.join(".git"))? {
            return Err(Error::Setup {
                reason: format!("expected submodule path '{path}' not to be a symbolic link"),
            });
        } else {
            Linked::No
        };
        if !is_there && commits.new.is_some() && !self.next.writes_to(path) {
            self.refuse_links(path)?;
        }
        let is_populated = !matches!(linked, Linked::No);
        if commits.new.is_none() && !is_populated {
            return Ok(None);
        }
        let force = self.around.force && !self.recursion.keeps_changes;
        let (old, new) = (commits.old, commits.new);
        Ok(Some(Task {
            path: path.to_owned(),
            shown: [&self.recursion.above[..], path].concat().into(),
            name: name.to_owned(),
            git_dir: git_dir_of(repository, name)?,
            directory,
            linked,
            is_there,
            old,
            new,
            force,
            is_optional: commits.is_optional || self.around.force && !force && old == new,
            is_only_tried: commits.is_only_tried,
            is_replaced: new.is_none() && self.comes_into(path),
            freed: if is_populated {
                BTreeSet::new()
            } else {
                self.freed(path)
            },
        }))
    }

    /// Refuses a submodule whose directory would be made behind a link, or in a file. Where the index
    /// does not change, nothing frees its place.
    fn refuse_links(&self, path: &BStr) -> Result<()> {
        let top = self.session.repository.require_work_tree()?;
        for above in ancestors(path).chain([path]) {
            let stat = hedgerow_fs::lstat(&top.join(OsStr::from_bytes(above)))?;
            if stat.is_some_and(|stat| stat.kind != FileKind::Directory) {
                return Err(Error::Setup {
                    reason: format!(
                        "expected '{above}' in submodule path '{path}' to be a directory"
                    ),
                });
            }
        }
        Ok(())
    }

    /// The files below `path` that go.
    fn freed(&self, path: &BStr) -> BTreeSet<BString> {
        let old = self.around.old;
        let below = old.range_under(path);
        let removals = &self.next.removals;
        let place = |row: usize| removals.partition_point(|it| (it.row as usize) < row);
        let going = &removals[place(below.start)..place(below.end)];
        let entry = |removal: &Remove| &old.entries()[removal.row as usize];
        let inner = |removal| &old.path(entry(removal))[path.len() + 1..];
        going.iter().map(|removal| inner(removal).into()).collect()
    }

    /// Whether a file comes to `path` or below it.
    fn comes_into(&self, path: &BStr) -> bool {
        self.next.writes_to(path) || !self.next.index.range_under(path).is_empty()
    }
}

fn is_submodule(entry: &Entry) -> bool {
    entry.mode == Mode::Gitlink && entry.flags.stage == Stage::Merged
}
