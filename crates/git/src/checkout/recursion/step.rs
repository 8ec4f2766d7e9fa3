//! One submodule: whether it can move, and the move.

use super::leftovers::{leftovers, Leftover};
use super::{read_within, Recursion, Task};
use crate::branches::HeadTarget;
use crate::checkout::from_index::{checkout_index, CheckoutIndexOptions, Selection};
use crate::checkout::outcome::Done;
use crate::checkout::read_tree::{ReadTreeMode, ReadTreeOptions, ReadTreeOutcome};
use crate::checkout::rejects::Rejects;
use crate::config::Environment;
use crate::discover::is_git_dir;
use crate::index::{CacheTree, Index, Mode, Stage};
use crate::refs::Head;
use crate::repository::Repository;
use crate::submodule::{
    absorb, absorb_inner, connect, disconnect, git_dir_of, not_here, opened, read_index,
    stand_alone, unabsorbable, Linked, Modules, DEPTH_LIMIT,
};
use crate::tree::Difference;
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{FileKind, LockFile};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How a trial ended.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// Why the submodule cannot move: lines as git and what it starts print them.
    pub said: Vec<String>,
    /// It is not even what the index of the repository around it says.
    pub is_changed: bool,
    /// Nothing is to be done.
    pub stays: bool,
    pub leftovers: Vec<Leftover>,
}

/// How a move ended.
#[derive(Debug, Default)]
pub(super) struct Stepped {
    pub said: Vec<String>,
    /// Among them what git only warns of.
    pub failures: Vec<String>,
    /// It is where it should be.
    pub is_moved: bool,
}

impl Stepped {
    fn take(&mut self, done: Done) {
        self.said.extend(done.said);
        let warnings = done.warnings.iter();
        self.said
            .extend(warnings.map(|warning| format!("warning: {warning}")));
        let reasons = done.failures.into_iter().map(|failure| failure.reason);
        self.failures.extend(reasons);
    }
}

/// Moves single submodules, on any thread.
pub(super) struct Runner<'a> {
    pub environment: Environment,
    pub recursion: &'a Recursion,
    pub execution: Execution,
    pub threshold: Option<u64>,
}

/// Where a submodule moves from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// It has no files yet.
    Nothing,
    /// This commit.
    Commit(ObjectId),
    /// Whatever it has: it is overwritten.
    Anything,
}

