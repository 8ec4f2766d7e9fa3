//! Moving submodules to the commits of the index: git-submodule(1) under `update`. What would have to
//! be cloned or fetched is refused before anything is touched.

use super::modules::{refuse_links, Module, Modules};
use super::place::{connect, ensure_worktree, git_dir_of, opened};
use super::{displayed, in_parallel, listed, read_index, shared, Listed, DEPTH_LIMIT};
use crate::checkout::{switch, Outcome, SwitchOptions, Switched, Target};
use crate::config::Environment;
use crate::discover::is_git_dir;
use crate::repository::Repository;
use crate::revision::Wanted;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Options of an update of submodules.
#[derive(Clone, Debug, Default)]
pub struct SubmoduleUpdateOptions {
    /// Only these; all without any.
    pub pathspecs: Vec<BString>,
    /// Overwrite local changes in submodules.
    pub force: bool,
    /// Check commits out, whatever the configuration says.
    pub checkout: bool,
    /// A commit need not be reachable from a reference.
    pub no_fetch: bool,
    /// Submodules of submodules, too.
    pub recursive: bool,
    /// Register those that are not, first.
    pub init: bool,
    /// With fewer files than this to write in a submodule, a single worker writes them.
    pub threshold: Option<u64>,
    /// How to run: several submodules at a time, and several files in each.
    pub execution: Execution,
}

/// What happened, in git's order.
#[derive(Debug)]
pub enum UpdateEvent {
    /// Was left out, or registered; a line in git's words.
    Said(String),
    /// A warning.
    Warned(String),
    /// The commit was checked out in the submodule of this name.
    CheckedOut(BString, ObjectId),
    /// The commit could not be checked out in the submodule of this name.
    Failed {
        /// The submodule.
        shown: BString,
        /// The commit.
        id: ObjectId,
        /// What prevented it.
        cause: UpdateFailure,
    },
    /// None of the submodules of a submodule was updated.
    Refused(Error),
    /// The submodules of the one of this name could not all be updated.
    NotRecursed(BString),
}

/// Why a commit could not be checked out.
#[derive(Debug)]
pub enum UpdateFailure {
    /// Something would be lost, files could not be written, or a hook failed.
    Switched(Box<Switched>),
    /// Something else.
    Error(Error),
}

/// Updates submodules, several at a time; what happened is told in the order of the index, the
/// submodules of one behind it.
///
/// # Errors
/// If a submodule cannot be updated here, before any is touched; [`Error::NotBuilt`] if git could.
/// Submodules of one that moves are looked at only when it has moved. In the place of git,
/// [`Error::NotBuilt`] comes before that, if there are any.
pub fn update_submodules(
    repository: &Repository,
    options: &SubmoduleUpdateOptions,
) -> Result<Vec<UpdateEvent>> {
    let level = Level {
        repository,
        options,
        above: "".into(),
        depth: 0,
        leaves_to_git: repository.environment().in_place_of.is_some(),
    };
    level.update(&options.pathspecs)
}

/// The submodules of one repository.
struct Level<'a> {
    repository: &'a Repository,
    options: &'a SubmoduleUpdateOptions,
    /// What the submodule is named, with a slash; empty for the repository of the user.
    above: &'a BStr,
    depth: usize,
    /// Whether git does what cannot be done here: only while nothing was touched.
    leaves_to_git: bool,
}

/// What is to be done with a submodule.
struct Task {
    listed: Listed,
    shown: BString,
    directory: PathBuf,
    /// The Git directory it is to be connected with, if it has none.
    connect: Option<PathBuf>,
}

/// A submodule before its update.
struct Found<'a> {
    submodule: &'a Repository,
    /// The commit that it is to have.
    id: &'a ObjectId,
    shown: &'a BStr,
    /// It is not connected with its Git directory yet.
    is_new: bool,
}

