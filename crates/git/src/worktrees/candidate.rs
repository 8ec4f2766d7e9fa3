//! Where a working tree may be put.

use super::links::is_there;
use super::list::{at_path, WorkingTree};
use super::words::GivenPath;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BString;

/// Refuses a place that is taken, or that a missing working tree is registered for. Returns the
/// administrative directory that goes away because `force` gives up that working tree.
pub(crate) fn check_place(
    place: &GivenPath,
    trees: &[WorkingTree],
    force: u8,
    command: &str,
) -> Result<Option<BString>> {
    let refused = |reason: String| Err(Error::Setup { reason });
    let shown = &place.shown;
    if is_there(&place.path) && !is_empty_directory(place)? {
        return refused(format!("'{shown}' already exists"));
    }
    let Some(tree) = at_path(trees, &place.path) else {
        return Ok(None);
    };
    let Some(id) = &tree.id else {
        return Ok(None);
    };
    let is_locked = tree.lock_reason()?.is_some();
    if force > 1 || force == 1 && !is_locked {
        return Ok(Some(id.clone()));
    }
    if is_locked {
        refused(format!(
            "'{shown}' is a missing but locked worktree;\nuse '{command} -f -f' to override, or \
             'unlock' and 'prune' or 'remove' to clear"
        ))
    } else {
        refused(format!(
            "'{shown}' is a missing but already registered worktree;\nuse '{command} -f' to \
             override, or 'prune' or 'remove' to clear"
        ))
    }
}

/// Gives up the administrative directory `id` that [`check_place`] returned.
pub(crate) fn give_up(repository: &Repository, place: &GivenPath, id: &BString) -> Result<()> {
    let admin = repository.admin_dir(id.as_ref());
    super::tree_removal::remove_tree(&admin).map_err(|_| Error::Setup {
        reason: format!("unusable worktree destination '{}'", place.shown),
    })
}

fn is_empty_directory(place: &GivenPath) -> Result<bool> {
    if !hedgerow_fs::is_directory(&place.path) {
        return Ok(false);
    }
    let entries = hedgerow_fs::list_directory(&place.path)?;
    Ok(entries.is_none_or(|entries| entries.is_empty()))
}
