//! Writes what follows the contents: directories and shared attributes; then the superblock.

use super::directory::{self, Numbers};
use super::inode::{Attributes, Body};
use super::store::Contents;
use super::tree::Tree;
use super::{block_number, CreateOptions};
use crate::format::{
    checksum, compat, incompat, Layout, Superblock, CHECKSUM, NID_BYTES, NO_BLOCK,
    SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET,
};
use hedgerow_image::directories::Directory;
use hedgerow_image::names::Target;
use hedgerow_image::{Output, WriteError};

/// Where the inode of the root is, in bytes: behind the superblock and the settings of compressors.
/// Its number must be below 2^16.
pub(super) fn root_position(options: &CreateOptions) -> u64 {
    let start = SUPERBLOCK_OFFSET + SUPERBLOCK_BYTES as u64;
    let settings = options.compression.map_or(0, |compression| {
        super::settings::block(compression, options.block_bytes).len()
    });
    (start + settings as u64).next_multiple_of(NID_BYTES)
}

/// The directories of a tree, and the numbers of all inodes.
pub(super) struct Finished {
    directories: Vec<Directory<Attributes>>,
    /// The positions of their inodes, in bytes.
    positions: Vec<u64>,
    /// The number of the inode that holds parts of files.
    packed: Option<u64>,
    tree: Tree,
}

/// How a directory is stored.
struct Shape {
    size: u64,
    is_compact: bool,
    /// Bytes behind its inode.
    tail: usize,
    /// Its first block.
    first: u32,
}

/// Writes all directories but the root, which goes into the first block, and the shared
/// attributes. Returns the beginning of the image, too.
pub(super) fn finish(
    mut tree: Tree,
    contents: &Contents,
    options: &CreateOptions,
    head_blocks: u64,
    output: &mut Output,
) -> Result<(Finished, Vec<u8>), WriteError> {
    let block_bytes = options.block_bytes as usize;
    let packed = match contents.packed(options)? {
        Some((map, size, blocks)) => Some(tree.packed(map, size, blocks, output)?),
        None => None,
    };
    tree.finish_leaves(output)?;
    let root = root_position(options);
    let directories = tree.directories.take();
    let mut shapes = shapes(&directories, &tree, root, head_blocks * block_bytes as u64);
    // All inodes of directories have the same distance from the first as they will have in the
    // image.
    let start = output.position();
    let (positions, inode_bytes) = places(&directories, &shapes, (root, start), block_bytes);
    let mut position = start + inode_bytes;
    for shape in &mut shapes {
        let blocks = (shape.size - shape.tail as u64).div_ceil(block_bytes as u64);
        if blocks > 0 {
            shape.first = block_number(position, block_bytes)?;
            position += blocks * block_bytes as u64;
        }
    }
    let finished = Finished {
        directories,
        positions,
        packed: packed.map(|place| tree.metadata.position(place) / NID_BYTES),
        tree,
    };
    let mut inodes = vec![0; usize::try_from(inode_bytes).map_err(|_| too_many())?];
    output.append(&inodes)?;
    let mut first = vec![0; (head_blocks * block_bytes as u64) as usize];
    for (number, shape) in (0..).zip(&shapes) {
        let (inode, blocks) = finished.encode(number, shape, block_bytes);
        let position = finished.positions.get(number as usize).copied();
        let position = position.unwrap_or_default();
        let (room, from) = match number {
            0 => (&mut first, 0),
            _ => (&mut inodes, start),
        };
        let at = (position - from) as usize;
        let room = room.get_mut(at..at + inode.len());
        room.expect("it has room").copy_from_slice(&inode);
        output.append(&blocks)?;
        output.pad(block_bytes as u64)?;
    }
    if !inodes.is_empty() {
        output.change(start, &inodes)?;
    }
    let xattrs = block_number(output.position(), block_bytes)?;
    output.append(finished.tree.xattrs.shared())?;
    output.pad(block_bytes as u64)?;
    let mut hasher = finished.tree.metadata.hasher.clone();
    hasher.update(&inodes).update(&first);
    hasher.update(finished.tree.xattrs.shared());
    let superblock = finished.superblock(options, xattrs, &hasher.finalize(), output.position())?;
    if let Some(compression) = options.compression {
        let settings = super::settings::block(compression, options.block_bytes);
        let start = SUPERBLOCK_OFFSET as usize + SUPERBLOCK_BYTES;
        let room = first.get_mut(start..start + settings.len());
        room.expect("it has room").copy_from_slice(&settings);
    }
    seal(&mut first, &superblock, block_bytes);
    Ok((finished, first))
}

