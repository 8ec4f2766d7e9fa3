//! What a tree has in common with the one that was last looked at in its place: most of it, and
//! that need not be looked at again.

use crate::ids::IdHashBuilder;
use crate::object::{TreeEntries, TreeEntry};
use std::collections::HashMap;

/// Bytes of trees that are kept.
const BUDGET_BYTES: usize = 48 << 20;

/// What stands for the path of a tree. Paths that share one only share less than they could.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PathKey(u64);

impl PathKey {
    /// That of `name` in the tree with this one.
    pub fn join(self, name: &[u8], hash: &IdHashBuilder) -> Self {
        PathKey(hash.of(name) ^ self.0.rotate_left(7))
    }
}

/// The last tree of each path.
#[derive(Debug, Default)]
pub(crate) struct PreviousTrees {
    trees: HashMap<PathKey, Previous>,
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
    /// Whether there was a tree at the path `key`.
    pub fn has(&self, key: PathKey) -> bool {
        self.trees.contains_key(&key)
    }

    /// Takes `content`, a tree whose entries need not be met, for the last one at the path `key`.
    /// One that is malformed is as good as none.
    pub fn assume(&mut self, key: PathKey, content: &[u8], hash_len: usize) {
        let mut bounds = Vec::new();
        let mut entries = TreeEntries::new(content, hash_len);
        loop {
            bounds.push((content.len() - entries.rest().len()) as u32);
            match entries.next_entry() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        self.keep(key, Previous::default(), content, bounds);
    }

    /// Passes to `meet` the entries of `content`, the tree at the path `key`, but for those that
    /// it shares with the last one there; each with what had its name in that. An error is a
    /// reason; or it is that of `meet`.
    pub fn meet_new<'d, E: From<&'static str>>(
        &mut self,
        key: PathKey,
        content: &'d [u8],
        hash_len: usize,
        mut meet: impl FnMut(TreeEntry<'d>, Option<TreeEntry<'_>>) -> Result<(), E>,
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
            let before = old.pass(entry.name, hash_len);
            meet(entry, before)?;
        }
        bounds.push(at as u32);
        self.keep(key, before, content, bounds);
        Ok(())
    }

    fn keep(&mut self, key: PathKey, before: Previous, content: &[u8], bounds: Vec<u32>) {
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

impl<'p> Cursor<'p> {
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

    /// Steps over the entries up to the one called `name`, if it is near, and returns it.
    fn pass(&mut self, name: &[u8], hash_len: usize) -> Option<TreeEntry<'p>> {
        for row in self.row..self.row + 4 {
            let entry = self.entry(row, hash_len)?;
            if entry.name == name {
                self.row = row + 1;
                return Some(entry);
            }
        }
        None
    }

    fn entry(&self, row: usize, hash_len: usize) -> Option<TreeEntry<'p>> {
        let start = *self.tree.bounds.get(row)? as usize;
        let end = *self.tree.bounds.get(row + 1)? as usize;
        let entry = self.tree.content.get(start..end)?;
        TreeEntries::new(entry, hash_len).next_entry().ok()?
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
                let result: Result<(), &str> = previous.meet_new(PathKey(7), &content, 20, |entry, _| {
                    met.insert((entry.name.to_vec(), entry.id.as_bytes()[0]));
                    Ok(())
                });
                prop_assert!(result.is_ok());
                for (name, id) in tree {
                    prop_assert!(met.contains(&(name.to_string().into_bytes(), *id)));
                }
                let kept = &previous.trees[&PathKey(7)];
                prop_assert_eq!(kept.bounds.len(), tree.len() + 1);
                prop_assert_eq!(kept.bounds.last().copied(), Some(content.len() as u32));
            }
        }
    }
}
