//! Finds what a tree has in common with a tree that was examined before. That is most of it, and
//! need not be examined again.

use crate::ids::{IdHashBuilder, IdMap};
use gix_hash::{Kind, ObjectId};
use hedgerow_object::{Malformed, TreeEntries, TreeEntry};
use std::collections::HashMap;
use std::sync::Arc;

/// A tree of at most this many bytes has few entries: comparing it with another takes longer than
/// visiting them.
pub(crate) const SMALL_BYTES: usize = 512;

/// Maximum bytes of remembered trees.
const BUDGET_BYTES: usize = 48 << 20;

/// A hash for the path of a tree. If two paths have the same, less is found in common, but nothing
/// goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PathKey(u64);

impl PathKey {
    /// The key of `name` in the tree with this key.
    pub fn join(self, name: &[u8], hash: &IdHashBuilder) -> Self {
        PathKey(hash.of(name) ^ self.0.rotate_left(7))
    }
}

/// A tree whose entries are to be visited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewTree<'c> {
    pub id: &'c ObjectId,
    pub key: PathKey,
    pub content: &'c Arc<[u8]>,
    /// A tree that is likely to be similar.
    pub like: Option<&'c ObjectId>,
}

/// Remembered trees whose entries have all been visited, or need not be.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetTrees {
    trees: IdMap<Arc<MetTree>>,
    /// The last tree at each path.
    last: HashMap<PathKey, ObjectId, IdHashBuilder>,
    held_bytes: usize,
    keeps_last_only: bool,
}

#[derive(Debug, Default)]
struct MetTree {
    content: Arc<[u8]>,
    /// The start of each entry, and the end of the last one.
    bounds: Vec<u32>,
    is_assumed: bool,
}

impl MetTrees {
    /// Remembers only the last tree at each path.
    pub fn last_only() -> Self {
        MetTrees {
            keeps_last_only: true,
            ..MetTrees::default()
        }
    }

    /// Whether the tree `id` is remembered.
    pub fn contains(&self, id: &ObjectId) -> bool {
        self.trees.contains_key(id)
    }

    /// Whether the entries of the tree `id` have been met here, and are remembered.
    pub fn has_met(&self, id: &ObjectId) -> bool {
        self.trees.get(id).is_some_and(|tree| !tree.is_assumed)
    }

