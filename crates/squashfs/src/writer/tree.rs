//! The entries of an image while it is made: directories with their names, and everything else.

use super::entry::Entry;
use super::pack::Entries;
use super::plan::Content;
use super::WriteError;
use hedgerow_tree::{split_path, NodeError, NodeKind};
use std::collections::HashMap;

/// Ids are numbered by two bytes, and none may have the last number.
const IDS_LIMIT: usize = 65_535;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The number of a directory.
    Directory(u32),
    /// The number of a leaf.
    Leaf(u32),
}

/// A directory and its names, ascending.
#[derive(Debug)]
pub(super) struct Directory {
    pub attributes: Attributes,
    pub parent: u32,
    /// 0 for the root.
    pub depth: u32,
    pub children: Vec<(Box<[u8]>, Target)>,
}

/// Everything that is not a directory.
#[derive(Debug)]
pub(super) struct Leaf {
    pub attributes: Attributes,
    pub body: Body,
    pub nlink: u32,
}

#[derive(Debug)]
pub(super) enum Body {
    /// Its size in bytes, and where its content is.
    File(u64, Content),
    Symlink(Box<[u8]>),
    Device((u32, u32)),
    Ipc,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub kind: NodeKind,
    pub mode: u16,
    /// Positions in [`Tree::ids`].
    pub uid: u16,
    pub gid: u16,
    pub mtime: u32,
}

/// All of it.
#[derive(Default)]
pub(super) struct Tree {
    pub directories: Vec<Directory>,
    pub leaves: Vec<Leaf>,
    /// Users and groups, in the order of their first use.
    pub ids: Vec<u32>,
    id_numbers: HashMap<u32, u16>,
    links: HashMap<(u64, u64), u32>,
    /// Why entries, or something of them, were left out.
    pub skipped: Vec<NodeError>,
    /// The directories that lead to where the next entry may be, with their paths.
    open: Vec<(Vec<u8>, u32)>,
}

impl Entries for Tree {
    fn file(&mut self, entry: Entry, content: Content) -> Result<(), WriteError> {
        let body = Body::File(entry.size_bytes, content);
        self.leaf(entry, body)
    }

    fn other(&mut self, mut entry: Entry) -> Result<(), WriteError> {
        let body = match entry.kind {
            NodeKind::Directory => return self.directory(entry),
            NodeKind::Symlink => {
                Body::Symlink(std::mem::take(&mut entry.target).into_boxed_slice())
            }
            NodeKind::BlockDevice | NodeKind::CharacterDevice => Body::Device(entry.device),
            NodeKind::Fifo | NodeKind::Socket => Body::Ipc,
            NodeKind::File => {
                let known = entry
                    .link
                    .is_some_and(|link| self.links.contains_key(&link));
                if !known {
                    let reason = "another name of the file could not be read";
                    let error = WriteError::entry(&entry.path, reason);
                    self.skipped(NodeError::entry(error));
                    return Ok(());
                }
                Body::Ipc
            }
        };
        self.leaf(entry, body)
    }

    fn skipped(&mut self, error: NodeError) {
        self.skipped.push(error);
    }
}

impl Tree {
    fn directory(&mut self, mut entry: Entry) -> Result<(), WriteError> {
        self.skipped.extend(entry.omitted.take());
        let number = self.directories.len() as u32;
        let is_root = entry.path.is_empty();
        let (parent, depth) = match is_root {
            true => (0, 0),
            false => {
                let parent = self.enter(&entry, Target::Directory(number))?;
                (parent, self.directories[parent as usize].depth + 1)
            }
        };
        let attributes = self.attributes(&entry)?;
        self.directories.push(Directory {
            attributes,
            parent,
            depth,
            children: Vec::new(),
        });
        self.open.push((entry.path, number));
        Ok(())
    }

    fn leaf(&mut self, mut entry: Entry, body: Body) -> Result<(), WriteError> {
        self.skipped.extend(entry.omitted.take());
        let known = entry.link.and_then(|link| self.links.get(&link).copied());
        let number = known.unwrap_or(self.leaves.len() as u32);
        self.enter(&entry, Target::Leaf(number))?;
        if let Some(leaf) = known.and_then(|number| self.leaves.get_mut(number as usize)) {
            leaf.nlink += 1;
            return Ok(());
        }
        if let Some(link) = entry.link {
            self.links.insert(link, number);
        }
        let attributes = self.attributes(&entry)?;
        self.leaves.push(Leaf {
            attributes,
            body,
            nlink: 1,
        });
        Ok(())
    }

    /// Puts the name of an entry into its directory. Returns the number of that.
    fn enter(&mut self, entry: &Entry, target: Target) -> Result<u32, WriteError> {
        let refused = |reason: &str| WriteError::entry(&entry.path, reason);
        let (directory, name) = split_path(&entry.path);
        while self.open.last().is_some_and(|(path, _)| path != directory) {
            self.open.pop();
        }
        let Some((_, parent)) = self.open.last() else {
            return Err(refused("its directory did not come before it"));
        };
        let bad = matches!(name, b"" | b"." | b"..") || name.contains(&0);
        if bad || name.len() > crate::format::NAME_BYTES {
            return Err(refused("it has a name that no file can have"));
        }
        let children = &mut self.directories[*parent as usize].children;
        if children.last().is_some_and(|(last, _)| **last >= *name) {
            return Err(refused("it does not come in its order"));
        }
        children.push((name.into(), target));
        Ok(*parent)
    }

    fn attributes(&mut self, entry: &Entry) -> Result<Attributes, WriteError> {
        Ok(Attributes {
            kind: entry.kind,
            mode: entry.mode,
            uid: self.id(entry.uid)?,
            gid: self.id(entry.gid)?,
            mtime: entry.mtime,
        })
    }

    fn id(&mut self, id: u32) -> Result<u16, WriteError> {
        if let Some(number) = self.id_numbers.get(&id) {
            return Ok(*number);
        }
        let number = self.ids.len();
        if number >= IDS_LIMIT {
            return Err(WriteError::Limit {
                reason: "it has more than 65,535 owners and groups".into(),
            });
        }
        self.ids.push(id);
        self.id_numbers.insert(id, number as u16);
        Ok(number as u16)
    }
}
