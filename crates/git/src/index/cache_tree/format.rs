//! The extension `TREE`. Format: `gitformat-index(5)`, "Cache tree".

use super::super::cursor::Cursor;
use super::super::decode::object_id;
use super::super::entry::PathRange;
use super::{CacheTree, Node};
use gix_hash::Kind;
use std::io::Write as _;

impl CacheTree {
    /// Parses the extension `data`; `None` if it is broken.
    pub(in super::super) fn parse(data: &[u8], hash: Kind) -> Option<Self> {
        let mut cursor = Cursor::new(data);
        let mut tree = CacheTree {
            nodes: Vec::new(),
            names: Vec::new(),
        };
        // The ancestors of the next node, and how many children each still lacks.
        let mut open: Vec<(usize, u32)> = Vec::new();
        loop {
            let at = tree.nodes.len();
            let (node, children) = tree.parse_node(&mut cursor, hash)?;
            tree.nodes.push(node);
            open.push((at, children));
            while let Some(&mut (at, ref mut lacking)) = open.last_mut() {
                if let Some(left) = lacking.checked_sub(1) {
                    *lacking = left;
                    break;
                }
                tree.nodes.get_mut(at)?.end = u32::try_from(tree.nodes.len()).ok()?;
                open.pop();
            }
            if open.is_empty() {
                break;
            }
        }
        if !cursor.is_empty() {
            return None;
        }
        // Git writes them in order.
        if tree.is_in_order() {
            return Some(tree);
        }
        let tree = tree.sorted();
        tree.is_in_order().then_some(tree)
    }

    /// Parses one node, whose end is not yet known, and the number of its children.
    fn parse_node(&mut self, cursor: &mut Cursor<'_>, hash: Kind) -> Option<(Node, u32)> {
        let name = cursor.until(0)?;
        let is_root = self.nodes.is_empty();
        if is_root != name.is_empty() || name.contains(&b'/') {
            return None;
        }
        let entry_count = match cursor.until(b' ')? {
            [b'-', ..] => None,
            digits => Some(decimal(digits)?),
        };
        if entry_count == Some(0) && !is_root {
            return None;
        }
        let children = decimal(cursor.until(b'\n')?)?;
        let id = match entry_count {
            Some(_) => object_id(cursor.take(hash.len_in_bytes())?).ok()?,
            None => hash.null(),
        };
        let node = Node {
            name: PathRange::new(self.names.len(), name.len())?,
            entry_count,
            id,
            end: 0,
        };
        self.names.extend_from_slice(name);
        Some((node, children))
    }

    /// Whether all siblings are in order, and no two have the same name.
    fn is_in_order(&self) -> bool {
        let key = |at: usize| (self.name(at).len(), self.name(at));
        (0..self.nodes.len()).all(|parent| {
            let mut last = None;
            let mut siblings = self.children(parent).map(key);
            siblings.all(|key| last.replace(key).is_none_or(|last| last < key))
        })
    }

    /// The data of the extension.
    pub(in super::super) fn serialize(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.names.len() + self.nodes.len() * 40);
        for (at, node) in self.nodes.iter().enumerate() {
            out.extend_from_slice(self.name(at));
            out.push(0);
            let children = self.children(at).count();
            let written = match node.entry_count {
                Some(count) => writeln!(out, "{count} {children}"),
                None => writeln!(out, "-1 {children}"),
            };
            written.expect("a Vec takes all that is written");
            if node.entry_count.is_some() {
                out.extend_from_slice(node.id.as_slice());
            }
        }
        out
    }
}

/// The unsigned number given by `digits`.
fn decimal(digits: &[u8]) -> Option<u32> {
    let mut value = digits.first().map(|_| 0u32)?;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value = value.checked_mul(10)?.checked_add(u32::from(digit))?;
    }
    Some(value)
}
