//! The directories of an image while it is written, with the names in them.

use crate::names::{Child, Names, Target};
use crate::Entry;
use crate::WriteError;
use bstr::ByteSlice;
use hedgerow_tree::split_path;

/// Maximum depth of directories: in Linux, a path cannot name anything deeper, and the paths of all
/// open directories are in memory.
const DEPTH: u32 = 2048;
/// Length in bytes to which a long path is cut in messages.
const SHOWN_BYTES: usize = 100;
/// Maximum length of a name in bytes.
const NAME_BYTES: usize = 255;

/// A directory with its names.
pub struct Directory<A> {
    /// What the format stores of it.
    pub attributes: A,
    /// The number of the directory that it is in; the root is in itself.
    pub parent: u32,
    /// 0 for the root.
    pub depth: u32,
    /// Number of directories in it.
    pub subdirectories: u32,
    /// Its names.
    pub names: Names,
}

/// All directories so far, in canonical order and so numbered.
pub struct Directories<A> {
    all: Vec<Directory<A>>,
    /// The chain of directories, with their paths, to the one of the current entry.
    open: Vec<(Vec<u8>, u32)>,
}

impl<A> Default for Directories<A> {
    fn default() -> Self {
        Directories {
            all: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl<A> Directories<A> {
    /// The directories, by number.
    pub fn all(&self) -> &[Directory<A>] {
        &self.all
    }

    /// Takes the directories; no more names follow.
    pub fn take(&mut self) -> Vec<Directory<A>> {
        self.open.clear();
        std::mem::take(&mut self.all)
    }

    /// Adds the name of a directory to the one that it is in. Returns its place, which
    /// [`add`](Self::add) takes.
    ///
    /// # Errors
    /// Its directory did not come before it, the name is invalid, or there are too many
    /// directories in one another.
    pub fn begin(&mut self, entry: &Entry) -> Result<Beginning, WriteError> {
        let number = self.all.len() as u32;
        if entry.path.is_empty() && number == 0 {
            return Ok(Beginning {
                parent: 0,
                depth: 0,
            });
        }
        let parent = self.enter(entry, Target::Directory(number))?;
        let above = self.all.get_mut(parent as usize);
        let depth = above.map_or(0, |above| {
            above.subdirectories += 1;
            above.depth + 1
        });
        if depth > DEPTH {
            let path = entry.path.get(..SHOWN_BYTES).unwrap_or(&entry.path);
            let path = path.as_bstr();
            return Err(WriteError::Limit {
                reason: format!("'{path}...' has more than {DEPTH} directories in one another"),
            });
        }
        Ok(Beginning { parent, depth })
    }

    /// Adds a directory, which [`begin`](Self::begin) gave its place.
    pub fn add(&mut self, place: Beginning, path: Vec<u8>, attributes: A) {
        let number = self.all.len() as u32;
        self.all.push(Directory {
            attributes,
            parent: place.parent,
            depth: place.depth,
            subdirectories: 0,
            names: Names::default(),
        });
        self.open.push((path, number));
    }

    /// Adds the name of an entry to its directory. Returns the number of the directory.
    ///
    /// # Errors
    /// Its directory did not come before it, or the name is invalid or out of order.
    pub fn enter(&mut self, entry: &Entry, target: Target) -> Result<u32, WriteError> {
        let refused = |reason: &str| WriteError::entry(&entry.path, reason);
        let (directory, name) = split_path(&entry.path);
        while let Some((_, closed)) = self.open.pop_if(|(path, _)| path != directory) {
            if let Some(closed) = self.all.get_mut(closed as usize) {
                closed.names.close();
            }
        }
        let parent = self.open.last().map(|(_, number)| *number);
        let open = parent.and_then(|parent| self.all.get_mut(parent as usize));
        let (Some(parent), Some(open)) = (parent, open) else {
            return Err(refused("its directory did not come before it"));
        };
        let bad = matches!(name, b"" | b"." | b"..") || name.contains(&0);
        if bad || name.len() > NAME_BYTES {
            return Err(refused("it has a name that no file can have"));
        }
        let kind = entry.kind;
        if !open.names.push(Child { name, kind, target }) {
            return Err(refused("it does not come in its order"));
        }
        Ok(parent)
    }
}

/// The place of a directory that is being added.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    parent: u32,
    depth: u32,
}
