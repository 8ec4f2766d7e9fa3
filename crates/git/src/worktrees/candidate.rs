//! Where a working tree may be put.

use super::links::is_there;
use super::list::{at_path, WorkingTree};
use super::mounted::{
    changes, hold, layers_of, lock_half_made, refuse_within_unmounted, remove_held,
};
use super::words::GivenPath;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BString;
use hedgerow_mounts::lost_trees;

/// Refuses a place that is taken, or that a missing working tree is registered for. Returns the
/// administrative directory that goes away because `force` gives up that working tree, or because it was
/// only half made. One with changes is not given up.
pub(crate) fn check_place(
    repository: &Repository,
    place: &GivenPath,
    trees: &[WorkingTree],
    force: u8,
    command: &str,
) -> Result<Option<BString>> {
    let refused = |reason: String| Err(Error::Setup { reason });
    let shown = &place.shown;
    if let Ok(top) = hedgerow_fs::real_path(&place.path) {
        if lost_trees()?.iter().any(|lost| lost.top == top) {
            return refused(format!(
                "'{shown}' is a mount whose working tree is gone; 'hedgerow worktree prune' removes it"
            ));
        }
    }
    if is_there(&place.path) && !is_empty_directory(place)? {
        return refused(format!("'{shown}' already exists"));
    }
    refuse_within_unmounted(&place.path, shown.as_ref())?;
    let Some(tree) = at_path(trees, &place.path) else {
        return Ok(None);
    };
    let Some(id) = &tree.id else {
        return Ok(None);
    };
    if lock_half_made(repository, id.as_ref())?.is_some() {
        return Ok(Some(id.clone()));
    }
    if let Some(upper) = changes(repository, id.as_ref())? {
        return refused(format!(
            "'{shown}' is the place of a working tree that is not mounted, whose changes are in '{}';\n\
             'hedgerow worktree mount' brings them back, 'hedgerow worktree remove --force' deletes \
             them",
            upper.display()
        ));
    }
    if force < 2 && layers_of(&tree.git_dir)?.is_some() {
        return refused(format!(
            "'{shown}' is the place of a working tree that is not mounted;\n'hedgerow worktree mount' \
             brings it back, 'hedgerow worktree remove --force' deletes it"
        ));
    }
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
    let half_made = lock_half_made(repository, id.as_ref())?;
    let tree = repository.linked_worktree(id.as_ref())?;
    let held = tree
        .map(|tree| hold(repository, &tree))
        .transpose()?
        .flatten();
    if let (Some(held), None) = (&held, &half_made) {
        if held.layers.has_changes()? {
            return Err(Error::Setup {
                reason: format!("'{}' has changes", held.layers.upper().display()),
            });
        }
        return remove_held(repository, held)
            .and_then(|()| super::tree_removal::remove_tree(&admin));
    }
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
