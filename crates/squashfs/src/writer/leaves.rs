//! Inodes of everything except directories. They are compressed as they arrive, because a tree can
//! have millions.

use super::attributes::Attributes;
use super::blocks::{BlockList, Run};
use super::inode;
use super::metadata::{MetadataTable, Place};
use super::pack::Layout;
use crate::format::METADATA_BYTES;
use hedgerow_image::names::Target;
use hedgerow_image::WriteError;
use std::collections::HashMap;

/// Metadata is compressed when this many bytes are pending.
const SETTLE_BYTES: u64 = 4 << 20;
/// Number of places that are stored relative to the first of them.
const CHUNK: usize = 4096;

/// The part of an inode that depends on its kind.
#[derive(Debug)]
pub(super) enum Body {
    /// Its size in bytes and the place of its content.
    File(u64, Layout),
    Symlink(Box<[u8]>),
    Device((u32, u32)),
    /// A fifo or a socket.
    Ipc,
}

impl Body {
    fn blocks(&self) -> Option<&BlockList> {
        match self {
            Body::File(_, layout) => Some(&layout.blocks),
            Body::Symlink(_) | Body::Device(_) | Body::Ipc => None,
        }
    }
}

/// All inodes so far, and those that may still get further names.
pub(super) struct Leaves {
    /// The places of the inodes in the table: for each [`CHUNK`], the first place and the offsets
    /// from it.
    places: Vec<(Place, Vec<u32>)>,
    count: u32,
    settled: u64,
    /// Inodes that may have several names. They are written at the end.
    linked: Vec<Linked>,
    links: HashMap<(u64, u64), u32>,
    /// Set at the end: [`Linked::before`] of those that have only one name, ascending.
    singles: Vec<u32>,
}

/// An inode that may have several names.
struct Linked {
    attributes: Attributes,
    body: Body,
    /// Number of names so far.
    nlink: u32,
    /// Number of inodes without other names that came before it.
    before: u32,
    /// Its place and its inode number; set at the end.
    found: (Place, u32),
}

impl Leaves {
    pub(super) fn new() -> Self {
        Leaves {
            places: Vec::new(),
            count: 0,
            settled: 0,
            linked: Vec::new(),
            links: HashMap::new(),
            singles: Vec::new(),
        }
    }

    /// Number of all inodes.
    pub(super) fn count(&self) -> u32 {
        let inserted = self.singles.len() as u32;
        self.count - inserted + self.linked.len() as u32
    }

    /// The target of another name of `link`, if one came before.
    pub(super) fn known(&self, link: Option<(u64, u64)>) -> Option<Target> {
        let number = self.links.get(&link?)?;
        Some(Target::Linked(*number))
    }

    /// Counts a further name of `target`.
    pub(super) fn add_name(&mut self, target: Target) {
        if let Target::Linked(number) = target {
            if let Some(linked) = self.linked.get_mut(number as usize) {
                linked.nlink += 1;
            }
        }
    }

    /// The target that the next inode will have.
    pub(super) fn next(&self, link: Option<(u64, u64)>) -> Target {
        match link {
            Some(_) => Target::Linked(self.linked.len() as u32),
            None => Target::Leaf(self.count),
        }
    }

    /// Adds the inode for which [`next`](Self::next) returned the target.
    pub(super) fn add(
        &mut self,
        table: &mut MetadataTable<'_>,
        link: Option<(u64, u64)>,
        attributes: Attributes,
        body: Body,
    ) -> Result<(), WriteError> {
        if let Some(link) = link {
            self.links.insert(link, self.linked.len() as u32);
            self.linked.push(Linked {
                attributes,
                body,
                nlink: 1,
                before: self.count,
                found: (Place(0), 0),
            });
            return Ok(());
        }
        let inode = encode(attributes, self.count + 1, &body, 1);
        self.append(table, &inode, body.blocks())
    }

    fn append(
        &mut self,
        table: &mut MetadataTable<'_>,
        inode: &[u8],
        blocks: Option<&BlockList>,
    ) -> Result<(), WriteError> {
        let place = table.place();
        if (self.count as usize).is_multiple_of(CHUNK) {
            self.places.push((place, Vec::with_capacity(CHUNK)));
        }
        if let Some((first, others)) = self.places.last_mut() {
            let distance = u32::try_from(place.0 - first.0);
            others.push(distance.map_err(|_| too_large())?);
        }
        self.count += 1;
        table.append(inode);
        append_blocks(table, blocks)?;
        if table.place().0 - self.settled >= SETTLE_BYTES {
            self.settled = table.place().0;
            table.settle()?;
        }
        Ok(())
    }

