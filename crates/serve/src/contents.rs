use hedgerow_pack::{oid, Location, ObjectId, ObjectKind};

/// The contents of a pack, and what its receiver has.
#[derive(Default)]
pub struct Contents<'c> {
    /// Entries that are copied as they are, first. Each pack is listed once, and no object occurs
    /// twice.
    pub verbatim: Vec<Verbatim<'c>>,
    /// Objects to send, in the order of the walk that found them: the most recent first.
    pub wanted: Vec<Wanted>,
    /// Objects that the receiver has and that may be bases of new deltas in thin packs. An object
    /// listed here is not sent.
    pub had: Vec<Wanted>,
    /// Whether the receiver has an object: in thin packs, deltas against it are reused.
    pub has: Option<&'c (dyn Fn(&oid) -> bool + Sync)>,
}

/// A selection of the entries of one pack.
#[derive(Clone, Copy, Debug)]
pub struct Verbatim<'c> {
    /// The number of the pack in the store.
    pub pack: u32,
    /// A bit for each entry in the order of the pack, starting with the lowest bit of the first
    /// word. Missing bits are zero.
    pub words: &'c [u64],
}

/// An object to send.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The object.
    pub id: ObjectId,
    /// Its location in the store.
    pub location: Location,
    /// Its kind.
    pub kind: ObjectKind,
    /// The [`name_hash`] of its path; 0 if unknown.
    pub name_hash: u32,
}

/// A hash that sorts paths by their last sixteen characters, the last ones counting most: files
/// with the same name, or the same extension, come together. It is the value stored in the
/// name-hash cache of a bitmap (gitformat-bitmap).
pub fn name_hash(path: &[u8]) -> u32 {
    hedgerow_reach::NameHash::of(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_path_counts_most() {
        assert_eq!(name_hash(b""), 0);
        assert_eq!(name_hash(b"a"), 0x6100_0000);
        assert_eq!(name_hash(b"ab"), 0x6200_0000 + (0x6100_0000 >> 2));
        assert_eq!(name_hash(b"a b"), name_hash(b"ab"));
        assert!(name_hash(b"x/y.c").abs_diff(name_hash(b"z/y.c")) < 1 << 24);
    }
}
