//! What is done with each object once its content is known: hashed, compared with the one the
//! repository has, and checked.

use super::check::{Checks, Findings};
use super::existing::{Comparison, Existing};
use super::Refusal;
use crate::error::{Error, Result};
use gix_hash::{Hasher, Kind, ObjectId};
use hedgerow_engine::Execution;
use hedgerow_object::{ObjectHeader, ObjectKind};

/// What is to be done with each object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Examination<'e> {
    pub hash: Kind,
    /// The repository, if there is one.
    pub existing: Option<&'e Existing<'e>>,
    pub checks: &'e Checks,
    /// By how many threads, until when, and where it is counted.
    pub execution: &'e Execution,
}

impl Examination<'_> {
    /// Ends the work where that is asked for.
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
    /// What the checks found.
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

    /// Starts to hash a blob that is too large to hold, or anything else.
    pub fn start(&self, kind: ObjectKind, size: u64) -> Hasher {
        ObjectHeader { kind, size }.start_hash(self.hash)
    }

    /// Ends what [`Examiner::start`] started for a blob at `offset`. What it is compared with is
    /// streamed later, when the pack is whole.
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

/// The id of what was hashed.
fn finish(hasher: Hasher) -> Result<ObjectId> {
    hasher.try_finalize().map_err(|_| Refusal::Attack.into())
}
