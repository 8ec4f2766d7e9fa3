//! The tree of an image, walked without trusting it: what the readers of all formats share.

use crate::{Damage, Error, Part, Result, Selection};
use bstr::ByteSlice;
use hedgerow_tree::{Entry, Metadata, NodeKind, Omission, TreeSource};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Maximum depth of directories. In Linux, a path cannot name anything deeper than 2048.
const DEPTH: usize = 8192;
/// Maximum number of findings about directories that are kept.
const MOST_DAMAGE: usize = 4096;

/// What a format says about its inodes and directories.
pub trait ImageTree {
    /// An inode.
    type Inode: Clone;
    /// Where an inode is.
    type Reference: Copy;
    /// The entries of a directory, in canonical order.
    type Listing;

    /// Where the inode of the root is.
    fn root_reference(&self) -> Self::Reference;

    /// The inode of the root, which is a directory.
    ///
    /// # Errors
    /// It cannot be read, or is no directory.
    fn root(&self) -> Result<Self::Inode>;

    /// The inode at a place.
    ///
    /// # Errors
    /// There is none, or it makes no sense.
    fn inode(&self, reference: Self::Reference) -> Result<Self::Inode>;

    /// The kind of an inode.
    fn kind(inode: &Self::Inode) -> NodeKind;

    /// The metadata of an inode.
    ///
    /// # Errors
    /// They cannot be read.
    fn metadata(&self, inode: &Self::Inode) -> Result<Metadata>;

    /// Where an inode is, for those who check it.
    fn place(&self, inode: &Self::Inode) -> Place;

    /// Bytes that all directories together take at most.
    fn most_directory_bytes(&self) -> u64;

    /// The entries of a directory.
    ///
    /// # Errors
    /// They cannot be read.
    fn listing(&self, directory: &Self::Inode) -> Result<Self::Listing>;

    /// The entry at `index`.
    fn entry(listing: &Self::Listing, index: usize) -> Option<Named<'_, Self::Reference>>;

    /// Where the inode of the entry with this name is.
    fn find(listing: &Self::Listing, name: &[u8]) -> Option<Self::Reference>;

    /// Takes what was found wrong when the entries were read: some were left out.
    fn take_damage(listing: &mut Self::Listing) -> Vec<Damage>;

    /// What is wrong with where a directory says that it is. `above` is the number of the directory above,
    /// if that is known.
    fn misplaced(
        &self,
        _directory: &Self::Inode,
        _listing: &Self::Listing,
        _above: Option<u64>,
    ) -> Vec<Damage> {
        Vec::new()
    }
}

/// Where an inode is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its number.
    pub number: u64,
    /// Bytes of the directory.
    pub bytes: u64,
    /// What damage is told to be at, in bytes from the start of the image.
    pub position: u64,
}

/// An entry of a directory.
#[derive(Clone, Copy, Debug)]
pub struct Named<'l, R> {
    /// Its name.
    pub name: &'l [u8],
    /// Where its inode is.
    pub reference: R,
    /// The kind that the directory says it has; `None` if there is no such kind.
    pub kind: Option<NodeKind>,
}

/// The inode at a path below the root of `image`, or of the root if the path is empty. Symbolic links are
/// not followed.
///
/// # Errors
/// There is no such entry, or it cannot be read.
pub fn find<T: ImageTree>(image: &T, path: &[u8]) -> Result<T::Inode> {
    let mut inode = image.root()?;
    let names = path
        .split_str("/")
        .filter(|name| !name.is_empty() && *name != b".");
    for name in names {
        let not_found = || Error::NotFound(path.into());
        if T::kind(&inode) != NodeKind::Directory {
            return Err(not_found());
        }
        let listing = image.listing(&inode)?;
        inode = image.inode(T::find(&listing, name).ok_or_else(not_found)?)?;
    }
    Ok(inode)
}

/// An image, or a directory in it, as a source of entries. Hard links have the same inode number;
/// the device is always 0.
pub struct ImageSource<'i, T: ImageTree> {
    image: &'i T,
    root: T::Inode,
}

/// An entry with its inode.
pub struct TreeEntry<'e, T: ImageTree> {
    /// The entry.
    pub entry: Entry<'e>,
    /// Its inode.
    pub inode: &'e T::Inode,
    /// Where the inode is.
    pub reference: T::Reference,
}

