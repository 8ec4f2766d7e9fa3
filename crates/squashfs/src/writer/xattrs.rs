//! Builds the tables of extended attributes: section 9 of the format description. Equal sets are
//! stored once, and so are equal long values.

use super::metadata::{MetadataTable, Place};
use crate::format::{NO_XATTRS, XATTR_ID_ENTRY_BYTES, XATTR_OUT_OF_LINE, XATTR_PREFIXES};
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_image::digest::{shortened, Digest};
use hedgerow_image::WriteError;
use hedgerow_tree::Xattr;
use std::collections::HashMap;

/// Maximum length of a name with its prefix, and of a value, in bytes, as in Linux.
const NAME_BYTES: usize = 255;
const VALUE_BYTES: usize = 1 << 16;
/// Maximum total length of the names of an inode with a byte after each, as Linux lists them, and
/// of its values, which readers hold in memory; in bytes.
const NAMES_BYTES: usize = 1 << 16;
const VALUES_BYTES: usize = 16 << 20;
/// Size of the reference in place of a value stored elsewhere, in bytes.
const REFERENCE_BYTES: u32 = 8;

/// The finished tables.
pub(super) struct XattrTables {
    /// Names and values, compressed.
    pub pairs: Vec<u8>,
    /// The entries of the id table, uncompressed; `count` is their number.
    pub sets: Vec<u8>,
    pub count: u32,
}

/// A set of attributes: its place, and the number and total size of its pairs.
struct XattrSet {
    place: Place,
    count: u32,
    bytes: u32,
}

/// The sets added so far.
pub(super) struct XattrTable<'s> {
    pairs: MetadataTable<'s>,
    sets: Vec<XattrSet>,
    /// Numbers of the sets by digest.
    numbers: HashMap<Digest, u32>,
    /// Places of the values by digest.
    values: HashMap<Digest, Place>,
}

impl<'s> XattrTable<'s> {
    pub(super) fn new(settings: &'s Settings, options: &'s Options, raw: bool) -> Self {
        XattrTable {
            pairs: MetadataTable::new(settings, options).raw(raw),
            sets: Vec::new(),
            numbers: HashMap::new(),
            values: HashMap::new(),
        }
    }

    /// Adds a set unless an equal one exists. Returns its number, or [`NO_XATTRS`] for an empty
    /// set. Attributes that the format or the kernel cannot hold are moved to `unstored`.
    pub(super) fn number(
        &mut self,
        mut set: Vec<Xattr>,
        unstored: &mut Vec<Xattr>,
    ) -> Result<u32, WriteError> {
        if set.is_empty() {
            return Ok(NO_XATTRS);
        }
        set.sort();
        set.dedup_by(|a, b| a.name == b.name);
        let (mut names_bytes, mut values_bytes) = (0, 0);
        unstored.extend(set.extract_if(.., |xattr| {
            let (name, value) = (xattr.name.len() + 1, xattr.value.len());
            let fits = names_bytes + name <= NAMES_BYTES && values_bytes + value <= VALUES_BYTES;
            if !fits || !is_storable(xattr) {
                return true;
            }
            names_bytes += name;
            values_bytes += value;
            false
        }));
        if set.is_empty() {
            return Ok(NO_XATTRS);
        }
        let digest = digest(&set);
        if let Some(number) = self.numbers.get(&digest) {
            return Ok(*number);
        }
        let place = self.pairs.place();
        let mut bytes = 0;
        for xattr in &set {
            bytes += self.append(xattr)?;
        }
        self.sets.push(XattrSet {
            place,
            count: set.len() as u32,
            bytes,
        });
        let number = self.sets.len() as u32 - 1;
        self.numbers.insert(digest, number);
        Ok(number)
    }

    /// Appends a name with its value. Returns the size of the pair in bytes.
    fn append(&mut self, xattr: &Xattr) -> Result<u32, WriteError> {
        let (kind, name) = split(&xattr.name).expect("only what can be stored is appended");
        let digest = shortened(blake3::hash(&xattr.value));
        let known = self.values.get(&digest).copied();
        let known = known.filter(|_| xattr.value.len() > REFERENCE_BYTES as usize);
        let elsewhere = if known.is_some() {
            XATTR_OUT_OF_LINE
        } else {
            0
        };
        let mut bytes = Vec::with_capacity(8 + name.len());
        bytes.extend_from_slice(&(kind | elsewhere).to_le_bytes());
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name);
        let value = match known {
            None => {
                let place = Place(self.pairs.place().0 + bytes.len() as u64);
                self.values.insert(digest, place);
                bytes.extend_from_slice(&(xattr.value.len() as u32).to_le_bytes());
                xattr.value.as_slice()
            }
            Some(place) => {
                // The reference is known only when the pieces before it are compressed.
                self.pairs.settle()?;
                let reference = self.pairs.reference(place);
                bytes.extend_from_slice(&REFERENCE_BYTES.to_le_bytes());
                let reference = reference.expect("what was settled has a reference");
                &reference.0.to_le_bytes()
            }
        };
        bytes.extend_from_slice(value);
        self.pairs.append(&bytes);
        Ok(bytes.len() as u32)
    }

    /// The finished tables; `None` without attributes.
    pub(super) fn finish(mut self) -> Result<Option<XattrTables>, WriteError> {
        if self.sets.is_empty() {
            return Ok(None);
        }
        self.pairs.settle()?;
        let count = self.sets.len() as u32;
        let mut sets = Vec::with_capacity(XATTR_ID_ENTRY_BYTES as usize * self.sets.len());
        for set in &self.sets {
            let reference = self.pairs.reference(set.place);
            let reference = reference.expect("what was settled has a reference");
            sets.extend_from_slice(&reference.0.to_le_bytes());
            sets.extend_from_slice(&set.count.to_le_bytes());
            sets.extend_from_slice(&set.bytes.to_le_bytes());
        }
        let (pairs, _) = self.pairs.finish()?;
        Ok(Some(XattrTables { pairs, sets, count }))
    }
}

/// The type number of a name's prefix, and the rest of the name.
fn split(name: &[u8]) -> Option<(u16, &[u8])> {
    let mut prefixes = (0..).zip(XATTR_PREFIXES);
    prefixes.find_map(|(kind, prefix)| Some((kind, name.strip_prefix(prefix)?)))
}

fn is_storable(xattr: &Xattr) -> bool {
    let has_name = split(&xattr.name).is_some_and(|(_, name)| !name.is_empty());
    let fits = xattr.name.len() <= NAME_BYTES && xattr.value.len() <= VALUE_BYTES;
    has_name && fits && !xattr.name.contains(&0)
}

fn digest(set: &[Xattr]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    for xattr in set {
        for part in [xattr.name.as_slice(), xattr.value.as_slice()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    shortened(hasher.finalize())
}
