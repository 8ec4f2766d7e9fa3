//! Inodes of everything that is no directory. They are compressed as they come: a tree can have
//! millions.

use super::attributes::Attributes;
use super::inode;
use super::metadata::{MetadataTable, Place};
use super::names::Target;
use super::pack::Layout;
use super::WriteError;
use std::collections::HashMap;

/// Bytes that are collected before they are compressed.
const SETTLE_BYTES: u64 = 4 << 20;
/// Places that are kept relative to the first of them.
const CHUNK: usize = 4096;

/// What an inode tells besides its attributes.
#[derive(Debug)]
pub(super) enum Body {
    /// Its size in bytes, and where its content is.
    File(u64, Layout),
    Symlink(Box<[u8]>),
    Device((u32, u32)),
    /// A fifo or a socket.
    Ipc,
}

/// The inodes that came, and those that may get further names.
pub(super) struct Leaves {
    /// Where each is in the table: of every [`CHUNK`] the first, and the others relative to it.
    places: Vec<(Place, Vec<u32>)>,
    count: u32,
    settled: u64,
    /// What may have several names, and how many came. It gets its inode at the end.
    linked: Vec<(Attributes, Body, u32)>,
    linked_places: Vec<Place>,
    links: HashMap<(u64, u64), u32>,
}

impl Leaves {
    pub(super) fn new() -> Self {
        Leaves {
            places: Vec::new(),
            count: 0,
            settled: 0,
            linked: Vec::new(),
            linked_places: Vec::new(),
            links: HashMap::new(),
        }
    }

    /// All of them.
    pub(super) fn count(&self) -> u32 {
        self.count + self.linked.len() as u32
    }

    /// What another name of `link` stands for, if one came before.
    pub(super) fn known(&self, link: Option<(u64, u64)>) -> Option<Target> {
        let number = self.links.get(&link?)?;
        Some(Target::Linked(*number))
    }

    /// Counts another name.
    pub(super) fn add_name(&mut self, target: Target) {
        if let Target::Linked(number) = target {
            if let Some((_, _, nlink)) = self.linked.get_mut(number as usize) {
                *nlink += 1;
            }
        }
    }

    /// What the next one will be known by.
    pub(super) fn next(&self, link: Option<(u64, u64)>) -> Target {
        match link {
            Some(_) => Target::Linked(self.linked.len() as u32),
            None => Target::Leaf(self.count),
        }
    }

    /// Adds what [`next`](Self::next) told of.
    pub(super) fn add(
        &mut self,
        table: &mut MetadataTable<'_>,
        link: Option<(u64, u64)>,
        attributes: Attributes,
        body: Body,
    ) -> Result<(), WriteError> {
        if let Some(link) = link {
            self.links.insert(link, self.linked.len() as u32);
            self.linked.push((attributes, body, 1));
            return Ok(());
        }
        let place = table.place();
        if (self.count as usize).is_multiple_of(CHUNK) {
            self.places.push((place, Vec::with_capacity(CHUNK)));
        }
        if let Some((first, others)) = self.places.last_mut() {
            let distance = u32::try_from(place.0 - first.0);
            others.push(distance.map_err(|_| too_large())?);
        }
        self.count += 1;
        let bytes = encode(attributes, self.count, &body, 1);
        table.append(&bytes);
        if table.place().0 - self.settled >= SETTLE_BYTES {
            self.settled = table.place().0;
            table.settle()?;
        }
        Ok(())
    }

    /// Gives the rest their inodes.
    pub(super) fn finish(&mut self, table: &mut MetadataTable<'_>) -> Result<(), WriteError> {
        for (number, (attributes, body, nlink)) in (self.count + 1..).zip(&self.linked) {
            self.linked_places.push(table.place());
            table.append(&encode(*attributes, number, body, *nlink));
        }
        table.settle()
    }

    /// Where the inode of a leaf is, and its number.
    pub(super) fn get(&self, target: Target) -> Option<(Place, u32)> {
        match target {
            Target::Directory(_) => None,
            Target::Linked(number) => {
                let place = self.linked_places.get(number as usize)?;
                Some((*place, self.count + number + 1))
            }
            Target::Leaf(number) => {
                let (first, others) = self.places.get(number as usize / CHUNK)?;
                let place = others.get(number as usize % CHUNK)?;
                Some((Place(first.0 + u64::from(*place)), number + 1))
            }
        }
    }

    /// Where the inodes are, by number.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let leaves = self.places.iter().flat_map(|(first, others)| {
            let place = |other: &u32| Place(first.0 + u64::from(*other));
            others.iter().map(place)
        });
        leaves.chain(self.linked_places.iter().copied())
    }
}

fn too_large() -> WriteError {
    WriteError::Limit {
        reason: "its inodes take more than 4 GiB".into(),
    }
}

fn encode(attributes: Attributes, number: u32, body: &Body, nlink: u32) -> Vec<u8> {
    match body {
        Body::File(size, layout) => inode::file(attributes, number, *size, layout, nlink),
        Body::Symlink(target) => inode::symlink(attributes, number, target, nlink),
        Body::Device(device) => inode::device(attributes, number, *device, nlink),
        Body::Ipc => inode::ipc(attributes, number, nlink),
    }
}
