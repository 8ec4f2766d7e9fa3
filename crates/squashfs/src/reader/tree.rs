use super::{Body, Directory, Image, Inode, Listing};
use crate::format::Reference;
use crate::{Damage, Error, Part, Result};
use bstr::ByteSlice;
use hedgerow_image::Selection;
use hedgerow_tree::{Entry, Metadata, Omission, TreeSource};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;

/// Maximum depth of directories. In Linux, a path cannot name anything deeper than 2048.
const DEPTH: usize = 8192;

/// An image, or a directory in it, as a source of entries. Hard links have the same inode number;
/// the device is always 0.
pub struct ImageSource<'i> {
    image: &'i Image,
    root: Inode,
}

/// An entry with its inode.
pub struct TreeEntry<'e> {
    /// The entry.
    pub entry: Entry<'e>,
    /// Its inode.
    pub inode: &'e Inode,
    /// Where the inode is in the inode table.
    pub reference: Reference,
}

impl Image {
    /// The inode at a path below the root, or of the root if the path is empty. Symbolic links are
    /// not followed.
    pub fn find(&self, path: &[u8]) -> Result<Inode> {
        let mut inode = self.root()?;
        let names = path
            .split_str("/")
            .filter(|name| !name.is_empty() && *name != b".");
        for name in names {
            let Body::Directory(directory) = &inode.body else {
                return Err(Error::NotFound(path.into()));
            };
            let listing = self.listing(directory)?;
            let Some(entry) = listing.find(name) else {
                return Err(Error::NotFound(path.into()));
            };
            inode = self.inode(entry.inode)?;
        }
        Ok(inode)
    }

    /// The metadata of an inode.
    pub fn metadata(&self, inode: &Inode) -> Result<Metadata> {
        let (size_bytes, mut blocks) = match &inode.body {
            Body::Directory(directory) => (directory.size.into(), 0),
            Body::File(file) => {
                let stored = file.size.saturating_sub(file.sparse);
                (file.size, stored.div_ceil(512))
            }
            Body::Symlink(target) => (target.len() as u64, 0),
            Body::Device(_) | Body::Ipc => (0, 0),
        };
        if let Some(index) = inode.xattrs {
            blocks += u64::from(self.xattr_set(index)?.size).div_ceil(512);
        }
        Ok(Metadata {
            mode: u32::from(inode.mode) & 0o7777,
            uid: self.id(inode.uid_index)?,
            gid: self.id(inode.gid_index)?,
            size_bytes,
            mtime_s: inode.mtime.into(),
            mtime_ns: 0,
            nlink: inode.nlink.into(),
            ino: inode.number.into(),
            dev: 0,
            rdev: match inode.body {
                Body::Device(number) => number.into(),
                _ => 0,
            },
            blocks,
        })
    }
}

impl<'i> ImageSource<'i> {
    /// All entries below the root of an image.
    pub fn new(image: &'i Image) -> Result<Self> {
        let root = image.root()?;
        Ok(ImageSource { image, root })
    }

    /// All entries below the directory at `path`.
    pub fn below(image: &'i Image, path: &[u8]) -> Result<Self> {
        let root = image.find(path)?;
        match root.body {
            Body::Directory(_) => Ok(ImageSource { image, root }),
            _ => Err(Error::Kind {
                path: path.into(),
                expected: "directory",
            }),
        }
    }

    /// Like [`TreeSource::list`], with inodes.
    pub fn entries(
        &self,
        visit: &mut dyn FnMut(TreeEntry<'_>) -> ControlFlow<()>,
    ) -> Vec<Omission> {
        let mut descent = Descent::new(self.image, &self.root, Selection::all());
        while !descent.is_done() {
            if descent.step(self.image, visit).is_break() {
                break;
            }
        }
        descent.omissions
    }
}

impl TreeSource for ImageSource<'_> {
    type Error = Error;

