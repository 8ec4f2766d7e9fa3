//! Encodes directories: blocks of entries in the order of their names, each with its names behind
//! the entries.

use crate::format::{file_type, DIRENT_BYTES};
use hedgerow_image::names::{Child, Names, Target};
use hedgerow_tree::NodeKind;

/// A name as it is stored; `target` is `None` for those of the directory itself and its parent.
#[derive(Clone, Copy)]
enum Named<'n> {
    Own,
    Parent,
    Child(Child<'n>),
}

impl<'n> Named<'n> {
    fn name(self) -> &'n [u8] {
        match self {
            Named::Own => b".",
            Named::Parent => b"..",
            Named::Child(child) => child.name,
        }
    }
}

/// The names of a directory and the two that every directory has, in order.
fn all_names(names: &Names) -> impl Iterator<Item = Named<'_>> {
    let mut dots = [Named::Own, Named::Parent].into_iter().peekable();
    let mut children = names.iter().map(Named::Child).peekable();
    std::iter::from_fn(move || match (dots.peek(), children.peek()) {
        (Some(dot), Some(child)) if child.name() < dot.name() => children.next(),
        (Some(_), _) => dots.next(),
        (None, _) => children.next(),
    })
}

/// The size of a directory in bytes: of all blocks but the last, and what is used of that.
pub(super) fn size(names: &Names, block_bytes: usize) -> u64 {
    let (mut blocks, mut used) = (0, 0);
    for named in all_names(names) {
        let own = DIRENT_BYTES + named.name().len();
        if used + own > block_bytes {
            blocks += 1;
            used = 0;
        }
        used += own;
    }
    blocks * block_bytes as u64 + used as u64
}

/// The numbers of the inodes that a directory refers to.
pub(super) struct Numbers<'t> {
    pub own: u64,
    pub parent: u64,
    pub of: &'t dyn Fn(Target) -> u64,
}

/// Encodes a directory. The last block is not padded.
pub(super) fn encode(names: &Names, block_bytes: usize, numbers: &Numbers<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut block: Vec<Named<'_>> = Vec::new();
    let mut used = 0;
    for named in all_names(names) {
        let own = DIRENT_BYTES + named.name().len();
        if used + own > block_bytes {
            append_block(&mut bytes, &block, numbers);
            bytes.resize(bytes.len().next_multiple_of(block_bytes), 0);
            block.clear();
            used = 0;
        }
        used += own;
        block.push(named);
    }
    append_block(&mut bytes, &block, numbers);
    bytes
}

fn append_block(bytes: &mut Vec<u8>, block: &[Named<'_>], numbers: &Numbers<'_>) {
    let mut name_start = block.len() * DIRENT_BYTES;
    for named in block {
        let (number, kind) = match *named {
            Named::Own => (numbers.own, NodeKind::Directory),
            Named::Parent => (numbers.parent, NodeKind::Directory),
            Named::Child(child) => ((numbers.of)(child.target), child.kind),
        };
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&(name_start as u16).to_le_bytes());
        bytes.extend_from_slice(&[file_type(kind), 0]);
        name_start += named.name().len();
    }
    for named in block {
        bytes.extend_from_slice(named.name());
    }
}
