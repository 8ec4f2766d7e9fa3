//! The commits covered by bitmaps, and their parents, by bits.

use super::workers::Workers;
use crate::{Error, Result};
use hedgerow_object::CommitRef;
use hedgerow_pack::{BitOrder, ObjectId, ObjectKind, ObjectStore, Reader, Words};
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

/// Number of commits that a thread takes at a time.
const BATCH: usize = 512;
/// Size of each thread's cache of recently read commits, in bytes. It is small because few commits
/// are deltas.
const RECENT_BYTES: usize = 1 << 20;

/// One commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub bit: u32,
    /// The bit of its tree.
    pub tree: u32,
    /// The numbers of its parents in the history.
    pub parents: Vec<u32>,
    /// Commit time, in seconds since 1970.
    pub date: u64,
}

/// The commits of one or several packs.
#[derive(Debug)]
pub(crate) struct History {
    /// Parents before children; otherwise older ones first.
    pub commits: Vec<Commit>,
}

/// Which commits a history contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'o> {
    /// If not `None`, only commits reachable from these.
    pub tips: Option<&'o [ObjectId]>,
    /// Commits at the boundary of a shallow clone: their parents are absent.
    pub shallow: &'o HashSet<ObjectId>,
}

impl History {
    /// Reads the commits in `scope` among those with the bits `bits` of `order`.
    pub fn read(
        workers: Workers<'_>,
        order: &BitOrder<'_>,
        bits: &Words,
        scope: Scope<'_>,
    ) -> Result<Self> {
        let bits: Vec<u32> = bits.iter().collect();
        let batches: Vec<&[u32]> = bits.chunks(BATCH).collect();
        let read = |reader: &mut Reader<'_>, batch: &&[u32]| {
            let links = batch
                .iter()
                .map(|bit| links(reader, order, scope.shallow, *bit));
            links.collect::<Result<Vec<_>>>()
        };
        let links = workers.run(RECENT_BYTES, &batches, read)?;
        let mut raw: Vec<Raw> = links.into_iter().flatten().collect();
        if let Some(tips) = scope.tips {
            let from = first_inside(workers.store, order, tips, scope.shallow)?;
            retain_reachable(&mut raw, from);
        }
        match raw.iter().find_map(|commit| commit.outside) {
            Some((id, missing)) => Err(Error::NotClosed { id, missing }),
            None => Ok(History {
                commits: sorted(raw),
            }),
        }
    }

    /// Commit numbers by bit.
    pub fn by_bit(&self) -> ByBit {
        let bits = self.commits.iter().map(|commit| commit.bit as usize + 1);
        let mut numbers = vec![None; bits.max().unwrap_or_default()];
        for (commit, number) in self.commits.iter().zip(1..) {
            if let Some(slot) = numbers.get_mut(commit.bit as usize) {
                *slot = NonZeroU32::new(number);
            }
        }
        ByBit { numbers }
    }
}

/// The numbers of commits by their bits.
#[derive(Debug)]
pub(crate) struct ByBit {
    /// Each plus one.
    numbers: Vec<Option<NonZeroU32>>,
}

impl ByBit {
    /// The number of the commit with the bit `bit`, if it is one.
    pub fn get(&self, bit: u32) -> Option<u32> {
        let number = self.numbers.get(bit as usize).copied().flatten();
        number.map(|number| number.get() - 1)
    }
}

/// A commit whose parents are still given as bits.
struct Raw {
    bit: u32,
    tree: u32,
    parents: Vec<u32>,
    date: u64,
    /// Its id, and the id of an object it names that has no bit.
    outside: Option<(ObjectId, ObjectId)>,
}

fn links(
    reader: &mut Reader<'_>,
    order: &BitOrder<'_>,
    shallow: &HashSet<ObjectId>,
    bit: u32,
) -> Result<Raw> {
    let (id, location) = object(order, bit)?;
    let (kind, content) = reader.read(&id, location)?;
    if kind != ObjectKind::Commit {
        return Err(Error::wrong_kind(&id, ObjectKind::Commit, kind));
    }
    let commit = CommitRef::parse(&id, content)?;
    let mut outside = None;
    let mut to_bit = |named: ObjectId| {
        let bit = order.bit(&named);
        if bit.is_none() {
            outside = Some((id, named));
        }
        bit
    };
    let tree = to_bit(commit.tree()).unwrap_or_default();
    let parents = if shallow.contains(&id) {
        Vec::new()
    } else {
        commit.parents().filter_map(to_bit).collect()
    };
    Ok(Raw {
        bit,
        tree,
        parents,
        date: commit.seconds(),
        outside,
    })
}

