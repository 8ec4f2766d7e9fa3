//! What the second pass and all that come after it read.

use super::delta_trees::DeltaTrees;
use super::record::{Form, Record};
use crate::database::store::ObjectStore;
use crate::error::Error;
use crate::fault::Fault;
use crate::refusal::Refusal;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// A delta that was resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub number: u32,
    pub id: ObjectId,
    pub kind: ObjectKind,
}

/// What objects are built from.
#[derive(Clone, Copy)]
pub(crate) struct ResolveInput<'g> {
    /// The pack up to its checksum.
    pub data: &'g [u8],
    pub records: &'g [Record],
    pub delta_trees: &'g DeltaTrees,
    /// Bases from outside the pack; their numbers follow those of the records.
    pub outside: &'g [ObjectId],
    /// Where those are.
    pub store: Option<&'g ObjectStore>,
}

/// The compressed bytes of the entry, with all that follows.
pub(crate) fn input<'d>(data: &'d [u8], record: &Record) -> &'d [u8] {
    let start = record.offset as usize + usize::from(record.header_len);
    data.get(start..)
        .expect("entries that were scanned are within the pack")
}

/// The error of the entry of `record`.
pub(super) fn bad(record: &Record, fault: Fault) -> Error {
    let offset = record.offset;
    Refusal::BadEntry { offset, fault }.into()
}

/// Whether `record` is a delta.
pub(super) fn is_delta(record: &Record) -> bool {
    !matches!(record.form, Form::Whole(_))
}