/// Puts the superblock with its checksum in its place.
fn seal(first: &mut [u8], superblock: &Superblock, block_bytes: usize) {
    let start = SUPERBLOCK_OFFSET as usize;
    if let Some(place) = first.get_mut(start..start + SUPERBLOCK_BYTES) {
        place.copy_from_slice(&superblock.to_bytes());
    }
    if let Some(block) = first.get_mut(start..block_bytes) {
        let checksum = checksum(block);
        block[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn shapes(
    directories: &[Directory<Attributes>],
    tree: &Tree,
    root: u64,
    head_bytes: u64,
) -> Vec<Shape> {
    let block_bytes = tree.block_bytes();
    let shape = |(number, directory): (usize, &Directory<Attributes>)| {
        let size = directory::size(&directory.names, block_bytes);
        let attributes = &directory.attributes;
        let is_compact = attributes.is_compact(
            tree.shared,
            size,
            directory.subdirectories.saturating_add(2),
        );
        let rest = (size % block_bytes as u64) as usize;
        let inode = attributes.bytes(is_compact);
        let fits = match number {
            0 => {
                root as usize % block_bytes + inode + rest <= block_bytes
                    && head_bytes == block_bytes as u64
            }
            _ => inode + rest <= block_bytes,
        };
        Shape {
            size,
            is_compact,
            tail: if fits { rest } else { 0 },
            first: NO_BLOCK,
        }
    };
    directories.iter().enumerate().map(shape).collect()
}

/// The positions of the inodes, in order, if those of all directories but the root begin at `start`;
/// and the number of bytes that these take. What fits into a block is in one block.
fn places(
    directories: &[Directory<Attributes>],
    shapes: &[Shape],
    (root, start): (u64, u64),
    block_bytes: usize,
) -> (Vec<u64>, u64) {
    let block_bytes = block_bytes as u64;
    let mut next = start;
    let mut positions = vec![root];
    for (directory, shape) in directories.iter().zip(shapes).skip(1) {
        let inode = directory.attributes.bytes(shape.is_compact) + shape.tail;
        let inode = inode as u64;
        let left = block_bytes - next % block_bytes;
        if inode > left && left < block_bytes {
            next += left;
        }
        positions.push(next);
        next = (next + inode).next_multiple_of(NID_BYTES);
    }
    (positions, next.next_multiple_of(block_bytes) - start)
}

impl Finished {
    /// Number of inodes.
    pub(super) fn inodes(&self) -> u64 {
        self.directories.len() as u64 + self.tree.leaves()
    }

    /// What was left out.
    pub(super) fn into_tree(self) -> Tree {
        self.tree
    }

    /// Calls `tell` with the path and the number of the inode of each entry, in canonical order.
    pub(super) fn numbers(&self, tell: &mut dyn FnMut(&[u8], u64)) {
        let mut path = Vec::new();
        tell(&path, self.number(Target::Directory(0)));
        self.below(0, &mut path, tell);
    }

    fn below(&self, number: u32, path: &mut Vec<u8>, tell: &mut dyn FnMut(&[u8], u64)) {
        let Some(directory) = self.directories.get(number as usize) else {
            return;
        };
        let length = path.len();
        for child in directory.names.iter() {
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(child.name);
            tell(path, self.number(child.target));
            if let Target::Directory(number) = child.target {
                self.below(number, path, tell);
            }
            path.truncate(length);
        }
    }

    /// The number of an inode.
    fn number(&self, target: Target) -> u64 {
        let position = match target {
            Target::Directory(number) => self.positions.get(number as usize).copied(),
            target => self
                .tree
                .place(target)
                .map(|place| self.tree.metadata.position(place)),
        };
        position.expect("all inodes have a place") / NID_BYTES
    }

    /// Encodes a directory: its inode with what stands behind it, and its blocks.
    fn encode(&self, number: u32, shape: &Shape, block_bytes: usize) -> (Vec<u8>, Vec<u8>) {
        let directory = self.directories.get(number as usize);
        let directory = directory.expect("each shape is of a directory");
        let of = |target| self.number(target);
        let numbers = Numbers {
            own: of(Target::Directory(number)),
            parent: of(Target::Directory(directory.parent)),
            of: &of,
        };
        let mut content = directory::encode(&directory.names, block_bytes, &numbers);
        debug_assert_eq!(content.len() as u64, shape.size);
        let tail = content.split_off(content.len() - shape.tail);
        let body = Body {
            layout: if tail.is_empty() {
                Layout::Plain
            } else {
                Layout::Inline
            },
            size: shape.size,
            place: shape.first,
        };
        let links = directory.subdirectories.saturating_add(2);
        let inode_number = (self.tree.leaves() as u32).wrapping_add(number);
        let attributes = &directory.attributes;
        let mut inode = attributes.encode(shape.is_compact, inode_number, links, body);
        inode.extend_from_slice(&tail);
        (inode, content)
    }

    /// The features that a reader must know.
    fn features(&self, options: &CreateOptions) -> u32 {
        let mut features = 0;
        if self.tree.uses_chunks {
            features |= incompat::CHUNKED;
        }
        if options.compression.is_some() {
            features |= incompat::COMPRESSION | incompat::ZERO_PADDING;
        }
        if self.packed.is_some() {
            features |= incompat::FRAGMENTS;
        }
        features
    }

    fn superblock(
        &self,
        options: &CreateOptions,
        xattrs: u32,
        hash: &blake3::Hash,
        end: u64,
    ) -> Result<Superblock, WriteError> {
        let block_bytes = options.block_bytes as usize;
        let (epoch, epoch_ns) = self.tree.shared.epoch;
        let uuid = options
            .uuid
            .unwrap_or_else(|| hedgerow_image::uuid::from_hash(hash.as_bytes()));
        Ok(Superblock {
            compat: compat::CHECKSUM | compat::MTIME,
            block_bits: options.block_bytes.trailing_zeros() as u8,
            root: (root_position(options) / NID_BYTES) as u16,
            inodes: self.inodes() + u64::from(self.packed.is_some()),
            epoch,
            epoch_ns,
            blocks: block_number(end, block_bytes)?,
            xattrs: if self.tree.xattrs.shared().is_empty() {
                0
            } else {
                xattrs
            },
            uuid,
            name: options.name,
            incompat: self.features(options),
            compressors: options
                .compression
                .map_or(0, |compression| 1 << compression.settings.algorithm().id()),
            packed: self.packed.unwrap_or(0),
            ..Superblock::default()
        })
    }
}

fn too_many() -> WriteError {
    WriteError::Limit {
        reason: "the directories do not fit into memory".into(),
    }
}
