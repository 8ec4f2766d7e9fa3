use super::{Image, Inode};
use crate::format::{array, file_type, DIRENT_BYTES, NAME_BYTES};
use hedgerow_image::{Damage, Part, Result};
use hedgerow_tree::NodeKind;
use std::ops::Range;

/// Size limit of a directory in bytes; enough for ten million entries.
const LISTING_BYTES: u64 = 512 << 20;
/// Maximum number of bad entries of a directory. The report of a bad entry takes many times the
/// memory that the entry takes in the image.
const MOST_DAMAGE: usize = 4096;

/// The entries of a directory, sorted by the bytes of their names, without those of the directory
/// itself and its parent.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    bytes: Vec<u8>,
    entries: Vec<DirectoryEntry>,
    /// Entries that were left out because their name is impossible or out of order.
    pub damage: Vec<Damage>,
    /// The number of the inode that the directory's entry of itself names.
    pub itself: Option<u64>,
    /// The number of the directory above, if the directory tells it.
    pub parent: Option<u64>,
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct DirectoryEntry {
    name: Range<usize>,
    /// The number of its inode.
    pub inode: u64,
    /// The number of its kind.
    pub file_type: u8,
}

impl Listing {
    /// The entry at `index` in the order, with its name.
    pub fn get(&self, index: usize) -> Option<(&[u8], &DirectoryEntry)> {
        let entry = self.entries.get(index)?;
        Some((self.name(&entry.name), entry))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry with this name.
    pub fn find(&self, name: &[u8]) -> Option<&DirectoryEntry> {
        let found = self
            .entries
            .binary_search_by(|entry| self.name(&entry.name).cmp(name));
        self.entries.get(found.ok()?)
    }

    fn name(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Reads the block from `start` to `end`.
    fn read_block(&mut self, start: usize, end: usize, inode: &Inode) -> Result<()> {
        let block = self.bytes.get(start..end).unwrap_or_default();
        let name_start = |at: usize| usize::from(u16::from_le_bytes(array(block, at + 8)));
        let names = name_start(0);
        let makes_sense = names >= DIRENT_BYTES && names % DIRENT_BYTES == 0 && names < block.len();
        if !makes_sense {
            return Err(bad(inode, format!("names at {names} in a block")).into());
        }
        let mut found = Vec::new();
        for at in (0..names).step_by(DIRENT_BYTES) {
            let (own, next) = (name_start(at), at + DIRENT_BYTES);
            let until = if next < names {
                name_start(next)
            } else {
                block.len()
            };
            if own < names || until <= own || until > block.len() {
                return Err(bad(inode, format!("a name from {own} to {until}")).into());
            }
            let name = block.get(own..until).unwrap_or_default();
            let is_last = next >= names;
            let length = if is_last {
                name.iter()
                    .position(|byte| *byte == 0)
                    .unwrap_or(name.len())
            } else {
                name.len()
            };
            found.push(DirectoryEntry {
                name: start + own..start + own + length,
                inode: u64::from_le_bytes(array(block, at)),
                file_type: array::<1>(block, at + 10)[0],
            });
        }
        for entry in found {
            self.add(entry, inode)?;
        }
        Ok(())
    }

    fn add(&mut self, entry: DirectoryEntry, inode: &Inode) -> Result<()> {
        let name = self.name(&entry.name);
        let place = match name {
            b"." => Some(&mut self.itself),
            b".." => Some(&mut self.parent),
            _ => None,
        };
        let is_of_a_directory = entry.file_type == file_type(NodeKind::Directory);
        match place {
            Some(place) if place.is_none() && is_of_a_directory => {
                *place = Some(entry.inode);
                return Ok(());
            }
            Some(_) => {
                return self.leave_out(
                    bad(
                        inode,
                        "an entry '.' or '..' that is there twice, or is no directory",
                    ),
                    inode,
                )
            }
            None => {}
        }
        let name = self.name(&entry.name);
        let is_impossible =
            name.is_empty() || name.len() > NAME_BYTES || name.contains(&b'/') || name.contains(&0);
        let last = self.entries.last();
        let what = if is_impossible {
            "an entry with an impossible name"
        } else if last.is_some_and(|last| self.name(&last.name) >= name) {
            "an entry that does not come in its order"
        } else {
            self.entries.push(entry);
            return Ok(());
        };
        self.leave_out(bad(inode, what), inode)
    }

    fn leave_out(&mut self, damage: Damage, inode: &Inode) -> Result<()> {
        self.damage.push(damage);
        if self.damage.len() > MOST_DAMAGE {
            return Err(bad(inode, "thousands of bad entries").into());
        }
        Ok(())
    }
}

fn bad(inode: &Inode, what: impl Into<String>) -> Damage {
    Damage::new(Part::DirectoryTable, inode.position, what)
}

impl Image {
    /// Reads the entries of a directory.
    ///
    /// # Errors
    /// It cannot be read, or its structure is broken. Bad entries are left out and reported in
    /// [`damage`](Listing::damage).
    pub fn listing(&self, inode: &Inode) -> Result<Listing> {
        let mut listing = Listing {
            bytes: self.small_content(inode, LISTING_BYTES)?,
            ..Listing::default()
        };
        let block = self.superblock.block_bytes() as usize;
        for start in (0..listing.bytes.len()).step_by(block) {
            let end = listing.bytes.len().min(start + block);
            listing.read_block(start, end, inode)?;
        }
        Ok(listing)
    }
}
