//! Images of all kinds, told apart by their magic numbers.

use super::contents::{write_pieces, ContentError};
use super::range::read_pieces;
use bstr::ByteSlice;
use hedgerow_engine::{CancelToken, Execution};
use hedgerow_erofs as erofs;
use hedgerow_fs::ReadFile;
use hedgerow_image::compare::{Comparable, EntryIterator, ImageEntry};
use hedgerow_image::{Error, ReadAt};
use hedgerow_squashfs as squashfs;
use hedgerow_tree::{Content, Entry, Metadata, Node, NodeError, NodeKind, Omission, Xattr};
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

/// An open image of any kind. Clones are the same image.
#[derive(Clone)]
pub enum AnyImage {
    /// A SquashFS image.
    SquashFs(Arc<squashfs::Image>),
    /// An EROFS image.
    Erofs(Arc<erofs::Image>),
}

/// The nodes of an image.
pub type AnyNodes = Box<dyn Iterator<Item = Result<Node, NodeError>> + Send>;

/// Sees an entry, with the target if it is a link.
pub type Visit<'v> = dyn FnMut(Entry<'_>, Option<&[u8]>) -> ControlFlow<()> + 'v;

/// The kinds of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SquashFS 4.0.
    SquashFs,
    /// EROFS.
    Erofs,
}

impl Kind {
    /// The kind with this name.
    ///
    /// # Errors
    /// There is none; the message says which there are.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "squashfs" => Ok(Kind::SquashFs),
            "erofs" => Ok(Kind::Erofs),
            _ => Err(format!("unknown format '{name}': squashfs or erofs")),
        }
    }

    /// The kind that the ending of an image's name tells: EROFS for `.erofs`, else SquashFS.
    pub fn of_path(path: &Path) -> Self {
        match path.extension() {
            Some(ending) if ending == "erofs" => Kind::Erofs,
            _ => Kind::SquashFs,
        }
    }

    /// The kind with this name, or without a name the one that the path of the image tells.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn chosen(name: Option<&str>, path: &Path) -> Result<Self, String> {
        name.map_or_else(|| Ok(Self::of_path(path)), Self::from_name)
    }

    /// The kind of the image at byte `offset` of `source`.
    pub(super) fn of(source: &dyn ReadAt, offset: u64) -> Result<Self, Error> {
        let mut magic = [0; 4];
        let place = offset.saturating_add(erofs::format::SUPERBLOCK_OFFSET);
        source.read_at(&mut magic, place)?;
        if u32::from_le_bytes(magic) == erofs::format::MAGIC {
            return Ok(Kind::Erofs);
        }
        source.read_at(&mut magic, offset)?;
        if u32::from_le_bytes(magic) == squashfs::format::MAGIC {
            return Ok(Kind::SquashFs);
        }
        Err(Error::NotAnImage("a SquashFS or EROFS"))
    }
}

impl From<&Arc<squashfs::Image>> for AnyImage {
    fn from(image: &Arc<squashfs::Image>) -> Self {
        AnyImage::SquashFs(image.clone())
    }
}

impl From<&AnyImage> for AnyImage {
    fn from(image: &AnyImage) -> Self {
        image.clone()
    }
}

impl AnyImage {
    /// Opens the image that starts at `offset` bytes in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is no image, or is one that cannot be used.
    pub fn open(path: &Path, offset: u64) -> Result<Self, Error> {
        Self::new(Box::new(ReadFile::open(path)?), offset)
    }

    /// Like [`Self::open`], for any source of bytes.
    ///
    /// # Errors
    /// Like [`Self::open`].
    pub fn new(source: Box<dyn ReadAt>, offset: u64) -> Result<Self, Error> {
        Ok(match Kind::of(&*source, offset)? {
            Kind::SquashFs => AnyImage::SquashFs(Arc::new(squashfs::Image::new(source, offset)?)),
            Kind::Erofs => AnyImage::Erofs(Arc::new(erofs::Image::new(source, offset)?)),
        })
    }

    /// The nodes of the image: all of them, or those at and below `paths`, with their parent
    /// directories.
    ///
    /// # Errors
    /// A path does not exist, or the root cannot be read.
    pub fn nodes(&self, paths: &[&[u8]]) -> Result<AnyNodes, Error> {
        Ok(match self {
            AnyImage::SquashFs(image) => Box::new(squashfs::nodes_of_image(image, paths)?),
            AnyImage::Erofs(image) => Box::new(erofs::nodes_of_image(image, paths)?),
        })
    }

    /// Number of inodes.
    pub fn inodes(&self) -> u64 {
        match self {
            AnyImage::SquashFs(image) => image.superblock().inode_count.into(),
            AnyImage::Erofs(image) => image.superblock().inodes,
        }
    }

    /// Kind and metadata of the entry at `path`; of the root if it is empty.
    ///
    /// # Errors
    /// There is no such entry, or it cannot be read.
    pub fn find(&self, path: &[u8]) -> Result<(NodeKind, Metadata), Error> {
        match self {
            AnyImage::SquashFs(image) => {
                let inode = image.find(path)?;
                Ok((inode.kind, image.metadata(&inode)?))
            }
            AnyImage::Erofs(image) => {
                let inode = image.find(path)?;
                Ok((inode.kind, inode.metadata()))
            }
        }
    }

