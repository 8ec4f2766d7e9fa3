//! The tables of extended attributes: section 9 of the format. Equal sets of attributes are stored
//! once, and so are long values.

use super::digest::{shortened, Digest};
use super::metadata::{MetadataTable, Place};
use super::WriteError;
use crate::format::{NO_XATTRS, XATTR_ID_ENTRY_BYTES, XATTR_OUT_OF_LINE, XATTR_PREFIXES};
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_tree::Xattr;
use std::collections::HashMap;

/// Bytes of a name with its prefix, and of a value, at most: what Linux takes.
const NAME_BYTES: usize = 255;
const VALUE_BYTES: usize = 1 << 16;
/// Bytes of all names of an inode, with a byte behind each, and of all values, at most: what Linux
/// lists, and what readers hold.
const NAMES_BYTES: usize = 1 << 16;
const VALUES_BYTES: usize = 16 << 20;
/// Bytes of what stands in place of a value that is elsewhere.
const REFERENCE_BYTES: u32 = 8;

/// What comes of the sets.
pub(super) struct XattrTables {
    /// Names and values, compressed.
    pub pairs: Vec<u8>,
    /// The entries of the id table, not compressed, and how many they are.
    pub sets: Vec<u8>,
    pub count: u32,
}

/// A set of attributes: where it begins, and the number and the bytes of its pairs.
struct XattrSet {
    place: Place,
    count: u32,
    bytes: u32,
}

/// The sets as they come.
pub(super) struct XattrTable<'s> {
    pairs: MetadataTable<'s>,
    sets: Vec<XattrSet>,
    /// Sets by what they hold.
    numbers: HashMap<Digest, u32>,
    /// Where values are, by what they are.
    values: HashMap<Digest, Place>,
}

impl<'s> XattrTable<'s> {
    pub(super) fn new(settings: &'s Settings, options: &'s Options) -> Self {
        XattrTable {
            pairs: MetadataTable::new(settings, options),
            sets: Vec::new(),
            numbers: HashMap::new(),
            values: HashMap::new(),
        }
    }

    /// The number of a set, which is stored if it is new, or [`NO_XATTRS`]. What the format or the
    /// kernel has no room for is taken out of the set and put into `unstored`.
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

    /// Appends a pair of a name and a value; returns how many bytes it takes.
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
                // What was before has its place only when it is compressed.
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

    /// The tables, if there are attributes.
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

/// The number of the prefix of a name, and the rest of it.
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
