//! Headers of pack entries (gitformat-pack, "pack entries").

use hedgerow_pack::{EntryKind, ObjectId, ObjectKind};

/// The header before the zlib stream of an entry: at most 10 bytes for the kind and the size, and
/// an id or 10 bytes for the base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    bytes: [u8; 10 + 32],
    length: usize,
}

/// The type of an entry in the written pack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    Whole(ObjectKind),
    /// A delta whose base starts this many bytes before it.
    Distance(u64),
    /// A delta against the object with this id.
    Id(ObjectId),
}

impl Header {
    /// The header of an entry whose stream inflates to `size` bytes.
    pub fn new(written: &Written, mut size: u64) -> Self {
        let mut header = Header {
            bytes: [0; 42],
            length: 0,
        };
        let mut byte = type_number(written) << 4 | (size & 15) as u8;
        size >>= 4;
        while size > 0 {
            header.push(byte | 0x80);
            byte = (size & 0x7f) as u8;
            size >>= 7;
        }
        header.push(byte);
        match written {
            Written::Whole(_) => {}
            Written::Distance(distance) => header.push_distance(*distance),
            Written::Id(id) => id.as_bytes().iter().for_each(|byte| header.push(*byte)),
        }
        header
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Seven bits per byte, the most significant first; each continuation adds one, as git defines
    /// it.
    fn push_distance(&mut self, mut distance: u64) {
        let mut bytes = [0; 10];
        let mut first = bytes.len() - 1;
        bytes[first] = (distance & 0x7f) as u8;
        distance >>= 7;
        while distance > 0 {
            distance -= 1;
            first -= 1;
            bytes[first] = 0x80 | (distance & 0x7f) as u8;
            distance >>= 7;
        }
        bytes.iter().skip(first).for_each(|byte| self.push(*byte));
    }

    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }
}

fn type_number(written: &Written) -> u8 {
    match written {
        Written::Whole(ObjectKind::Commit) => 1,
        Written::Whole(ObjectKind::Tree) => 2,
        Written::Whole(ObjectKind::Blob) => 3,
        Written::Whole(ObjectKind::Tag) => 4,
        Written::Distance(_) => 6,
        Written::Id(_) => 7,
    }
}

/// How a copied entry of that `kind`, formerly at `old`, is written if its base moves by the same
/// distance.
pub(super) fn unmoved(kind: EntryKind, old: u64) -> Written {
    match kind {
        EntryKind::Whole(kind) => Written::Whole(kind),
        EntryKind::OffsetDelta(base) => Written::Distance(old - base.min(old)),
        EntryKind::ReferenceDelta(id) => Written::Id(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_distances_have_one_spelling() {
        let blob = |size| {
            Header::new(&Written::Whole(ObjectKind::Blob), size)
                .bytes()
                .to_vec()
        };
        assert_eq!(blob(0), [0x30]);
        assert_eq!(blob(15), [0x3f]);
        assert_eq!(blob(16), [0xb0, 1]);
        assert_eq!(blob(u64::MAX).len(), 10);
        let delta = |distance| Header::new(&Written::Distance(distance), 1).bytes()[1..].to_vec();
        assert_eq!(delta(1), [1]);
        assert_eq!(delta(127), [127]);
        assert_eq!(delta(128), [0x80, 0]);
        assert_eq!(delta(0x407f), [0xff, 0x7f]);
        assert_eq!(delta(0x4080), [0x80, 0x80, 0]);
    }
}