impl Runner<'_> {
    /// Tries to move a submodule, touching nothing.
    pub(super) fn attempt(&self, task: &Task) -> Result<Trial> {
        let mut trial = Trial::default();
        match (&task.linked, task.new) {
            (Linked::File(_) | Linked::Directory, _) => self.attempt_populated(task, &mut trial)?,
            // What it was cannot be known: as with git, the directory stays.
            (Linked::Broken(_), None) if task.force => trial.stays = true,
            (Linked::Broken(error), _) if !task.force => {
                return Err(Error::Setup {
                    reason: error.to_string(),
                });
            }
            (_, Some(id)) => self.attempt_to_populate(task, id, &mut trial)?,
            (Linked::No | Linked::Broken(_), None) => trial.stays = true,
        }
        if !trial.said.is_empty() {
            let path = &task.path;
            let is_dirty = trial.said.iter().any(|line| *line == dirty(path.as_bstr()));
            if !is_dirty {
                trial
                    .said
                    .push(format!("error: Submodule '{path}' could not be updated."));
            }
        }
        Ok(trial)
    }

    fn attempt_populated(&self, task: &Task, trial: &mut Trial) -> Result<()> {
        let submodule = opened(&self.environment, &task.directory, None)?;
        self.refuse_place(task, &submodule)?;
        let head = submodule.head();
        let is_detached = matches!(&head, Ok(Head::Detached { id }) if Some(*id) == task.new);
        if task.is_optional && is_detached {
            trial.stays = true;
            return Ok(());
        }
        if task.force {
            trial.said = self.try_reading(task, &submodule, From::Anything, task.new)?;
        } else {
            let Some(head) = head?.id() else {
                trial.said = vec!["fatal: Not a valid object name HEAD".into()];
                return Ok(());
            };
            self.attempt_carefully(task, &submodule, head, trial)?;
        }
        if trial.said.is_empty() && task.is_replaced {
            trial.leftovers = leftovers(&submodule, &self.execution)?;
        }
        Ok(())
    }

    /// Asks what git asks, in its order, and whether the changes that the user made since the commit
    /// that is checked out can stay: git overwrites some of them.
    fn attempt_carefully(
        &self,
        task: &Task,
        submodule: &Repository,
        head: ObjectId,
        trial: &mut Trial,
    ) -> Result<()> {
        if has_dirty_index(submodule, &head)? {
            trial.said = vec![dirty(task.path.as_bstr())];
            trial.is_changed = task.new.is_some() && task.old.is_some();
            return Ok(());
        }
        let at = From::Commit;
        if let (None, Some(new)) = (task.old, task.new) {
            // Git asks of what is new to the index whether its place could be freed.
            trial.said = self.try_reading(task, submodule, at(new), None)?;
            if !trial.said.is_empty() {
                return Ok(());
            }
        }
        if let Some(old) = task.old.filter(|old| *old != head) {
            let before_new = task.new.is_none();
            if before_new {
                trial.said = self.try_reading(task, submodule, at(old), None)?;
            }
            if trial.said.is_empty() {
                trial.said = self.try_reading(task, submodule, at(head), Some(old))?;
                trial.is_changed = !trial.said.is_empty();
            }
            if trial.said.is_empty() && !before_new {
                trial.said = self.try_reading(task, submodule, at(old), task.new)?;
            }
        }
        if trial.said.is_empty() {
            trial.said = self.try_reading(task, submodule, at(head), task.new)?;
        }
        Ok(())
    }

    fn attempt_to_populate(&self, task: &Task, id: ObjectId, trial: &mut Trial) -> Result<()> {
        if !is_git_dir(&task.git_dir, &self.environment) {
            if task.is_optional {
                trial.stays = true;
                return Ok(());
            }
            return Err(not_here(task.shown.as_bstr(), "cloned"));
        }
        let submodule = stand_alone(&self.environment, &task.git_dir, &task.git_dir)?;
        self.refuse_locks(task, &submodule)?;
        match self.stale(task, &submodule)? {
            None => {
                let depth = self.recursion.depth;
                trial.said = try_afresh(&submodule, id, depth, &self.execution)?;
            }
            Some(from) => {
                let environment = &self.environment;
                let submodule = stand_alone(environment, &task.git_dir, &task.directory)?;
                trial.said = self.try_reading(task, &submodule, from, Some(id))?;
            }
        }
        Ok(())
    }

    /// What a submodule that is not connected is moved from, if something is in its directory. Where its
    /// index still has files, only the connection is lost. What is new to the index is not overwritten
    /// then: git finds no repository there, and refuses, whatever is forced.
    fn stale(&self, task: &Task, submodule: &Repository) -> Result<Option<From>> {
        if !task.is_there || is_free(task)? {
            return Ok(None);
        }
        let has_files = !read_index(submodule)?.entries().is_empty();
        Ok(Some(match submodule.head()?.id() {
            Some(_) if has_files && task.force && task.old.is_some() => From::Anything,
            Some(head) if has_files => From::Commit(head),
            _ => From::Nothing,
        }))
    }

    /// Refuses a Git directory that git would not use.
    fn refuse_place(&self, task: &Task, submodule: &Repository) -> Result<()> {
        match &task.linked {
            Linked::Directory => {
                let (directory, path) = (&task.directory, task.path.as_bstr());
                if let Some(reason) = unabsorbable(directory, &task.git_dir, path)? {
                    return Err(Error::Setup { reason });
                }
            }
            Linked::File(git_dir) if !task.force => {
                let name = Path::new(OsStr::from_bytes(&task.name));
                if !git_dir.ends_with(name) {
                    return Err(Error::Setup {
                        reason: format!(
                            "refusing to create/use '{}' in another submodule's git dir",
                            git_dir.display()
                        ),
                    });
                }
            }
            Linked::File(_) | Linked::No | Linked::Broken(_) => {}
        }
        self.refuse_locks(task, submodule)
    }

    /// Refuses what would be refused in the middle: the locks of somebody else.
    fn refuse_locks(&self, task: &Task, submodule: &Repository) -> Result<()> {
        for path in [submodule.index_path(), &submodule.config_path()] {
            drop(LockFile::acquire_linked(path)?);
        }
        let is_cancelled = || self.execution.cancel.is_cancelled();
        task.new
            .map_or(Ok(()), |id| submodule.try_head_lock(id, &is_cancelled))
    }

    /// Whether the trees can be read: why not, if not.
    fn try_reading(
        &self,
        task: &Task,
        submodule: &Repository,
        from: From,
        to: Option<ObjectId>,
    ) -> Result<Vec<String>> {
        match self.read(task, submodule, (from, to), true) {
            Ok(ReadTreeOutcome::Done(_) | ReadTreeOutcome::Incomplete(_)) => Ok(Vec::new()),
            Ok(ReadTreeOutcome::Rejected(rejects))
                if from == From::Nothing && rejects.are_all_in(&task.freed) =>
            {
                Ok(Vec::new())
            }
            Ok(ReadTreeOutcome::Rejected(rejects)) => Ok(words(&rejects, task.shown.as_bstr())),
            Ok(ReadTreeOutcome::NotTrivial | ReadTreeOutcome::Overlap(_)) => Ok(Vec::new()),
            Err(error @ (Error::Interrupted | Error::NotBuilt { .. })) => Err(error),
            Err(error) => Ok(vec![format!("fatal: {error}")]),
        }
    }

    fn read(
        &self,
        task: &Task,
        submodule: &Repository,
        (from, to): (From, Option<ObjectId>),
        dry_run: bool,
    ) -> Result<ReadTreeOutcome> {
        let tree = |id: ObjectId| match submodule.tree_of(&id) {
            Ok(Some(tree)) => Ok(tree),
            Ok(None) | Err(_) => Err(Error::Setup {
                reason: format!("failed to unpack tree object {id}"),
            }),
        };
        let nothing = submodule.hash_kind().empty_tree();
        let to = to.map_or(Ok(nothing), tree)?;
        let (trees, mode) = match from {
            From::Nothing => (vec![nothing, to], ReadTreeMode::Merge),
            From::Commit(id) => (vec![tree(id)?, to], ReadTreeMode::Merge),
            From::Anything => (vec![to], ReadTreeMode::Reset),
        };
        let options = ReadTreeOptions {
            trees,
            mode,
            update: true,
            dry_run,
            threshold: self.threshold,
            execution: self.execution.clone(),
            ..ReadTreeOptions::default()
        };
        let recursion = Recursion {
            above: [&task.shown[..], b"/"].concat().into(),
            depth: self.recursion.depth + 1,
            keeps_changes: self.recursion.keeps_changes,
            keeps_untracked: !matches!(task.linked, Linked::File(_) | Linked::Directory),
        };
        read_within(submodule, &options, recursion)
    }

    /// Moves a submodule. What fails does not keep others from moving.
    pub(super) fn perform(&self, task: &Task) -> Result<Stepped> {
        let mut stepped = Stepped::default();
        match self.try_to_perform(task, &mut stepped) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => stepped.failures.push(error.to_string()),
            Ok(is_moved) => stepped.is_moved = is_moved,
        }
        if !stepped.failures.is_empty() {
            let path = &task.path;
            let line = format!("Submodule '{path}' could not be updated.");
            stepped.failures.push(line);
        }
        Ok(stepped)
    }

    /// Returns whether it was moved.
    fn try_to_perform(&self, task: &Task, stepped: &mut Stepped) -> Result<bool> {
        let (environment, directory) = (&self.environment, task.directory.as_path());
        let from = match &task.linked {
            Linked::No | Linked::Broken(_) => {
                let submodule = stand_alone(environment, &task.git_dir, &task.git_dir)?;
                let from = self.stale(task, &submodule)?;
                connect(environment, directory, &task.git_dir, from.is_none())?;
                from.or(Some(From::Nothing))
            }
            Linked::Directory => {
                let shown = task.shown.as_bstr();
                stepped.said = absorb(environment, directory, &task.git_dir, shown)?;
                None
            }
            Linked::File(git_dir) => {
                let is_elsewhere = !is_same(git_dir, &task.git_dir);
                if task.force && is_elsewhere && is_git_dir(&task.git_dir, environment) {
                    // The repository that comes may not know the submodules of the one that goes.
                    stepped.said = absorb_inner(environment, directory, task.shown.as_bstr())?;
                    connect(environment, directory, &task.git_dir, false)?;
                }
                None
            }
        };
        let lost_connection = matches!(from, Some(From::Commit(_)));
        let submodule = opened(environment, directory, None)?;
        let from = match (from, submodule.head()) {
            (Some(from), _) => from,
            (None, _) if task.force => From::Anything,
            (None, head) => head?.id().map_or(From::Nothing, From::Commit),
        };
        match self.read(task, &submodule, (from, task.new), false)? {
            ReadTreeOutcome::Done(done) => stepped.take(done),
            // Its index and HEAD stay, as those of the repository around it do.
            ReadTreeOutcome::Incomplete(done) => {
                stepped.take(done);
                return Ok(false);
            }
            ReadTreeOutcome::Rejected(rejects) => {
                let lines = words(&rejects, task.shown.as_bstr()).into_iter();
                let bare = |line: String| {
                    line.strip_prefix("error: ")
                        .map(str::to_owned)
                        .unwrap_or(line)
                };
                stepped.failures = lines.map(bare).collect();
                return Ok(false);
            }
            ReadTreeOutcome::NotTrivial | ReadTreeOutcome::Overlap(_) => {}
        }
        if lost_connection && task.new.is_some() {
            self.complete(&submodule, stepped)?;
        }
        match task.new {
            Some(id) => self.set_head(&submodule, id)?,
            None if stepped.failures.is_empty() => disconnect(&submodule, directory)?,
            None => {}
        }
        Ok(true)
    }

    /// Writes the files that went with the connection: to the move, they were deleted. Others stay.
    fn complete(&self, submodule: &Repository, stepped: &mut Stepped) -> Result<()> {
        let options = CheckoutIndexOptions {
            selection: Selection::All,
            stage: Some(Stage::Merged),
            update_index: true,
            threshold: self.threshold,
            execution: self.execution.clone(),
            ..CheckoutIndexOptions::default()
        };
        let completed = checkout_index(submodule, &options)?;
        stepped.take(completed.done);
        Ok(())
    }

    /// Detaches HEAD at the commit.
    fn set_head(&self, submodule: &Repository, id: ObjectId) -> Result<()> {
        if matches!(submodule.head(), Ok(Head::Detached { id: head }) if head == id) {
            return Ok(());
        }
        let is_cancelled = || self.execution.cancel.is_cancelled();
        let head = HeadTarget::Detached(id);
        let committer = submodule.committer()?;
        let update = submodule.prepare_head(&head, Some(id), &is_cancelled)?;
        update.commit("".into(), &committer)
    }
}

