//! Inode table and directory table.
//!
//! An inode refers to its place in the image, a listing to the inodes of what it names, and the
//! inode of a directory to its listing. So everything that is no directory comes first, and then
//! the directories, the deepest first: what a level refers to has its place by then, and each level
//! is compressed in parallel.

use super::inode::{self, Header, IndexEntry, Listing};
use super::metadata::{MetadataTable, Place};
use super::pack::Layout;
use super::plan::Content;
use super::tree::{Attributes, Body, Directory, Target, Tree};
use super::WriteError;
use crate::format::{InodeType, Reference, METADATA_BYTES, RUN_ENTRIES};
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_tree::NodeKind;

/// Bytes that are collected before they are compressed.
const SETTLE_BYTES: u64 = 4 << 20;

/// The tables, compressed.
pub(super) struct Assembled {
    pub inodes: Vec<u8>,
    pub directories: Vec<u8>,
    pub root: Reference,
    /// The reference to each inode, by number from 1 on.
    pub references: Vec<Reference>,
}

/// Lays out inodes and listings.
pub(super) fn assemble(
    tree: &Tree,
    layouts: &[Layout],
    settings: &Settings,
    options: &Options,
) -> Result<Assembled, WriteError> {
    let mut assembly = Assembly {
        tree,
        inodes: MetadataTable::new(settings, options),
        listings: MetadataTable::new(settings, options),
        leaf_places: Vec::with_capacity(tree.leaves.len()),
        directory_places: vec![Place::default(); tree.directories.len()],
    };
    assembly.leaves(layouts)?;
    let mut order: Vec<usize> = (0..tree.directories.len()).collect();
    order.sort_by_key(|number| std::cmp::Reverse(tree.directories[*number].depth));
    let depth = |a: &usize, b: &usize| tree.directories[*a].depth == tree.directories[*b].depth;
    for level in order.chunk_by(depth) {
        assembly.level(level)?;
    }
    assembly.finish()
}

struct Assembly<'t> {
    tree: &'t Tree,
    inodes: MetadataTable<'t>,
    listings: MetadataTable<'t>,
    leaf_places: Vec<Place>,
    directory_places: Vec<Place>,
}

/// A listing before its place on disk is known.
struct Draft {
    start: Place,
    bytes: u64,
    /// Runs that begin metadata blocks: bytes before them, places, first names.
    index: Vec<(u64, Place, Vec<u8>)>,
}

