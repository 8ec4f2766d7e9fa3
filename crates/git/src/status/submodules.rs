//! Submodules: a different commit, changed files and untracked files in them.

use super::model::{IgnoreSubmodules, Status, SubmoduleState};
use super::options::Options;
use super::{ignored_in_submodules, submodules_by_git, UntrackedFiles};
use crate::config::Config;
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::Dir;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Upper size limit of `.gitmodules`, in bytes; a larger one is refused.
const MODULES_LIMIT_BYTES: u64 = 64 << 20;

/// How submodules are examined.
pub(crate) struct Submodules<'a> {
    repository: &'a Repository,
    work_tree: &'a Path,
    options: &'a Options,
    execution: &'a Execution,
    /// Which changes the configuration ignores, by path.
    configured: HashMap<BString, Option<IgnoreSubmodules>>,
    /// `.gitmodules` is in conflict, so its content is unknown.
    unmerged: bool,
    default: IgnoreSubmodules,
}

impl<'a> Submodules<'a> {
    /// Reads the settings of submodules from `.gitmodules` and the configuration.
    pub(super) fn new(
        repository: &'a Repository,
        root: &Dir,
        index: &Index,
        options: &'a Options,
        execution: &'a Execution,
    ) -> Result<Self> {
        let config = repository.config();
        let of_diff = config.string("diff.ignoreSubmodules");
        let default = of_diff.and_then(|word| parse(word.as_bstr()));
        let untracked_hidden = options.untracked == UntrackedFiles::No;
        // As with git, a file that is not asked may be broken.
        let (configured, unmerged) = match options.ignore_submodules {
            Some(_) => (HashMap::new(), false),
            None => configured(repository, root, index)?,
        };
        Ok(Submodules {
            repository,
            work_tree: repository.require_work_tree()?,
            options,
            execution,
            configured,
            unmerged,
            default: default.unwrap_or(if untracked_hidden {
                IgnoreSubmodules::Untracked
            } else {
                IgnoreSubmodules::None
            }),
        })
    }

    /// The same for a working tree of a command other than status.
    pub(crate) fn of_worktree(
        worktree: &'a Worktree<'a>,
        index: &Index,
        options: &'a Options,
    ) -> Result<Self> {
        let (repository, root) = (worktree.repository, &worktree.root);
        Submodules::new(repository, root, index, options, worktree.execution())
    }

    /// Which changes of the submodule at `path` to ignore.
    fn ignored(&self, path: &BStr) -> IgnoreSubmodules {
        if let Some(wish) = self.options.ignore_submodules {
            return wish;
        }
        match self.configured.get(path) {
            Some(Some(wish)) => *wish,
            Some(None) => self.default,
            None if self.unmerged => IgnoreSubmodules::All,
            None => self.default,
        }
    }

    /// Whether no difference of the submodule at `path` is shown, not even its removal.
    pub(super) fn hides(&self, path: &BStr) -> bool {
        self.ignored(path) == IgnoreSubmodules::All
    }

    /// The differences of the submodule at `path` from its expected commit `id`; `None` if there
    /// are none or if it is not populated.
    ///
    /// Fails if it exists but cannot be examined, unless only its commit counts.
    pub(crate) fn state(&self, path: &BStr, id: &ObjectId) -> Result<Option<SubmoduleState>> {
        let ignored = self.ignored(path);
        if ignored == IgnoreSubmodules::All {
            return Ok(None);
        }
        let state = self.inspect(path, id, ignored)?;
        Ok(state.filter(|state| *state != SubmoduleState::default()))
    }

    fn inspect(
        &self,
        path: &BStr,
        id: &ObjectId,
        ignored: IgnoreSubmodules,
    ) -> Result<Option<SubmoduleState>> {
        let directory = self.work_tree.join(OsStr::from_bytes(path));
        let others = self.repository.other_repositories();
        // If only its commit counts, an unknown one counts as unchanged.
        let only_commit = ignored == IgnoreSubmodules::Dirty;
        match others.has_submodule(&directory.join(".git"), &format!("{path}/.git")) {
            Ok(true) => {}
            Err(Error::Setup { .. }) if only_commit => return Ok(None),
            other => {
                other?;
                return Ok(None);
            }
        }
        let environment = self.repository.environment();
        let submodule = if only_commit {
            Repository::open_submodule_for_head(&directory, environment)
        } else {
            Repository::open_submodule(&directory, environment)
        };
        let submodule = match submodule {
            Err(Error::Unsupported { .. }) => {
                let asked = submodules_by_git::state(&directory, id, ignored, self.options);
                return asked.map(Some).map_err(|error| in_submodule(path, error));
            }
            other => other?,
        };
        let head = match submodule.head() {
            Err(Error::Reference { .. }) if only_commit => None,
            other => other?.id(),
        };
        let new_commits = head.is_some_and(|head| head != *id);
        let mut state = SubmoduleState {
            new_commits,
            ..SubmoduleState::default()
        };
        if !only_commit {
            let options = Options {
                untracked: match ignored {
                    IgnoreSubmodules::Untracked => UntrackedFiles::No,
                    _ => shown_untracked(&submodule),
                },
                optional_locks: self.options.optional_locks,
                execution: self.execution.clone(),
                ..Options::default()
            };
            let status = super::status(&submodule, &options);
            let status = status.map_err(|error| in_submodule(path, error))?;
            if let Some(failure) = status.failures.first() {
                let reason = format!("{failure}, in submodule '{path}'");
                return Err(Error::Setup { reason });
            }
            note(&status, &mut state);
        }
        Ok(Some(state))
    }
}

