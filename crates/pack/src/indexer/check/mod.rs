//! What git-fsck checks of an object, and what it takes to know that nothing is missing.

mod attributes;
mod commit;
mod identity;
mod links;
mod modules;
mod report;
mod severity;
mod severity_words;
mod tag;
mod tree;

pub use severity::{Severities, Severity};

use super::Refusal;
use crate::{Error, ObjectKind, Result};
use gix_hash::{Kind, ObjectId};
use report::Reports;
use severity::Rule;
use std::collections::{HashMap, HashSet};

/// Which checks are made.
#[derive(Clone, Debug)]
pub(crate) struct Checks {
    pub hash: Kind,
    /// Whether objects are as git-fsck wants them, and how bad it is if not.
    pub rules: Option<Severities>,
    /// Whether everything that is referred to must be there.
    pub links: bool,
}

/// What the checks of some objects found. Where an object was not refused, it is told or asked
/// for when all objects are known.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Broken rules that are no more than a warning.
    pub warnings: Vec<String>,
    /// What objects refer to, and as what.
    pub links: HashMap<ObjectId, Option<ObjectKind>>,
    /// Large blobs that the repository has: id, offset of the entry, size.
    pub large: Vec<(ObjectId, u64, u64)>,
    /// Blobs that a tree calls `.gitmodules`.
    pub modules: HashSet<ObjectId>,
    /// Blobs that a tree calls `.gitattributes`.
    pub attributes: HashSet<ObjectId>,
    /// The first object that was referred to as two kinds.
    pub mismatch: Option<ObjectId>,
}

impl Findings {
    /// Adds those of other objects.
    pub fn append(&mut self, other: Findings) {
        self.warnings.extend(other.warnings);
        self.large.extend(other.large);
        self.modules.extend(other.modules);
        self.attributes.extend(other.attributes);
        self.mismatch = self.mismatch.or(other.mismatch);
        if self.links.is_empty() {
            self.links = other.links;
            return;
        }
        for (id, kind) in other.links {
            self.link(id, kind);
        }
    }

    /// Notes that something refers to `id`, as a `kind` if that is known.
    pub(crate) fn link(&mut self, id: ObjectId, kind: Option<ObjectKind>) {
        let known = self.links.entry(id).or_insert(kind);
        match (*known, kind) {
            (None, kind) => *known = kind,
            (Some(known), Some(kind)) if known != kind => {
                self.mismatch.get_or_insert(id);
            }
            _ => {}
        }
    }
}

impl Checks {
    /// Checks an object. What is refused is an error that tells what is wrong.
    pub fn check(
        &self,
        id: &ObjectId,
        kind: ObjectKind,
        content: &[u8],
        findings: &mut Findings,
    ) -> Result<()> {
        if let Some(rules) = &self.rules {
            let mut reports = Reports::new(id, rules);
            match kind {
                ObjectKind::Commit => commit::check(content, self.hash, &mut reports),
                ObjectKind::Tree => tree::check(content, self.hash, &mut reports, findings),
                ObjectKind::Tag => tag::check(content, self.hash, &mut reports),
                ObjectKind::Blob => {}
            }
            reports.end(Refusal::Check, findings)?;
        }
        if self.links && kind != ObjectKind::Blob {
            links::collect(id, kind, content, findings)
                .ok_or(Error::Refused(Refusal::Invalid(kind)))?;
        }
        Ok(())
    }

    /// Checks a blob that a tree calls `.gitmodules` (`modules`) or `.gitattributes`; `None` is one
    /// that is too large to hold.
    pub fn check_named(
        &self,
        id: &ObjectId,
        content: Option<&[u8]>,
        modules: bool,
        findings: &mut Findings,
    ) -> Result<()> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let mut reports = Reports::new(id, rules);
        if modules {
            modules::check(content, &mut reports)
        } else {
            attributes::check(content, &mut reports)
        }
        reports.end(Refusal::QueuedCheck, findings)
    }

    /// Tells of an object that a tree calls so but that is no blob.
    pub fn refuse_other_kind(
        &self,
        id: &ObjectId,
        modules: bool,
        findings: &mut Findings,
    ) -> Result<()> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let mut reports = Reports::new(id, rules);
        if modules {
            reports.add(Rule::GitmodulesBlob, "non-blob found at .gitmodules")
        } else {
            reports.add(Rule::GitattributesBlob, "non-blob found at .gitattributes")
        };
        reports.end(Refusal::QueuedCheck, findings)
    }
}
