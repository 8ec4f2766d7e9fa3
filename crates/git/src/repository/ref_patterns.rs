//! References by patterns: the options `--glob`, `--branches=`, `--exclude=` of git-rev-list(1).

use super::{Reference, Repository};
use crate::Result;
use bstr::{BStr, BString};

impl Repository {
    /// The references to follow whose full names fit `pattern`, by name. A pattern is below `refs/` if it
    /// does not say so; one without a wildcard stands for all that is below it.
    pub fn references_like(&self, pattern: &BStr) -> Result<Vec<Reference>> {
        let mut full = BString::default();
        if !pattern.starts_with(b"refs/") {
            full.extend_from_slice(b"refs/");
        }
        full.extend_from_slice(pattern);
        if !pattern.iter().any(|byte| b"*?[".contains(byte)) {
            if !full.ends_with(b"/") {
                full.push(b'/');
            }
            full.push(b'*');
        }
        let mut found = self.references_to_follow("refs/".into())?;
        found.retain(|reference| fits(full.as_ref(), reference.name.as_ref()));
        Ok(found)
    }
}

/// Whether `name` fits `pattern`, whose `*` fits slashes too.
pub fn fits(pattern: &BStr, name: &BStr) -> bool {
    gix_glob::wildmatch(pattern, name, gix_glob::wildmatch::Mode::empty())
}
