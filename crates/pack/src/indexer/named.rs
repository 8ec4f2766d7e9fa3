//! Checks blobs because of their names in trees, once all trees are known.

use super::build::Builder;
use super::check::Findings;
use super::conclude::Known;
use super::examine::Examination;
use super::resolve::ResolveInput;
use super::scan::HELD_BYTES;
use super::Refusal;
use crate::{ObjectKind, Reader, Result};
use gix_hash::ObjectId;

/// Checks blobs named `.gitmodules` and `.gitattributes` in trees. Returns the `.gitmodules` blobs
/// that do not exist here: they may arrive otherwise.
pub(crate) fn check(
    ground: ResolveInput<'_>,
    known: &Known,
    examination: Examination<'_>,
    findings: &mut Findings,
) -> Result<Vec<ObjectId>> {
    let mut missing = Vec::new();
    let mut wanted: Vec<(ObjectId, bool)> = Vec::new();
    wanted.extend(findings.modules.iter().map(|id| (*id, true)));
    wanted.extend(findings.attributes.iter().map(|id| (*id, false)));
    wanted.sort_unstable();
    let mut builder = Builder::new(ground);
    let mut reader = ground.store.map(Reader::new);
    for (id, is_modules) in wanted {
        let checks = examination.checks;
        let mut check = |kind: ObjectKind, content: Option<&[u8]>| match kind {
            ObjectKind::Blob => checks.check_named(&id, content, is_modules, findings),
            _ => checks.refuse_other_kind(&id, is_modules, findings),
        };
        if let Some((kind, number)) = known.find(&id) {
            let record = ground.records.get(number as usize);
            // A blob that is too large for memory is passed on as `None`.
            let is_large = record.is_some_and(|record| record.size > HELD_BYTES);
            if kind == ObjectKind::Blob && !is_large {
                check(kind, Some(&builder.rebuild(number)?))?
            } else {
                check(kind, None)?
            }
            continue;
        }
        let (Some(store), Some(reader)) = (ground.store, reader.as_mut()) else {
            return Err(Refusal::NoRepository.into());
        };
        match store.locate(&id)? {
            Some(location) => {
                let (kind, content) = reader.read(&id, location)?;
                check(kind, Some(content))?;
            }
            None if is_modules => missing.push(id),
            None => {}
        }
    }
    Ok(missing)
}
