//! What a commit adds: the objects of its tree that its first parent does not have at the same
//! place. A commit reaches what it adds and what its parents reach.

use super::history::{object, Commit, History};
use super::workers::Workers;
use crate::name_hash::NameHash;
use crate::{Error, Result};
use hedgerow_engine::CancelToken;
use hedgerow_object::{TreeEntries, TreeEntry};
use hedgerow_pack::{BitOrder, ObjectKind, Reader};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// Number of commits that a thread takes at a time: neighbours share their trees.
const BATCH: usize = 256;
/// Size of each thread's cache of recently read trees, in bytes.
const RECENT_BYTES: usize = 48 << 20;
/// Maximum depth of directories; git's own limit for trees is 2048.
const MAX_DEPTH: usize = 2048;

/// The bit of an object and the hash of its path.
pub(crate) type Contribution = (u32, u32);

/// What the commits with the numbers `wanted` add, in their order.
pub(crate) fn contributions(
    workers: Workers<'_>,
    order: &BitOrder<'_>,
    history: &History,
    wanted: &[u32],
) -> Result<Vec<Vec<Contribution>>> {
    workers.progress.expect(wanted.len() as u64);
    let batches: Vec<&[u32]> = wanted.chunks(BATCH).collect();
    let work = |reader: &mut Reader<'_>, batch: &[u32]| {
        let mut differ = Differ {
            reader,
            order,
            cancel: workers.cancel,
            entered: HashSet::new(),
            found: Vec::new(),
        };
        let commits = batch.iter().map(|number| differ.commit(history, *number));
        let commits = commits.collect::<Result<Vec<_>>>()?;
        workers.progress.step(batch.len() as u64);
        Ok(commits)
    };
    let work = |reader: &mut Reader<'_>, batch: &&[u32]| work(reader, batch);
    let found = workers.run(RECENT_BYTES, &batches, work)?;
    Ok(found.into_iter().flatten().collect())
}

struct Differ<'r, 's, 'o> {
    reader: &'r mut Reader<'s>,
    order: &'o BitOrder<'o>,
    cancel: &'o CancelToken,
    /// The trees of a commit that were entered already. Since trees may share subtrees, the number
    /// of paths can be exponential. It does not matter which tree a tree was compared with: what
    /// the comparison leaves out, the commit's parent has.
    entered: HashSet<u32>,
    found: Vec<Contribution>,
}

impl Differ<'_, '_, '_> {
    fn commit(&mut self, history: &History, number: u32) -> Result<Vec<Contribution>> {
        let tree = |number: u32| history.commits.get(number as usize);
        let Some(commit) = tree(number) else {
            return Ok(Vec::new());
        };
        let parent = commit.parents.first().and_then(|parent| tree(*parent));
        self.found.clear();
        self.entered.clear();
        self.add(commit, parent)?;
        Ok(self.found.as_slice().into())
    }

    fn add(&mut self, commit: &Commit, parent: Option<&Commit>) -> Result<()> {
        let parent = parent.map(|parent| parent.tree);
        if parent == Some(commit.tree) {
            return Ok(());
        }
        self.found.push((commit.tree, 0));
        let mut pending = vec![(commit.tree, parent, NameHash::default(), 0)];
        while let Some((tree, old, hash, depth)) = pending.pop() {
            if !self.entered.insert(tree) {
                continue;
            }
            if depth > MAX_DEPTH {
                return Err(Error::TooDeep);
            }
            if self.cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let new = self.tree(tree)?;
            let old = old.map(|old| self.tree(old)).transpose()?;
            let old = old.as_deref().unwrap_or_default();
            self.compare(tree, &new, old, |bit, old, entry| {
                let mut hash = hash;
                if depth > 0 {
                    hash.add(b"/");
                }
                hash.add(entry.name);
                if entry.is_tree() {
                    pending.push((bit, old, hash, depth + 1));
                }
                (bit, hash.value())
            })?;
        }
        Ok(())
    }

    /// Calls `found` for each entry of the tree `new` that is not in `old`, with its bit and, if
    /// both are directories, the bit of the one in `old`.
    fn compare(
        &mut self,
        tree: u32,
        new: &[u8],
        old: &[u8],
        mut found: impl FnMut(u32, Option<u32>, &TreeEntry<'_>) -> Contribution,
    ) -> Result<()> {
        let (id, _) = object(self.order, tree)?;
        let mut olds = TreeEntries::new(old, id.kind());
        let mut news = TreeEntries::new(new, id.kind());
        news.skip_common(&mut olds);
        let mut other = olds.next_of(&id)?;
        while let Some(entry) = news.next_of(&id)? {
            while other.is_some_and(|other| other.cmp_place(&entry) == Ordering::Less) {
                other = olds.next_of(&id)?;
            }
            let before = other.filter(|other| other.cmp_place(&entry) == Ordering::Equal);
            if before.is_some() {
                news.skip_common(&mut olds);
                other = olds.next_of(&id)?;
            }
            if entry.object_kind().is_none() || before.is_some_and(|before| before.id == entry.id) {
                continue;
            }
            let missing = || Error::NotClosed {
                id,
                missing: entry.id.to_owned(),
            };
            let bit = self.order.bit(entry.id).ok_or_else(missing)?;
            let before = before.filter(|before| before.is_tree() && entry.is_tree());
            let before = before.and_then(|before| self.order.bit(before.id));
            self.found.push(found(bit, before, &entry));
        }
        Ok(())
    }

    fn tree(&mut self, bit: u32) -> Result<Arc<[u8]>> {
        let (id, location) = object(self.order, bit)?;
        match self.reader.read_shared(&id, location)? {
            (ObjectKind::Tree, content) => Ok(content),
            (kind, _) => Err(Error::wrong_kind(&id, ObjectKind::Tree, kind)),
        }
    }
}