impl Assembly<'_> {
    fn leaves(&mut self, layouts: &[Layout]) -> Result<(), WriteError> {
        let mut settled = 0;
        for (number, leaf) in (1..).zip(&self.tree.leaves) {
            let header = header(leaf.attributes, number);
            let bytes = match &leaf.body {
                Body::File(size, content) => {
                    let own;
                    let layout = match content {
                        Content::Blocks(number) => &layouts[*number as usize],
                        Content::Tail(tail) => {
                            own = Layout {
                                tail: Some(*tail),
                                ..Layout::default()
                            };
                            &own
                        }
                        Content::Empty => &Layout::default(),
                    };
                    inode::file(header, *size, layout, leaf.nlink)
                }
                Body::Symlink(target) => inode::symlink(header, target, leaf.nlink),
                Body::Device(device) => inode::device(header, *device, leaf.nlink),
                Body::Ipc => inode::ipc(header, leaf.nlink),
            };
            self.leaf_places.push(self.inodes.place());
            self.inodes.append(&bytes);
            if self.inodes.place().0 - settled >= SETTLE_BYTES {
                settled = self.inodes.place().0;
                self.inodes.settle()?;
            }
        }
        Ok(())
    }

    /// Directories of one depth: their listings, and then their inodes.
    fn level(&mut self, level: &[usize]) -> Result<(), WriteError> {
        self.inodes.settle()?;
        let mut drafts = Vec::with_capacity(level.len());
        for number in level {
            drafts.push(self.listing(&self.tree.directories[*number])?);
        }
        self.listings.settle()?;
        for (number, draft) in level.iter().zip(drafts) {
            let directory = &self.tree.directories[*number];
            let subdirectories =
                |target: &&(Box<[u8]>, Target)| matches!(target.1, Target::Directory(_));
            let nlink = 2 + directory.children.iter().filter(subdirectories).count() as u32;
            let parent = match number {
                0 => self.count() + 1,
                _ => self.directory_number(directory.parent),
            };
            let header = header(directory.attributes, self.directory_number(*number as u32));
            let listing = self.place(draft)?;
            let bytes = inode::directory(header, &listing, nlink, parent);
            self.directory_places[*number] = self.inodes.place();
            self.inodes.append(&bytes);
        }
        Ok(())
    }

    /// Appends the listing of a directory.
    fn listing(&mut self, directory: &Directory) -> Result<Draft, WriteError> {
        let start = self.listings.place();
        let room = |(name, _): &(Box<[u8]>, Target)| 8 + name.len();
        let is_large = directory.children.iter().map(room).sum::<usize>() > METADATA_BYTES;
        let mut index = Vec::new();
        let mut rest = directory.children.as_slice();
        while let Some((name, target)) = rest.first() {
            let place = self.listings.place();
            let position = place.0 - start.0;
            if is_large && place.piece() != self.last_indexed(start, &index) {
                index.push((position, place, name.to_vec()));
            }
            let (inode, number) = self.inode_of(*target)?;
            let run = self.run(rest, inode, number, is_large.then_some(place))?;
            let (entries, after) = rest.split_at(run);
            rest = after;
            self.append_run(entries, inode, number)?;
        }
        let bytes = self.listings.place().0 - start.0;
        Ok(Draft {
            start,
            bytes,
            index,
        })
    }

    fn last_indexed(&self, start: Place, index: &[(u64, Place, Vec<u8>)]) -> u64 {
        index.last().map_or(start, |(_, place, _)| *place).piece()
    }

    /// How many entries go into the run that begins with the first of `rest`: their inodes are in
    /// one metadata block, their numbers not far from each other, and, if `start` is given, the
    /// entries begin in the metadata block in which the run begins.
    fn run(
        &self,
        rest: &[(Box<[u8]>, Target)],
        inode: Reference,
        number: u32,
        start: Option<Place>,
    ) -> Result<usize, WriteError> {
        let mut count = 0;
        let mut at = start.map(|start| Place(start.0 + 12));
        for (name, target) in rest.iter().take(RUN_ENTRIES as usize) {
            let (next, next_number) = self.inode_of(*target)?;
            let far = i64::from(next_number) - i64::from(number);
            let crosses = at
                .zip(start)
                .is_some_and(|(at, start)| at.piece() != start.piece());
            if next.block() != inode.block() || i16::try_from(far).is_err() || count > 0 && crosses
            {
                break;
            }
            at = at.map(|at| Place(at.0 + 8 + name.len() as u64));
            count += 1;
        }
        Ok(count.max(1))
    }

    fn append_run(
        &mut self,
        entries: &[(Box<[u8]>, Target)],
        inode: Reference,
        number: u32,
    ) -> Result<(), WriteError> {
        let mut bytes = Vec::new();
        for word in [entries.len() as u32 - 1, small(inode.block())?, number] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for (name, target) in entries {
            let (inode, own) = self.inode_of(*target)?;
            let delta = (i64::from(own) - i64::from(number)) as i16;
            bytes.extend_from_slice(&inode.offset().to_le_bytes());
            bytes.extend_from_slice(&delta.to_le_bytes());
            let kind = InodeType {
                kind: self.kind(*target),
                extended: false,
            };
            bytes.extend_from_slice(&kind.id().to_le_bytes());
            bytes.extend_from_slice(&(name.len() as u16 - 1).to_le_bytes());
            bytes.extend_from_slice(name);
        }
        self.listings.append(&bytes);
        Ok(())
    }

    /// The listing in its place on disk.
    fn place(&self, draft: Draft) -> Result<Listing, WriteError> {
        let start = self.reference(&self.listings, draft.start)?;
        let too_large = |_| limit("a directory has more than 4 GiB of names");
        let mut index = Vec::with_capacity(draft.index.len());
        for (position, place, name) in draft.index.into_iter().take(usize::from(u16::MAX)) {
            index.push(IndexEntry {
                position: u32::try_from(position).map_err(too_large)?,
                block: small(self.reference(&self.listings, place)?.block())?,
                name,
            });
        }
        Ok(Listing {
            bytes: u32::try_from(draft.bytes)
                .ok()
                .filter(|bytes| bytes.checked_add(3).is_some())
                .ok_or_else(|| limit("a directory has more than 4 GiB of names"))?,
            block: small(start.block())?,
            offset: start.offset(),
            index,
        })
    }

    /// Where the inode of a name is, and its number.
    fn inode_of(&self, target: Target) -> Result<(Reference, u32), WriteError> {
        let (place, number) = match target {
            Target::Leaf(number) => (self.leaf_places[number as usize], number + 1),
            Target::Directory(number) => {
                let place = self.directory_places[number as usize];
                (place, self.directory_number(number))
            }
        };
        Ok((self.reference(&self.inodes, place)?, number))
    }

    fn kind(&self, target: Target) -> NodeKind {
        match target {
            Target::Leaf(number) => self.tree.leaves[number as usize].attributes.kind,
            Target::Directory(_) => NodeKind::Directory,
        }
    }

    fn directory_number(&self, number: u32) -> u32 {
        self.tree.leaves.len() as u32 + number + 1
    }

    fn count(&self) -> u32 {
        (self.tree.leaves.len() + self.tree.directories.len()) as u32
    }

    fn reference(&self, table: &MetadataTable<'_>, place: Place) -> Result<Reference, WriteError> {
        table
            .reference(place)
            .ok_or_else(|| limit("a reference was made before its target had a place"))
    }

    fn finish(self) -> Result<Assembled, WriteError> {
        let places = self.leaf_places.iter().chain(&self.directory_places);
        let references: Result<Vec<Reference>, WriteError> = places
            .map(|place| self.reference(&self.inodes, *place))
            .collect();
        let references = references?;
        let root = self.reference(&self.inodes, self.directory_places[0])?;
        let (inodes, _) = self.inodes.finish()?;
        let (directories, _) = self.listings.finish()?;
        Ok(Assembled {
            inodes,
            directories,
            root,
            references,
        })
    }
}

fn header(attributes: Attributes, number: u32) -> Header {
    Header {
        kind: attributes.kind,
        mode: attributes.mode,
        uid: attributes.uid,
        gid: attributes.gid,
        mtime: attributes.mtime,
        number,
    }
}

/// Inside of a table, positions have four bytes.
fn small(position: u64) -> Result<u32, WriteError> {
    u32::try_from(position).map_err(|_| limit("its inodes or directories take more than 4 GiB"))
}

fn limit(reason: &str) -> WriteError {
    WriteError::Limit {
        reason: reason.into(),
    }
}
