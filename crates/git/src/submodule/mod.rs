//! Submodules of a working tree: git-submodule(1), as far as nothing has to be cloned or fetched.

mod init;
mod modules;
mod place;
mod status;
mod update;
mod url;

pub use init::{init_submodules, Registered};
pub(crate) use modules::{Modules, FILE};
pub(crate) use place::{
    absorb, connect, disconnect, git_dir_of, opened, stand_alone, unabsorbable, Linked,
};
pub use status::{submodule_status, SubmoduleLine, SubmoduleStates, SubmoduleStatusOptions};
pub(crate) use update::not_here;
pub use update::{update_submodules, SubmoduleUpdateOptions, UpdateEvent, UpdateFailure};

use crate::display::relative;
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::{check_paths, name_rules};
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_engine::{run_tasks, Execution, Jobs, Scope};
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// Submodules in submodules are entered so deep.
pub(crate) const DEPTH_LIMIT: usize = 64;

/// A submodule as the index has it.
#[derive(Clone, Debug)]
struct Listed {
    path: BString,
    id: ObjectId,
    is_unmerged: bool,
}

/// The submodules that `pathspecs` select, or all of them.
///
/// # Errors
/// [`Error::Unmatched`] if a pathspec matches nothing in the index.
fn listed(repository: &Repository, index: &Index, pathspecs: &[BString]) -> Result<Vec<Listed>> {
    let mut specs = Pathspecs::new(repository, pathspecs)?;
    let mut found: Vec<Listed> = Vec::new();
    for entry in index.entries() {
        let path = index.path(entry);
        let is_new = found.last().is_none_or(|last| last.path != path);
        if specs.matches(path, entry.mode) && entry.mode == Mode::Gitlink && is_new {
            found.push(Listed {
                path: path.to_owned(),
                id: entry.id,
                is_unmerged: entry.flags.stage != Stage::Merged,
            });
        }
    }
    let unmatched = specs.unmatched();
    if pathspecs.is_empty() || unmatched.is_empty() {
        return Ok(found);
    }
    let lines = unmatched
        .iter()
        .map(|spec| format!("pathspec '{spec}' did not match any file(s) known to git"));
    Err(Error::Unmatched {
        reasons: lines.collect(),
    })
}

pub(crate) fn read_index(repository: &Repository) -> Result<Index> {
    let Some((index, _)) = repository.load_index()? else {
        return Ok(Index::empty(repository.hash_kind()));
    };
    check_paths(&index, name_rules(repository))?;
    Ok(index)
}

/// How a submodule is named: relative to the user's current directory, or below `above`, what the
/// submodule around it is named, with a slash.
fn displayed(repository: &Repository, above: &BStr, path: &BStr) -> BString {
    if !above.is_empty() {
        let named: [&[u8]; 2] = [above, path];
        return named.concat().into();
    }
    relative(path, repository.prefix()).into()
}

/// The results of `work` for each of `items`, in their order; several at a time.
pub(crate) fn in_parallel<I: Sync, T: Send>(
    execution: &Execution,
    items: &[I],
    work: impl Fn(&I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let done: Mutex<Vec<(usize, T)>> = Mutex::default();
    let poisoned = || Error::Internal {
        reason: "a lock was poisoned".into(),
    };
    let run = |_: &mut (), at: usize, _: &Scope<'_, usize>| {
        let result = work(&items[at])?;
        done.lock().map_err(|_| poisoned())?.push((at, result));
        Ok(())
    };
    let tasks = (0..items.len()).collect();
    run_tasks(&execution.options("submodules"), tasks, |_| (), run).map_err(Error::from)?;
    let mut done = done.into_inner().map_err(|_| poisoned())?;
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// With many submodules, one worker in each; with few, they share the workers.
pub(crate) fn shared(execution: &Execution, tasks: usize) -> Execution {
    let workers = execution.threads().get();
    match NonZeroUsize::new(workers / tasks.max(1)) {
        _ if tasks <= 1 => execution.clone(),
        Some(each) => execution.with_jobs(Jobs::Fixed(each)),
        None => execution.with_jobs(Jobs::Fixed(NonZeroUsize::MIN)),
    }
}