    /// Remembers the tree `id`, whose entries need not be visited. A malformed tree is ignored.
    pub fn assume(&mut self, id: &ObjectId, content: &Arc<[u8]>) {
        let mut bounds = Vec::new();
        let mut entries = TreeEntries::new(content, id.kind());
        loop {
            bounds.push(entries.offset() as u32);
            match entries.next_entry() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        self.keep(id, content, bounds, true);
    }

    /// Passes to `meet` the entries of `tree`, but for those that it shares with the one it is
    /// like, if that is remembered, or else with the last one at its path; each with what had its
    /// name in that. Fails if an entry is malformed, or with `meet`.
    pub fn meet_new<E: From<Malformed>>(
        &mut self,
        tree: NewTree<'_>,
        mut meet: impl FnMut(TreeEntry<'_>, Option<TreeEntry<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut meeting = self.begin(tree);
        while let Some((entry, before)) = meeting.next_entry()? {
            meet(entry, before)?;
        }
        self.end(meeting);
        Ok(())
    }

    /// Begins what [`MetTrees::meet_new`] does, for those who meet other trees before they have met
    /// all entries of this one.
    pub fn begin(&self, tree: NewTree<'_>) -> Meeting {
        let last = || self.trees.get(self.last.get(&tree.key)?);
        let before = tree.like.and_then(|like| self.trees.get(like));
        let before = before.or_else(last).cloned().unwrap_or_default();
        Meeting {
            bounds: Vec::with_capacity(before.bounds.len() + 8),
            id: *tree.id,
            key: tree.key,
            content: Arc::clone(tree.content),
            at: 0,
            old: Cursor {
                tree: before,
                row: 0,
            },
        }
    }

    /// Remembers a tree whose entries have all been met.
    pub fn end(&mut self, meeting: Meeting) {
        let Meeting {
            id,
            key,
            content,
            mut bounds,
            at,
            ..
        } = meeting;
        bounds.push(at as u32);
        self.keep(&id, &content, bounds, false);
        let replaced = self.last.insert(key, id);
        if let Some(replaced) = replaced.filter(|last| self.keeps_last_only && *last != id) {
            self.forget(&replaced);
        }
    }

    fn forget(&mut self, id: &ObjectId) {
        if let Some(tree) = self.trees.remove(id) {
            self.held_bytes -= tree.size_bytes();
        }
    }

    fn keep(&mut self, id: &ObjectId, content: &Arc<[u8]>, bounds: Vec<u32>, is_assumed: bool) {
        let tree = MetTree {
            content: Arc::clone(content),
            bounds,
            is_assumed,
        };
        let size = tree.size_bytes();
        if self.held_bytes + size > BUDGET_BYTES {
            self.trees.clear();
            self.last.clear();
            self.held_bytes = 0;
        }
        if size <= BUDGET_BYTES / 4 {
            self.held_bytes += size;
            if let Some(replaced) = self.trees.insert(*id, Arc::new(tree)) {
                self.held_bytes -= replaced.size_bytes();
            }
        }
    }
}

impl MetTree {
    fn size_bytes(&self) -> usize {
        self.content.len() + self.bounds.len() * 4
    }
}

/// A tree some of whose entries have been met.
#[derive(Debug)]
pub(crate) struct Meeting {
    id: ObjectId,
    key: PathKey,
    content: Arc<[u8]>,
    bounds: Vec<u32>,
    /// The start of the next entry.
    at: usize,
    old: Cursor,
}

impl Meeting {
    /// The next entry that is not shared, and what had its name in the tree that this one is compared
    /// with.
    pub fn next_entry(
        &mut self,
    ) -> Result<Option<(TreeEntry<'_>, Option<TreeEntry<'_>>)>, Malformed> {
        let (content, hash) = (&self.content, self.id.kind());
        self.at += self.old.skip_common(content, self.at, &mut self.bounds);
        let (_, rest) = content.split_at(self.at);
        let mut entries = TreeEntries::new(rest, hash);
        let Some(entry) = entries.next_of(&self.id)? else {
            return Ok(None);
        };
        self.bounds.push(self.at as u32);
        self.at += entries.offset();
        let before = self.old.pass(&entry, hash);
        Ok(Some((entry, before)))
    }
}

/// A position in a tree.
#[derive(Debug)]
struct Cursor {
    tree: Arc<MetTree>,
    /// The number of an entry.
    row: usize,
}

impl Cursor {
    /// Skips the entries that are the same in `content` from `at` on, and appends their positions
    /// in it to `bounds`. Returns their length in bytes.
    fn skip_common(&mut self, content: &[u8], at: usize, bounds: &mut Vec<u32>) -> usize {
        let Some(start) = self.tree.bounds.get(self.row).copied() else {
            return 0;
        };
        let (_, old) = self.tree.content.split_at(start as usize);
        let common = common_length(old, content.split_at(at).1);
        let (_, rest) = self.tree.bounds.split_at(self.row);
        let limit = u64::from(start) + common as u64;
        // The last entry boundary within the common bytes; the first boundary always is.
        let count = rest
            .partition_point(|bound| u64::from(*bound) <= limit)
            .saturating_sub(1);
        let (passed, _) = rest.split_at(count);
        bounds.extend(passed.iter().map(|bound| bound - start + at as u32));
        self.row += count;
        let end = rest[count];
        (end - start) as usize
    }

    /// Skips the entries that sort before `entry`, and the one with the same name, which it
    /// returns.
    fn pass(&mut self, entry: &TreeEntry<'_>, hash: Kind) -> Option<TreeEntry<'_>> {
        loop {
            let old = self.entry(self.row, hash)?;
            if old.name == entry.name {
                let row = self.row;
                self.row += 1;
                return self.entry(row, hash);
            }
            if old.cmp_place(entry).is_ge() {
                return None;
            }
            self.row += 1;
        }
    }

    fn entry(&self, row: usize, hash: Kind) -> Option<TreeEntry<'_>> {
        let start = *self.tree.bounds.get(row)? as usize;
        let end = *self.tree.bounds.get(row + 1)? as usize;
        let entry = self.tree.content.get(start..end)?;
        TreeEntries::new(entry, hash).next_entry().ok()?
    }
}

/// Length of the common prefix, in bytes.
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

    fn id(number: usize) -> ObjectId {
        ObjectId::from_bytes_or_panic(&[number as u8; 20])
    }

    proptest! {
        #[test]
        fn whatever_is_new_is_met(
            keeps_last_only: bool,
            trees in prop::collection::vec(
                prop::collection::btree_map(0_u8..30, 0_u8..3, 0..30), 1..12),
            like in prop::collection::vec(0_usize..12, 0..12),
        ) {
            let mut trees_met = if keeps_last_only { MetTrees::last_only() } else { MetTrees::default() };
            let mut met = std::collections::HashSet::new();
            for (number, tree) in trees.iter().enumerate() {
                let content: Arc<[u8]> = content(tree).into();
                let id = id(number);
                let like = like.get(number).map(|like| self::id(*like));
                let new = NewTree {
                    id: &id,
                    key: PathKey(number as u64 % 2),
                    content: &content,
                    like: like.as_ref(),
                };
                let result: Result<(), Malformed> = trees_met.meet_new(new, |entry, before| {
                    met.insert((entry.name.to_vec(), entry.id.as_bytes()[0]));
                    assert!(before.is_none_or(|before| before.name == entry.name));
                    Ok(())
                });
                prop_assert!(result.is_ok());
                for (name, id) in tree {
                    prop_assert!(met.contains(&(name.to_string().into_bytes(), *id)));
                }
                let kept = &trees_met.trees[&id];
                prop_assert_eq!(kept.bounds.len(), tree.len() + 1);
                prop_assert_eq!(kept.bounds.last().copied(), Some(content.len() as u32));
                prop_assert!(!keeps_last_only || trees_met.trees.len() <= 2);
                let held = trees_met.trees.values().map(|tree| tree.size_bytes());
                prop_assert_eq!(trees_met.held_bytes, held.sum::<usize>());
            }
        }
    }
}
