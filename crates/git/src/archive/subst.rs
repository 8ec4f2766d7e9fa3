//! `export-subst`: placeholders in files are replaced by values of the commit. gitattributes(5)
//! under "Creating an archive".

use super::described::Describe;
use super::facts::Facts;
use super::pretty;
use crate::Result;
use bstr::ByteSlice;
use std::collections::BTreeSet;

const START: &[u8] = b"$Format:";

/// `content` with each `$Format:...$` expanded, and the prefixes of placeholders that git would
/// expand and this module does not.
pub(super) fn expand(
    content: &[u8],
    facts: &Facts,
    describe: Describe<'_>,
) -> Result<(Vec<u8>, BTreeSet<&'static str>)> {
    let mut left = BTreeSet::new();
    let mut expanded = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(start) = rest.find(START) {
        let format = rest.get(start + START.len()..).unwrap_or_default();
        let Some(length) = format.find_byte(b'$') else {
            break;
        };
        let (format, after) = format.split_at(length);
        expanded.extend_from_slice(rest.get(..start).unwrap_or_default());
        // To git, the format ends at a NUL.
        let format = format.split(|byte| *byte == 0).next().unwrap_or_default();
        pretty::append(format, facts, describe, &mut expanded, &mut left)?;
        // git also re-encodes everything that it has written of the file so far.
        if let Some(encoded) = facts.encode(&expanded) {
            expanded = encoded;
        }
        rest = after.get(1..).unwrap_or_default();
    }
    expanded.extend_from_slice(rest);
    Ok((expanded, left))
}

/// Whether there is a placeholder in `content`.
pub(super) fn is_needed(content: &[u8]) -> bool {
    content.contains_str(START)
}
