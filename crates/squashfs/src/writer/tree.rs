//! The entries of an image while it is written: directories with their names, and all other inodes.

use super::attributes::{Attributes, Ids};
use super::entry::Entry;
use super::leaves::{Body, Leaves};
use super::metadata::MetadataTable;
use super::names::{Child, Names, Target};
use super::pack::Layout;
use super::xattrs::XattrTable;
use super::{Uncompressed, WriteError};
use bstr::ByteSlice;
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_tree::{split_path, NodeError, NodeKind};

/// Maximum depth of directories: in Linux, a path cannot name anything deeper, and the paths of all
/// open directories are in memory.
const DEPTH: u32 = 2048;
/// Length in bytes to which a long path is cut in messages.
const SHOWN_BYTES: usize = 100;

/// A directory with its names.
pub(super) struct Directory {
    pub attributes: Attributes,
    pub parent: u32,
    /// 0 for the root.
    pub depth: u32,
    pub subdirectories: u32,
    pub names: Names,
}

/// The tree so far.
pub(super) struct Tree<'s> {
    pub directories: Vec<Directory>,
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
    /// The chain of directories, with their paths, to the one of the current entry.
    open: Vec<(Vec<u8>, u32)>,
}

/// Extended attributes that could not be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unstored {
    /// Number of attributes.
    pub count: u64,
    /// Path and attribute name of the first.
    pub first: Option<(Vec<u8>, Vec<u8>)>,
}

/// Entries whose time is before 1970 or after February 2106; the nearest representable time is
/// stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clamped {
    /// Number of entries.
    pub count: u64,
    /// The path of the first.
    pub first: Option<Vec<u8>>,
}

impl<'s> Tree<'s> {
    pub(super) fn new(settings: &'s Settings, options: &'s Options, raw: Uncompressed) -> Self {
        Tree {
            directories: Vec::new(),
            leaves: Leaves::new(),
            inodes: MetadataTable::new(settings, options).raw(raw.inodes),
            xattrs: XattrTable::new(settings, options, raw.xattrs),
            ids: Ids::default(),
            newest: 0,
            skipped: Vec::new(),
            unstored_xattrs: Unstored::default(),
            clamped_times: Clamped::default(),
            open: Vec::new(),
        }
    }

    /// Number of inodes.
    pub(super) fn count(&self) -> Result<u32, WriteError> {
        let count = u64::from(self.leaves.count()) + self.directories.len() as u64;
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
        let number = self.directories.len() as u32;
        let (parent, depth) = if entry.path.is_empty() && number == 0 {
            (0, 0)
        } else {
            let parent = self.enter(&entry, Target::Directory(number))?;
            let above = self.directories.get_mut(parent as usize);
            let depth = above.map_or(0, |above| {
                above.subdirectories += 1;
                above.depth + 1
            });
            if depth > DEPTH {
                let path = entry
                    .path
                    .get(..SHOWN_BYTES)
                    .unwrap_or(&entry.path)
                    .as_bstr();
                return Err(WriteError::Limit {
                    reason: format!("'{path}...' has more than {DEPTH} directories in one another"),
                });
            }
            (parent, depth)
        };
        let attributes = self.attributes(&mut entry)?;
        self.directories.push(Directory {
            attributes,
            parent,
            depth,
            subdirectories: 0,
            names: Names::default(),
        });
        self.open.push((entry.path, number));
        Ok(())
    }

    fn leaf(&mut self, mut entry: Entry, body: Body) -> Result<(), WriteError> {
        if let Some(target) = self.leaves.known(entry.link) {
            return self.another_name(&entry, target);
        }
        self.enter(&entry, self.leaves.next(entry.link))?;
        let attributes = self.attributes(&mut entry)?;
        let table = &mut self.inodes;
        self.leaves.add(table, entry.link, attributes, body)
    }

    fn another_name(&mut self, entry: &Entry, target: Target) -> Result<(), WriteError> {
        self.enter(entry, target)?;
        self.leaves.add_name(target);
        Ok(())
    }

    /// Adds the name of an entry to its directory. Returns the number of the directory.
    fn enter(&mut self, entry: &Entry, target: Target) -> Result<u32, WriteError> {
        let refused = |reason: &str| WriteError::entry(&entry.path, reason);
        let (directory, name) = split_path(&entry.path);
        while let Some((_, closed)) = self.open.pop_if(|(path, _)| path != directory) {
            if let Some(closed) = self.directories.get_mut(closed as usize) {
                closed.names.close();
            }
        }
        let parent = self.open.last().map(|(_, number)| *number);
        let open = parent.and_then(|parent| self.directories.get_mut(parent as usize));
        let (Some(parent), Some(open)) = (parent, open) else {
            return Err(refused("its directory did not come before it"));
        };
        let bad = matches!(name, b"" | b"." | b"..") || name.contains(&0);
        if bad || name.len() > crate::format::NAME_BYTES {
            return Err(refused("it has a name that no file can have"));
        }
        let kind = entry.kind;
        if !open.names.push(Child { name, kind, target }) {
            return Err(refused("it does not come in its order"));
        }
        Ok(parent)
    }

    fn attributes(&mut self, entry: &mut Entry) -> Result<Attributes, WriteError> {
        self.skipped.extend(entry.omitted.take());
        self.newest = self.newest.max(entry.mtime);
        if entry.is_clamped {
            let clamped = &mut self.clamped_times;
            clamped.count += 1;
            clamped.first.get_or_insert_with(|| entry.path.clone());
        }
        let mut unstored = Vec::new();
        let set = std::mem::take(&mut entry.xattrs);
        let xattrs = self.xattrs.number(set, &mut unstored)?;
        self.unstored_xattrs.count += unstored.len() as u64;
        if let (None, Some(xattr)) = (&self.unstored_xattrs.first, unstored.pop()) {
            self.unstored_xattrs.first = Some((entry.path.clone(), xattr.name.into()));
        }
        Attributes::of(entry, &mut self.ids, xattrs)
    }
}
