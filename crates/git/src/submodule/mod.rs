//! Submodules of a working tree: git-submodule(1).

mod init;
mod modules;
mod place;
mod status;
mod transport;
mod update;
pub(crate) mod url;

pub use init::{init_submodules, Registered};
pub(crate) use modules::{Modules, FILE};
pub(crate) use place::{
    absorb, absorb_inner, connect, disconnect, git_dir_of, opened, stand_alone, unabsorbable,
    Linked,
};
pub use status::{submodule_status, SubmoduleLine, SubmoduleStates, SubmoduleStatusOptions};
pub use transport::Transport;
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
use hedgerow_engine::{run_ordered, Execution, Jobs, Window};
use std::num::NonZeroUsize;

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
    let mut done = Vec::new();
    in_order(execution, items, work, |_, result| {
        done.push(result);
        Ok(())
    })?;
    Ok(done)
}

/// Does `work` for each of `items`, several at a time, and gives the results to `take`, in their order.
pub(crate) fn in_order<I: Sync, T: Send>(
    execution: &Execution,
    items: &[I],
    work: impl Fn(&I) -> Result<T> + Sync,
    mut take: impl FnMut(&I, T) -> Result<()>,
) -> Result<()> {
    let mut options = execution.options("submodules");
    if items.len() < 2 {
        options.jobs = Jobs::Fixed(NonZeroUsize::MIN);
    }
    let source = items.iter().map(|item| Ok((item, 0)));
    let window = Window { bytes: u64::MAX };
    let run = |_: &mut (), item| Ok((item, work(item)?));
    let commit = |_, (item, result)| take(item, result);
    run_ordered(&options, window, source, |_| (), run, commit)?;
    Ok(())
}

/// With few submodules, they share the workers that were asked for; with many, each has one. Otherwise
/// each has as many as it is measured to need.
pub(crate) fn shared(execution: &Execution, tasks: usize) -> Execution {
    match execution.jobs {
        Jobs::Fixed(workers) if tasks > 1 => {
            let each = NonZeroUsize::new(workers.get() / tasks).unwrap_or(NonZeroUsize::MIN);
            execution.with_jobs(Jobs::Fixed(each))
        }
        _ => execution.clone(),
    }
}
