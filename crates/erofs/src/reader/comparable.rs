//! Images can be compared.

use super::content::InFile;
use super::{Image, Inode};
use hedgerow_image::compare::{Comparable, EntryIterator, ImageEntry};
use hedgerow_image::tree::Entries;
use hedgerow_image::{Result, Selection};
use hedgerow_tree::{Content, Xattr};
use std::sync::Arc;

impl Comparable for Image {
    type Inode = Inode;

    fn entries(self: &Arc<Self>) -> Result<EntryIterator<Inode>> {
        let entries = Entries::new(self, Selection::all())?;
        Ok(Box::new(entries.map(|found| {
            found.map(|found| ImageEntry {
                path: found.path,
                kind: found.inode.kind,
                metadata: found.metadata,
                reference: found.reference,
                is_extended: found.inode.is_extended,
                inode: found.inode,
            })
        })))
    }

    fn has_nanoseconds(&self) -> bool {
        true
    }

    fn target(&self, entry: &ImageEntry<Inode>) -> Result<Vec<u8>> {
        Image::target(self, &entry.inode)
    }

    fn xattrs(&self, entry: &ImageEntry<Inode>) -> Result<Vec<Xattr>> {
        Image::xattrs(self, &entry.inode)
    }

    fn content(self: &Arc<Self>, entry: &ImageEntry<Inode>) -> Result<Box<dyn Content>> {
        Ok(Box::new(InFile::new(self, &entry.inode)))
    }
}
