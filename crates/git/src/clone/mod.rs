//! The part of git-clone(1) that is not receiving: the first checkout.
//!
//! Git receives into a repository without a checkout, so that credentials, proxies, protocols,
//! references and configuration are as ever; hedgerow indexes the pack meanwhile. [`check_out`] does
//! what git does next: files and index are written as by `read-tree -m -u HEAD`, with one request for
//! what a partial clone lacks, and the post-checkout hook runs.

mod bundles;
mod directory;
mod place;

pub use bundles::{remove_unused_bundles, BundleHelper, BUNDLE_PROGRAM, BUNDLE_RECORD};
pub use place::Place;

use crate::checkout::{read_tree, ReadTreeMode, ReadTreeOptions, ReadTreeOutcome};
use crate::refs::Head;
use crate::repository::Repository;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::Exit;

/// What `HEAD` of a new clone says, and its commit; `None` if it has none. The server chooses what it points
/// to: what cannot be the name of a branch is a branch that is not there, as for git.
///
/// # Errors
/// It cannot be read.
pub fn head_of_clone(repository: &Repository) -> Result<Option<(Head, ObjectId)>> {
    match repository.head() {
        Ok(head) => Ok(head.id().map(|id| (head, id))),
        Err(Error::Reference { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether `HEAD` of a new clone names a branch that the remote does not have, although it has others.
///
/// # Errors
/// Its references cannot be read.
pub fn has_lost_head(repository: &Repository) -> Result<bool> {
    let is_unborn = head_of_clone(repository)?.is_none();
    Ok(is_unborn && !repository.all_references()?.is_empty())
}

/// Writes files and index of `commit` in a clone that has neither. Submodules get their directories.
///
/// # Errors
/// Nothing was written if what is missing cannot be fetched.
pub fn check_out(
    repository: &Repository,
    commit: ObjectId,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<ReadTreeOutcome> {
    let tree = repository.tree_of(&commit)?;
    let tree = tree.ok_or_else(|| Error::Setup {
        reason: format!("unable to parse commit {commit}"),
    })?;
    let branch = repository.head()?.branch().map(ToOwned::to_owned);
    let options = ReadTreeOptions {
        trees: vec![tree],
        mode: ReadTreeMode::Merge,
        update: true,
        // A template may have brought one.
        anew: true,
        recurse_submodules: Some(false),
        source: (branch, Some(commit)),
        threshold,
        execution: execution.clone(),
        ..ReadTreeOptions::default()
    };
    read_tree(repository, &options)
}

/// Runs the post-checkout hook of a new clone, and returns how it ended if that is a failure.
///
/// # Errors
/// It cannot be run.
pub fn run_hook(repository: &Repository, commit: ObjectId) -> Result<Option<Exit>> {
    let exit = repository.run_post_checkout_of_clone(&commit)?;
    Ok(exit.filter(|exit| *exit != Exit::Status(0)))
}
