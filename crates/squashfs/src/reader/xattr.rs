use super::{Image, MetadataReader};
use crate::format::{Reference, XATTR_OUT_OF_LINE, XATTR_PREFIXES};
use crate::{Damage, Part, Result};
use bstr::BString;
use hedgerow_tree::Xattr;

/// Maximum size of a value in bytes, as in Linux.
const VALUE_BYTES: u32 = 1 << 16;
/// Maximum size of all names of an inode in bytes, with a terminating byte each; Linux cannot list
/// more.
const NAMES_BYTES: usize = 1 << 16;
/// Maximum size of all values of an inode in bytes. A reader holds all of them in memory, and each
/// reference to a value stored elsewhere costs a hostile image only a few bytes.
const VALUES_BYTES: usize = 16 << 20;

/// An entry of the xattr id table: a set of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct XattrSet {
    pub reference: Reference,
    pub count: u32,
    /// Size of the set in bytes.
    pub size: u32,
}

/// The attributes of an inode in stored order. Ends after an error.
pub struct Xattrs<'i> {
    image: &'i Image,
    reader: Option<MetadataReader<'i>>,
    left: u32,
    names_bytes: usize,
    values_bytes: usize,
    /// Bytes read so far, without values stored elsewhere.
    pub(crate) bytes: u64,
    /// Where the last value is, if it is stored elsewhere.
    pub(crate) elsewhere: Option<Reference>,
}

impl Image {
    /// The extended attributes of the set `index`, each read on demand. Names of more than 64 KiB
    /// together, or values of more than 16 MiB, are damage.
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

    /// Reads a value that is stored elsewhere. The value found there is final: a second reference
    /// is not followed.
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
