//! The entries of an image while it is written. All inodes but those of directories get their places
//! as they come; those of directories follow at the end, when all that they refer to has a place.

use super::extents::{Extents, HOLE};
use super::inode::{links, Attributes, Body, Shared};
use super::metadata::{Metadata, Place};
use super::xattrs::Xattrs;
use super::CreateOptions;
use crate::format::cluster::HEADER_BYTES;
use crate::format::{chunk, device_bits, Layout, NO_BLOCK};
use hedgerow_image::directories::Directories;
use hedgerow_image::names::Target;
use hedgerow_image::{Entry, Output, Unstored, WriteError};
use hedgerow_tree::{NodeError, NodeKind};
use std::collections::HashMap;
use std::iter::{empty, once};

/// The content of a file.
pub(super) struct FileContent<'c> {
    pub extents: &'c Extents,
    /// What stands behind the inode.
    pub tail: &'c [u8],
}

/// The tree so far.
pub(super) struct Tree {
    pub directories: Directories<Attributes>,
    pub metadata: Metadata,
    pub xattrs: Xattrs,
    pub shared: Shared,
    /// Places of the inodes that can have only one name.
    leaves: Vec<Place>,
    /// Inodes that may have several names.
    linked: Vec<Linked>,
    links: HashMap<(u64, u64), u32>,
    block_bytes: usize,
    /// Whether the time of compact inodes is settled.
    has_epoch: bool,
    pub uses_chunks: bool,
    /// Why entries, or their attributes, were left out.
    pub skipped: Vec<NodeError>,
    pub unstored_xattrs: Unstored,
}

/// An inode that may have several names.
struct Linked {
    place: Place,
    is_compact: bool,
    /// Number of names so far.
    nlink: u32,
}

impl Tree {
    pub(super) fn new(options: &CreateOptions) -> Self {
        let block_bytes = options.block_bytes as usize;
        Tree {
            directories: Directories::default(),
            metadata: Metadata::new(block_bytes),
            xattrs: Xattrs::default(),
            shared: Shared {
                epoch: (options.mtime_s.unwrap_or(0), 0),
            },
            leaves: Vec::new(),
            linked: Vec::new(),
            links: HashMap::new(),
            block_bytes,
            has_epoch: options.mtime_s.is_some(),
            uses_chunks: false,
            skipped: Vec::new(),
            unstored_xattrs: Unstored::default(),
        }
    }

    /// Number of inodes that are not directories.
    pub(super) fn leaves(&self) -> u64 {
        (self.leaves.len() + self.linked.len()) as u64
    }

    /// Size of a block in bytes.
    pub(super) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Whether a tail of this many bytes can stand behind the inode of a file.
    pub(super) fn tail_fits(&self, entry: &Entry, tail: usize) -> bool {
        // The attributes are encoded later; together they are no longer than this.
        let xattrs = entry.xattrs.iter();
        let xattrs = xattrs.map(|xattr| 8 + xattr.name.len() + xattr.value.len());
        let taken = crate::format::EXTENDED_BYTES + 16 + xattrs.sum::<usize>();
        taken + tail <= self.block_bytes
    }

    /// Adds a regular file with its content.
    pub(super) fn file(
        &mut self,
        entry: Entry,
        content: &FileContent<'_>,
        output: &mut Output,
    ) -> Result<(), WriteError> {
        let size = entry.size_bytes;
        if !content.tail.is_empty() || content.extents.contiguous().is_some() {
            let body = Body {
                layout: if content.tail.is_empty() {
                    Layout::Plain
                } else {
                    Layout::Inline
                },
                size,
                place: content.extents.contiguous().unwrap_or(HOLE),
            };
            return self.leaf(entry, body, once(content.tail), output);
        }
        self.uses_chunks = true;
        let bits = content.extents.chunk_bits();
        let chunks = content.extents.chunks(bits).map(u32::to_le_bytes);
        let body = Body {
            layout: Layout::Chunked,
            size,
            place: bits & chunk::BITS,
        };
        self.leaf(entry, body, chunks, output)
    }

    /// Adds a regular file with the map of its compressed content, of which so many blocks are
    /// stored for it; `None` if it is empty.
    pub(super) fn compressed(
        &mut self,
        entry: Entry,
        map: Option<impl Iterator<Item = [u8; 8]>>,
        blocks: u64,
        output: &mut Output,
    ) -> Result<(), WriteError> {
        let body = Body {
            layout: match map {
                Some(_) => Layout::CompressedFull,
                None => Layout::Plain,
            },
            size: entry.size_bytes,
            place: match map {
                Some(_) => blocks.min(u32::MAX.into()) as u32,
                None => NO_BLOCK,
            },
        };
        self.leaf(entry, body, map.into_iter().flatten(), output)
    }

    /// Adds the inode that holds parts of other files. Returns its place.
    pub(super) fn packed(
        &mut self,
        map: impl Iterator<Item = [u8; 8]>,
        size: u64,
        blocks: u64,
        output: &mut Output,
    ) -> Result<Place, WriteError> {
        let attributes = Attributes::of_packed(self.shared);
        let is_compact = attributes.is_compact(self.shared, size, 1);
        let body = Body {
            layout: Layout::CompressedFull,
            size,
            place: blocks.min(u32::MAX.into()) as u32,
        };
        let inode = attributes.encode(is_compact, 0, 1, body);
        self.metadata.add(inode, map, output)
    }

