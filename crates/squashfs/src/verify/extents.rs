//! Checks every data block, and finds unused and shared bytes of the data area.

use super::checksum::has_checksum;
use super::ranges::{flaws, Flaw};
use super::{ended, Check, VerifyError};
use crate::format::{SizeWord, SUPERBLOCK_BYTES};
use crate::reader::{FragmentTail, Image};
use crate::{Damage, Part, Result};
use hedgerow_engine::{run_ordered, Window};
use std::collections::HashMap;

/// Limit of the batches in progress, in stored bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };
/// Approximate size of a worker's batch, in stored bytes.
const BATCH_BYTES: u64 = 256 << 10;

/// What inodes refer to in the data area.
#[derive(Default)]
pub struct Extents {
    blocks: HashMap<u64, Block>,
    tails: Vec<Tail>,
}

/// A block of a file. Several files may share it.
#[derive(Clone, Copy)]
struct Block {
    word: SizeWord,
    length: u32,
    /// The first inode that refers to it.
    inode: u32,
}

struct Tail {
    place: FragmentTail,
    length: u32,
    inode: u32,
}

impl Extents {
    pub fn add(&mut self, position: u64, word: SizeWord, length: u32, inode: u32) -> Result<()> {
        let block = Block {
            word,
            length,
            inode,
        };
        let known = self.blocks.entry(position).or_insert(block);
        if (known.word, known.length) != (word, length) {
            let what = format!(
                "inode {inode} and inode {} disagree on a block",
                known.inode
            );
            return Err(Damage::new(Part::Data, position, what).into());
        }
        Ok(())
    }

    pub fn add_tail(&mut self, place: FragmentTail, length: u32, inode: u32) {
        self.tails.push(Tail {
            place,
            length,
            inode,
        });
    }
}

/// A block to read.
#[derive(Clone, Copy)]
struct Extent {
    position: u64,
    word: SizeWord,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Data { length: u32, inode: u32 },
    Fragment { index: u32 },
}

impl Extent {
    fn part(&self) -> Part {
        match self.kind {
            Kind::Data { .. } => Part::Data,
            Kind::Fragment { .. } => Part::Fragments,
        }
    }

    fn end(&self) -> u64 {
        self.position
            .saturating_add(self.word.stored_bytes().into())
    }
}

/// The result for an extent: its decompressed length and whether it has a checksum.
type Seen = std::result::Result<(u32, bool), Damage>;

