//! SquashFS images can be compared: contents are decompressed only if they are stored in different
//! ways.

use crate::reader::InFile;
use crate::{Body, Error, File, Image, Inode};
use bstr::BString;
use hedgerow_engine::CancelToken;
use hedgerow_image::compare::{equal_streams, Comparable, EntryIterator, ImageEntry};
use hedgerow_image::tree::Entries;
use hedgerow_image::Selection;
use hedgerow_tree::{Content, Xattr};
use std::sync::Arc;

impl Comparable for Image {
    type Inode = Inode;

    fn entries(self: &Arc<Self>) -> Result<EntryIterator<Inode>, Error> {
        let entries = Entries::new(self, Selection::all())?;
        Ok(Box::new(entries.map(|found| {
            found.map(|found| ImageEntry {
                path: found.path,
                kind: found.inode.kind,
                metadata: found.metadata,
                reference: found.reference.0,
                is_extended: found.inode.extended,
                inode: found.inode,
            })
        })))
    }

    fn has_nanoseconds(&self) -> bool {
        false
    }

    fn target(&self, entry: &ImageEntry<Inode>) -> Result<Vec<u8>, Error> {
        match &entry.inode.body {
            Body::Symlink(target) => Ok(target.to_vec()),
            _ => Err(wrong(entry, "symbolic link")),
        }
    }

    fn xattrs(&self, entry: &ImageEntry<Inode>) -> Result<Vec<Xattr>, Error> {
        match entry.inode.xattrs {
            Some(index) => Image::xattrs(self, index)?.collect(),
            None => Ok(Vec::new()),
        }
    }

    fn content(self: &Arc<Self>, entry: &ImageEntry<Inode>) -> Result<Box<dyn Content>, Error> {
        Ok(Box::new(InFile::new(self, file(entry)?)))
    }

    fn equal_contents(
        images: [&Arc<Self>; 2],
        first: &ImageEntry<Inode>,
        second: &ImageEntry<Inode>,
        cancel: &CancelToken,
    ) -> Result<bool, (usize, Error)> {
        let [image, other] = images;
        let (first, second) = (
            file(first).map_err(|error| (0, error))?,
            file(second).map_err(|error| (1, error))?,
        );
        if image.superblock.block_size != other.superblock.block_size {
            let first = Box::new(InFile::new(image, first));
            return equal_streams(first, Box::new(InFile::new(other, second)), cancel);
        }
        equal_pieces(images, first, second, cancel)
    }
}

fn file(entry: &ImageEntry<Inode>) -> Result<&File, Error> {
    match &entry.inode.body {
        Body::File(file) => Ok(file),
        _ => Err(wrong(entry, "regular file")),
    }
}

fn wrong(entry: &ImageEntry<Inode>, expected: &'static str) -> Error {
    let path = BString::from(entry.path.as_slice());
    Error::Kind { path, expected }
}

/// Whether two files of one size have the same content, in images with blocks of one size.
fn equal_pieces(
    [image, other]: [&Arc<Image>; 2],
    first: &File,
    second: &File,
    cancel: &CancelToken,
) -> Result<bool, (usize, Error)> {
    let pieces = image.pieces(first).map_err(|error| (0, error))?;
    let mut others = other.pieces(second).map_err(|error| (1, error))?;
    let (mut content, mut other_content) = (Vec::new(), Vec::new());
    for piece in pieces {
        if cancel.is_cancelled() {
            // The caller discards the result of a cancelled comparison.
            return Ok(true);
        }
        let piece = piece.map_err(|error| (0, error))?;
        let Some(twin) = others.next() else {
            return Ok(false);
        };
        let twin = twin.map_err(|error| (1, error))?;
        let alike = image.is_stored_alike(&piece, (other, &twin));
        if alike.map_err(|error| (0, error))? {
            continue;
        }
        let read = image.read_piece(&piece, &mut content);
        read.map_err(|error| (0, error))?;
        let read = other.read_piece(&twin, &mut other_content);
        read.map_err(|error| (1, error))?;
        if content != other_content {
            return Ok(false);
        }
    }
    Ok(true)
}