    /// Adds any other entry, or another hard link to a file.
    pub(super) fn other(
        &mut self,
        mut entry: Entry,
        output: &mut Output,
    ) -> Result<(), WriteError> {
        let target = std::mem::take(&mut entry.target);
        let (layout, place) = match entry.kind {
            NodeKind::Directory => return self.directory(entry),
            NodeKind::Symlink => (Layout::Inline, NO_BLOCK),
            NodeKind::BlockDevice | NodeKind::CharacterDevice => {
                (Layout::Plain, device_bits(entry.device))
            }
            NodeKind::Fifo | NodeKind::Socket => (Layout::Plain, 0),
            NodeKind::File => {
                let Some(number) = entry.link.and_then(|link| self.links.get(&link)) else {
                    let reason = "another name of the file could not be read";
                    let error = WriteError::entry(&entry.path, reason);
                    self.skipped.push(NodeError::entry(error));
                    return Ok(());
                };
                let number = *number;
                return self.another_name(&entry, number);
            }
        };
        let size = target.len() as u64;
        let body = Body {
            layout,
            size,
            place,
        };
        if layout == Layout::Inline && !self.tail_fits(&entry, target.len()) {
            return self.symlink_in_a_block(entry, &target, output);
        }
        self.leaf(entry, body, once(&target), output)
    }

    /// Adds a symbolic link whose target does not fit behind its inode.
    fn symlink_in_a_block(
        &mut self,
        entry: Entry,
        target: &[u8],
        output: &mut Output,
    ) -> Result<(), WriteError> {
        let place = super::block_number(output.position(), self.block_bytes)?;
        self.metadata.hasher.update(target);
        output.append(target)?;
        output.pad(self.block_bytes as u64)?;
        let body = Body {
            layout: Layout::Plain,
            size: target.len() as u64,
            place,
        };
        self.leaf(entry, body, empty::<[u8; 0]>(), output)
    }

    fn directory(&mut self, mut entry: Entry) -> Result<(), WriteError> {
        let place = self.directories.begin(&entry)?;
        self.note_time(&entry, false);
        let attributes = self.attributes(&mut entry)?;
        self.directories.add(place, entry.path, attributes);
        Ok(())
    }

    /// The first entry with a time gives that of the image: mostly the root, or, where an archive or a
    /// commit does not name that, what comes first. Inodes with this time are smaller. Those of
    /// directories are written last; any other `is_written` now, and the time is settled.
    fn note_time(&mut self, entry: &Entry, is_written: bool) {
        let time = (entry.mtime_s, entry.mtime_ns);
        if !self.has_epoch && (is_written || time != (0, 0)) {
            self.shared.epoch = time;
            self.has_epoch = true;
        }
    }

    /// Adds an inode with what stands behind it.
    fn leaf(
        &mut self,
        mut entry: Entry,
        body: Body,
        behind: impl Iterator<Item = impl AsRef<[u8]>>,
        output: &mut Output,
    ) -> Result<(), WriteError> {
        if let Some(number) = entry.link.and_then(|link| self.links.get(&link)) {
            let number = *number;
            return self.another_name(&entry, number);
        }
        self.note_time(&entry, true);
        let target = match entry.link {
            Some(_) => Target::Linked(self.linked.len() as u32),
            None => Target::Leaf(self.leaves.len() as u32),
        };
        self.directories.enter(&entry, target)?;
        let attributes = self.attributes(&mut entry)?;
        let is_compact = attributes.is_compact(self.shared, body.size, 1);
        let number = self.leaves() as u32;
        let mut inode = attributes.encode(is_compact, number, 1, body);
        if body.layout == Layout::CompressedFull {
            inode.resize(inode.len().next_multiple_of(HEADER_BYTES as usize), 0);
        }
        let place = self.metadata.add(inode, behind, output)?;
        match entry.link {
            Some(link) => {
                self.links.insert(link, self.linked.len() as u32);
                self.linked.push(Linked {
                    place,
                    is_compact,
                    nlink: 1,
                });
            }
            None => self.leaves.push(place),
        }
        Ok(())
    }

    fn another_name(&mut self, entry: &Entry, number: u32) -> Result<(), WriteError> {
        self.directories.enter(entry, Target::Linked(number))?;
        if let Some(linked) = self.linked.get_mut(number as usize) {
            linked.nlink += 1;
            if linked.is_compact && linked.nlink > u32::from(u16::MAX) {
                let reason = "the file has more than 65,535 names";
                return Err(WriteError::entry(&entry.path, reason));
            }
        }
        Ok(())
    }

    fn attributes(&mut self, entry: &mut Entry) -> Result<Attributes, WriteError> {
        self.skipped.extend(entry.omitted.take());
        let mut unstored = Vec::new();
        let xattrs = self
            .xattrs
            .attach(std::mem::take(&mut entry.xattrs), &mut unstored)?;
        self.unstored_xattrs.add(&entry.path, unstored);
        Ok(Attributes::of(entry, xattrs))
    }

    /// Writes the numbers of links, and the last inodes. No more of them follow, except those of
    /// directories.
    pub(super) fn finish_leaves(&mut self, output: &mut Output) -> Result<(), WriteError> {
        for linked in self.linked.iter().filter(|linked| linked.nlink > 1) {
            let (at, bytes) = links(linked.is_compact, linked.nlink);
            self.metadata.change(linked.place, at, &bytes, output)?;
        }
        self.metadata.write(output)
    }

    /// The place of an inode that is not a directory.
    pub(super) fn place(&self, target: Target) -> Option<Place> {
        match target {
            Target::Directory(_) => None,
            Target::Leaf(number) => self.leaves.get(number as usize).copied(),
            Target::Linked(number) => Some(self.linked.get(number as usize)?.place),
        }
    }
}
