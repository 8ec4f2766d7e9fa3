use super::contributions::{contributions, Found};
use super::history::History;
use super::select::select;
use crate::{Error, Result};
use hedgerow_pack::{
    BitOrder, BitmapContents, Bitmaps, CommitBitmap, ObjectId, ObjectStore, Words,
};
use std::collections::{BinaryHeap, HashMap, HashSet};

/// How to make bitmaps.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// What references point to, annotated tags followed to what they are of.
    pub tips: Vec<ObjectId>,
    /// Those of them that are preferred to their neighbours (`pack.preferBitmapTips`).
    pub preferred_tips: Vec<ObjectId>,
    /// Commits whose parents are not there.
    pub shallow: HashSet<ObjectId>,
    /// Whether to keep the hashes of paths (`pack.writeBitmapHashCache`).
    pub name_hashes: bool,
    /// Whether to write a lookup table (`pack.writeBitmapLookupTable`).
    pub lookup_table: bool,
    /// How many threads.
    pub threads: usize,
}

/// Makes the bitmaps of the pack of `order`, one of `store`.
///
/// # Errors
/// [`Error::NotClosed`] if something that is reachable from a commit of the pack is not in it.
pub fn build<'o>(
    store: &ObjectStore,
    order: &'o BitOrder<'o>,
    options: &BuildOptions,
) -> Result<BitmapContents<'o>> {
    let material = Material::gather(store, order, &options.shallow, options.threads)?;
    let tips = material.numbers(&options.tips);
    let selected = select(
        &material.history,
        &tips,
        &material.numbers(&options.preferred_tips),
    );
    Ok(BitmapContents {
        order,
        commits: material.combine(&selected),
        name_hashes: match options.name_hashes {
            true => material.name_hashes(),
            false => Vec::new(),
        },
        kinds: material.kinds,
        lookup_table: options.lookup_table,
    })
}

/// The commits whose bitmaps say anything else than what is reachable from them.
///
/// # Errors
/// As [`build`].
pub fn check(
    store: &ObjectStore,
    bitmaps: &Bitmaps<'_>,
    shallow: &HashSet<ObjectId>,
    threads: usize,
) -> Result<Vec<ObjectId>> {
    let order = bitmaps.order();
    let material = Material::gather(store, order, shallow, threads)?;
    let bits = bitmaps.commits().unwrap_or_default();
    let mut numbers: Vec<u32> = bits
        .iter()
        .filter_map(|bit| material.by_bit.get(bit))
        .copied()
        .collect();
    numbers.sort_unstable();
    let mut right = HashSet::new();
    for commit in material.combine(&numbers) {
        let (mut expected, mut found) = (bitmaps.empty(), bitmaps.empty());
        commit.add_to(&mut expected);
        if bitmaps.add_reachable_from(commit.commit, &mut found) == Ok(true) && found == expected {
            right.insert(commit.commit);
        }
    }
    let wrong = bits.into_iter().filter(|bit| !right.contains(bit));
    Ok(wrong
        .filter_map(|bit| order.id(bit))
        .map(ToOwned::to_owned)
        .collect())
}

/// What bitmaps are made of.
struct Material<'o> {
    order: &'o BitOrder<'o>,
    kinds: [Words; 4],
    history: History,
    /// The numbers of the commits, by their bits.
    by_bit: HashMap<u32, u32>,
    /// What each commit brings.
    found: Vec<Vec<Found>>,
}

impl<'o> Material<'o> {
    fn gather(
        store: &ObjectStore,
        order: &'o BitOrder<'o>,
        shallow: &HashSet<ObjectId>,
        threads: usize,
    ) -> Result<Self> {
        let kinds = order
            .kinds()
            .map_err(|(offset, fault)| Error::BadEntry { offset, fault })?;
        let [commits, ..] = &kinds;
        let history = History::read(store, order, commits, shallow, threads)?;
        let all: Vec<u32> = (0..history.commits.len() as u32).collect();
        let by_bit = history
            .commits
            .iter()
            .map(|commit| commit.bit)
            .zip(0..)
            .collect();
        Ok(Material {
            order,
            found: contributions(store, order, &history, &all, threads)?,
            kinds,
            history,
            by_bit,
        })
    }

    /// The numbers of those of `ids` that are commits of the pack.
    fn numbers(&self, ids: &[ObjectId]) -> HashSet<u32> {
        let bits = ids.iter().filter_map(|id| self.order.bit(id));
        bits.filter_map(|bit| self.by_bit.get(&bit).copied())
            .collect()
    }

    /// The hash of the first path at which each object was found.
    fn name_hashes(&self) -> Vec<u32> {
        let mut hashes = vec![0; self.order.count() as usize];
        for (bit, hash) in self.found.iter().flatten() {
            match hashes.get_mut(*bit as usize) {
                Some(slot) if *slot == 0 => *slot = *hash,
                _ => {}
            }
        }
        hashes
    }

    /// The bitmaps of the commits with the numbers `selected`, ascending. Each is walked down to
    /// those that are made already.
    fn combine(&self, selected: &[u32]) -> Vec<CommitBitmap> {
        let mut made: HashMap<u32, CommitBitmap> = HashMap::with_capacity(selected.len());
        for number in selected {
            let Some(commit) = self.history.commits.get(*number as usize) else {
                continue;
            };
            let reached = self.reached(*number, &made);
            made.insert(*number, CommitBitmap::new(commit.bit, &reached));
        }
        selected
            .iter()
            .filter_map(|number| made.remove(number))
            .collect()
    }

    fn reached(&self, number: u32, made: &HashMap<u32, CommitBitmap>) -> Words {
        let mut reached = Words::with_bits(self.order.count() as usize);
        let mut pending = BinaryHeap::from([number]);
        while let Some(current) = pending.pop() {
            let Some(commit) = self.history.commits.get(current as usize) else {
                continue;
            };
            if reached.contains(commit.bit) {
                continue;
            }
            if let Some(bitmap) = made.get(&current) {
                bitmap.add_to(&mut reached);
                continue;
            }
            reached.insert(commit.bit);
            for (bit, _) in self.found.get(current as usize).into_iter().flatten() {
                reached.insert(*bit);
            }
            pending.extend(&commit.parents);
        }
        reached
    }
}
