//! What a tree has in common with the one that was last looked at in its place: most of it, and
//! that need not be looked at again.

use crate::object::{TreeEntries, TreeEntry};
use std::collections::HashMap;

/// Bytes of trees that are kept.
const BUDGET_BYTES: usize = 48 << 20;

/// The last tree of each path.
#[derive(Debug, Default)]
pub(super) struct PreviousTrees {
    trees: HashMap<u64, Previous>,
    held_bytes: usize,
}

/// A tree whose entries are all in the set.
#[derive(Debug, Default)]
struct Previous {
    content: Vec<u8>,
    /// Where its entries start, and where the last one ends.
    bounds: Vec<u32>,
}

impl PreviousTrees {
    /// Passes to `meet` the entries of `content`, the tree at the path `key`, but for those that
    /// it shares with the last one there. An error is a reason; or it is that of `meet`.
    pub fn meet_new<'d, E: From<&'static str>>(
        &mut self,
        key: u64,
        content: &'d [u8],
        hash_len: usize,
        mut meet: impl FnMut(TreeEntry<'d>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.trees.remove(&key).unwrap_or_default();
        self.held_bytes -= before.content.len().min(self.held_bytes);
        let mut bounds = Vec::with_capacity(before.bounds.len() + 8);
        // Both are at the start of an entry.
        let (mut at, mut old) = (
            0,
            Cursor {
                tree: &before,
                row: 0,
            },
        );
        while at < content.len() {
            let skipped = old.skip_common(content, at, &mut bounds);
            at += skipped;
            let rest = content.get(at..).unwrap_or_default();
            let mut entries = TreeEntries::new(rest, hash_len);
            let Some(entry) = entries.next_entry()? else {
                break;
            };
            bounds.push(at as u32);
            at += rest.len() - entries.rest().len();
            old.pass(entry.name, hash_len);
            meet(entry)?;
        }
        bounds.push(at as u32);
        self.keep(key, before, content, bounds);
        Ok(())
    }

    fn keep(&mut self, key: u64, before: Previous, content: &[u8], bounds: Vec<u32>) {
        if self.held_bytes + content.len() > BUDGET_BYTES {
            self.trees.clear();
            self.held_bytes = 0;
        }
        if content.len() > BUDGET_BYTES / 4 {
            return;
        }
        let mut kept = before.content;
        kept.clear();
        kept.extend_from_slice(content);
        self.held_bytes += kept.len();
        let content = kept;
        self.trees.insert(key, Previous { content, bounds });
    }
}

/// A place in the previous tree.
struct Cursor<'p> {
    tree: &'p Previous,
    /// The number of an entry.
    row: usize,
}

impl Cursor<'_> {
    /// Steps over the entries that `content` has from `at` on, too, and adds their places in it to
    /// `bounds`. Returns their bytes.
    fn skip_common(&mut self, content: &[u8], at: usize, bounds: &mut Vec<u32>) -> usize {
        let Some(start) = self.tree.bounds.get(self.row).copied() else {
            return 0;
        };
        let old = self.tree.content.get(start as usize..).unwrap_or_default();
        let common = common_length(old, content.get(at..).unwrap_or_default());
        let rest = self.tree.bounds.get(self.row..).unwrap_or_default();
        let limit = u64::from(start) + common as u64;
        // The last bound within what is common; the first one is.
        let count = rest
            .partition_point(|bound| u64::from(*bound) <= limit)
            .saturating_sub(1);
        let passed = rest.get(..count).unwrap_or_default();
        bounds.extend(passed.iter().map(|bound| bound - start + at as u32));
        self.row += count;
        let end = rest.get(count).copied().unwrap_or(start);
        (end - start) as usize
    }

    /// Steps over the entries up to the one called `name`, if it is near.
    fn pass(&mut self, name: &[u8], hash_len: usize) {
        for row in self.row..self.row + 4 {
            if self.name(row, hash_len) == Some(name) {
                self.row = row + 1;
                return;
            }
        }
    }

    fn name(&self, row: usize, hash_len: usize) -> Option<&[u8]> {
        let start = *self.tree.bounds.get(row)? as usize;
        let end = *self.tree.bounds.get(row + 1)? as usize;
        let entry = self.tree.content.get(start..end)?;
        let entry = entry.get(..entry.len().checked_sub(hash_len + 1)?)?;
        let space = entry.iter().position(|byte| *byte == b' ')?;
        entry.get(space + 1..)
    }
}

/// How many bytes both start with.
fn common_length(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 64;
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP));
    let whole = steps.take_while(|(a, b)| a == b).count() * STEP;
    let rest = a.iter().skip(whole).zip(b.iter().skip(whole));
    whole + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn content(entries: &BTreeMap<u8, u8>) -> Vec<u8> {
        let mut content = Vec::new();
        for (name, id) in entries {
            content.extend_from_slice(format!("100644 {name}\0").as_bytes());
            content.extend_from_slice(&[*id; 20]);
        }
        content
    }

    proptest! {
        #[test]
        fn whatever_is_new_is_met(
            trees in prop::collection::vec(
                prop::collection::btree_map(0_u8..30, 0_u8..3, 0..30), 1..12),
        ) {
            let mut previous = PreviousTrees::default();
            let mut met = std::collections::HashSet::new();
            for tree in &trees {
                let content = content(tree);
                let result: Result<(), &str> = previous.meet_new(7, &content, 20, |entry| {
                    met.insert((entry.name.to_vec(), entry.id.as_bytes()[0]));
                    Ok(())
                });
                prop_assert!(result.is_ok());
                for (name, id) in tree {
                    prop_assert!(met.contains(&(name.to_string().into_bytes(), *id)));
                }
                let kept = &previous.trees[&7];
                prop_assert_eq!(kept.bounds.len(), tree.len() + 1);
                prop_assert_eq!(kept.bounds.last().copied(), Some(content.len() as u32));
            }
        }
    }
}
