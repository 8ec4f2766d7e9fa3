//! The tree of an image, as every walk through one needs it.

use super::{Image, Inode, Listing};
use crate::format::kind_of_type;
use hedgerow_image::tree::{self, ImageTree, Named, Place};
use hedgerow_image::{Damage, Part, Result};
use hedgerow_tree::{Metadata, NodeKind};

/// An image, or a directory in it, as a source of entries.
pub type ImageSource<'i> = tree::ImageSource<'i, Image>;
/// An entry with its inode.
pub type TreeEntry<'e> = tree::TreeEntry<'e, Image>;

impl Image {
    /// The inode at a path below the root, or of the root if the path is empty. Symbolic links are
    /// not followed.
    ///
    /// # Errors
    /// There is no such entry, or it cannot be read.
    pub fn find(&self, path: &[u8]) -> Result<Inode> {
        tree::find(self, path)
    }
}

impl ImageTree for Image {
    type Inode = Inode;
    /// The number of the inode.
    type Reference = u64;
    type Listing = Listing;

    fn root_reference(&self) -> u64 {
        self.superblock.root.into()
    }

    fn root(&self) -> Result<Inode> {
        self.root()
    }

    fn inode(&self, number: u64) -> Result<Inode> {
        self.inode(number)
    }

    fn kind(inode: &Inode) -> NodeKind {
        inode.kind
    }

    fn metadata(&self, inode: &Inode) -> Result<Metadata> {
        Ok(inode.metadata())
    }

    fn place(&self, inode: &Inode) -> Place {
        Place {
            number: inode.number,
            bytes: inode.size,
            position: inode.position,
        }
    }

    /// They cannot be larger than the image.
    fn most_directory_bytes(&self) -> u64 {
        self.bytes.length()
    }

    fn listing(&self, directory: &Inode) -> Result<Listing> {
        self.listing(directory)
    }

    fn entry(listing: &Listing, index: usize) -> Option<Named<'_, u64>> {
        let (name, entry) = listing.get(index)?;
        Some(Named {
            name,
            reference: entry.inode,
            kind: kind_of_type(entry.file_type),
        })
    }

    fn find(listing: &Listing, name: &[u8]) -> Option<u64> {
        Some(listing.find(name)?.inode)
    }

    fn take_damage(listing: &mut Listing) -> Vec<Damage> {
        std::mem::take(&mut listing.damage)
    }

    fn misplaced(&self, inode: &Inode, listing: &Listing, above: Option<u64>) -> Vec<Damage> {
        // What is above the first directory is known only of the root, which is above itself.
        let root = self.root_reference();
        let above = above.or_else(|| (inode.number == root).then_some(root));
        let is_itself = match listing.itself {
            Some(itself) => itself == inode.number,
            None => inode.lacks_itself,
        };
        let is_above = above.is_none_or(|above| listing.parent == Some(above));
        let wrong = [(is_itself, "."), (is_above, "..")].into_iter();
        let wrong = wrong.filter(|(is_right, _)| !is_right);
        wrong
            .map(|(_, name)| {
                let what = format!("its entry '{name}' is missing, or names another directory");
                Damage::new(Part::DirectoryTable, inode.position, what)
            })
            .collect()
    }
}
