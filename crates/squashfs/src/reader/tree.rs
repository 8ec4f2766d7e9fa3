//! The tree of an image, as every walk through one needs it.

use super::{Body, Image, Inode, Listing};
use crate::format::Reference;
use crate::{Damage, Result};
use hedgerow_image::tree::{self, ImageTree, Named, Place};
use hedgerow_tree::{Metadata, NodeKind};

/// An image, or a directory in it, as a source of entries.
pub type ImageSource<'i> = tree::ImageSource<'i, Image>;
/// An entry with its inode.
pub type TreeEntry<'e> = tree::TreeEntry<'e, Image>;

impl Image {
    /// The inode at a path below the root, or of the root if the path is empty. Symbolic links are
    /// not followed.
    pub fn find(&self, path: &[u8]) -> Result<Inode> {
        tree::find(self, path)
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

impl ImageTree for Image {
    type Inode = Inode;
    type Reference = Reference;
    type Listing = Listing;

    fn root_reference(&self) -> Reference {
        self.superblock.root_inode
    }

    fn root(&self) -> Result<Inode> {
        self.root()
    }

    fn inode(&self, reference: Reference) -> Result<Inode> {
        self.inode(reference)
    }

    fn kind(inode: &Inode) -> NodeKind {
        inode.kind
    }

    fn metadata(&self, inode: &Inode) -> Result<Metadata> {
        self.metadata(inode)
    }

    fn place(&self, inode: &Inode) -> Place {
        Place {
            number: inode.number.into(),
            bytes: match inode.body {
                Body::Directory(directory) => directory.size.into(),
                _ => 0,
            },
            position: self.layout.directories.start,
        }
    }

    /// They cannot be larger than their table.
    fn most_directory_bytes(&self) -> u64 {
        self.layout.directories.most_bytes()
    }

    fn listing(&self, inode: &Inode) -> Result<Listing> {
        match &inode.body {
            Body::Directory(directory) => self.listing(directory),
            _ => Ok(Listing::default()),
        }
    }

    fn entry(listing: &Listing, index: usize) -> Option<Named<'_, Reference>> {
        let (name, entry) = listing.get(index)?;
        Some(Named {
            name,
            reference: entry.inode,
            kind: Some(entry.kind),
        })
    }

    fn find(listing: &Listing, name: &[u8]) -> Option<Reference> {
        Some(listing.find(name)?.inode)
    }

    fn take_damage(listing: &mut Listing) -> Vec<Damage> {
        std::mem::take(&mut listing.damage)
    }
}
