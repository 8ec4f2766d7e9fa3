//! Checks that wait until all objects of the pack are known: large blobs against those of the
//! repository, links between objects, and blobs that matter because of the names trees give them.

use super::build::Builder;
use super::check::Findings;
use super::examine::Examination;
use super::existing::Comparison;
use super::record::{Form, Record};
use super::resolve_input::{input, ResolveInput, Resolved};
use super::scan::HELD_BYTES;
use super::{IndexOptions, Refusal};
use crate::database::store::ObjectStore;
use crate::error::{Error, Result};
use crate::read::reader::Reader;
use gix_hash::ObjectId;
use hedgerow_codec::StreamInflater;
use hedgerow_object::ObjectKind;

/// The objects of the pack by their ids.
pub(crate) struct Known {
    /// In order of ids, if anything is to be looked up.
    list: Vec<(ObjectId, ObjectKind, u32)>,
}

impl Known {
    /// Fills in what was resolved.
    pub fn new(records: &mut [Record], resolved: &[Resolved], options: &IndexOptions<'_>) -> Self {
        let is_needed = options.checks_kinds();
        let mut list = Vec::new();
        if is_needed {
            list.extend(
                records
                    .iter()
                    .zip(0..)
                    .filter_map(|(record, number)| match record.form {
                        Form::Whole(kind) => Some((record.id, kind, number)),
                        _ => None,
                    }),
            );
        }
        for done in resolved {
            let record = records.get_mut(done.number as usize);
            record.expect("what was resolved is an entry").id = done.id;
            if is_needed {
                list.push((done.id, done.kind, done.number));
            }
        }
        list.sort_unstable_by_key(|(id, _, number)| (*id, *number));
        Known { list }
    }

    /// The kind and number of an object of the pack.
    pub fn find(&self, id: &ObjectId) -> Option<(ObjectKind, u32)> {
        let at = self.list.partition_point(|(known, _, _)| known < id);
        let (known, kind, number) = self.list.get(at)?;
        (known == id).then_some((*kind, *number))
    }

    /// Refuses a pack whose objects refer to an object of the pack as another kind than it is, or to any as two
    /// kinds.
    pub fn check_kinds(&self, findings: &Findings) -> Result<()> {
        let is_other = |(id, wanted): (&ObjectId, &Option<ObjectKind>)| {
            let (kind, _) = self.find(id)?;
            wanted.filter(|wanted| *wanted != kind).map(|_| *id)
        };
        let other = findings.links.iter().find_map(is_other);
        match findings.mismatch.or(other) {
            Some(id) => Err(Refusal::KindMismatch(id).into()),
            None => Ok(()),
        }
    }

    /// Refuses a pack whose objects refer to what is nowhere, or to other kinds than the repository has.
    /// Returns whether they refer to objects that only the repository has.
    pub fn has_outside(&self, findings: &Findings, store: Option<&ObjectStore>) -> Result<bool> {
        let links = findings.links.iter().map(|(id, wanted)| (*id, *wanted));
        let mut missing: Vec<_> = links.filter(|(id, _)| self.find(id).is_none()).collect();
        missing.sort_unstable_by_key(|(id, _)| *id);
        let mut reader = store.map(Reader::new);
        for (id, wanted) in &missing {
            let found = existing_kind(*id, reader.as_mut(), store)?;
            let found = found.ok_or(Refusal::NotReceived(*id))?;
            let expected = wanted.unwrap_or(found);
            if expected != found {
                let id = *id;
                return Err(Refusal::OtherKind {
                    id,
                    expected,
                    found,
                }
                .into());
            }
        }
        Ok(!missing.is_empty())
    }
}

/// The kind of an object of the repository; `None` if it has none such.
fn existing_kind(
    id: ObjectId,
    reader: Option<&mut Reader<'_>>,
    store: Option<&ObjectStore>,
) -> Result<Option<ObjectKind>> {
    let (Some(reader), Some(store)) = (reader, store) else {
        return Ok(None);
    };
    let found = match store.locate(&id) {
        Ok(found) => found,
        Err(Error::UnusablePack { .. }) => None,
        Err(error) => return Err(error),
    };
    match found {
        Some(location) => Ok(Some(reader.header(&id, location)?.kind)),
        None => Ok(None),
    }
}

/// Compares the large blobs that were found to exist already.
pub(crate) fn compare_large(
    data: &[u8],
    records: &[Record],
    findings: &Findings,
    examination: Examination<'_>,
) -> Result<()> {
    let Some(existing) = examination.existing else {
        return Ok(());
    };
    let mut comparison = Comparison::new(existing);
    for (id, offset, size) in &findings.large {
        let found = records.binary_search_by_key(offset, |record| record.offset);
        let at = found.expect("every large blob that was found is an entry");
        let record = &records[at];
        let mut rest = input(data, record);
        let mut stream = StreamInflater::new();
        comparison.compare_pieces(id, *size, &mut |piece| {
            is_next(&mut stream, &mut rest, piece)
        })?;
    }
    Ok(())
}

/// Whether what `stream` inflates from `input` next is `piece`.
fn is_next(stream: &mut StreamInflater, input: &mut &[u8], piece: &[u8]) -> bool {
    let mut own = vec![0; piece.len()];
    let mut filled = 0;
    while filled < own.len() {
        let Some(room) = own.get_mut(filled..) else {
            return false;
        };
        let Ok(step) = stream.step(input, room) else {
            return false;
        };
        *input = input
            .get(step.consumed..)
            .expect("no more is consumed than is there");
        filled += step.written;
        if step.written == 0 && (step.finished || step.consumed == 0) {
            return false;
        }
    }
    own == piece
}

/// Checks what trees call `.gitmodules` and `.gitattributes`. Returns those of the first that are
/// nowhere: somebody else may have them. Those of the others are refused, as by git.
pub(crate) fn check_named(
    ground: ResolveInput<'_>,
    known: &Known,
    examination: Examination<'_>,
    findings: &mut Findings,
) -> Result<Vec<ObjectId>> {
    let (mut missing, mut no_attributes) = (Vec::new(), Vec::new());
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
            None => no_attributes.push(id),
        }
    }
    let checks = examination.checks;
    if let (Some(not_promised), Some(store), false) =
        (checks.not_promised, ground.store, no_attributes.is_empty())
    {
        no_attributes = not_promised(store, &no_attributes);
    }
    for id in &no_attributes {
        checks.refuse_missing_attributes(id, findings)?;
    }
    Ok(missing)
}
