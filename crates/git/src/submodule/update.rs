//! Moving submodules to the commits of the index: git-submodule(1) under `update`. What is not here is
//! received first, for all submodules of a repository, or refused before anything is touched.

use super::modules::{refuse_links, Module, Modules};
use super::place::{connect, ensure_worktree, git_dir_of, opened, refuse_new};
use super::transport::{is_reached, Source, Transport};
use super::url;
use super::{displayed, in_order, listed, read_index, shared, Listed, DEPTH_LIMIT};
use crate::checkout::{switch, Outcome, SwitchOptions, Switched, Target};
use crate::config::Environment;
use crate::discover::is_git_dir;
use crate::repository::Repository;
use crate::revision::Wanted;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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
    /// Clone only into directories that are empty.
    pub require_empty: bool,
    /// How to clone and fetch; without it, what is not here is refused.
    pub transport: Option<Transport>,
    /// With fewer files than this to write in a submodule, a single worker writes them.
    pub threshold: Option<u64>,
    /// How to run: several submodules at a time, and several files in each.
    pub execution: Execution,
}

/// What happened, in git's order.
#[derive(Debug)]
pub enum UpdateEvent {
    /// Was registered; a line in git's words.
    Registered(String),
    /// Was left out, or received; lines in git's words.
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
    /// The submodule at this path could not be cloned: no submodule of its repository was updated.
    NotCloned(BString),
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

/// Updates submodules, several at a time. `told` is called for each event in the order of the index; the
/// submodules of a submodule follow it.
///
/// # Errors
/// If a submodule cannot be updated here, before any is touched; [`Error::NotBuilt`] if git could. If a
/// commit cannot be fetched, before any is moved.
/// Submodules of one that moves are looked at only when it has moved. In the place of git,
/// [`Error::NotBuilt`] comes before that, if there are any.
pub fn update_submodules(
    repository: &Repository,
    options: &SubmoduleUpdateOptions,
    told: &mut dyn FnMut(UpdateEvent),
) -> Result<()> {
    let level = Level {
        repository,
        options,
        above: "".into(),
        depth: 0,
        leaves_to_git: repository.environment().in_place_of.is_some(),
    };
    level.update(&options.pathspecs, told)
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
pub(super) struct Task {
    pub listed: Listed,
    pub shown: BString,
    pub directory: PathBuf,
    /// The Git directory it is to be connected with, if it has none.
    connect: Option<PathBuf>,
    /// It has no files yet.
    is_new: bool,
    lack: Lack,
}

/// What has to be received for a submodule.
enum Lack {
    Nothing,
    /// No reference reaches the commit.
    Commit,
    /// Everything.
    Clone(Source),
}

/// A submodule before its update.
struct Found<'a> {
    submodule: &'a Repository,
    /// The commit that it is to have.
    id: &'a ObjectId,
    shown: &'a BStr,
    /// It has no files yet.
    is_new: bool,
}

impl Level<'_> {
    fn update(&self, pathspecs: &[BString], told: &mut dyn FnMut(UpdateEvent)) -> Result<()> {
        if self.depth > DEPTH_LIMIT {
            return Err(Error::Setup {
                reason: format!("submodules are nested more than {DEPTH_LIMIT} deep"),
            });
        }
        let repository = self.repository;
        if self.options.init {
            refuse_new(repository)?;
        }
        let mut of_tasks = Vec::new();
        let tasks = match self.tasks(pathspecs, &mut of_tasks) {
            Ok(tasks) => tasks,
            Err(error) => {
                of_tasks.into_iter().for_each(&mut *told);
                return Err(error);
            }
        };
        let transport = self.transport()?;
        if self.options.init {
            super::init_submodules(repository, pathspecs, self.above, &mut |it| {
                told(match it {
                    super::Registered::Url(line) => UpdateEvent::Registered(line),
                    super::Registered::Warning(warning) => UpdateEvent::Warned(warning),
                });
            })?;
        }
        // Registering has told the warnings.
        let is_new =
            |event: &UpdateEvent| !self.options.init || !matches!(event, UpdateEvent::Warned(_));
        of_tasks.into_iter().filter(is_new).for_each(&mut *told);
        if !self.connect(transport.as_ref(), &tasks, told)? {
            return Ok(());
        }
        if let Some(transport) = &transport {
            self.fetch(transport, &tasks, told)?;
        }
        let execution = &self.options.execution;
        let runner = Runner {
            environment: repository.environment().clone(),
            top: repository.require_work_tree()?,
            options: self.options,
            depth: self.depth,
            execution: shared(execution, tasks.len()),
        };
        let run = |task: &Task| runner.run(task);
        in_order(execution, &tasks, run, |_, events| {
            events.into_iter().for_each(&mut *told);
            Ok(())
        })
    }

    /// How to receive several submodules at a time, if that is to be done at all.
    fn transport(&self) -> Result<Option<(&Transport, Execution)>> {
        let Some(transport) = &self.options.transport else {
            return Ok(None);
        };
        let execution = transport.execution(self.repository, &self.options.execution)?;
        Ok(Some((transport, execution)))
    }

