//! The checks of git-fsck for objects, and the data for checking that no object is missing.

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

/// Which checks to make.
#[derive(Clone, Debug)]
pub(crate) struct Checks {
    pub hash: Kind,
    /// Whether to apply the rules of git-fsck, and with which severities.
    pub rules: Option<Severities>,
    /// Whether all referenced objects must exist.
    pub links: bool,
}

/// The findings for some objects. Checks that need other objects are postponed until all objects
/// are known.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Broken rules that are only warnings.
    pub warnings: Vec<String>,
    /// The referenced objects, with their expected kinds if known.
    pub links: HashMap<ObjectId, Option<ObjectKind>>,
    /// Large blobs that the repository has: id, offset of the entry, size.
    pub large: Vec<(ObjectId, u64, u64)>,
    /// Blobs named `.gitmodules` in a tree.
    pub modules: HashSet<ObjectId>,
    /// Blobs named `.gitattributes` in a tree.
    pub attributes: HashSet<ObjectId>,
    /// The first object that was referenced as two kinds.
    pub mismatch: Option<ObjectId>,
}

impl Findings {
    /// Adds the findings for other objects.
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

    /// Records a reference to `id`, as a `kind` if that is known.
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
    /// Checks an object. The error says why it is refused.
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
            links::collect(kind, content, self.hash, findings)
                .ok_or(Error::Refused(Refusal::Invalid(kind)))?;
        }
        Ok(())
    }

    /// Checks a blob named `.gitmodules` (`modules`) or `.gitattributes` in a tree; `None` is a
    /// blob that is too large for memory.
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

    /// Reports an object that a tree names like this but that is not a blob.
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