/// Adds the submodule's path to the error; a cancellation is passed on unchanged.
fn in_submodule(path: &BStr, error: Error) -> Error {
    if is_interruption(&error) {
        error
    } else {
        Error::Setup {
            reason: format!("cannot tell the status of submodule '{path}': {error}"),
        }
    }
}

fn is_interruption(error: &Error) -> bool {
    matches!(error, Error::Interrupted)
}

fn shown_untracked(repository: &Repository) -> UntrackedFiles {
    let word = repository.config().string("status.showUntrackedFiles");
    match word.as_ref().map(|word| word.as_slice()) {
        Some(b"no" | b"false" | b"off" | b"0") => UntrackedFiles::No,
        Some(b"all") => UntrackedFiles::All,
        _ => UntrackedFiles::Normal,
    }
}

/// Untracked files in a nested submodule count as untracked; all its other differences count as
/// modifications.
fn note(status: &Status, state: &mut SubmoduleState) {
    state.untracked |= !status.untracked.is_empty();
    for change in &status.changes {
        let inner = change.submodule.unwrap_or_default();
        state.untracked |= inner.untracked;
        let only_untracked = inner
            == SubmoduleState {
                untracked: true,
                ..SubmoduleState::default()
            };
        let conflict = change.conflict.is_some() || change.rename.is_some();
        state.modified |= conflict || !only_untracked;
    }
}

/// Parses the value of a setting or of `--ignore-submodules`.
fn parse(word: &BStr) -> Option<IgnoreSubmodules> {
    Some(match word.as_bytes() {
        b"all" => IgnoreSubmodules::All,
        b"dirty" => IgnoreSubmodules::Dirty,
        b"untracked" => IgnoreSubmodules::Untracked,
        b"none" => IgnoreSubmodules::None,
        _ => return None,
    })
}

type Configured = HashMap<BString, Option<IgnoreSubmodules>>;

/// The submodules that `.gitmodules` names, by path, with the changes to ignore.
fn configured(repository: &Repository, root: &Dir, index: &Index) -> Result<(Configured, bool)> {
    const NAME: &[u8] = b".gitmodules";
    let stage = |stage| index.find(NAME.as_bstr(), stage).is_ok();
    let unmerged = [Stage::Base, Stage::Ours, Stage::Theirs]
        .into_iter()
        .any(stage);
    let mut content = Vec::new();
    match root.open_file(NAME) {
        Ok(file) => file.read_to_end(&mut content, MODULES_LIMIT_BYTES)?,
        Err(_) => {
            if let Ok(row) = index.find(NAME.as_bstr(), Stage::Merged) {
                content = repository.read_object(&index.entries()[row].id)?.1;
            }
        }
    }
    let mut found = HashMap::new();
    if unmerged || content.is_empty() {
        return Ok((found, unmerged));
    }
    let modules = Config::of_file(&content, Path::new(".gitmodules"))?;
    let is_there = |path: &BStr| {
        let row = index.find(path, Stage::Merged);
        row.is_ok_and(|row| index.entries()[row].mode == Mode::Gitlink)
    };
    for name in modules.subsections("submodule") {
        let name = name.as_bstr();
        let Some(path) = modules.string_in("submodule", name, "path") else {
            continue;
        };
        let ignore = match repository.config().string_in("submodule", name, "ignore") {
            // As with git, it matters only where there is a submodule.
            Some(own) if is_there(path.as_bstr()) => Some(ignored_in_submodules(own.as_bstr())?),
            Some(own) => parse(own.as_bstr()),
            None => {
                let word = modules.string_in("submodule", name, "ignore");
                word.and_then(|word| parse(word.as_bstr()))
            }
        };
        found.insert(path, ignore);
    }
    Ok((found, unmerged))
}
