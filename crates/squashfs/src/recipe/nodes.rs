//! A description as a source of nodes.

use super::input::InputHandle;
use super::tree::{Body, Number, Tree};
use super::{Labels, RecipeError};
use hedgerow_tree::{Node, NodeError, NodeKind};
use std::collections::btree_map::IntoIter;
use std::path::PathBuf;
use std::sync::Arc;

/// Yields the nodes of the tree, each directory before its entries.
pub(super) struct Nodes {
    tree: Tree,
    file: PathBuf,
    inputs: Arc<PathBuf>,
    labels: Arc<Labels>,
    open: Vec<OpenDirectory>,
    path: Vec<u8>,
    is_begun: bool,
}

struct OpenDirectory {
    /// Entries that have not been yielded yet.
    children: IntoIter<Box<[u8]>, Number>,
    /// The length of the directory's path.
    length: usize,
}

impl Nodes {
    pub(super) fn new(
        tree: Tree,
        file: PathBuf,
        inputs: Arc<PathBuf>,
        labels: Arc<Labels>,
    ) -> Self {
        Nodes {
            tree,
            file,
            inputs,
            labels,
            open: Vec::new(),
            path: Vec::new(),
            is_begun: false,
        }
    }

    /// Moves to the next entry and sets `path` to its path.
    fn advance(&mut self) -> Option<Number> {
        if !std::mem::replace(&mut self.is_begun, true) {
            return Some(0);
        }
        loop {
            let open = self.open.last_mut()?;
            self.path.truncate(open.length);
            match open.children.next() {
                None => drop(self.open.pop()),
                Some((name, number)) => {
                    if !self.path.is_empty() {
                        self.path.push(b'/');
                    }
                    self.path.extend_from_slice(&name);
                    return Some(number);
                }
            }
        }
    }

    /// The node of an entry. A hard link gives the attributes and the content of its target under
    /// its own path. The children of a directory are moved out of the tree, as each entry is
    /// visited once.
    fn node(&mut self, number: Number) -> Result<Node, NodeError> {
        let target = match self.tree.entry(number).map(|entry| &entry.body) {
            Some(Body::Resolved(target)) => *target,
            _ => number,
        };
        let known_as = if target == number {
            self.path.clone()
        } else {
            self.tree.path(target).into()
        };
        let Some(entry) = self.tree.entries.get_mut(target as usize) else {
            return Err(NodeError::source("a link to nothing"));
        };
        let (mut device, mut size_bytes) = ((0, 0), 0);
        let mut handle = InputHandle::Nothing;
        let kind = match &mut entry.body {
            Body::Directory { children, .. } => {
                self.open.push(OpenDirectory {
                    children: std::mem::take(children).into_iter(),
                    length: self.path.len(),
                });
                NodeKind::Directory
            }
            Body::File(input) => {
                let size = input.size_bytes(&self.inputs);
                size_bytes = size
                    .map_err(RecipeError::at(&self.file, entry.line))
                    .map_err(NodeError::entry)?;
                handle = InputHandle::File(input.clone(), self.inputs.clone());
                NodeKind::File
            }
            Body::Symlink(target) => {
                handle = InputHandle::Target(target.clone());
                NodeKind::Symlink
            }
            Body::Device { is_block, numbers } => {
                device = *numbers;
                match is_block {
                    true => NodeKind::BlockDevice,
                    false => NodeKind::CharacterDevice,
                }
            }
            Body::Fifo => NodeKind::Fifo,
            Body::Socket => NodeKind::Socket,
            Body::HardLink(_) | Body::Resolved(_) => {
                return Err(NodeError::source("a link to a link"));
            }
        };
        let attributes = entry.attributes;
        let node = Node {
            path: self.path.clone(),
            kind,
            mode: attributes.mode,
            uid: attributes.uid,
            gid: attributes.gid,
            mtime_s: attributes.mtime_s,
            mtime_ns: 0,
            size_bytes,
            device,
            link: entry.is_linked.then_some((0, target.into())),
            content_id: None,
            handle: Box::new(handle),
        };
        Ok(self.labels.applied(node, &known_as))
    }
}

impl Iterator for Nodes {
    type Item = Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.advance()?;
        Some(self.node(number))
    }
}
