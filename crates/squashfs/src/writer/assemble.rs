//! Builds the inode table and the directory table.
//!
//! Listings refer to the places of inodes, and the inode of a directory to the place of its
//! listing. So the inodes of everything except directories come first, then the directories, the
//! deepest first: everything that a level refers to has its place by then, and each level is
//! compressed in parallel.

use super::attributes::Attributes;
use super::inode::{self, IndexEntry, Listing};
use super::leaves::Leaves;
use super::metadata::{MetadataTable, Place};
use super::tree::Tree;
use super::CreateOptions;
use crate::format::{InodeType, Reference, METADATA_BYTES, RUN_ENTRIES};
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_image::directories::Directory;
use hedgerow_image::names::{Child, Names, Target};
use hedgerow_image::WriteError;

/// The compressed tables.
pub(super) struct Assembled {
    pub inodes: Vec<u8>,
    pub directories: Vec<u8>,
    pub root: Reference,
    /// The references to the inodes by number, from 1 on; empty without an export table.
    pub references: Vec<Reference>,
}

/// Lays out inodes and listings.
pub(super) fn assemble<'s>(
    tree: &mut Tree<'s>,
    create: &CreateOptions,
    settings: &'s Settings,
    options: &'s Options,
) -> Result<Assembled, WriteError> {
    tree.leaves.finish(&mut tree.inodes)?;
    let count = tree.count()?;
    let table = || MetadataTable::new(settings, options).raw(create.uncompressed.inodes);
    let mut assembly = Assembly {
        leaves: &tree.leaves,
        count,
        inodes: std::mem::replace(&mut tree.inodes, table()),
        listings: table(),
        places: vec![Place::default(); tree.directories.all().len()],
    };
    let mut order: Vec<(u32, Directory<Attributes>)> = (0..).zip(tree.directories.take()).collect();
    order.sort_by_key(|(_, directory)| std::cmp::Reverse(directory.depth));
    for level in order.chunk_by_mut(|(_, a), (_, b)| a.depth == b.depth) {
        assembly.level(level)?;
    }
    assembly.finish(create.exportable)
}

struct Assembly<'t, 's> {
    leaves: &'t Leaves,
    /// Number of inodes.
    count: u32,
    inodes: MetadataTable<'s>,
    listings: MetadataTable<'s>,
    /// The places of the inodes of directories.
    places: Vec<Place>,
}

/// A listing whose position in the image is not known yet.
struct Draft {
    start: Place,
    bytes: u64,
    /// Runs that are the first in their metadata blocks: offset in the listing, place, first name.
    index: Vec<(u64, Place, Vec<u8>)>,
}

/// A run: entries of a listing with a common header.
struct Run {
    /// The place of its header.
    start: Place,
    /// The place of the inode of its first entry; `number` is that inode's number.
    inode: Reference,
    number: u32,
    count: u32,
    /// The encoded entries.
    bytes: Vec<u8>,
}

/// Listings are compressed when this many bytes are pending.
const SETTLE_BYTES: u64 = 4 << 20;
/// Size of the header of a run in bytes.
const RUN_HEADER_BYTES: u64 = 12;

impl Assembly<'_, '_> {
    /// Writes the directories of one depth: first all listings, then all inodes.
    fn level(&mut self, level: &mut [(u32, Directory<Attributes>)]) -> Result<(), WriteError> {
        self.inodes.settle()?;
        let mut drafts = Vec::with_capacity(level.len());
        let mut settled = self.listings.place().0;
        for (_, directory) in level.iter_mut() {
            let names = std::mem::take(&mut directory.names);
            drafts.push(self.listing(&names)?);
            if self.listings.place().0 - settled >= SETTLE_BYTES {
                settled = self.listings.place().0;
                self.listings.settle()?;
            }
        }
        self.listings.settle()?;
        for ((number, directory), draft) in level.iter().zip(drafts) {
            let nlink = 2 + directory.subdirectories;
            let parent = match number {
                0 => self.count.saturating_add(1),
                _ => self.directory_number(directory.parent),
            };
            let own = self.directory_number(*number);
            let listing = self.place(draft)?;
            let bytes = inode::directory(directory.attributes, own, &listing, nlink, parent);
            if let Some(place) = self.places.get_mut(*number as usize) {
                *place = self.inodes.place();
            }
            self.inodes.append(&bytes);
        }
        Ok(())
    }

