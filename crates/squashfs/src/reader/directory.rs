use super::{Directory, Image, MetadataReader};
use crate::format::{InodeType, Reference, DIRECTORY_EXTRA_BYTES, NAME_BYTES, RUN_ENTRIES};
use crate::{Damage, Error, Part, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_tree::NodeKind;
use std::ops::Range;

/// Size limit of a listing in bytes; enough for ten million entries.
const LISTING_BYTES: u32 = 256 << 20;
/// Maximum number of bad entries in a listing. The report of a bad entry takes many times the
/// memory that the entry takes in the image, so a hostile listing could exhaust it.
const MOST_DAMAGE: usize = 4096;

/// The entries of a directory, sorted by the bytes of their names.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    names: Vec<u8>,
    entries: Vec<DirectoryEntry>,
    pub(crate) runs: Vec<Run>,
    /// Whether the entries are stored in order. If they are not, the kernel does not find all of
    /// them.
    pub sorted: bool,
    /// Entries that were left out because their name is impossible, their type is unknown, or an
    /// earlier entry has the same name.
    pub damage: Vec<Damage>,
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct DirectoryEntry {
    name: Range<usize>,
    /// The kind according to the listing.
    pub kind: NodeKind,
    /// Where its inode is.
    pub inode: Reference,
    /// The inode number according to the listing.
    pub number: u32,
}

/// A run of entries with a common header, to which an index may refer.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Offset of the header from the start of the listing, in bytes.
    pub offset: u32,
    /// Position of the metadata block where the header begins, from the start of the table.
    pub block: u64,
    /// The name of the first entry.
    name: Range<usize>,
}

impl Listing {
    /// The entries with their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&BStr, &DirectoryEntry)> {
        self.entries
            .iter()
            .map(|entry| (self.name(&entry.name), entry))
    }

    /// The entry at `index` in the order, with its name.
    pub fn get(&self, index: usize) -> Option<(&BStr, &DirectoryEntry)> {
        let entry = self.entries.get(index)?;
        Some((self.name(&entry.name), entry))
    }

    /// The entry with this name.
    pub fn find(&self, name: &[u8]) -> Option<&DirectoryEntry> {
        let found = self.entries.binary_search_by(|entry| {
            let other: &[u8] = self.name(&entry.name);
            other.cmp(name)
        });
        self.entries.get(found.ok()?)
    }

    pub(crate) fn first_name(&self, run: &Run) -> &BStr {
        self.name(&run.name)
    }

    fn name(&self, range: &Range<usize>) -> &BStr {
        self.names.get(range.clone()).unwrap_or_default().as_bstr()
    }
}

impl Image {
    /// Reads the listing of a directory.
    ///
    /// # Errors
    /// The structure of the listing is broken, or it has thousands of bad entries. Fewer bad
    /// entries are left out and reported in [`damage`](Listing::damage).
    pub fn listing(&self, directory: &Directory) -> Result<Listing> {
        let mut listing = Listing {
            sorted: true,
            ..Listing::default()
        };
        let length = directory.size.saturating_sub(DIRECTORY_EXTRA_BYTES);
        if length == 0 {
            return Ok(listing);
        }
        let region = self.layout.directories;
        let mut reader = MetadataReader::new(self, region, directory.listing)?;
        if length > LISTING_BYTES || u64::from(length) > reader.most_bytes_left() {
            let what = format!("a listing of {length} bytes");
            return Err(reader.damage(what).into());
        }
        let mut offset = 0;
        while offset < length {
            offset = listing.read_run(&mut reader, offset, length)?;
        }
        listing.put_in_order(region.start.saturating_add(directory.listing.block()));
        if listing.damage.len() > MOST_DAMAGE {
            Err(too_much_damage(&reader))
        } else {
            Ok(listing)
        }
    }
}

impl Listing {
    /// Reads the run at `offset`. Returns the offset of the next run.
    fn read_run(
        &mut self,
        reader: &mut MetadataReader<'_>,
        mut offset: u32,
        length: u32,
    ) -> Result<u32> {
        let too_long = |reader: &MetadataReader<'_>| {
            reader.damage("a listing that is longer than its directory says")
        };
        if length - offset < 12 {
            return Err(too_long(reader).into());
        }
        let place = reader.settled_place()?;
        let count = reader.u32()?.saturating_add(1);
        let block = u64::from(reader.u32()?);
        let base = reader.u32()?;
        if count > RUN_ENTRIES {
            return Err(reader.damage(format!("a run of {count} entries")).into());
        }
        self.runs.push(Run {
            offset,
            block: place.block(),
            name: self.names.len()..self.names.len(),
        });
        offset += 12;
        for row in 0..count {
            if length - offset < 8 {
                return Err(too_long(reader).into());
            }
            let start = reader.u16()?;
            let number = base.wrapping_add_signed(i32::from(reader.u16()? as i16));
            let id = reader.u16()?;
            let name_bytes = u32::from(reader.u16()?) + 1;
            offset += 8;
            if name_bytes > length.saturating_sub(offset) {
                return Err(too_long(reader).into());
            }
            let name = self.names.len()..self.names.len() + name_bytes as usize;
            self.names.resize(name.end, 0);
            if let Some(name) = self.names.get_mut(name.clone()) {
                reader.read(name)?;
            }
            offset += name_bytes;
            if let (0, Some(run)) = (row, self.runs.last_mut()) {
                run.name = name.clone();
            }
            let basic = InodeType::from_id(id).filter(|found| !found.extended);
            let entry = basic.map(|found| DirectoryEntry {
                name: name.clone(),
                kind: found.kind,
                inode: Reference::new(block, start),
                number,
            });
            self.add(entry, name, id, reader);
            if self.damage.len() > MOST_DAMAGE {
                return Err(too_much_damage(reader));
            }
        }
        Ok(offset)
    }

    fn add(
        &mut self,
        entry: Option<DirectoryEntry>,
        range: Range<usize>,
        id: u16,
        reader: &MetadataReader<'_>,
    ) {
        let name = self.name(&range);
        let wrong = if name == "." || name == ".." || name.find_byteset(b"/\0").is_some() {
            Some(format!("an entry named '{}'", name))
        } else if name.len() > NAME_BYTES {
            Some(format!("a name of {} bytes", name.len()))
        } else if entry.is_none() {
            Some(format!("an entry '{name}' of type {id}"))
        } else {
            None
        };
        if let Some(last) = self.entries.last() {
            self.sorted &= self.name(&last.name) <= name;
        }
        match (wrong, entry) {
            (None, Some(entry)) => self.entries.push(entry),
            (wrong, _) => self.damage.push(reader.damage(wrong.unwrap_or_default())),
        }
    }

    /// Sorts the entries and keeps only the first one of each name.
    fn put_in_order(&mut self, position: u64) {
        let names = &self.names;
        let name = |range: &Range<usize>| names.get(range.clone()).unwrap_or_default();
        if !self.sorted {
            self.entries
                .sort_by(|a, b| name(&a.name).cmp(name(&b.name)));
        }
        let damage = &mut self.damage;
        self.entries.dedup_by(|second, first| {
            let name = name(&first.name);
            let same = names.get(second.name.clone()).unwrap_or_default() == name;
            if same && damage.len() <= MOST_DAMAGE {
                let what = format!("a second entry '{}'", name.as_bstr());
                damage.push(Damage::new(Part::DirectoryTable, position, what));
            }
            same
        });
    }
}

fn too_much_damage(reader: &MetadataReader<'_>) -> Error {
    let what = "a listing of thousands of impossible entries";
    reader.damage(what).into()
}
