//! The entries of an image while it is made: directories with their names, and everything else.

use super::input::Node;
use super::pack::Entries;
use super::WriteError;
use bstr::BString;
use hedgerow_tree::{split_path, NodeKind};
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
    /// Its size in bytes and the number of its layout.
    File(u64, u32),
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
    /// The directories that lead to where the next entry may be, with their paths.
    open: Vec<(Vec<u8>, u32)>,
}

impl Entries for Tree {
    fn file(&mut self, node: Node, layout: u32) -> Result<(), WriteError> {
        let body = Body::File(node.size_bytes, layout);
        self.leaf(node, body)
    }

    fn other(&mut self, node: Node, target: Vec<u8>) -> Result<(), WriteError> {
        let body = match node.kind {
            NodeKind::Directory => return self.directory(node),
            NodeKind::Symlink => Body::Symlink(target.into_boxed_slice()),
            NodeKind::BlockDevice | NodeKind::CharacterDevice => Body::Device(node.device),
            _ => Body::Ipc,
        };
        self.leaf(node, body)
    }
}

impl Tree {
    fn directory(&mut self, node: Node) -> Result<(), WriteError> {
        let number = self.directories.len() as u32;
        let is_root = node.path.is_empty();
        let (parent, depth) = match is_root {
            true => (0, 0),
            false => {
                let parent = self.enter(&node, Target::Directory(number))?;
                (parent, self.directories[parent as usize].depth + 1)
            }
        };
        let attributes = self.attributes(&node)?;
        self.directories.push(Directory {
            attributes,
            parent,
            depth,
            children: Vec::new(),
        });
        self.open.push((node.path, number));
        Ok(())
    }

    fn leaf(&mut self, node: Node, body: Body) -> Result<(), WriteError> {
        let known = node.link.and_then(|link| self.links.get(&link).copied());
        let number = known.unwrap_or(self.leaves.len() as u32);
        self.enter(&node, Target::Leaf(number))?;
        if let Some(leaf) = known.and_then(|number| self.leaves.get_mut(number as usize)) {
            leaf.nlink += 1;
            return Ok(());
        }
        if let Some(link) = node.link {
            self.links.insert(link, number);
        }
        let attributes = self.attributes(&node)?;
        self.leaves.push(Leaf {
            attributes,
            body,
            nlink: 1,
        });
        Ok(())
    }

    /// Puts the name of an entry into its directory. Returns the number of that.
    fn enter(&mut self, node: &Node, target: Target) -> Result<u32, WriteError> {
        let refused = |reason: &str| WriteError::Entry {
            path: BString::from(node.path.as_slice()),
            reason: reason.to_owned(),
        };
        let (directory, name) = split_path(&node.path);
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

    fn attributes(&mut self, node: &Node) -> Result<Attributes, WriteError> {
        let mtime = node.mtime_s.clamp(0, i64::from(u32::MAX));
        Ok(Attributes {
            kind: node.kind,
            mode: node.mode & 0o7777,
            uid: self.id(node.uid)?,
            gid: self.id(node.gid)?,
            mtime: mtime as u32,
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