    fn list(
        &self,
        visit: &mut (dyn FnMut(Entry<'_>) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Omission>> {
        Ok(self.entries(&mut |entry| visit(entry.entry)))
    }
}

/// A depth-first walk: the current path and what is left to visit along it.
pub(super) struct Descent {
    selection: Selection,
    /// Inode numbers of the directories entered so far. A directory may occur only once, so there
    /// are no loops.
    visited: HashSet<u32>,
    /// Bytes of listings that may still be read: all listings together cannot be larger than their
    /// table.
    bytes_left: u64,
    stack: Vec<Level>,
    path: Vec<u8>,
    /// Entries that could not be visited.
    pub omissions: Vec<Omission>,
}

struct Level {
    listing: Listing,
    next: usize,
    /// Length of the directory's path in bytes.
    path_bytes: usize,
}

impl Descent {
    /// Starts at the directory `root`.
    pub fn new(image: &Image, root: &Inode, selection: Selection) -> Self {
        let mut descent = Descent {
            selection,
            visited: HashSet::new(),
            bytes_left: image.layout.directories.most_bytes(),
            stack: Vec::new(),
            path: Vec::new(),
            omissions: Vec::new(),
        };
        if let Body::Directory(directory) = root.body {
            descent.enter(image, root, directory);
        }
        descent
    }

    /// Whether the walk is complete.
    pub fn is_done(&self) -> bool {
        self.stack.is_empty()
    }

    fn enter(&mut self, image: &Image, inode: &Inode, directory: Directory) {
        let position = image.layout.directories.start;
        let refused = if !self.visited.insert(inode.number) {
            Some("a directory that is in two places")
        } else if self.stack.len() >= DEPTH {
            Some("directories that are too deep")
        } else if u64::from(directory.size) > self.bytes_left {
            Some("listings that share their bytes")
        } else {
            None
        };
        if let Some(what) = refused {
            self.omit(
                "list",
                Damage::new(Part::DirectoryTable, position, what).into(),
            );
            return;
        }
        self.bytes_left -= u64::from(directory.size);
        match image.listing(&directory) {
            Ok(mut listing) => {
                for damage in std::mem::take(&mut listing.damage) {
                    self.omit("list", damage.into());
                }
                self.stack.push(Level {
                    listing,
                    next: 0,
                    path_bytes: self.path.len(),
                });
            }
            Err(error) => self.omit("list", error),
        }
    }

    /// Visits the next entry and enters it if it is a directory; leaves the directory if it has no
    /// more entries.
    pub fn step(
        &mut self,
        image: &Image,
        visit: &mut dyn FnMut(TreeEntry<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(level) = self.stack.last_mut() else {
            return ControlFlow::Break(());
        };
        self.path.truncate(level.path_bytes);
        let Some((name, entry)) = level.listing.get(level.next) else {
            self.stack.pop();
            return ControlFlow::Continue(());
        };
        level.next += 1;
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        if !self.selection.wants(&self.path) {
            return ControlFlow::Continue(());
        }
        let (reference, kind) = (entry.inode, entry.kind);
        let inode = match image.inode(reference) {
            Ok(inode) => inode,
            Err(error) => {
                self.omit("stat", error);
                return ControlFlow::Continue(());
            }
        };
        let metadata = match image.metadata(&inode) {
            Ok(_) if inode.kind != kind => {
                let position = image.layout.directories.start;
                let what = "an entry whose inode is of another type";
                Err(Damage::new(Part::DirectoryTable, position, what).into())
            }
            other => other,
        };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => {
                self.omit("stat", error);
                return ControlFlow::Continue(());
            }
        };
        visit(TreeEntry {
            entry: Entry {
                path: &self.path,
                kind,
                metadata: Some(&metadata),
            },
            inode: &inode,
            reference,
        })?;
        if let Body::Directory(directory) = inode.body {
            self.enter(image, &inode, directory);
        }
        ControlFlow::Continue(())
    }

    fn omit(&mut self, operation: &'static str, error: Error) {
        let source = match error {
            Error::Fs(error) => error.source,
            error => io::Error::new(io::ErrorKind::InvalidData, error),
        };
        self.omissions.push(Omission {
            path: self.path.clone(),
            operation,
            source,
        });
    }
}