/// Whether nothing is in the place of a submodule, or only what goes before it comes.
fn is_free(task: &Task) -> Result<bool> {
    let mut pending = vec![BString::default()];
    while let Some(directory) = pending.pop() {
        let place = task.directory.join(OsStr::from_bytes(&directory));
        for entry in hedgerow_fs::list_directory(&place)?.unwrap_or_default() {
            let slash: &[u8] = if directory.is_empty() { b"" } else { b"/" };
            let path = BString::from([&directory[..], slash, &entry.name].concat());
            let is_directory = match entry.kind {
                Some(kind) => kind == FileKind::Directory,
                None => {
                    let stat = hedgerow_fs::lstat(&place.join(OsStr::from_bytes(&entry.name)))?;
                    stat.is_some_and(|stat| stat.kind == FileKind::Directory)
                }
            };
            if path == ".git" || task.freed.contains(&path) {
                continue;
            }
            if !is_directory {
                return Ok(false);
            }
            pending.push(path);
        }
    }
    Ok(true)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| hedgerow_fs::real_path(path).ok();
    real(one) == real(other)
}

fn dirty(path: &BStr) -> String {
    format!("error: submodule '{path}' has dirty index")
}

/// Whether the index is not what the commit `head` has.
fn has_dirty_index(submodule: &Repository, head: &ObjectId) -> Result<bool> {
    let tree = submodule.commit(head)?.tree;
    let index = read_index(submodule)?;
    let built = CacheTree::build(&index, |id| submodule.has_tree(id));
    let root = built.as_ref().and_then(CacheTree::root_id);
    Ok(root != Some(&tree))
}