    /// Appends the listing of a directory. A new run begins at an entry whose inode is in another
    /// metadata block than those of the run, or whose number is too far away. If the listing is
    /// larger than a metadata block, a run also begins with the first entry in each block, so that
    /// the index can refer to it.
    fn listing(&mut self, names: &Names) -> Result<Draft, WriteError> {
        let start = self.listings.place();
        let room = |child: Child<'_>| 8 + child.name.len();
        let is_large = names.iter().map(room).sum::<usize>() > METADATA_BYTES;
        let mut index: Vec<(u64, Place, Vec<u8>)> = Vec::new();
        let mut run: Option<Run> = None;
        for child in names.iter() {
            let (inode, number) = self.inode_of(child.target)?;
            run = run.filter(|run| {
                let at = run.start.0 + RUN_HEADER_BYTES + run.bytes.len() as u64;
                let crosses = is_large && Place(at).piece() != run.start.piece();
                let far = i64::from(number) - i64::from(run.number);
                let fits = run.count < RUN_ENTRIES && inode.block() == run.inode.block();
                let goes_on = fits && !crosses && i16::try_from(far).is_ok();
                if !goes_on {
                    append_run(&mut self.listings, run);
                }
                goes_on
            });
            let place = self.listings.place();
            let run = run.get_or_insert_with(|| {
                let last = index.last().map_or(start, |(_, place, _)| *place);
                if is_large && place.piece() != last.piece() {
                    index.push((place.0 - start.0, place, child.name.to_vec()));
                }
                Run {
                    start: place,
                    inode,
                    number,
                    count: 0,
                    bytes: Vec::new(),
                }
            });
            run.add(child, inode, number);
        }
        if let Some(run) = &run {
            append_run(&mut self.listings, run);
        }
        let bytes = self.listings.place().0 - start.0;
        Ok(Draft {
            start,
            bytes,
            index,
        })
    }

    /// Resolves the places of a listing, which must have been compressed by now.
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

    /// The reference to the inode of a name, and its number.
    fn inode_of(&self, target: Target) -> Result<(Reference, u32), WriteError> {
        let found = match target {
            Target::Directory(number) => {
                let place = self.places.get(number as usize);
                place.map(|place| (*place, self.directory_number(number)))
            }
            target => self.leaves.get(target),
        };
        let (place, number) = found.ok_or_else(unplaced)?;
        Ok((self.reference(&self.inodes, place)?, number))
    }

    fn directory_number(&self, number: u32) -> u32 {
        self.leaves.count() + number + 1
    }

    fn reference(&self, table: &MetadataTable<'_>, place: Place) -> Result<Reference, WriteError> {
        table.reference(place).ok_or_else(unplaced)
    }

    fn finish(self, exportable: bool) -> Result<Assembled, WriteError> {
        let places = self.leaves.places().chain(self.places.iter().copied());
        let places = places.filter(|_| exportable);
        let references: Result<Vec<Reference>, WriteError> = places
            .map(|place| self.reference(&self.inodes, place))
            .collect();
        let references = references?;
        let root = *self.places.first().expect("a tree has a root");
        let root = self.reference(&self.inodes, root)?;
        let (inodes, _) = self.inodes.finish()?;
        small(inodes.len() as u64)?;
        let (directories, _) = self.listings.finish()?;
        Ok(Assembled {
            inodes,
            directories,
            root,
            references,
        })
    }
}

impl Run {
    fn add(&mut self, child: Child<'_>, inode: Reference, number: u32) {
        let delta = (i64::from(number) - i64::from(self.number)) as i16;
        let kind = InodeType {
            kind: child.kind,
            extended: false,
        };
        self.bytes.extend_from_slice(&inode.offset().to_le_bytes());
        self.bytes.extend_from_slice(&delta.to_le_bytes());
        self.bytes.extend_from_slice(&kind.id().to_le_bytes());
        let last = child.name.len() as u16 - 1;
        self.bytes.extend_from_slice(&last.to_le_bytes());
        self.bytes.extend_from_slice(child.name);
        self.count += 1;
    }
}

fn append_run(listings: &mut MetadataTable<'_>, run: &Run) {
    // Whether the block position fits is checked when the inode table has its final size.
    for word in [run.count - 1, run.inode.block() as u32, run.number] {
        listings.append(&word.to_le_bytes());
    }
    listings.append(&run.bytes);
}

fn unplaced() -> WriteError {
    limit("a reference was made before its target had a place")
}

/// Positions in a table have four bytes.
fn small(position: u64) -> Result<u32, WriteError> {
    u32::try_from(position).map_err(|_| limit("its inodes or directories take more than 4 GiB"))
}

fn limit(reason: &str) -> WriteError {
    WriteError::Limit {
        reason: reason.into(),
    }
}
