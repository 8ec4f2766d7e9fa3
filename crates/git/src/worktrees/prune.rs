//! Removing the administrative directories of working trees that are gone.

use super::links::is_there;
use super::list::WorkingTree;
use super::mounted::{changes, hold, lock_half_made, release_image, release_unused, remove_held};
use super::tree_removal::remove_tree;
use super::words::real_as_far_as_it_goes;
use crate::dates::Expiry;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const LINE_LIMIT_BYTES: u64 = 64 << 10;

/// An administrative directory that is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Its name.
    pub id: BString,
    /// Why, in git's words.
    pub reason: String,
    /// It stays because these changes of a mounted working tree are in it.
    pub kept: Option<PathBuf>,
}

/// Whether an administrative directory is of use.
enum Use {
    /// No.
    None(String),
    /// It may be, wherever the working tree is.
    Unknown,
    /// It names this `.git` file.
    Of(PathBuf),
}

/// Removes the administrative directories of working trees that are gone for longer than `expiry`
/// says, and of all but one that name the same place. `visit` is shown each before it goes; with
/// `dry_run` none goes.
///
/// # Errors
/// One that cannot be removed; the others are.
pub fn prune(
    repository: &Repository,
    expiry: Expiry,
    dry_run: bool,
    visit: &mut dyn FnMut(&Pruned),
) -> Result<()> {
    let linked = repository.common_dir().join("worktrees");
    let Some(entries) = hedgerow_fs::list_directory(&linked)? else {
        return prune_lost(repository, dry_run, visit);
    };
    let mut failure = None;
    let mut prune = |id: &BStr, reason: String| {
        let mut outcome = prune_admin(repository, id, reason, dry_run, visit);
        failure = failure.take().or(outcome.take());
    };
    let mut kept: Vec<(PathBuf, Option<BString>)> = Vec::new();
    for entry in entries {
        let id = entry.name.as_bstr();
        match use_of(repository, id, expiry)? {
            Use::None(reason) => prune(id, reason),
            Use::Of(place) => kept.push((place, Some(id.to_owned()))),
            Use::Unknown => {}
        }
    }
    kept.push((repository.common_dir().to_owned(), None));
    // The main working tree comes first among those of a place, then the names in their order.
    kept.sort();
    for pair in kept.windows(2) {
        if let ([(first, _), (second, Some(id))], true) = (pair, pair[0].0 == pair[1].0) {
            debug_assert_eq!(first, second);
            prune(id.as_ref(), "duplicate entry".into());
        }
    }
    if !dry_run {
        remove_worktrees_if_empty(repository);
    }
    failure.map_or(Ok(()), Err)?;
    prune_lost(repository, dry_run, visit)
}

/// Removes the administrative directory `id` unless changes are in it; returns why that failed.
fn prune_admin(
    repository: &Repository,
    id: &BStr,
    reason: String,
    dry_run: bool,
    visit: &mut dyn FnMut(&Pruned),
) -> Option<Error> {
    let prune = || {
        let _half_made = lock_half_made(repository, id)?;
        // What has lost its links is no working tree, and nobody mounts it.
        let tree = repository.linked_worktree(id).ok().flatten();
        let held = tree.map(|tree| hold(repository, &tree)).transpose()?;
        let pruned = Pruned {
            id: id.to_owned(),
            reason,
            kept: changes(repository, id)?,
        };
        visit(&pruned);
        if dry_run || pruned.kept.is_some() {
            return Ok(());
        }
        if let Some(held) = held.flatten() {
            remove_held(repository, &held)?;
        }
        remove_admin(repository, id)
    };
    prune().err()
}

/// Removes mounts of working trees of this repository whose administrative directories were deleted.
fn prune_lost(
    repository: &Repository,
    dry_run: bool,
    visit: &mut dyn FnMut(&Pruned),
) -> Result<()> {
    let linked = hedgerow_fs::real_path(repository.common_dir())?.join("worktrees");
    for lost in hedgerow_mounts::lost_trees()? {
        let admin = lost.directory.parent().unwrap_or(&lost.directory);
        if admin.parent() != Some(&linked) {
            continue;
        }
        let name = admin.file_name().unwrap_or_default();
        visit(&Pruned {
            id: name.as_bytes().into(),
            reason: format!("'{}' is mounted without it", lost.top.display()),
            kept: None,
        });
        if !dry_run {
            lost.remove()?;
            release_image(repository, &lost.image);
        }
    }
    if !dry_run {
        release_unused(repository);
    }
    Ok(())
}

/// Removes the administrative directory `id`.
pub(crate) fn remove_admin(repository: &Repository, id: &BStr) -> Result<()> {
    let admin = repository.admin_dir(id);
    remove_tree(&admin).map_err(|error| Error::Setup {
        reason: format!("failed to delete '{}': {}", admin.display(), words(&error)),
    })
}

/// The reason of the system, if there is one.
pub(crate) fn words(error: &Error) -> String {
    match error {
        Error::Fs(error) => error.reason(),
        error => error.to_string(),
    }
}

/// Removes `worktrees` if it is empty.
pub(crate) fn remove_worktrees_if_empty(repository: &Repository) {
    // One that is not empty stays.
    let _ = hedgerow_fs::remove_directory(&repository.common_dir().join("worktrees"));
}

impl WorkingTree {
    /// Why it would be pruned, if it would.
    ///
    /// # Errors
    /// If its administrative directory cannot be read.
    pub fn prune_reason(&self, repository: &Repository, expiry: Expiry) -> Result<Option<String>> {
        let Some(id) = &self.id else {
            return Ok(None);
        };
        Ok(match use_of(repository, id.as_ref(), expiry)? {
            Use::None(_) if changes(repository, id.as_ref())?.is_some() => None,
            Use::None(reason) => Some(reason),
            _ => None,
        })
    }
}

fn use_of(repository: &Repository, id: &BStr, expiry: Expiry) -> Result<Use> {
    let admin = repository.admin_dir(id);
    let none = |reason: &str| Ok(Use::None(reason.to_owned()));
    if !hedgerow_fs::is_directory(&admin) {
        return none("not a valid directory");
    }
    if lock_half_made(repository, id)?.is_some() {
        return none("an 'add' or 'remove' of it was stopped");
    }
    if is_there(&admin.join("locked")) {
        return Ok(Use::Unknown);
    }
    let line = match hedgerow_fs::read_file(&admin.join("gitdir"), LINE_LIMIT_BYTES) {
        Ok(Some(line)) => line,
        Ok(None) => return none("gitdir file does not exist"),
        Err(error) => {
            let reason = error.reason();
            return none(&format!("unable to read gitdir file ({reason})"));
        }
    };
    let line = line.trim_end_with(|character| matches!(character, '\n' | '\r'));
    if line.is_empty() {
        return none("invalid gitdir file");
    }
    let mut place = PathBuf::from(OsStr::from_bytes(line));
    if !place.is_absolute() {
        place = real_as_far_as_it_goes(&hedgerow_fs::real_path(&admin)?.join(place));
    }
    if !is_there(&place) {
        let index = hedgerow_fs::stat(&admin.join("index"))?;
        let has_expired = |seconds: i64| match expiry {
            Expiry::Never => false,
            Expiry::Now => true,
            Expiry::Before(time) => seconds <= time,
        };
        if index.is_none_or(|stat| has_expired(stat.mtime.seconds)) {
            return none("gitdir file points to non-existent location");
        }
    }
    Ok(Use::Of(place))
}
