use super::findings::Findings;
use super::severity::{Rule, Severities, Severity};
use crate::error::{Error, Result};
use crate::refusal::Refusal;
use gix_hash::ObjectId;

/// The errors and warnings of one object.
pub(super) struct Reports<'c> {
    id: &'c ObjectId,
    rules: &'c Severities,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl<'c> Reports<'c> {
    pub fn new(id: &'c ObjectId, rules: &'c Severities) -> Self {
        Reports {
            id,
            rules,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Reports that `rule` is broken. Returns whether that is an error.
    pub fn add(&mut self, rule: Rule, words: &str) -> bool {
        let severity = self.rules.of(rule);
        if severity == Severity::Ignore || self.rules.skips(self.id) {
            return false;
        }
        let text = format!("object {}: {}: {words}", self.id, rule.name());
        match severity {
            Severity::Error => self.errors.push(text),
            _ => self.warnings.push(text),
        }
        severity == Severity::Error
    }

    /// Fails with `refusal` if there was an error.
    pub fn end(self, refusal: Refusal, findings: &mut Findings) -> Result<()> {
        if self.errors.is_empty() {
            findings.warnings.extend(self.warnings);
            return Ok(());
        }
        Err(Error::Checked {
            refusal,
            errors: self.errors,
            warnings: self.warnings,
        })
    }
}