/// What git's plumbing says of paths that prevent a move of the submodule `shown`.
fn words(rejects: &Rejects, shown: &BStr) -> Vec<String> {
    let Some((path, reasons)) = rejects.first_words() else {
        return Vec::new();
    };
    let mut lines = rejects.said_of(path.as_bstr()).to_vec();
    let whole = BString::from([shown.as_bytes(), b"/", path].concat());
    let reasons = reasons.into_iter();
    lines.extend(reasons.map(|reason| format!("error: {}", reason.of_path(whole.as_bstr()))));
    lines
}

/// Why the commit `id` cannot be checked out where nothing is yet, if it cannot: something is missing,
/// in it or in a submodule of it.
fn try_afresh(
    submodule: &Repository,
    id: ObjectId,
    depth: usize,
    execution: &Execution,
) -> Result<Vec<String>> {
    if depth > DEPTH_LIMIT {
        return Err(Error::Setup {
            reason: format!("submodules are nested more than {DEPTH_LIMIT} deep"),
        });
    }
    let Ok(Some(tree)) = submodule.tree_of(&id) else {
        return Ok(vec![format!("fatal: failed to unpack tree object {id}")]);
    };
    let (index, missing) = listed(submodule, tree, execution)?;
    if let Some(missing) = missing {
        return Ok(vec![format!("fatal: unable to read {missing}")]);
    }
    let modules = Modules::of_index(submodule, &index)?;
    for entry in index.entries() {
        let path = index.path(entry);
        let Some(module) = modules.at(path).filter(|_| entry.mode == Mode::Gitlink) else {
            continue;
        };
        if !modules.is_active(submodule, path)? {
            continue;
        }
        let git_dir = git_dir_of(submodule, module.name.as_bstr())?;
        if !is_git_dir(&git_dir, submodule.environment()) {
            return Err(not_here(path, "cloned"));
        }
        let inner = stand_alone(submodule.environment(), &git_dir, &git_dir)?;
        let mut said = try_afresh(&inner, entry.id, depth + 1, execution)?;
        if !said.is_empty() {
            said.push(format!("error: Submodule '{path}' could not be updated."));
            return Ok(said);
        }
    }
    Ok(Vec::new())
}

/// The files of a tree, as an index, and the first that is missing.
fn listed(
    submodule: &Repository,
    tree: ObjectId,
    execution: &Execution,
) -> Result<(Index, Option<ObjectId>)> {
    let worktree = Worktree::open_at(submodule.git_dir(), submodule, execution, "checkout")?;
    let (names, engine) = (worktree.names(), worktree.engine());
    let files = Difference::between(submodule, None, Some(tree), names, &engine)?;
    let mut builder = crate::index::Builder::replacing(&Index::empty(submodule.hash_kind()));
    let mut missing = None;
    for change in files.changes() {
        let Some(side) = change.new else { continue };
        let mode = Mode::from(side.kind);
        if mode != Mode::Gitlink && !submodule.has_object(&side.id)? {
            missing.get_or_insert(side.id);
        }
        let path = files.path(change);
        builder.push(path, side.id, mode, Default::default(), Default::default())?;
    }
    Ok((builder.finish(), missing))
}