type Visit<'v, T> = &'v mut dyn FnMut(TreeEntry<'_, T>) -> ControlFlow<()>;

impl<'i, T: ImageTree> ImageSource<'i, T> {
    /// All entries below the root of an image.
    ///
    /// # Errors
    /// Those of its root.
    pub fn new(image: &'i T) -> Result<Self> {
        let root = image.root()?;
        Ok(ImageSource { image, root })
    }

    /// All entries below the directory at `path`; the root if it is empty.
    ///
    /// # Errors
    /// There is no such directory.
    pub fn below(image: &'i T, path: &[u8]) -> Result<Self> {
        let root = find(image, path)?;
        match T::kind(&root) {
            NodeKind::Directory => Ok(ImageSource { image, root }),
            _ => Err(Error::Kind {
                path: path.into(),
                expected: "directory",
            }),
        }
    }

    /// Like [`TreeSource::list`], with inodes.
    pub fn entries(&self, visit: Visit<'_, T>) -> Vec<Omission> {
        self.checked_entries(visit).0
    }

    /// Like [`Self::entries`], and with what is wrong in directories although nothing is missing.
    pub fn checked_entries(&self, visit: Visit<'_, T>) -> (Vec<Omission>, Vec<Damage>) {
        let mut descent = Descent::new(self.image, &self.root, Selection::all());
        while !descent.is_done() {
            if descent.step(self.image, visit).is_break() {
                break;
            }
        }
        (descent.omissions, descent.damage)
    }
}

impl<T: ImageTree> TreeSource for ImageSource<'_, T> {
    type Error = Error;

    fn list(
        &self,
        visit: &mut (dyn FnMut(Entry<'_>) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Omission>> {
        Ok(self.entries(&mut |entry| visit(entry.entry)))
    }
}

/// A depth-first walk: the current path and what is left to visit along it.
struct Descent<T: ImageTree> {
    selection: Selection,
    /// Numbers of the directories entered so far. A directory may occur only once, so there are no
    /// loops.
    visited: HashSet<u64>,
    /// Bytes of directories that may still be read.
    bytes_left: u64,
    stack: Vec<Level<T::Listing>>,
    path: Vec<u8>,
    /// Entries that could not be visited.
    omissions: Vec<Omission>,
    /// What is wrong in directories although nothing is missing.
    damage: Vec<Damage>,
}

struct Level<L> {
    /// The number of the directory.
    number: u64,
    listing: L,
    next: usize,
    /// Length of the directory's path in bytes.
    path_bytes: usize,
}

impl<T: ImageTree> Descent<T> {
    /// Starts at the directory `root`.
    fn new(image: &T, root: &T::Inode, selection: Selection) -> Self {
        let mut descent = Descent {
            selection,
            visited: HashSet::new(),
            bytes_left: image.most_directory_bytes(),
            stack: Vec::new(),
            path: Vec::new(),
            omissions: Vec::new(),
            damage: Vec::new(),
        };
        descent.enter(image, root);
        descent
    }

    /// Whether the walk is complete.
    fn is_done(&self) -> bool {
        self.stack.is_empty()
    }

    fn enter(&mut self, image: &T, inode: &T::Inode) {
        let place = image.place(inode);
        let refused = if !self.visited.insert(place.number) {
            Some("a directory that is in two places")
        } else if self.stack.len() >= DEPTH {
            Some("directories that are too deep")
        } else if place.bytes > self.bytes_left {
            Some("directories that share their bytes")
        } else {
            None
        };
        if let Some(what) = refused {
            let damage = Damage::new(Part::DirectoryTable, place.position, what);
            return self.omit("list", damage.into());
        }
        self.bytes_left -= place.bytes;
        match image.listing(inode) {
            Ok(mut listing) => {
                for damage in T::take_damage(&mut listing) {
                    self.omit("list", damage.into());
                }
                self.check_place(image, inode, &listing);
                self.stack.push(Level {
                    number: place.number,
                    listing,
                    next: 0,
                    path_bytes: self.path.len(),
                });
            }
            Err(error) => self.omit("list", error),
        }
    }

    /// Checks where the directory says that it is.
    fn check_place(&mut self, image: &T, inode: &T::Inode, listing: &T::Listing) {
        let above = self.stack.last().map(|level| level.number);
        let room = MOST_DAMAGE.saturating_sub(self.damage.len());
        let found = image.misplaced(inode, listing, above).into_iter();
        let found = found.take(room).map(|damage| damage.at(&self.path));
        self.damage.extend(found);
    }

    /// Visits the next entry and enters it if it is a directory; leaves the directory if it has no
    /// more entries.
    fn step(&mut self, image: &T, visit: Visit<'_, T>) -> ControlFlow<()> {
        let Some(level) = self.stack.last_mut() else {
            return ControlFlow::Break(());
        };
        self.path.truncate(level.path_bytes);
        let Some(named) = T::entry(&level.listing, level.next) else {
            self.stack.pop();
            return ControlFlow::Continue(());
        };
        level.next += 1;
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(named.name);
        if !self.selection.wants(&self.path) {
            return ControlFlow::Continue(());
        }
        let (reference, kind) = (named.reference, named.kind);
        let (inode, metadata) = match read(image, reference, kind) {
            Ok(read) => read,
            Err(error) => {
                self.omit("stat", error);
                return ControlFlow::Continue(());
            }
        };
        let kind = T::kind(&inode);
        visit(TreeEntry {
            entry: Entry {
                path: &self.path,
                kind,
                metadata: Some(&metadata),
            },
            inode: &inode,
            reference,
        })?;
        if kind == NodeKind::Directory {
            self.enter(image, &inode);
        }
        ControlFlow::Continue(())
    }

    fn omit(&mut self, operation: &'static str, error: Error) {
        self.omissions.push(omitted(&self.path, operation, error));
    }
}

/// The inode of an entry that is of the kind `kind`, and its metadata.
fn read<T: ImageTree>(
    image: &T,
    reference: T::Reference,
    kind: Option<NodeKind>,
) -> Result<(T::Inode, Metadata)> {
    let inode = image.inode(reference)?;
    let metadata = image.metadata(&inode)?;
    if Some(T::kind(&inode)) != kind {
        let position = image.place(&inode).position;
        let what = "an entry whose inode is of another type";
        return Err(Damage::new(Part::DirectoryTable, position, what).into());
    }
    Ok((inode, metadata))
}

fn omitted(path: &[u8], operation: &'static str, error: Error) -> Omission {
    let source = match error {
        Error::Fs(error) => error.source,
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    };
    Omission {
        path: path.to_vec(),
        operation,
        source,
    }
}

/// The entries of an image in canonical order, the root first, with an empty path.
pub struct Entries<T: ImageTree> {
    /// The image.
    pub image: Arc<T>,
    root: Option<T::Inode>,
    descent: Descent<T>,
}

/// An entry that keeps what was read of it.
pub struct FoundEntry<T: ImageTree> {
    /// Its path.
    pub path: Vec<u8>,
    /// Its inode.
    pub inode: T::Inode,
    /// Its metadata.
    pub metadata: Metadata,
    /// Where its inode is.
    pub reference: T::Reference,
}

impl<T: ImageTree> Entries<T> {
    /// The entries of `image` that `selection` wants.
    ///
    /// # Errors
    /// Those of its root.
    pub fn new(image: &Arc<T>, selection: Selection) -> Result<Self> {
        let root = image.root()?;
        Ok(Entries {
            image: image.clone(),
            descent: Descent::new(image, &root, selection),
            root: Some(root),
        })
    }
}

impl<T: ImageTree> Iterator for Entries<T> {
    type Item = std::result::Result<FoundEntry<T>, Omission>;

    fn next(&mut self) -> Option<Self::Item> {
        let image = &self.image;
        if let Some(inode) = self.root.take() {
            let metadata = image.metadata(&inode);
            let metadata = metadata.map_err(|error| omitted(b"", "stat", error));
            return Some(metadata.map(|metadata| FoundEntry {
                path: Vec::new(),
                inode,
                metadata,
                reference: image.root_reference(),
            }));
        }
        loop {
            if let Some(omission) = self.descent.omissions.pop() {
                return Some(Err(omission));
            }
            if self.descent.is_done() {
                return None;
            }
            let mut found = None;
            let mut visit = |entry: TreeEntry<'_, T>| {
                found = entry.entry.metadata.map(|metadata| FoundEntry {
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