    /// The names and kinds of the entries of the directory at `path`, sorted by the bytes of their
    /// names.
    ///
    /// # Errors
    /// There is no such directory, or it cannot be read.
    pub fn children(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, NodeKind)>, Error> {
        let no_directory = || Error::Kind {
            path: path.as_bstr().to_owned(),
            expected: "directory",
        };
        let mut children = Vec::new();
        match self {
            AnyImage::SquashFs(image) => {
                let inode = image.find(path)?;
                let squashfs::Body::Directory(directory) = &inode.body else {
                    return Err(no_directory());
                };
                for (name, entry) in image.listing(directory)?.iter() {
                    children.push((name.to_vec(), entry.kind));
                }
            }
            AnyImage::Erofs(image) => {
                let inode = image.find(path)?;
                if inode.kind != NodeKind::Directory {
                    return Err(no_directory());
                }
                let listing = image.listing(&inode)?;
                for index in 0..listing.len() {
                    let Some((name, entry)) = listing.get(index) else {
                        break;
                    };
                    // The kind in the directory is a hint that nothing has checked.
                    let kind = image.inode(entry.inode)?.kind;
                    children.push((name.to_vec(), kind));
                }
            }
        }
        Ok(children)
    }

    /// The bytes `range` of the content of the regular file `path`, as far as it has them; see
    /// [`read_range`](super::read_range).
    ///
    /// # Errors
    /// See [`ContentError`].
    pub fn read_range(
        &self,
        path: &[u8],
        range: Range<u64>,
        execution: &Execution,
    ) -> Result<Vec<u8>, ContentError> {
        let no_file = || {
            ContentError::Image(Error::Kind {
                path: path.as_bstr().to_owned(),
                expected: "regular file",
            })
        };
        match self {
            AnyImage::SquashFs(image) => match &image.find(path)?.body {
                squashfs::Body::File(file) => super::read_range(image, file, range, execution),
                _ => Err(no_file()),
            },
            AnyImage::Erofs(image) => {
                let inode = image.find(path)?;
                if inode.kind != NodeKind::File {
                    return Err(no_file());
                }
                let start = range.start.min(inode.size);
                let range = 0..range.end.saturating_sub(start);
                let pieces = in_parts(image.pieces_from(&inode, start));
                read_pieces(
                    pieces,
                    inode.size - start,
                    range,
                    execution,
                    |piece, content| image.read_piece(piece, content),
                )
            }
        }
    }

    /// Calls `visit` with every entry below the directory `path`, or with the entry itself if it is
    /// no directory, and with the target of a link, until it breaks. Returns what was left out.
    ///
    /// # Errors
    /// There is no such entry, or it cannot be read.
    pub fn list(&self, path: &[u8], visit: &mut Visit<'_>) -> Result<Vec<Omission>, Error> {
        let (kind, metadata) = self.find(path)?;
        if kind != NodeKind::Directory {
            let entry = Entry {
                path,
                kind,
                metadata: Some(&metadata),
            };
            let target = match kind {
                NodeKind::Symlink => Some(self.target(path)?),
                _ => None,
            };
            // This is the only entry: whether the caller wants more does not matter.
            let _ = visit(entry, target.as_deref());
            return Ok(Vec::new());
        }
        Ok(match self {
            AnyImage::SquashFs(image) => {
                let source = squashfs::ImageSource::below(image, path)?;
                source.entries(&mut |found| match &found.inode.body {
                    squashfs::Body::Symlink(target) => visit(found.entry, Some(target.as_slice())),
                    _ => visit(found.entry, None),
                })
            }
            AnyImage::Erofs(image) => {
                let source = erofs::ImageSource::below(image, path)?;
                source.entries(&mut |found| {
                    // A target that cannot be read is empty here; reading the link tells why.
                    let target = match found.inode.kind {
                        NodeKind::Symlink => Some(image.target(found.inode).unwrap_or_default()),
                        _ => None,
                    };
                    visit(found.entry, target.as_deref())
                })
            }
        })
    }

    /// The target of the symbolic link at `path`.
    ///
    /// # Errors
    /// There is no such link, or it cannot be read.
    pub fn target(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            AnyImage::SquashFs(image) => match image.find(path)?.body {
                squashfs::Body::Symlink(target) => Ok(target.to_vec()),
                _ => Err(Error::NotFound(path.into())),
            },
            AnyImage::Erofs(image) => image.target(&image.find(path)?),
        }
    }

    /// Writes the content of the regular file `path` to `output`, read by several workers.
    ///
    /// # Errors
    /// See [`ContentError`]. Part of the content may have been written.
    pub fn write_content(
        &self,
        path: &[u8],
        output: &mut dyn Write,
        execution: &Execution,
    ) -> Result<(), ContentError> {
        let image = match self {
            AnyImage::SquashFs(image) => {
                return super::write_content(image, path, output, execution)
            }
            AnyImage::Erofs(image) => image,
        };
        let inode = image.find(path)?;
        if inode.kind != NodeKind::File {
            return Err(ContentError::Image(Error::Kind {
                path: path.as_bstr().to_owned(),
                expected: "regular file",
            }));
        }
        let pieces = in_parts(image.pieces(&inode));
        write_pieces(pieces, output, execution, |piece, content| {
            image.read_piece(piece, content)
        })
    }
}

