use crate::pack_file::entry::{Entry, EntryForm};
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// The data about one entry of a pack from the first pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The offset of the entry.
    pub offset: u64,
    /// The inflated size: of the object, or of the delta.
    pub size: u64,
    /// The id of the object; for a delta, set once it is resolved.
    pub id: ObjectId,
    /// The CRC-32 of the entry.
    pub crc32: u32,
    /// The length of the header before the compressed data.
    pub header_len: u8,
    pub form: Form,
}

/// How an entry stores its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole(ObjectKind),
    /// A delta against the entry that starts `distance` bytes before it.
    OffsetDelta {
        distance: u64,
    },
    /// A delta against the object in that row of the table of bases.
    ReferenceDelta {
        row: u32,
    },
}

/// The entries of a pack or a part of it.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub list: Vec<Record>,
    /// The bases of reference deltas.
    pub bases: Vec<ObjectId>,
}

impl Records {
    /// Adds the entry at `offset`, whose header is `entry` and `header_len` bytes long.
    pub fn push(
        &mut self,
        offset: u64,
        entry: &Entry,
        header_len: usize,
        id: ObjectId,
        crc32: u32,
    ) {
        let form = match entry.kind {
            EntryForm::Whole(kind) => Form::Whole(kind),
            EntryForm::OffsetDelta(base) => Form::OffsetDelta {
                distance: offset - base,
            },
            EntryForm::ReferenceDelta(base) => {
                self.bases.push(base);
                let row = self.bases.len() as u32 - 1;
                Form::ReferenceDelta { row }
            }
        };
        self.list.push(Record {
            offset,
            size: entry.size,
            id,
            crc32,
            // At most ten bytes for the size, then ten for the distance, or an id.
            header_len: header_len as u8,
            form,
        });
    }

    /// Appends the entries of the next part of the pack.
    pub fn append(&mut self, mut other: Records) {
        if self.list.is_empty() {
            *self = other;
            return;
        }
        let rows = self.bases.len() as u32;
        for record in &mut other.list {
            if let Form::ReferenceDelta { row } = &mut record.form {
                *row += rows;
            }
        }
        self.list.append(&mut other.list);
        self.bases.append(&mut other.bases);
    }
}
