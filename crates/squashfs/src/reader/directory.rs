use super::{Directory, Image, MetadataReader};
use crate::format::{InodeType, Reference, DIRECTORY_EXTRA_BYTES, NAME_BYTES, RUN_ENTRIES};
use crate::{Damage, Error, Part, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_tree::NodeKind;
use std::ops::Range;

/// Bytes of one listing, at most: room for ten million entries.
const LISTING_BYTES: u32 = 256 << 20;
/// Impossible entries of one listing, at most. Each is told of in many times the bytes that it
/// takes in the image, and a listing of nothing else would be held in memory.
const MOST_DAMAGE: usize = 4096;

/// What is in a directory, in the order of the names' bytes.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    names: Vec<u8>,
    entries: Vec<DirectoryEntry>,
    pub(crate) runs: Vec<Run>,
    /// Whether the entries are stored in order; the kernel finds some of them only then.
    pub sorted: bool,
    /// Entries that were left out, because no file system has such names, or because of another
    /// entry with the same name.
    pub damage: Vec<Damage>,
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct DirectoryEntry {
    name: Range<usize>,
    /// What it is, as the directory says.
    pub kind: NodeKind,
    /// Its inode.
    pub inode: Reference,
    /// The inode's number, as the directory says.
    pub number: u32,
}

/// Entries behind a common header, which an index may point to.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Bytes from the start of the listing to the header.
    pub offset: u32,
    /// The metadata block that the header begins in, from the start of the table.
    pub block: u64,
    /// The name of its first entry.
    name: Range<usize>,
}

impl Listing {
    /// The entries with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&BStr, &DirectoryEntry)> {
        self.entries
            .iter()
            .map(|entry| (self.name(&entry.name), entry))
    }

    /// The entry at a place in the order.
    pub fn get(&self, index: usize) -> Option<(&BStr, &DirectoryEntry)> {
        let entry = self.entries.get(index)?;
        Some((self.name(&entry.name), entry))
    }

    /// The entry of a name.
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
    /// A listing whose structure is broken, or with thousands of impossible entries; of one that
    /// is impossible, the [`damage`](Listing::damage) tells.
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
    /// Reads the run at `offset`; returns where the next one begins.
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

    /// Sorts the entries and leaves out all but the first of each name.
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