    /// Connects the submodules that are not, with what was cloned before or is cloned now: what fails
    /// is tried again, once. Returns whether they all are there.
    fn connect(
        &self,
        transport: Option<&(&Transport, Execution)>,
        tasks: &[Task],
        told: &mut dyn FnMut(UpdateEvent),
    ) -> Result<bool> {
        let environment = self.repository.environment();
        let (transport, execution) = match transport {
            Some((transport, execution)) => (Some(*transport), execution),
            None => (None, &self.options.execution),
        };
        let obtain = |(task, git_dir): &(&Task, &PathBuf)| {
            let mut said = Vec::new();
            if let (Lack::Clone(source), Some(transport)) = (&task.lack, transport) {
                let (is_done, words) = transport.make_clone(task, source, git_dir)?;
                said = words;
                if !is_done {
                    go_on(execution)?;
                    return Ok((false, said));
                }
            }
            connect(environment, &task.directory, git_dir, true)?;
            Ok((true, said))
        };
        let unconnected: Vec<(&Task, &PathBuf)> = tasks
            .iter()
            .filter_map(|task| Some((task, task.connect.as_ref()?)))
            .collect();
        let mut failed = Vec::new();
        in_order(execution, &unconnected, obtain, |one, (is_done, said)| {
            said.into_iter().for_each(&mut *told);
            if !is_done {
                let path = &one.0.listed.path;
                told(UpdateEvent::Said(format!(
                    "Failed to clone '{path}'. Retry scheduled"
                )));
                failed.push(*one);
            }
            Ok(())
        })?;
        for one in failed {
            let (is_done, said) = obtain(&one)?;
            said.into_iter().for_each(&mut *told);
            if !is_done {
                told(UpdateEvent::NotCloned(one.0.listed.path.clone()));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fetches the commits that are not here.
    fn fetch(
        &self,
        (transport, execution): &(&Transport, Execution),
        tasks: &[Task],
        told: &mut dyn FnMut(UpdateEvent),
    ) -> Result<()> {
        let environment = self.repository.environment();
        let lacking: Vec<&Task> = tasks
            .iter()
            .filter(|task| !matches!(task.lack, Lack::Nothing))
            .collect();
        let no_fetch = self.options.no_fetch;
        let fetch = |task: &&Task| {
            let mut said = Vec::new();
            let submodule = opened(environment, &task.directory, None)?;
            if no_fetch || is_reached(&submodule, &task.listed.id)? {
                return Ok((said, Ok(())));
            }
            let outcome = transport.fetch(environment, task, &mut said);
            if outcome.is_err() {
                go_on(execution)?;
            }
            Ok((said, outcome))
        };
        in_order(execution, &lacking, fetch, |_, (said, outcome)| {
            said.into_iter().for_each(&mut *told);
            outcome
        })
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
        let warnings = modules.warnings.iter().cloned();
        events.extend(warnings.map(UpdateEvent::Warned));
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
            refuse_links(repository.require_work_tree()?, path)?;
            tasks.push(self.task(repository, module, one.clone(), shown)?);
        }
        refuse_nested(&tasks)?;
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
        let (mut connect, mut lack) = (None, Lack::Nothing);
        if !hedgerow_fs::is_there(&dot_git)? {
            if self.options.require_empty {
                refuse_full(&directory)?;
            }
            let git_dir = git_dir_of(repository, module.name.as_bstr())?;
            if !is_git_dir(&git_dir, repository.environment()) {
                // A clone would follow a link out of the repository.
                if hedgerow_fs::is_there(&git_dir)? {
                    return Err(Error::Setup {
                        reason: format!("not a git repository: {}", git_dir.display()),
                    });
                }
                lack = Lack::Clone(self.source(module, shown.as_bstr())?);
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
        let mut is_new = connect.is_some();
        if !matches!(lack, Lack::Clone(_)) {
            let submodule = opened(repository.environment(), &directory, connect.as_deref())?;
            is_new |= is_only_cloned(&submodule, &directory)?;
            let found = Found {
                submodule: &submodule,
                id: &listed.id,
                shown: shown.as_bstr(),
                is_new,
            };
            if self.lacks_commit(&found)? {
                lack = Lack::Commit;
            } else if self.options.recursive && self.depth < DEPTH_LIMIT {
                self.refuse_what_is_inside(&found)?;
            }
        }
        Ok(Task {
            listed,
            shown,
            directory,
            connect,
            is_new,
            lack,
        })
    }

    /// Where the submodule `module` is cloned from.
    fn source(&self, module: &Module, shown: &BStr) -> Result<Source> {
        let (repository, name) = (self.repository, &module.name);
        let Some(transport) = &self.options.transport else {
            return Err(not_here(shown, "cloned"));
        };
        let config = repository.config();
        if config.string("submodule.alternateLocation").is_some() {
            return Err(Error::NotBuilt {
                reason: format!(
                    "cloning the submodule '{shown}' with submodule.alternateLocation: git submodule \
                     update does that"
                ),
            });
        }
        let url = match config.string_in("submodule", name.as_bstr(), "url") {
            Some(url) => url,
            None => {
                let url = module.url.as_ref().ok_or_else(|| Error::Setup {
                    reason: if self.options.init {
                        format!("No url found for submodule path '{shown}' in .gitmodules")
                    } else {
                        format!("cannot clone submodule '{name}' without a URL")
                    },
                })?;
                url::resolved(repository, url.as_bstr(), &mut |_| {})?
            }
        };
        Ok(Source {
            url,
            top: repository.require_work_tree()?.to_owned(),
            sharing: repository.settings().sharing,
            is_shallow: transport.recommend_shallow && module.is_shallow,
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

    /// Whether git would fetch the commit.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] if so, and nothing is fetched here.
    fn lacks_commit(&self, found: &Found<'_>) -> Result<bool> {
        let (submodule, id) = (found.submodule, found.id);
        let head = submodule.head()?.id();
        if head.is_none() && !found.is_new {
            return Err(Error::Setup {
                reason: format!(
                    "Unable to find current revision in submodule path '{}'",
                    found.shown
                ),
            });
        }
        let is_at_it = head == Some(*id);
        if is_at_it && !found.is_new && !self.options.force {
            return Ok(false);
        }
        let is_enough = if self.options.no_fetch {
            submodule.has_object(id)?
        } else {
            is_reached(submodule, id)?
        };
        match self.options.transport {
            _ if is_enough => Ok(false),
            None => Err(not_here(found.shown, "fetched")),
            Some(_) => Ok(true),
        }
    }
}

/// Updates single submodules, on any thread.
struct Runner<'a> {
    environment: Environment,
    top: &'a Path,
    options: &'a SubmoduleUpdateOptions,
    depth: usize,
    /// How to run in each.
    execution: Execution,
}

impl Runner<'_> {
    /// Updates a submodule, and what is in it.
    fn run(&self, task: &Task) -> Result<Vec<UpdateEvent>> {
        // A checkout beside it may have made one meanwhile.
        refuse_links(self.top, task.listed.path.as_bstr())?;
        let submodule = opened(&self.environment, &task.directory, None)?;
        ensure_worktree(&submodule, &task.directory)?;
        let mut events = Vec::new();
        let id = task.listed.id;
        let is_new = task.is_new;
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
            let mut inner = Vec::new();
            match level.update(&[], &mut |event| inner.push(event)) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => inner.push(UpdateEvent::Refused(error)),
                Ok(()) => {}
            }
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
            UpdateEvent::Failed { .. }
                | UpdateEvent::NotCloned(_)
                | UpdateEvent::Refused(_)
                | UpdateEvent::NotRecursed(_)
        )
    }
}

fn is_complete(switched: &Switched) -> bool {
    let is_done = matches!(&switched.outcome, Outcome::Done(done) if done.failures.is_empty());
    is_done && switched.head_failure.is_none() && switched.hook_failure.is_none()
}

/// Whether the submodule has commits and nothing else yet: an update was interrupted between its clone and
/// its checkout. A repository without a commit is the user's own.
fn is_only_cloned(submodule: &Repository, directory: &Path) -> Result<bool> {
    if hedgerow_fs::is_there(submodule.index_path())? || submodule.head()?.id().is_none() {
        return Ok(false);
    }
    let names = hedgerow_fs::list_directory(directory)?.unwrap_or_default();
    Ok(names.iter().all(|entry| entry.name == b".git"))
}

/// Git failed: perhaps because the user interrupted it.
fn go_on(execution: &Execution) -> Result<()> {
    if execution.cancel.is_cancelled() {
        return Err(Error::Interrupted);
    }
    Ok(())
}

/// Refuses Git directories inside of each other that are not there yet: the files of one would be taken for
/// those of the other.
fn refuse_nested(tasks: &[Task]) -> Result<()> {
    let places: BTreeSet<&PathBuf> = tasks.iter().filter_map(|it| it.connect.as_ref()).collect();
    for place in &places {
        let around = place.ancestors().skip(1).map(Path::to_path_buf);
        if let Some(around) = around.into_iter().find(|around| places.contains(around)) {
            return Err(Error::Setup {
                reason: format!(
                    "submodule git dir '{}' is inside git dir '{}'",
                    place.display(),
                    around.display()
                ),
            });
        }
    }
    Ok(())
}

/// Refuses to clone into a directory that has something.
fn refuse_full(directory: &Path) -> Result<()> {
    match hedgerow_fs::list_directory(directory)? {
        Some(names) if !names.is_empty() => Err(Error::Setup {
            reason: format!("directory not empty: '{}'", directory.display()),
        }),
        _ => Ok(()),
    }
}

pub(crate) fn not_here(shown: &BStr, what: &str) -> Error {
    Error::NotBuilt {
        reason: format!(
            "updating the submodule '{shown}', which has to be {what} first: git submodule update \
             does that"
        ),
    }
}
