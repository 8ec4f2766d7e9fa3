//! Iterates over the entries of an image.

use super::tree::{Descent, TreeEntry};
use super::{Image, Inode};
use crate::format::Reference;
use crate::{Error, Result};
use hedgerow_image::Selection;
use hedgerow_tree::{Metadata, Omission};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entries of an image in canonical order, the root first, with an empty path.
pub(crate) struct Entries {
    pub image: Arc<Image>,
    root: Option<Inode>,
    descent: Descent,
}

/// An entry of an image.
pub(crate) struct ImageEntry {
    pub path: Vec<u8>,
    pub inode: Inode,
    pub metadata: Metadata,
    /// Where its inode is.
    pub reference: Reference,
}

impl Entries {
    /// The entries of `image` that `selection` wants.
    pub fn new(image: &Arc<Image>, selection: Selection) -> Result<Self> {
        let root = image.root()?;
        Ok(Entries {
            image: image.clone(),
            descent: Descent::new(image, &root, selection),
            root: Some(root),
        })
    }

    /// All entries of `image`.
    pub fn all(image: &Arc<Image>) -> Result<Self> {
        Self::new(image, Selection::all())
    }
}

impl Iterator for Entries {
    type Item = std::result::Result<ImageEntry, Omission>;

    fn next(&mut self) -> Option<Self::Item> {
        let image = &self.image;
        if let Some(inode) = self.root.take() {
            return Some(match image.metadata(&inode) {
                Ok(metadata) => Ok(ImageEntry {
                    path: Vec::new(),
                    inode,
                    metadata,
                    reference: image.superblock.root_inode,
                }),
                Err(error) => Err(omitted_root(error)),
            });
        }
        loop {
            if let Some(omission) = self.descent.omissions.pop() {
                return Some(Err(omission));
            }
            if self.descent.is_done() {
                return None;
            }
            let mut found = None;
            let mut visit = |entry: TreeEntry<'_>| {
                found = entry.entry.metadata.map(|metadata| ImageEntry {
                    path: entry.entry.path.to_vec(),
                    inode: entry.inode.clone(),
                    metadata: *metadata,
                    reference: entry.reference,
                });
                ControlFlow::Continue(())
            };
            // The result only says whether `visit` wants to continue, and this one always does.
            let _ = self.descent.step(image, &mut visit);
            if let Some(found) = found {
                return Some(Ok(found));
            }
        }
    }
}

fn omitted_root(error: Error) -> Omission {
    Omission {
        path: Vec::new(),
        operation: "stat",
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    }
}