/// The bits of the first commits in `order` that are met on the way from `tips`, which may be
/// outside of it. Missing objects are skipped.
fn first_inside(
    store: &ObjectStore,
    order: &BitOrder<'_>,
    tips: &[ObjectId],
    shallow: &HashSet<ObjectId>,
) -> Result<Vec<u32>> {
    let mut reader = Reader::new(store);
    let mut bits = Vec::new();
    let mut pending = tips.to_vec();
    let mut met: HashSet<ObjectId> = HashSet::new();
    while let Some(id) = pending.pop() {
        if let Some(bit) = order.bit(&id) {
            bits.push(bit);
            continue;
        }
        let Some(location) = store.locate(&id)?.filter(|_| met.insert(id)) else {
            continue;
        };
        let (kind, content) = reader.read(&id, location)?;
        if kind == ObjectKind::Commit && !shallow.contains(&id) {
            pending.extend(CommitRef::parse(&id, content)?.parents());
        }
    }
    Ok(bits)
}

/// Removes the commits that are not reachable from those with the bits `from`.
fn retain_reachable(raw: &mut Vec<Raw>, from: Vec<u32>) {
    let by_bit: HashMap<u32, usize> = raw.iter().map(|commit| commit.bit).zip(0..).collect();
    let mut reached = Words::default();
    let mut pending = from;
    while let Some(bit) = pending.pop() {
        let Some(commit) = by_bit.get(&bit).and_then(|at| raw.get(*at)) else {
            continue;
        };
        if reached.insert(bit) {
            pending.extend(&commit.parents);
        }
    }
    raw.retain(|commit| reached.contains(commit.bit));
}

/// The object with this bit.
pub(crate) fn object(
    order: &BitOrder<'_>,
    bit: u32,
) -> Result<(ObjectId, hedgerow_pack::Location)> {
    match (order.id(bit), order.location(bit)) {
        (Some(id), Some(location)) => Ok((id.to_owned(), location)),
        _ => Err(Error::BrokenOrder { bit }),
    }
}

/// Sorts parents before children. Commits in a loop, which real hashes cannot form, are left out.
fn sorted(mut raw: Vec<Raw>) -> Vec<Commit> {
    raw.sort_unstable_by_key(|commit| (commit.date, commit.bit));
    let mut by_bit: Vec<(u32, u32)> = (0..).zip(&raw).map(|(at, raw)| (raw.bit, at)).collect();
    by_bit.sort_unstable();
    let number = |bit: &u32| {
        let found = by_bit.binary_search_by_key(bit, |(bit, _)| *bit).ok()?;
        by_bit.get(found).map(|(_, at)| *at)
    };
    let parents: Vec<Vec<u32>> = raw
        .iter()
        .map(|commit| commit.parents.iter().filter_map(number).collect())
        .collect();
    let places = places(&parents);
    let mut commits: Vec<(u32, Commit)> = Vec::with_capacity(raw.len());
    for (at, commit) in raw.into_iter().enumerate() {
        let Some(place) = places.get(at).copied().flatten() else {
            continue;
        };
        let parents = parents.get(at).into_iter().flatten();
        let parents = parents.filter_map(|parent| *places.get(*parent as usize)?);
        commits.push((
            place,
            Commit {
                bit: commit.bit,
                tree: commit.tree,
                parents: parents.collect(),
                date: commit.date,
            },
        ));
    }
    commits.sort_unstable_by_key(|(place, _)| *place);
    commits.into_iter().map(|(_, commit)| commit).collect()
}

/// For each commit, its position in an order with parents before children.
fn places(parents: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut places = vec![None; parents.len()];
    let mut next = 0;
    let mut open = vec![false; parents.len()];
    for first in 0..parents.len() {
        let mut path = vec![(first, 0)];
        while let Some((at, tried)) = path.pop() {
            if places[at].is_some() || (tried == 0 && open[at]) {
                continue;
            }
            open[at] = true;
            match parents[at].get(tried) {
                Some(parent) => {
                    path.push((at, tried + 1));
                    path.push((*parent as usize, 0));
                }
                None => {
                    places[at] = Some(next);
                    next += 1;
                }
            }
        }
    }
    places
}
