use super::{Image, MetadataReader};
use crate::format::{Reference, XATTR_OUT_OF_LINE, XATTR_PREFIXES};
use crate::{Damage, Part, Result};
use bstr::BString;
use hedgerow_tree::Xattr;

/// Bytes of a value, at most: what Linux takes.
const VALUE_BYTES: u32 = 1 << 16;
/// Bytes of all names of an inode together, with a byte behind each: what Linux lists.
const NAMES_BYTES: usize = 1 << 16;
/// Bytes of all values of an inode together. Whoever reads attributes holds all of them, and a
/// value that stands elsewhere costs a hostile image a few bytes each time it is referred to.
const VALUES_BYTES: usize = 16 << 20;

/// The entry of a set of attributes in their table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct XattrSet {
    pub reference: Reference,
    pub count: u32,
    /// Bytes that the set takes.
    pub size: u32,
}

/// The attributes of an inode, in the order in which they are stored. Ends behind an error.
pub struct Xattrs<'i> {
    image: &'i Image,
    reader: Option<MetadataReader<'i>>,
    left: u32,
    names_bytes: usize,
    values_bytes: usize,
    /// Bytes that were read, without values that stand elsewhere.
    pub(crate) bytes: u64,
    /// The place of the last value if it stands elsewhere.
    pub(crate) elsewhere: Option<Reference>,
}

impl Image {
    /// The extended attributes at a place in their table. Each is read when it is asked for; names
    /// of more than 64 KiB together, or values of more than 16 MiB, are damage.
    pub fn xattrs(&self, index: u32) -> Result<Xattrs<'_>> {
        let set = self.xattr_set(index)?;
        let reader = match set.count {
            0 => None,
            _ => Some(MetadataReader::new(
                self,
                self.layout.xattrs,
                set.reference,
            )?),
        };
        Ok(Xattrs {
            image: self,
            reader,
            left: set.count,
            names_bytes: 0,
            values_bytes: 0,
            bytes: 0,
            elsewhere: None,
        })
    }

    pub(crate) fn xattr_set(&self, index: u32) -> Result<XattrSet> {
        let mut entry = self.entry(self.layout.xattr_ids, index.into(), Part::XattrTable)?;
        Ok(XattrSet {
            reference: Reference(entry.u64()?),
            count: entry.u32()?,
            size: entry.u32()?,
        })
    }
}

impl Iterator for Xattrs<'_> {
    type Item = Result<Xattr>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = self.reader.take()?;
        let read = self.read(&mut reader);
        self.left -= 1;
        if read.is_ok() && self.left > 0 {
            self.reader = Some(reader);
        }
        Some(read)
    }
}

impl Xattrs<'_> {
    fn read(&mut self, reader: &mut MetadataReader<'_>) -> Result<Xattr> {
        self.elsewhere = None;
        let kind = reader.u16()?;
        let name_bytes = reader.u16()?;
        let prefix = XATTR_PREFIXES.get(usize::from(kind & !XATTR_OUT_OF_LINE));
        let Some(prefix) = prefix else {
            return Err(reader
                .damage(format!("an attribute of type {kind:#x}"))
                .into());
        };
        let mut name = BString::from(*prefix);
        name.extend_from_slice(&reader.bytes(name_bytes.into())?);
        self.names_bytes += name.len() + 1;
        if self.names_bytes > NAMES_BYTES {
            return Err(reader.damage("attributes whose names are too long").into());
        }
        let stored = read_value(reader)?;
        self.bytes += 8 + u64::from(name_bytes) + stored.len() as u64;
        let value = match kind & XATTR_OUT_OF_LINE {
            0 => stored,
            _ => self.read_elsewhere(reader, &stored)?,
        };
        self.values_bytes += value.len();
        if self.values_bytes > VALUES_BYTES {
            let what = "attributes whose values are too long";
            return Err(reader.damage(what).into());
        }
        Ok(Xattr { name, value })
    }

    /// Reads a value that stands elsewhere. What it says there is taken as it is: no second
    /// reference is followed.
    fn read_elsewhere(&mut self, reader: &MetadataReader<'_>, stored: &[u8]) -> Result<Vec<u8>> {
        let Ok(reference) = stored.try_into().map(u64::from_le_bytes) else {
            let what = format!("a reference of {} bytes to a value", stored.len());
            return Err(reader.damage(what).into());
        };
        let region = self.image.layout.xattrs;
        self.elsewhere = Some(Reference(reference));
        let mut reader = MetadataReader::new(self.image, region, Reference(reference))?;
        read_value(&mut reader)
    }
}

fn read_value(reader: &mut MetadataReader<'_>) -> Result<Vec<u8>> {
    let length = reader.u32()?;
    if length > VALUE_BYTES {
        let damage: Damage = reader.damage(format!("a value of {length} bytes"));
        return Err(damage.into());
    }
    reader.bytes(length as usize)
}