    /// Writes the inodes that may have several names.
    pub(super) fn finish(&mut self, table: &mut MetadataTable<'_>) -> Result<(), WriteError> {
        if self.linked.iter().any(|linked| linked.nlink == 1) {
            self.insert_single(table)?;
        }
        let several = self.linked.iter_mut().filter(|linked| linked.nlink > 1);
        for (number, linked) in (self.count + 1..).zip(several) {
            linked.found = (table.place(), number);
            let Linked {
                attributes, body, ..
            } = linked;
            table.append(&encode(*attributes, number, body, linked.nlink));
            append_blocks(table, body.blocks())?;
        }
        table.settle()
    }

    /// Writes inodes that turned out to have only one name to their place among the others, so that
    /// names outside the image do not change it. The table must be rewritten for that.
    fn insert_single(&mut self, table: &mut MetadataTable<'_>) -> Result<(), WriteError> {
        let end = table.place();
        let mut old = table.replace()?;
        let mut linked = std::mem::take(&mut self.linked);
        let places: Vec<Place> = self.places().collect();
        self.places.clear();
        (self.count, self.settled) = (0, 0);
        let ends = places.iter().skip(1).chain(std::iter::once(&end));
        let mut single = linked
            .iter_mut()
            .filter(|linked| linked.nlink == 1)
            .peekable();
        for ((before, place), end) in (0..).zip(&places).zip(ends) {
            while let Some(next) = single.next_if(|next| next.before <= before) {
                self.append_single(table, next)?;
            }
            let mut inode = old.take((end.0 - place.0) as usize)?;
            let number = (self.count + 1).to_le_bytes();
            if let Some(own) = inode.get_mut(inode::NUMBER) {
                own.copy_from_slice(&number);
            }
            self.append(table, &inode, None)?;
        }
        for next in single {
            self.append_single(table, next)?;
        }
        let single = linked.iter().filter(|linked| linked.nlink == 1);
        self.singles = single.map(|linked| linked.before).collect();
        self.linked = linked;
        Ok(())
    }

    fn append_single(
        &mut self,
        table: &mut MetadataTable<'_>,
        linked: &mut Linked,
    ) -> Result<(), WriteError> {
        linked.found = (table.place(), self.count + 1);
        let inode = encode(linked.attributes, self.count + 1, &linked.body, 1);
        self.append(table, &inode, linked.body.blocks())
    }

    /// The place of the inode of a leaf, and its number.
    pub(super) fn get(&self, target: Target) -> Option<(Place, u32)> {
        match target {
            Target::Directory(_) => None,
            Target::Linked(number) => Some(self.linked.get(number as usize)?.found),
            Target::Leaf(number) => {
                let number = number + self.inserted(number);
                let (first, others) = self.places.get(number as usize / CHUNK)?;
                let place = others.get(number as usize % CHUNK)?;
                Some((Place(first.0 + u64::from(*place)), number + 1))
            }
        }
    }

    /// The number of inodes inserted before the leaf that was added as `number`.
    fn inserted(&self, number: u32) -> u32 {
        self.singles.partition_point(|before| *before <= number) as u32
    }

    /// The places of the inodes in the order of their numbers.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let leaves = self.places.iter().flat_map(|(first, others)| {
            let place = |other: &u32| Place(first.0 + u64::from(*other));
            others.iter().map(place)
        });
        let several = self.linked.iter().filter(|linked| linked.nlink > 1);
        leaves.chain(several.map(|linked| linked.found.0))
    }
}

fn too_large() -> WriteError {
    WriteError::Limit {
        reason: "its inodes take more than 4 GiB".into(),
    }
}

/// Appends a file's block list, and compresses it meanwhile: holes can make it long.
fn append_blocks(
    table: &mut MetadataTable<'_>,
    blocks: Option<&BlockList>,
) -> Result<(), WriteError> {
    const ZEROS: [u8; METADATA_BYTES] = [0; METADATA_BYTES];
    for run in blocks.into_iter().flat_map(BlockList::runs) {
        let mut left = match run {
            Run::Block(word) => {
                table.append(&word.0.to_le_bytes());
                continue;
            }
            Run::Holes(count) => u64::from(count) * 4,
        };
        while left > 0 {
            let part = left.min(METADATA_BYTES as u64);
            table.append(&ZEROS[..part as usize]);
            left -= part;
            if table.pending_bytes() >= SETTLE_BYTES {
                table.settle()?;
            }
        }
    }
    Ok(())
}

fn encode(attributes: Attributes, number: u32, body: &Body, nlink: u32) -> Vec<u8> {
    match body {
        Body::File(size, layout) => inode::file(attributes, number, *size, layout, nlink),
        Body::Symlink(target) => inode::symlink(attributes, number, target, nlink),
        Body::Device(device) => inode::device(attributes, number, *device, nlink),
        Body::Ipc => inode::ipc(attributes, number, nlink),
    }
}