impl Level<'_> {
    fn update(&self, pathspecs: &[BString]) -> Result<Vec<UpdateEvent>> {
        if self.depth > DEPTH_LIMIT {
            return Err(Error::Setup {
                reason: format!("submodules are nested more than {DEPTH_LIMIT} deep"),
            });
        }
        let repository = self.repository;
        let mut of_tasks = Vec::new();
        let tasks = self.tasks(pathspecs, &mut of_tasks)?;
        let mut events = Vec::new();
        if self.options.init {
            super::init_submodules(repository, pathspecs, self.above, &mut |it| {
                events.push(match it {
                    super::Registered::Url(line) => UpdateEvent::Said(line),
                    super::Registered::Warning(warning) => UpdateEvent::Warned(warning),
                });
            })?;
        }
        events.append(&mut of_tasks);
        let execution = &self.options.execution;
        let runner = Runner {
            environment: repository.environment().clone(),
            options: self.options,
            depth: self.depth,
            execution: shared(execution, tasks.len()),
        };
        let done = in_parallel(execution, &tasks, |task| runner.run(task))?;
        events.extend(done.into_iter().flatten());
        Ok(events)
    }

    /// Decides about every submodule before any is touched.
    fn tasks(&self, pathspecs: &[BString], events: &mut Vec<UpdateEvent>) -> Result<Vec<Task>> {
        let repository = self.repository;
        // These will be active when they are registered.
        let registers = self.options.init
            && (!pathspecs.is_empty()
                || repository.config().strings("submodule.active").is_empty());
        let index = read_index(repository)?;
        let modules = Modules::read(repository, &index)?;
        if !self.options.init {
            let warnings = modules.warnings.iter().cloned();
            events.extend(warnings.map(UpdateEvent::Warned));
        }
        let mut tasks = Vec::new();
        for one in listed(repository, &index, pathspecs)? {
            let path = one.path.as_bstr();
            let shown = displayed(repository, self.above, path);
            if one.is_unmerged {
                let line = format!("Skipping unmerged submodule {shown}");
                events.push(UpdateEvent::Said(line));
                continue;
            }
            let module = modules.at(path);
            if module.is_some_and(|module| self.is_skipped(repository, module)) {
                events.push(UpdateEvent::Said(format!("Skipping submodule '{shown}'")));
                continue;
            }
            let is_active = registers || modules.is_active(repository, path)?;
            let Some(module) = module.filter(|_| is_active) else {
                if !pathspecs.is_empty() {
                    events.push(UpdateEvent::Said(format!(
                        "Submodule path '{shown}' not initialized\nMaybe you want to use \
                         'update --init'?"
                    )));
                }
                continue;
            };
            refuse_links(repository, path)?;
            tasks.push(self.task(repository, module, one.clone(), shown)?);
        }
        Ok(tasks)
    }

    /// How the submodule is updated, if that is configured.
    fn strategy(&self, repository: &Repository, module: &Module) -> Option<BString> {
        let config = repository.config();
        let own = config.string_in("submodule", module.name.as_bstr(), "update");
        own.or_else(|| module.update.clone())
    }

    fn is_skipped(&self, repository: &Repository, module: &Module) -> bool {
        let strategy = self.strategy(repository, module);
        !self.options.checkout && strategy.is_some_and(|strategy| strategy == "none")
    }

    fn task(
        &self,
        repository: &Repository,
        module: &Module,
        listed: Listed,
        shown: BString,
    ) -> Result<Task> {
        let top = repository.require_work_tree()?;
        let directory = top.join(OsStr::from_bytes(&listed.path));
        let dot_git = directory.join(".git");
        let mut connect = None;
        if !hedgerow_fs::is_there(&dot_git)? {
            let git_dir = git_dir_of(repository, module.name.as_bstr())?;
            if !is_git_dir(&git_dir, repository.environment()) {
                return Err(not_here(shown.as_bstr(), "cloned"));
            }
            connect = Some(git_dir);
        }
        let is_checkout = match self.strategy(repository, module) {
            _ if self.options.checkout => true,
            None => true,
            Some(word) if word == "checkout" => true,
            Some(word) if word.starts_with(b"!") => false,
            // There is nothing to merge with yet.
            Some(word) if word == "rebase" || word == "merge" => connect.is_some(),
            Some(word) => {
                let path = &listed.path;
                return Err(Error::Setup {
                    reason: format!(
                        "Invalid update mode '{word}' configured for submodule path '{path}'"
                    ),
                });
            }
        };
        if !is_checkout {
            return Err(Error::NotBuilt {
                reason: format!(
                    "updating the submodule '{shown}' as submodule.{}.update says",
                    module.name
                ),
            });
        }
        let submodule = opened(repository.environment(), &directory, connect.as_deref())?;
        let found = Found {
            submodule: &submodule,
            id: &listed.id,
            shown: shown.as_bstr(),
            is_new: connect.is_some(),
        };
        self.refuse_what_is_not_here(&found)?;
        if self.options.recursive && self.depth < DEPTH_LIMIT {
            self.refuse_what_is_inside(&found)?;
        }
        Ok(Task {
            listed,
            shown,
            directory,
            connect,
        })
    }

    /// Refuses what only git does in the submodules of a submodule, as far as it is known already.
    fn refuse_what_is_inside(&self, found: &Found<'_>) -> Result<()> {
        let (submodule, shown) = (found.submodule, found.shown);
        if found.is_new || submodule.head()?.id() != Some(*found.id) {
            let modules = format!("{}:.gitmodules", found.id);
            let modules = modules.as_bytes().as_bstr();
            let known = submodule.resolve_if_named(modules, Wanted::Any, None);
            return match known {
                Ok(Some(_)) if self.leaves_to_git => Err(Error::NotBuilt {
                    reason: format!("updating the submodules of '{shown}', which moves"),
                }),
                _ => Ok(()),
            };
        }
        let above = BString::from([shown.as_bytes(), b"/"].concat());
        let level = Level {
            repository: submodule,
            above: above.as_bstr(),
            depth: self.depth + 1,
            ..*self
        };
        match level.tasks(&[], &mut Vec::new()) {
            Err(error @ Error::NotBuilt { .. }) => Err(error),
            // Other errors are told when it is its turn.
            _ => Ok(()),
        }
    }

    /// Refuses a commit that git would fetch.
    fn refuse_what_is_not_here(&self, found: &Found<'_>) -> Result<()> {
        let (submodule, id) = (found.submodule, found.id);
        let head = submodule.head()?.id();
        if head == Some(*id) && !found.is_new && !self.options.force {
            return Ok(());
        }
        if !submodule.has_object(id)? {
            return Err(not_here(found.shown, "fetched"));
        }
        if self.options.no_fetch || head == Some(*id) {
            return Ok(());
        }
        let left = submodule.orphaned_commits(id, head.as_deref())?;
        if left.count == 0 {
            Ok(())
        } else {
            Err(not_here(found.shown, "fetched"))
        }
    }
}

