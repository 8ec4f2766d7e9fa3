//! Processing of each object once its content is known: it is hashed, compared with the object of
//! the same id in the repository, and checked.

use super::check::{Checks, Findings};
use super::existing::{Comparison, Existing};
use super::Refusal;
use crate::error::{Error, Result};
use gix_hash::{Hasher, Kind, ObjectId};
use hedgerow_engine::Execution;
use hedgerow_object::{ObjectHeader, ObjectKind};

/// What to do with each object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Examination<'e> {
    pub hash: Kind,
    /// The objects of the repository, if there is one.
    pub existing: Option<&'e Existing<'e>>,
    pub checks: &'e Checks,
    /// The number of threads, the cancellation, and the progress.
    pub execution: &'e Execution,
}

impl Examination<'_> {
    /// Fails if the work was cancelled.
    pub fn go_on(&self) -> Result<()> {
        if self.execution.cancel.is_cancelled() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Examines objects, one after the other.
#[derive(Debug)]
pub(crate) struct Examiner<'e> {
    hash: Kind,
    checks: &'e Checks,
    comparison: Option<Comparison<'e>>,
    /// The findings of the checks.
    pub findings: Findings,
}

impl<'e> Examiner<'e> {
    pub fn new(examination: Examination<'e>) -> Self {
        Examiner {
            hash: examination.hash,
            checks: examination.checks,
            comparison: examination.existing.map(Comparison::new),
            findings: Findings::default(),
        }
    }

    /// Examines an object and returns its id.
    pub fn examine(&mut self, kind: ObjectKind, content: &[u8]) -> Result<ObjectId> {
        let mut hasher = self.start(kind, content.len() as u64);
        hasher.update(content);
        let id = finish(hasher)?;
        if let Some(comparison) = &mut self.comparison {
            comparison.compare(&id, kind, content)?;
        }
        self.checks.check(&id, kind, content, &mut self.findings)?;
        Ok(id)
    }

    /// Starts to hash an object, such as a blob that is too large for memory.
    pub fn start(&self, kind: ObjectKind, size: u64) -> Hasher {
        ObjectHeader { kind, size }.start_hash(self.hash)
    }

    /// Finishes what [`Examiner::start`] started for a blob at `offset`. It is compared with an
    /// existing blob later, in pieces, when the pack is complete.
    pub fn examine_large(&mut self, hasher: Hasher, offset: u64, size: u64) -> Result<ObjectId> {
        let id = finish(hasher)?;
        if let Some(comparison) = &mut self.comparison {
            if comparison.has(&id)? {
                self.findings.large.push((id, offset, size));
            }
        }
        Ok(id)
    }
}

/// The id from the hash.
fn finish(hasher: Hasher) -> Result<ObjectId> {
    hasher.try_finalize().map_err(|_| Refusal::Attack.into())
}
