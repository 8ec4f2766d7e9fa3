use super::{Image, Inode, Listing};
use bstr::ByteSlice;
use hedgerow_image::{Damage, Error, Part, Result, Selection};
use hedgerow_tree::{Entry, NodeKind, Omission, TreeSource};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Maximum depth of directories. In Linux, a path cannot name anything deeper than 2048.
const DEPTH: usize = 8192;

/// Maximum number of findings about directories that are kept.
const MOST_DAMAGE: usize = 4096;

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
}

impl Image {
    /// The inode at a path below the root, or of the root if the path is empty. Symbolic links are
    /// not followed.
    ///
    /// # Errors
    /// There is no such entry, or it cannot be read.
    pub fn find(&self, path: &[u8]) -> Result<Inode> {
        let mut inode = self.root()?;
        let names = path
            .split_str("/")
            .filter(|name| !name.is_empty() && *name != b".");
        for name in names {
            let not_found = || Error::NotFound(path.into());
            if inode.kind != NodeKind::Directory {
                return Err(not_found());
            }
            let listing = self.listing(&inode)?;
            let entry = listing.find(name).ok_or_else(not_found)?;
            inode = self.inode(entry.inode)?;
        }
        Ok(inode)
    }
}

impl<'i> ImageSource<'i> {
    /// All entries below the directory at `path`; the root if it is empty.
    ///
    /// # Errors
    /// There is no such directory.
    pub fn below(image: &'i Image, path: &[u8]) -> Result<Self> {
        let root = image.find(path)?;
        match root.kind {
            NodeKind::Directory => Ok(ImageSource { image, root }),
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
        self.checked_entries(visit).0
    }

    /// Like [`Self::entries`], and with what is wrong in directories although nothing is missing.
    pub(crate) fn checked_entries(
        &self,
        visit: &mut dyn FnMut(TreeEntry<'_>) -> ControlFlow<()>,
    ) -> (Vec<Omission>, Vec<Damage>) {
        let mut descent = Descent::new(self.image, &self.root, Selection::all());
        while !descent.is_done() {
            if descent.step(self.image, visit).is_break() {
                break;
            }
        }
        (descent.omissions, descent.damage)
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
    /// Numbers of the directories entered so far. A directory may occur only once, so there are no
    /// loops.
    visited: HashSet<u64>,
    /// Bytes of directories that may still be read: together they cannot be larger than the image.
    bytes_left: u64,
    stack: Vec<Level>,
    path: Vec<u8>,
    /// Entries that could not be visited.
    pub omissions: Vec<Omission>,
    /// Entries of directories for themselves, and for the directories above, that name others.
    damage: Vec<Damage>,
}

struct Level {
    /// The number of the directory.
    inode: u64,
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
            bytes_left: image.bytes.length(),
            stack: Vec::new(),
            path: Vec::new(),
            omissions: Vec::new(),
            damage: Vec::new(),
        };
        descent.enter(image, root);
        descent
    }

    /// Whether the walk is complete.
    pub fn is_done(&self) -> bool {
        self.stack.is_empty()
    }

    fn enter(&mut self, image: &Image, inode: &Inode) {
        let refused = if !self.visited.insert(inode.number) {
            Some("a directory that is in two places")
        } else if self.stack.len() >= DEPTH {
            Some("directories that are too deep")
        } else if inode.size > self.bytes_left {
            Some("directories that share their bytes")
        } else {
            None
        };
        if let Some(what) = refused {
            let damage = Damage::new(Part::DirectoryTable, inode.position, what);
            return self.omit("list", damage.into());
        }
        self.bytes_left -= inode.size;
        match image.listing(inode) {
            Ok(mut listing) => {
                for damage in std::mem::take(&mut listing.damage) {
                    self.omit("list", damage.into());
                }
                self.check_links(image, inode, &listing);
                self.stack.push(Level {
                    inode: inode.number,
                    listing,
                    next: 0,
                    path_bytes: self.path.len(),
                });
            }
            Err(error) => self.omit("list", error),
        }
    }

    /// Checks where the directory says that it is.
    fn check_links(&mut self, image: &Image, inode: &Inode, listing: &Listing) {
        // What is above the first directory is known only of the root, which is above itself.
        let root = u64::from(image.superblock.root);
        let above = match self.stack.last() {
            Some(level) => Some(level.inode),
            None => (inode.number == root).then_some(root),
        };
        let is_itself = match listing.itself {
            Some(itself) => itself == inode.number,
            None => inode.lacks_itself,
        };
        let is_above = above.is_none_or(|above| listing.parent == Some(above));
        for (is_right, name) in [(is_itself, "."), (is_above, "..")] {
            if !is_right && self.damage.len() < MOST_DAMAGE {
                let what = format!("its entry '{name}' is missing, or names another directory");
                let damage = Damage::new(Part::DirectoryTable, inode.position, what);
                self.damage.push(damage.at(&self.path));
            }
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
        let file_type = entry.file_type;
        let inode = match image.inode(entry.inode) {
            Ok(inode) if crate::format::file_type(inode.kind) != file_type => {
                let what = "an entry whose inode is of another type";
                let damage = Damage::new(Part::DirectoryTable, inode.position, what);
                self.omit("stat", damage.into());
                return ControlFlow::Continue(());
            }
            Ok(inode) => inode,
            Err(error) => {
                self.omit("stat", error);
                return ControlFlow::Continue(());
            }
        };
        let metadata = inode.metadata();
        visit(TreeEntry {
            entry: Entry {
                path: &self.path,
                kind: inode.kind,
                metadata: Some(&metadata),
            },
            inode: &inode,
        })?;
        if inode.kind == NodeKind::Directory {
            self.enter(image, &inode);
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

/// The entries of an image in canonical order, the root first, with an empty path.
pub(super) struct Entries {
    pub image: Arc<Image>,
    root: Option<Inode>,
    descent: Descent,
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
}

impl Iterator for Entries {
    type Item = std::result::Result<(Vec<u8>, Inode), Omission>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(root) = self.root.take() {
            return Some(Ok((Vec::new(), root)));
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
                found = Some((entry.entry.path.to_vec(), *entry.inode));
                ControlFlow::Continue(())
            };
            // The result only says whether `visit` wants to continue, and this one always does.
            let _ = self.descent.step(&self.image, &mut visit);
            if let Some(found) = found {
                return Some(Ok(found));
            }
        }
    }
}