/// Updates single submodules, on any thread.
struct Runner<'a> {
    environment: Environment,
    options: &'a SubmoduleUpdateOptions,
    depth: usize,
    /// How to run in each.
    execution: Execution,
}

impl Runner<'_> {
    /// Updates a submodule, and what is in it.
    fn run(&self, task: &Task) -> Result<Vec<UpdateEvent>> {
        if let Some(git_dir) = &task.connect {
            connect(&self.environment, &task.directory, git_dir, true)?;
        }
        let submodule = opened(&self.environment, &task.directory, None)?;
        ensure_worktree(&submodule, &task.directory)?;
        let mut events = Vec::new();
        let id = task.listed.id;
        let is_new = task.connect.is_some();
        let head = submodule.head()?.id();
        if is_new || self.options.force || head != Some(id) {
            let force = is_new || self.options.force;
            let failed = |cause| UpdateEvent::Failed {
                shown: task.shown.clone(),
                id,
                cause,
            };
            match self.check_out(&submodule, id, force) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => return Ok(vec![failed(UpdateFailure::Error(error))]),
                Ok(switched) if !is_complete(&switched) => {
                    return Ok(vec![failed(UpdateFailure::Switched(Box::new(switched)))]);
                }
                Ok(_) => events.push(UpdateEvent::CheckedOut(task.shown.clone(), id)),
            }
        }
        if self.options.recursive {
            let above = BString::from([&task.shown[..], b"/"].concat());
            let reopened = opened(&self.environment, &task.directory, None)?;
            let options = SubmoduleUpdateOptions {
                execution: self.execution.clone(),
                ..self.options.clone()
            };
            let level = Level {
                repository: &reopened,
                options: &options,
                above: above.as_bstr(),
                depth: self.depth + 1,
                leaves_to_git: false,
            };
            let inner = match level.update(&[]) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => vec![UpdateEvent::Refused(error)],
                Ok(inner) => inner,
            };
            let is_whole = inner.iter().all(|event| !event.is_failure());
            events.extend(inner);
            if !is_whole {
                events.push(UpdateEvent::NotRecursed(task.shown.clone()));
            }
        }
        Ok(events)
    }

    fn check_out(&self, submodule: &Repository, id: ObjectId, force: bool) -> Result<Switched> {
        let hex = id.to_string();
        let named = Target::named(submodule, hex.as_str().into(), id, true)?;
        let target = named.target.ok_or_else(|| Error::Setup {
            reason: format!("reference is not a tree: {id}"),
        })?;
        let options = SwitchOptions {
            discard_changes: force,
            overwrite_untracked: force,
            threshold: self.options.threshold,
            execution: self.execution.with_own_progress(),
            ..SwitchOptions::default()
        };
        switch(submodule, &target, &options)
    }
}

impl UpdateEvent {
    /// Whether something was not done that should have been.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            UpdateEvent::Failed { .. } | UpdateEvent::Refused(_) | UpdateEvent::NotRecursed(_)
        )
    }
}

fn is_complete(switched: &Switched) -> bool {
    let is_done = matches!(&switched.outcome, Outcome::Done(done) if done.failures.is_empty());
    is_done && switched.head_failure.is_none() && switched.hook_failure.is_none()
}

pub(crate) fn not_here(shown: &BStr, what: &str) -> Error {
    Error::NotBuilt {
        reason: format!(
            "updating the submodule '{shown}', which has to be {what} first: git submodule update \
             does that"
        ),
    }
}
