//! Checks the tree from its root, every directory once.

use super::extents::Extents;
use super::findings::damage;
use super::inodes::Inodes;
use super::ranges::{flaws, Flaw};
use super::tables::Tables;
use super::Check;
use crate::format::{Reference, DIRECTORY_EXTRA_BYTES};
use crate::reader::{Directory, Listing, MetadataReader};
use crate::{Damage, Part, Result};
use hedgerow_tree::NodeKind;

/// Directories still to be checked: the place of the inode, and its number.
type Pending = Vec<(Reference, u32)>;

impl Check<'_> {
    /// Checks all directories that can be reached from the root.
    pub fn directories(&mut self, mut inodes: Inodes, tables: &Tables) -> (Inodes, Extents) {
        let root = self.image.superblock.root_inode;
        let mut ranges = Vec::new();
        let mut pending: Pending = Vec::new();
        let position = self.image.layout.inodes.start.saturating_add(root.block());
        // Hostile listings can share their bytes, and would be read again and again.
        let mut bytes_left = tables.directories.most_bytes();
        match self.enter(root, NodeKind::Directory, None, &mut inodes) {
            Ok(number) => pending.push((root, number)),
            Err(what) => {
                let what = format!("the root: {what}");
                self.findings
                    .add(Damage::new(Part::InodeTable, position, what));
            }
        }
        while let Some((place, number)) = pending.pop() {
            let record = inodes.get_mut(place).cloned();
            let Some((directory, record)) =
                record.and_then(|record| Some((record.directory?, record)))
            else {
                continue;
            };
            let listing_bytes = directory.size.saturating_sub(DIRECTORY_EXTRA_BYTES).into();
            bytes_left = match u64::checked_sub(bytes_left, listing_bytes) {
                Some(left) => left,
                None => {
                    let what = format!("directory {number}: listings share their bytes");
                    let damage = Damage::new(Part::DirectoryTable, position, what);
                    self.findings.add_of(number, damage);
                    continue;
                }
            };
            let listing = match self.image.listing(&directory) {
                Ok(listing) => listing,
                Err(error) => {
                    let damage = damage(Part::DirectoryTable, error);
                    self.findings.add_of(number, damage);
                    continue;
                }
            };
            let base = self.image.layout.directories.start;
            let at = base.saturating_add(directory.listing.block());
            if let Some(start) = tables.directories.before(at, directory.listing.offset()) {
                ranges.push((start, start + listing_bytes));
            }
            let subdirectories = self.entries(&listing, at, number, &mut inodes, &mut pending);
            // Packers differ in whether all entries or only subdirectories count as links.
            let links = [subdirectories, listing.iter().count() as u64];
            if !links
                .iter()
                .any(|count| u64::from(record.nlink) == count + 2)
            {
                let what = format!("inode {number}: {} links of a directory", record.nlink);
                let damage = Damage::new(Part::InodeTable, position, what);
                self.findings.add_of(number, damage.following());
            }
            if let Err(error) = self.index(place, &directory, &listing) {
                let damage = damage(Part::InodeTable, error);
                self.findings.add_of(number, damage);
            }
        }
        self.names(&inodes);
        if let Some(bytes) = tables.directories.bytes {
            self.listings_cover(ranges, bytes);
        }
        let extents = std::mem::take(&mut inodes.extents);
        (inodes, extents)
    }

    /// Checks the entries of a directory. Returns the number of subdirectories.
    fn entries(
        &mut self,
        listing: &Listing,
        position: u64,
        number: u32,
        inodes: &mut Inodes,
        pending: &mut Pending,
    ) -> u64 {
        if !listing.sorted {
            let what = "entries that are not in order";
            let damage = Damage::new(Part::DirectoryTable, position, what);
            self.findings.add_of(number, damage);
        }
        for damage in &listing.damage {
            self.findings.add_of(number, damage.clone());
        }
        let mut subdirectories = 0;
        for (name, entry) in listing.iter() {
            subdirectories += u64::from(entry.kind == NodeKind::Directory);
            let parent = Some((number, entry.number));
            match self.enter(entry.inode, entry.kind, parent, inodes) {
                Ok(number) if entry.kind == NodeKind::Directory => {
                    pending.push((entry.inode, number));
                }
                Ok(_) => {}
                Err(what) => {
                    let what = format!("entry '{name}': {what}");
                    let damage = Damage::new(Part::DirectoryTable, position, what);
                    self.findings.add_of(number, damage);
                }
            }
        }
        subdirectories
    }

    /// Follows an entry to its inode. Returns the inode number.
    fn enter(
        &mut self,
        place: Reference,
        kind: NodeKind,
        parent: Option<(u32, u32)>,
        inodes: &mut Inodes,
    ) -> std::result::Result<u32, String> {
        if inodes.get_mut(place).is_none() && !inodes.complete {
            let found = self.find_record(place, inodes);
            found.map_err(|error| error.to_string())?;
        }
        let Some(record) = inodes.get_mut(place) else {
            return Err(format!("no inode begins at {:#x}", place.0));
        };
        record.names = record.names.saturating_add(1);
        if record.kind != kind {
            return Err(format!("inode {} is of another type", record.number));
        }
        if record.directory.is_some() && record.names > 1 {
            return Err(format!("directory {} is in two places", record.number));
        }
        if let Some((parent, number)) = parent {
            if record.number != number {
                return Err(format!("inode {} in place of {number}", record.number));
            }
            let above = record
                .directory
                .map_or(parent, |directory| directory.parent);
            if above != parent {
                return Err(format!("directory {number} is in {above}, it says"));
            }
        }
        Ok(record.number)
    }

    /// Checks the index that follows the inode of a large directory.
    fn index(&self, place: Reference, directory: &Directory, listing: &Listing) -> Result<()> {
        if directory.index_count == 0 {
            return Ok(());
        }
        let mut reader = MetadataReader::new(self.image, self.image.layout.inodes, place)?;
        self.image.read_inode(&mut reader)?;
        for _ in 0..directory.index_count {
            let (offset, block) = (reader.u32()?, reader.u32()?);
            let name_bytes = reader.u32()?.saturating_add(1).min(256);
            let name = reader.bytes(name_bytes as usize)?;
            let run = listing.runs.binary_search_by_key(&offset, |run| run.offset);
            let run = run.ok().and_then(|index| listing.runs.get(index));
            let fits = run.is_some_and(|run| {
                run.block == u64::from(block) && listing.first_name(run) == name
            });
            if !fits {
                let what = format!("an index that leads to {offset} in vain");
                return Err(reader.damage(what).into());
            }
        }
        Ok(())
    }

    /// Checks the link counts of inodes.
    fn names(&mut self, inodes: &Inodes) {
        for (place, record) in inodes.iter() {
            let position = self.image.layout.inodes.start.saturating_add(place.block());
            let number = record.number;
            let what = match record.names {
                0 => format!("inode {number} is in no directory"),
                names if record.directory.is_none() && names != record.nlink => {
                    format!("inode {number} has {names} names, not {}", record.nlink)
                }
                _ => continue,
            };
            let damage = Damage::new(Part::InodeTable, position, what);
            self.findings.add_of(number, damage.following());
        }
    }

    fn listings_cover(&mut self, ranges: Vec<(u64, u64)>, bytes: u64) {
        for flaw in flaws(ranges, 0, bytes, false) {
            let what = match flaw {
                Flaw::Gap { start, bytes } => {
                    format!("{bytes} bytes from {start} on are in no directory")
                }
                Flaw::Overlap { start } => format!("two directories share bytes from {start} on"),
            };
            let start = self.image.layout.directories.start;
            let damage = Damage::new(Part::DirectoryTable, start, what);
            self.findings.add(damage.following());
        }
    }
}
