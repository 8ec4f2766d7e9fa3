use crate::ObjectKind;
use gix_hash::ObjectId;

/// What is known of an object without building it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectHeader {
    /// Its kind.
    pub kind: ObjectKind,
    /// The length of its content in bytes.
    pub size: u64,
}

/// Where an object of one [`crate::ObjectStore`] is kept; means nothing to another store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// In a pack.
    Packed {
        /// The pack's number in the store.
        pack: u32,
        /// Where its entry starts, in bytes from the start of the pack.
        offset: u64,
    },
    /// In a file of its own.
    Loose {
        /// The number of the object directory in the store.
        directory: u32,
    },
}

/// Hashes `content` as an object of `kind`. `None` is a detected SHA-1 collision attack.
pub(crate) fn hash(
    hash_kind: gix_hash::Kind,
    kind: ObjectKind,
    content: &[u8],
) -> Option<ObjectId> {
    let mut hasher = start_hash(hash_kind, kind, content.len() as u64);
    hasher.update(content);
    hasher.try_finalize().ok()
}

/// A hasher that has seen what stands before the content of an object.
pub(crate) fn start_hash(
    hash_kind: gix_hash::Kind,
    kind: ObjectKind,
    size: u64,
) -> gix_hash::Hasher {
    let mut hasher = gix_hash::hasher(hash_kind);
    // The longest kind, a space, 20 digits and the NUL.
    let mut header = [0; 32];
    let mut at = header.len() - 1;
    let mut rest = size;
    loop {
        at -= 1;
        header[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let name = kind.name().as_bytes();
    at -= 1;
    header[at] = b' ';
    header[at - name.len()..at].copy_from_slice(name);
    hasher.update(&header[at - name.len()..]);
    hasher
}

/// An entry of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub pack: u32,
    pub offset: u64,
}

impl From<Place> for Location {
    fn from(place: Place) -> Self {
        Location::Packed {
            pack: place.pack,
            offset: place.offset,
        }
    }
}

impl Location {
    /// The entry of a pack that it is, if it is one.
    pub(crate) fn place(self) -> Option<Place> {
        match self {
            Location::Packed { pack, offset } => Some(Place { pack, offset }),
            Location::Loose { .. } => None,
        }
    }
}
