//! The checks of git-fsck for objects, and the data for checking that no object is missing.

mod commit;
mod findings;
mod identity;
mod links;
mod modules;
mod report;
mod severity;
mod severity_words;
mod tag;
mod tree;

pub(crate) use findings::Findings;
pub use severity::{Severities, Severity};

use super::{Grafted, NotPromised, Refusal};
use crate::error::{Error, Result};
use gix_hash::{Kind, ObjectId};
use hedgerow_object::ObjectKind;
use report::Reports;
use severity::Rule;

/// Upper size limit of a file of attributes, in bytes: git reads no larger one.
const ATTRIBUTES_BYTES: usize = 100 << 20;
/// Upper length limit of a line of attributes, in bytes.
const ATTRIBUTES_LINE_BYTES: usize = 2048;

/// Which checks to make.
#[derive(Clone, Debug)]
pub(crate) struct Checks {
    pub hash: Kind,
    /// Whether to apply the rules of git-fsck, and with which severities.
    pub rules: Option<Severities>,
    /// Whether all referenced objects must exist.
    pub links: bool,
    /// Whether what commits and tags refer to must be of the kind that they say.
    pub kinds: bool,
    /// The parents that count instead of those that commits name.
    pub grafts: Grafted,
    /// Which missing objects break the rules; without it, all do.
    pub not_promised: Option<NotPromised>,
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
        let is_collected = match kind {
            ObjectKind::Commit | ObjectKind::Tag => self.kinds,
            ObjectKind::Tree => self.links,
            ObjectKind::Blob => false,
        };
        if is_collected {
            links::collect(id, kind, content, &self.grafts, findings)
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
            check_attributes(content, &mut reports)
        }
        reports.end(Refusal::QueuedCheck, findings)
    }

    /// Reports what a tree calls `.gitattributes` and is not there.
    pub fn refuse_missing_attributes(&self, id: &ObjectId, findings: &mut Findings) -> Result<()> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let mut reports = Reports::new(id, rules);
        let words = "unable to read .gitattributes blob";
        reports.add(Rule::GitattributesMissing, words);
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

/// Checks a file of attributes.
fn check_attributes(content: Option<&[u8]>, reports: &mut Reports<'_>) {
    let Some(content) = content.filter(|content| content.len() <= ATTRIBUTES_BYTES) else {
        reports.add(
            Rule::GitattributesLarge,
            ".gitattributes too large to parse",
        );
        return;
    };
    let text = content.split(|byte| *byte == 0).next().unwrap_or_default();
    if text
        .split(|byte| *byte == b'\n')
        .any(|line| line.len() >= ATTRIBUTES_LINE_BYTES)
    {
        let words = ".gitattributes has too long lines to parse";
        reports.add(Rule::GitattributesLineLength, words);
    }
}
