//! An image as a source of nodes.

use super::content::InFile;
use super::{Image, Inode};
use hedgerow_image::tree::Entries;
use hedgerow_image::{Error, Result, Selection};
use hedgerow_tree::{split_path, Content, Handle, Node, NodeError, NodeKind, Xattr};
use std::sync::Arc;

/// The nodes of an image in canonical order, the root first. An unreadable entry is returned as an
/// error, and iteration continues.
pub struct ImageNodes(Entries<Image>);

/// The nodes of `image`: all of them, or those at and below `paths`, with their parent directories.
/// Contents are read on demand.
///
/// # Errors
/// [`Error::NotFound`] for a path that does not exist, and errors about the root.
pub fn nodes_of_image(image: &Arc<Image>, paths: &[&[u8]]) -> Result<ImageNodes> {
    for path in paths {
        image.find(path)?;
    }
    Entries::new(image, Selection::new(paths)).map(ImageNodes)
}

impl Iterator for ImageNodes {
    type Item = std::result::Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let image = &self.0.image.clone();
        Some(match self.0.next()? {
            Ok(found) => Ok(node(image, found.path, found.inode)),
            Err(omission) if omission.path.is_empty() => Err(NodeError::source(omission)),
            Err(omission) => Err(NodeError::entry(omission)),
        })
    }
}

fn node(image: &Arc<Image>, path: Vec<u8>, inode: Inode) -> Node {
    let is_linked = inode.nlink > 1 && inode.kind != NodeKind::Directory;
    Node {
        kind: inode.kind,
        mode: inode.mode,
        uid: inode.uid,
        gid: inode.gid,
        mtime_s: inode.mtime_s,
        mtime_ns: inode.mtime_ns,
        size_bytes: match inode.kind {
            NodeKind::File => inode.size,
            _ => 0,
        },
        device: inode.device(),
        link: is_linked.then_some((0, inode.number)),
        content_id: None,
        handle: Box::new(InImage {
            image: image.clone(),
            name: split_path(&path).1.into(),
            inode,
        }),
        path,
    }
}

/// An entry of an image.
struct InImage {
    image: Arc<Image>,
    /// The last component of its path, for errors; the caller knows the rest.
    name: Box<[u8]>,
    inode: Inode,
}

impl InImage {
    fn wrong(&self, expected: &'static str) -> NodeError {
        NodeError::entry(Error::Kind {
            path: self.name.to_vec().into(),
            expected,
        })
    }
}

impl Handle for InImage {
    fn target(&mut self) -> std::result::Result<Vec<u8>, NodeError> {
        match self.inode.kind {
            NodeKind::Symlink => self.image.target(&self.inode).map_err(NodeError::entry),
            _ => Err(self.wrong("symbolic link")),
        }
    }

    fn open(&mut self) -> std::result::Result<Box<dyn Content>, NodeError> {
        match self.inode.kind {
            NodeKind::File => Ok(Box::new(InFile::new(&self.image, &self.inode))),
            _ => Err(self.wrong("regular file")),
        }
    }

    fn xattrs(&mut self) -> std::result::Result<Vec<Xattr>, NodeError> {
        self.image.xattrs(&self.inode).map_err(NodeError::entry)
    }
}
