//! The names of a directory in compact form: a tree can have millions of them.

use hedgerow_tree::NodeKind;

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The number of a directory.
    Directory(u32),
    /// The number of an inode with one name.
    Leaf(u32),
    /// The number of an inode that may have several names.
    Linked(u32),
}

/// A name and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child<'n> {
    /// The name.
    pub name: &'n [u8],
    /// The kind of the entry.
    pub kind: NodeKind,
    /// What the name refers to.
    pub target: Target,
}

/// Set in the tag of a name that is followed by the number of its target. Without it, the target is
/// the leaf after that of the last leaf before.
const NUMBERED: u8 = 0x80;
/// Set in the tag of a name whose target may have several names.
const LINKED: u8 = 0x40;

/// The kinds by their number in tags.
const KINDS: [NodeKind; 7] = [
    NodeKind::Directory,
    NodeKind::File,
    NodeKind::Symlink,
    NodeKind::BlockDevice,
    NodeKind::CharacterDevice,
    NodeKind::Fifo,
    NodeKind::Socket,
];

fn code(kind: NodeKind) -> u8 {
    let at = KINDS.iter().position(|other| *other == kind);
    at.expect("all kinds are listed") as u8
}

/// Names in ascending order. Each is stored as its length, a tag with the kind, an optional number,
/// and its bytes.
#[derive(Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    /// Offset of the last name in `bytes`.
    last: Option<usize>,
    next_leaf: u32,
}

impl Names {
    /// Adds a name of 1 to 255 bytes. Returns false and adds nothing if it does not sort after the
    /// last one.
    pub fn push(&mut self, child: Child<'_>) -> bool {
        let last = self.last.and_then(|last| self.bytes.get(last..));
        if last.is_some_and(|mut last| {
            take(&mut last, 0).is_some_and(|(last, _)| last.name >= child.name)
        }) {
            return false;
        }
        self.last = Some(self.bytes.len());
        let kind = code(child.kind);
        let (tag, number) = match child.target {
            Target::Leaf(number) if number == self.next_leaf => (kind, None),
            Target::Leaf(number) | Target::Directory(number) => (kind | NUMBERED, Some(number)),
            Target::Linked(number) => (kind | NUMBERED | LINKED, Some(number)),
        };
        if let Target::Leaf(number) = child.target {
            self.next_leaf = number + 1;
        }
        self.bytes.extend_from_slice(&[child.name.len() as u8, tag]);
        if let Some(number) = number {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.bytes.extend_from_slice(child.name);
        true
    }

    /// Frees spare memory; no more names follow.
    pub fn close(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = Child<'_>> {
        let (mut rest, mut next_leaf) = (self.bytes.as_slice(), 0);
        std::iter::from_fn(move || {
            let (child, next) = take(&mut rest, next_leaf)?;
            next_leaf = next;
            Some(child)
        })
    }
}

/// Takes the first name off `rest`. Also returns the number of the next leaf.
fn take<'n>(rest: &mut &'n [u8], next_leaf: u32) -> Option<(Child<'n>, u32)> {
    let ([length, tag], mut behind) = rest.split_first_chunk::<2>()?;
    let kind = *KINDS.get(usize::from(tag & !(NUMBERED | LINKED)))?;
    let mut number = next_leaf;
    if tag & NUMBERED != 0 {
        let (bytes, names) = behind.split_first_chunk::<4>()?;
        number = u32::from_le_bytes(*bytes);
        behind = names;
    }
    let (name, behind) = behind.split_at_checked(usize::from(*length))?;
    *rest = behind;
    let (target, next) = match kind {
        _ if tag & LINKED != 0 => (Target::Linked(number), next_leaf),
        NodeKind::Directory => (Target::Directory(number), next_leaf),
        _ => (Target::Leaf(number), number + 1),
    };
    Some((Child { name, kind, target }, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_in_order() {
        let long = [b'n'; 255];
        let children = [
            (&b"a"[..], NodeKind::File, Target::Leaf(0)),
            (b"b", NodeKind::Symlink, Target::Leaf(1)),
            (b"c", NodeKind::Directory, Target::Directory(7)),
            (b"d", NodeKind::File, Target::Linked(3)),
            (b"e", NodeKind::File, Target::Leaf(70_000)),
            (&long, NodeKind::Socket, Target::Leaf(70_001)),
        ];
        let children = children.map(|(name, kind, target)| Child { name, kind, target });
        let mut names = Names::default();
        for child in children {
            assert!(names.push(child));
            assert!(!names.push(child));
        }
        names.close();
        assert!(names.iter().eq(children));
        // Two bytes besides the name if the target is the next leaf, otherwise four more.
        assert_eq!(names.bytes.len(), 5 + 255 + 6 * 2 + 3 * 4);
    }
}
