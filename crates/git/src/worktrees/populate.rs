//! Filling a new working tree: what `git reset --hard` does there.

use crate::checkout::{
    reset, Done, ResetMode, ResetOptions, ResetOutcome, ResetRequest, ResetTarget,
};
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_engine::Execution;

/// Checks out the `HEAD` of the new working tree of `repository`: files, index, `ORIG_HEAD`, log.
pub(crate) fn populate(
    repository: &Repository,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<Done> {
    populate_from(repository, false, threshold, execution)
}

/// The same where the files and the index of another tree are there, which nobody has touched.
pub(crate) fn populate_fresh(
    repository: &Repository,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<Done> {
    populate_from(repository, true, threshold, execution)
}

fn populate_from(
    repository: &Repository,
    trusts_index: bool,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<Done> {
    let request = ResetRequest {
        revision: "HEAD".into(),
        target: match repository.head()?.id() {
            Some(commit) => ResetTarget::Commit(commit),
            None => ResetTarget::Unborn,
        },
    };
    let options = ResetOptions {
        mode: ResetMode::Hard,
        trusts_index,
        threshold,
        execution: execution.clone(),
        ..ResetOptions::default()
    };
    match reset(repository, &request, &options)? {
        ResetOutcome::Done(reset) => match reset.head_failure {
            Some(error) => Err(error),
            None => Ok(reset.done),
        },
        ResetOutcome::Incomplete(done) => Err(done.ended_by(not_reset())),
        // Nothing is in the way in an empty directory, unless somebody puts it there.
        ResetOutcome::Rejected(_) | ResetOutcome::NoHead => Err(not_reset()),
    }
}

pub(crate) fn not_reset() -> Error {
    Error::Setup {
        reason: "Could not reset index file to revision 'HEAD'.".into(),
    }
}