/// Pieces that fit into memory, with their lengths.
fn in_parts<'p>(
    pieces: erofs::Pieces<'p>,
) -> impl Iterator<Item = Result<(erofs::Piece, u64), Error>> + 'p {
    pieces.flat_map(|piece| {
        let (piece, error) = match piece {
            Ok(piece) => (Some(piece), None),
            Err(error) => (None, Some(Err(error))),
        };
        let parts = piece.into_iter().flat_map(erofs::Piece::parts);
        parts.map(|part| Ok((part, part.length))).chain(error)
    })
}

/// An inode of an image of any kind.
pub enum AnyInode {
    /// Of a SquashFS image.
    SquashFs(squashfs::Inode),
    /// Of an EROFS image.
    Erofs(erofs::Inode),
}

type AnyEntry = ImageEntry<AnyInode>;

impl Comparable for AnyImage {
    type Inode = AnyInode;

    fn entries(self: &Arc<Self>) -> Result<EntryIterator<AnyInode>, Error> {
        Ok(match &**self {
            AnyImage::SquashFs(image) => any_entries(image.entries()?, AnyInode::SquashFs),
            AnyImage::Erofs(image) => any_entries(image.entries()?, AnyInode::Erofs),
        })
    }

    fn has_nanoseconds(&self) -> bool {
        match self {
            AnyImage::SquashFs(image) => image.has_nanoseconds(),
            AnyImage::Erofs(image) => image.has_nanoseconds(),
        }
    }

    fn target(&self, entry: &AnyEntry) -> Result<Vec<u8>, Error> {
        match self {
            AnyImage::SquashFs(image) => image.target(&of_squashfs(entry)?),
            AnyImage::Erofs(image) => Comparable::target(&**image, &of_erofs(entry)?),
        }
    }

    fn xattrs(&self, entry: &AnyEntry) -> Result<Vec<Xattr>, Error> {
        match self {
            AnyImage::SquashFs(image) => Comparable::xattrs(&**image, &of_squashfs(entry)?),
            AnyImage::Erofs(image) => Comparable::xattrs(&**image, &of_erofs(entry)?),
        }
    }

    fn content(self: &Arc<Self>, entry: &AnyEntry) -> Result<Box<dyn Content>, Error> {
        match &**self {
            AnyImage::SquashFs(image) => image.content(&of_squashfs(entry)?),
            AnyImage::Erofs(image) => image.content(&of_erofs(entry)?),
        }
    }

    fn equal_contents(
        images: [&Arc<Self>; 2],
        first: &AnyEntry,
        second: &AnyEntry,
        cancel: &CancelToken,
    ) -> Result<bool, (usize, Error)> {
        let [image, other] = images;
        if let (AnyImage::SquashFs(image), AnyImage::SquashFs(other)) = (&**image, &**other) {
            let first = of_squashfs(first).map_err(|error| (0, error))?;
            let second = of_squashfs(second).map_err(|error| (1, error))?;
            return squashfs::Image::equal_contents([image, other], &first, &second, cancel);
        }
        let content = image.content(first).map_err(|error| (0, error))?;
        let other = other.content(second).map_err(|error| (1, error))?;
        hedgerow_image::compare::equal_streams(content, other, cancel)
    }
}

fn any_entries<I: 'static>(
    entries: EntryIterator<I>,
    any: impl Fn(I) -> AnyInode + Send + 'static,
) -> EntryIterator<AnyInode> {
    Box::new(entries.map(move |found| {
        found.map(|found| ImageEntry {
            path: found.path,
            kind: found.kind,
            metadata: found.metadata,
            reference: found.reference,
            is_extended: found.is_extended,
            inode: any(found.inode),
        })
    }))
}

fn of_squashfs(entry: &AnyEntry) -> Result<ImageEntry<squashfs::Inode>, Error> {
    match &entry.inode {
        AnyInode::SquashFs(inode) => Ok(with(entry, inode.clone())),
        AnyInode::Erofs(_) => Err(of_another_image(entry)),
    }
}

fn of_erofs(entry: &AnyEntry) -> Result<ImageEntry<erofs::Inode>, Error> {
    match &entry.inode {
        AnyInode::Erofs(inode) => Ok(with(entry, *inode)),
        AnyInode::SquashFs(_) => Err(of_another_image(entry)),
    }
}

fn with<I>(entry: &AnyEntry, inode: I) -> ImageEntry<I> {
    ImageEntry {
        path: entry.path.clone(),
        kind: entry.kind,
        metadata: entry.metadata,
        reference: entry.reference,
        is_extended: entry.is_extended,
        inode,
    }
}

/// The error if an entry is used with an image that it is not of.
fn of_another_image(entry: &AnyEntry) -> Error {
    Error::NotFound(entry.path.as_slice().into())
}
