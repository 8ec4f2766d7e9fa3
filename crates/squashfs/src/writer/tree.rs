//! The entries of an image while it is written: directories with their names, and all other inodes.

use super::attributes::{Attributes, Ids};
use super::leaves::{Body, Leaves};
use super::metadata::MetadataTable;
use super::pack::Layout;
use super::xattrs::XattrTable;
use super::Uncompressed;
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_image::directories::Directories;
use hedgerow_image::names::Target;
use hedgerow_image::Entry;
use hedgerow_image::WriteError;
use hedgerow_image::{Clamped, Unstored};
use hedgerow_tree::{NodeError, NodeKind};

/// The tree so far.
pub(super) struct Tree<'s> {
    pub directories: Directories<Attributes>,
    pub leaves: Leaves,
    /// The inode table without the inodes of directories.
    pub inodes: MetadataTable<'s>,
    pub xattrs: XattrTable<'s>,
    pub ids: Ids,
    /// The newest time of an entry.
    pub newest: u32,
    /// Why entries, or their attributes, were left out.
    pub skipped: Vec<NodeError>,
    /// Extended attributes that no image can hold.
    pub unstored_xattrs: Unstored,
    pub clamped_times: Clamped,
}

impl<'s> Tree<'s> {
    pub(super) fn new(settings: &'s Settings, options: &'s Options, raw: Uncompressed) -> Self {
        Tree {
            directories: Directories::default(),
            leaves: Leaves::new(),
            inodes: MetadataTable::new(settings, options).raw(raw.inodes),
            xattrs: XattrTable::new(settings, options, raw.xattrs),
            ids: Ids::default(),
            newest: 0,
            skipped: Vec::new(),
            unstored_xattrs: Unstored::default(),
            clamped_times: Clamped::default(),
        }
    }

    /// Number of inodes.
    pub(super) fn count(&self) -> Result<u32, WriteError> {
        let count = u64::from(self.leaves.count()) + self.directories.all().len() as u64;
        u32::try_from(count).map_err(|_| WriteError::Limit {
            reason: "it has more than 4,294,967,295 entries".into(),
        })
    }

    /// Adds a regular file with its content.
    pub(super) fn file(&mut self, entry: Entry, layout: Layout) -> Result<(), WriteError> {
        let body = Body::File(entry.size_bytes, layout);
        self.leaf(entry, body)
    }

    /// Adds any other entry, or another hard link to a file.
    pub(super) fn other(&mut self, mut entry: Entry) -> Result<(), WriteError> {
        let body = match entry.kind {
            NodeKind::Directory => return self.directory(entry),
            NodeKind::Symlink => {
                Body::Symlink(std::mem::take(&mut entry.target).into_boxed_slice())
            }
            NodeKind::BlockDevice | NodeKind::CharacterDevice => Body::Device(entry.device),
            NodeKind::Fifo | NodeKind::Socket => Body::Ipc,
            NodeKind::File => {
                let Some(target) = self.leaves.known(entry.link) else {
                    let reason = "another name of the file could not be read";
                    let error = WriteError::entry(&entry.path, reason);
                    self.skipped.push(NodeError::entry(error));
                    return Ok(());
                };
                return self.another_name(&entry, target);
            }
        };
        self.leaf(entry, body)
    }

    fn directory(&mut self, mut entry: Entry) -> Result<(), WriteError> {
        let place = self.directories.begin(&entry)?;
        let attributes = self.attributes(&mut entry)?;
        self.directories.add(place, entry.path, attributes);
        Ok(())
    }

    fn leaf(&mut self, mut entry: Entry, body: Body) -> Result<(), WriteError> {
        if let Some(target) = self.leaves.known(entry.link) {
            return self.another_name(&entry, target);
        }
        self.directories
            .enter(&entry, self.leaves.next(entry.link))?;
        let attributes = self.attributes(&mut entry)?;
        let table = &mut self.inodes;
        self.leaves.add(table, entry.link, attributes, body)
    }

    fn another_name(&mut self, entry: &Entry, target: Target) -> Result<(), WriteError> {
        self.directories.enter(entry, target)?;
        self.leaves.add_name(target);
        Ok(())
    }

    fn attributes(&mut self, entry: &mut Entry) -> Result<Attributes, WriteError> {
        self.skipped.extend(entry.omitted.take());
        let mtime = entry.mtime_s.clamp(0, u32::MAX.into()) as u32;
        self.newest = self.newest.max(mtime);
        if i64::from(mtime) != entry.mtime_s {
            self.clamped_times.add(&entry.path);
        }
        let mut unstored = Vec::new();
        let set = std::mem::take(&mut entry.xattrs);
        let xattrs = self.xattrs.number(set, &mut unstored)?;
        let unstored = unstored.into_iter().map(|xattr| xattr.name.into());
        self.unstored_xattrs.add(&entry.path, unstored.collect());
        Attributes::of(entry, mtime, &mut self.ids, xattrs)
    }
}