impl Check<'_> {
    /// Reads all blocks. Returns their decompressed size in bytes.
    pub fn extents(&mut self, extents: Extents) -> std::result::Result<u64, VerifyError> {
        let mut list: Vec<Extent> = Vec::new();
        for (position, block) in extents.blocks {
            list.push(Extent {
                position,
                word: block.word,
                kind: Kind::Data {
                    length: block.length,
                    inode: block.inode,
                },
            });
        }
        self.fragment_blocks(&mut list);
        list.sort_unstable_by_key(|extent| (extent.position, extent.word, extent.part()));
        self.extents_cover(&list);
        self.drop_excess(&mut list);
        let mut fragments: HashMap<u32, u32> = HashMap::new();
        let mut content_bytes = 0;
        let image = self.image;
        let options = self.options;
        run_ordered(
            options,
            WINDOW,
            batches(&list).map(Ok),
            |_| Buffers::default(),
            |buffers, batch: &[Extent]| {
                let seen = batch.iter().map(|extent| buffers.see(image, extent));
                let seen: Vec<(Extent, Seen)> = batch.iter().copied().zip(seen).collect();
                Ok::<_, VerifyError>(seen)
            },
            |_, batch| {
                for (extent, seen) in batch {
                    content_bytes += self.take(extent, seen, &mut fragments);
                }
                Ok(())
            },
        )
        .map_err(ended)?;
        self.tails(extents.tails, &fragments);
        Ok(content_bytes)
    }

    /// Adds the blocks of the fragment table.
    fn fragment_blocks(&mut self, list: &mut Vec<Extent>) {
        let count = self.image.superblock.fragment_count;
        if u64::from(count) > self.image.bytes.length() {
            let what = format!("{count} fragment blocks");
            self.findings.add(Damage::new(Part::Superblock, 16, what));
            return;
        }
        for index in 0..count {
            let block = self.image.fragment_block(index).and_then(|block| {
                let (position, word) = (block.position, block.word);
                self.image.check_extent(Part::Fragments, position, word)?;
                match block.unused {
                    0 => Ok(block),
                    unused => {
                        let what = format!("fragment block {index}: {unused:#x} in place of 0");
                        Err(Damage::new(Part::FragmentTable, position, what).into())
                    }
                }
            });
            match block {
                Ok(block) => list.push(Extent {
                    position: block.position,
                    word: block.word,
                    kind: Kind::Fragment { index },
                }),
                Err(error) => self.findings.add_error(Part::FragmentTable, error),
            }
        }
    }

    /// Limits what is read if blocks share bytes, which is a defect in any case: their total size
    /// could be arbitrarily large.
    fn drop_excess(&mut self, list: &mut Vec<Extent>) {
        let mut bytes_left = self.image.bytes.length().saturating_mul(2);
        let before = list.len();
        list.retain(|extent| {
            let left = bytes_left.checked_sub(extent.word.stored_bytes().into());
            bytes_left = left.unwrap_or_default();
            left.is_some()
        });
        if list.len() < before {
            let what = format!("{} blocks are not read", before - list.len());
            let start = SUPERBLOCK_BYTES;
            self.findings.add(Damage::new(Part::Data, start, what));
        }
    }

    fn extents_cover(&mut self, list: &[Extent]) {
        let options = self.image.option_block().ok().flatten();
        let start = SUPERBLOCK_BYTES + options.map_or(0, |block| 2 + block.len() as u64);
        let end = self.image.superblock.inode_table_start;
        let ranges = list.iter().map(|extent| (extent.position, extent.end()));
        for flaw in flaws(ranges.collect(), start, end, false) {
            let (at, what) = match flaw {
                Flaw::Gap { start, bytes } => (start, format!("{bytes} bytes are of no file")),
                Flaw::Overlap { start } => (start, "a block that shares bytes".to_owned()),
            };
            self.findings.add(Damage::new(Part::Data, at, what));
        }
    }

    /// Records the result for an extent. Returns its length in bytes.
    fn take(&mut self, extent: Extent, seen: Seen, fragments: &mut HashMap<u32, u32>) -> u64 {
        let (length, checksummed) = match (seen, extent.kind) {
            (Ok(seen), _) => seen,
            (Err(damage), Kind::Data { inode, .. }) => {
                self.findings.add_of(inode, damage);
                return 0;
            }
            (Err(damage), Kind::Fragment { .. }) => {
                self.findings.add(damage);
                return 0;
            }
        };
        let stored = u64::from(extent.word.stored_bytes());
        if checksummed {
            self.cover(extent.part(), stored, 0)
        } else {
            self.cover(extent.part(), 0, stored)
        }
        if let Kind::Fragment { index } = extent.kind {
            fragments.insert(index, length);
        }
        length.into()
    }

    /// Checks that the tails of files cover the fragment blocks exactly.
    fn tails(&mut self, mut tails: Vec<Tail>, fragments: &HashMap<u32, u32>) {
        tails.sort_by_key(|tail| tail.place.index);
        let mut blocks: Vec<(u32, u32)> = fragments.iter().map(|(a, b)| (*a, *b)).collect();
        blocks.sort_unstable();
        let mut rest = tails.as_slice();
        for (index, length) in blocks {
            let before = rest.partition_point(|tail| tail.place.index < index);
            rest = rest.get(before..).unwrap_or_default();
            let count = rest.partition_point(|tail| tail.place.index == index);
            let (of_block, others) = rest.split_at(count);
            rest = others;
            let mut ranges = Vec::new();
            for tail in of_block {
                let start = u64::from(tail.place.offset);
                let end = start + u64::from(tail.length);
                if end > length.into() {
                    let what = format!(
                        "a tail of {} bytes at {start} of fragment block {index}, which has {length}",
                        tail.length
                    );
                    let damage = Damage::new(Part::Fragments, index.into(), what);
                    self.findings.add_of(tail.inode, damage);
                } else {
                    ranges.push((start, end));
                }
            }
            for flaw in flaws(ranges, 0, length.into(), true) {
                let what = match flaw {
                    Flaw::Gap { start, bytes } => {
                        format!("{bytes} bytes at {start} of fragment block {index} are of no file")
                    }
                    Flaw::Overlap { start } => {
                        format!("tails share bytes at {start} of fragment block {index}")
                    }
                };
                self.findings
                    .add(Damage::new(Part::Fragments, index.into(), what));
            }
        }
    }
}

/// Cuts the list into batches of about the same stored size; returns each with its size.
fn batches(list: &[Extent]) -> impl Iterator<Item = (&[Extent], u64)> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let (mut count, mut bytes) = (0, 0);
        for extent in rest {
            count += 1;
            bytes += u64::from(extent.word.stored_bytes());
            if bytes >= BATCH_BYTES {
                break;
            }
        }
        let (batch, others) = rest.split_at(count);
        rest = others;
        (!batch.is_empty()).then_some((batch, bytes))
    })
}

/// A worker's buffers.
#[derive(Default)]
struct Buffers {
    stored: Vec<u8>,
    content: Vec<u8>,
}

impl Buffers {
    fn see(&mut self, image: &Image, extent: &Extent) -> Seen {
        let part = extent.part();
        let (position, word) = (extent.position, extent.word);
        let block_size = image.superblock.block_size as usize;
        self.stored.resize(word.stored_bytes() as usize, 0);
        self.content.resize(block_size, 0);
        let mut read = || {
            image.bytes.read(part, position, &mut self.stored)?;
            if word.is_raw() {
                Ok(self.stored.len())
            } else {
                image.decompress(part, position, &self.stored, &mut self.content)
            }
        };
        let length = read().map_err(|error| super::findings::damage(part, error))?;
        if let Kind::Data {
            length: expected, ..
        } = extent.kind
        {
            if length != expected as usize {
                let what = format!("a block of {length} bytes in place of {expected}");
                return Err(Damage::new(part, position, what));
            }
        }
        let checksummed = !word.is_raw() && has_checksum(image.compressor, &self.stored);
        Ok((length as u32, checksummed))
    }
}
