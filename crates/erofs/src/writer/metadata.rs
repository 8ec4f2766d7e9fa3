//! Places for inodes. What belongs to an inode stands behind it: extended attributes, the addresses
//! of chunks, and a tail. Inodes are collected in regions, each of which is written in one piece
//! between the contents of two files.

use hedgerow_image::{Output, WriteError};
use std::collections::BTreeMap;

/// A region that has this many bytes and no room is written.
const REGION_BYTES: usize = 1 << 20;
/// Inodes begin at multiples of this many bytes.
const SLOT_BYTES: usize = 32;

/// The place of an inode: a region, and the slot in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    region: u32,
    slot: u32,
}

/// The inodes so far.
pub(super) struct Metadata {
    block_bytes: usize,
    /// The positions of the written regions, in bytes.
    written: Vec<u64>,
    bytes: Vec<u8>,
    /// Blocks of the current region with free bytes at their ends, by the number of these.
    free: BTreeMap<usize, Vec<u32>>,
    /// Hashes everything written.
    pub hasher: blake3::Hasher,
}

impl Metadata {
    pub(super) fn new(block_bytes: usize) -> Self {
        Metadata {
            block_bytes,
            written: Vec::new(),
            bytes: Vec::new(),
            free: BTreeMap::new(),
            hasher: blake3::Hasher::new(),
        }
    }

    /// Stores an inode with what is behind it. Unless it is longer than a block, it is in one block; if
    /// it is longer than a region should be, it is a region of its own, and never in memory as a whole.
    pub(super) fn add(
        &mut self,
        mut inode: Vec<u8>,
        behind: impl Iterator<Item = impl AsRef<[u8]>>,
        output: &mut Output,
    ) -> Result<Place, WriteError> {
        let mut region = None;
        for part in behind {
            if inode.len() >= REGION_BYTES {
                if region.is_none() {
                    self.write(output)?;
                    region = Some(self.written.len() as u32);
                    self.written.push(output.position());
                }
                self.hasher.update(&inode);
                output.append(&inode)?;
                inode.clear();
            }
            inode.extend_from_slice(part.as_ref());
        }
        let Some(region) = region else {
            return self.place(&inode, output);
        };
        self.hasher.update(&inode);
        output.append(&inode)?;
        output.pad(self.block_bytes as u64)?;
        Ok(Place { region, slot: 0 })
    }

    fn place(&mut self, inode: &[u8], output: &mut Output) -> Result<Place, WriteError> {
        let taken = inode.len().next_multiple_of(SLOT_BYTES);
        let room = self.free.range(taken..).next().map(|(room, _)| *room);
        let start = match room.and_then(|room| self.take(room)) {
            Some(start) => start,
            None => {
                if !self.bytes.is_empty() && self.bytes.len() + taken > REGION_BYTES {
                    self.write(output)?;
                }
                let start = self.bytes.len();
                let end = start + taken.next_multiple_of(self.block_bytes);
                self.bytes.resize(end, 0);
                start
            }
        };
        let end = start + taken;
        let place = self.bytes.get_mut(start..start + inode.len());
        place.expect("it has room").copy_from_slice(inode);
        let left = end.next_multiple_of(self.block_bytes) - end;
        if left > 0 {
            let block = (end / self.block_bytes) as u32;
            self.free.entry(left).or_default().push(block);
        }
        Ok(Place {
            region: self.written.len() as u32,
            slot: (start / SLOT_BYTES) as u32,
        })
    }

    /// Takes a block with this many free bytes. Returns the position of these.
    fn take(&mut self, room: usize) -> Option<usize> {
        let blocks = self.free.get_mut(&room)?;
        let block = blocks.pop()?;
        if blocks.is_empty() {
            self.free.remove(&room);
        }
        Some((block as usize + 1) * self.block_bytes - room)
    }

    /// Writes the current region.
    pub(super) fn write(&mut self, output: &mut Output) -> Result<(), WriteError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        debug_assert!(output.position().is_multiple_of(self.block_bytes as u64));
        self.written.push(output.position());
        self.hasher.update(&self.bytes);
        output.append(&self.bytes)?;
        self.bytes.clear();
        self.free.clear();
        Ok(())
    }

    /// The position of an inode, whose region was written.
    pub(super) fn position(&self, place: Place) -> u64 {
        let region = self.written.get(place.region as usize);
        let region = region.expect("its region was written");
        region + u64::from(place.slot) * SLOT_BYTES as u64
    }

    /// Changes bytes of an inode, from the one at `at` on.
    pub(super) fn change(
        &mut self,
        place: Place,
        at: usize,
        bytes: &[u8],
        output: &mut Output,
    ) -> Result<(), WriteError> {
        self.hasher.update(bytes);
        if place.region as usize == self.written.len() {
            let start = place.slot as usize * SLOT_BYTES + at;
            let found = self.bytes.get_mut(start..start + bytes.len());
            found.expect("it is in the region").copy_from_slice(bytes);
            return Ok(());
        }
        output.change(self.position(place) + at as u64, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_fs::OutputFile;

    #[test]
    fn a_long_inode_is_written_as_it_comes() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("image");
        let mut output = Output::new(OutputFile::create(&path).unwrap(), 0);
        let mut metadata = Metadata::new(4096);
        let mut add = |byte: u8, parts: u32| {
            let parts = (0..parts).map(u32::to_le_bytes);
            metadata.add(vec![byte; 64], parts, &mut output).unwrap()
        };
        let (short, long, last) = (add(1, 1), add(2, 4 << 20), add(3, 0));
        metadata.change(long, 4, b"long", &mut output).unwrap();
        metadata.change(last, 4, b"last", &mut output).unwrap();
        // Never more than a region.
        assert!(metadata.bytes.capacity() <= 2 * REGION_BYTES);
        metadata.write(&mut output).unwrap();
        let places = [short, long, last].map(|place| metadata.position(place) as usize);
        assert_eq!(places, [0, 4096, 4096 + (16 << 20) + 4096]);
        output.finish(&[], 4096, false).unwrap();
        let mut image = Vec::new();
        let file = hedgerow_fs::ReadFile::open_stream(&path).unwrap();
        file.read_to_end(&mut image, 32 << 20).unwrap();
        assert_eq!(image[64..68], [0; 4]);
        assert_eq!(image[4096..4106], *b"\x02\x02\x02\x02long\x02\x02");
        for number in [0, 1, 300_000, (4 << 20) - 1] {
            let at = 4096 + 64 + number as usize * 4;
            assert_eq!(image[at..at + 4], u32::to_le_bytes(number));
        }
        assert_eq!(image[places[2]..][..9], *b"\x03\x03\x03\x03last\x03");
    }
}
