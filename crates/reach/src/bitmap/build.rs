use super::contributions::{contributions, Contribution};
use super::forecast::Forecast;
use super::history::{ByBit, History, Scope};
use super::previous::Previous;
use super::pseudo_merges::{self, PseudoMergeGroup};
use super::select::select;
use super::workers::Workers;
use crate::{Error, Result};
use hedgerow_engine::{CancelToken, Execution, Stage, Steps};
use hedgerow_pack::{
    BitOrder, BitmapContents, Bitmaps, CommitBitmap, ObjectId, ObjectStore, PseudoMerge, Words,
};
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Fewer objects than this are put into a bitmap one by one.
const FEW: usize = 64;

/// Options for making bitmaps.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The targets of references, with annotated tags peeled.
    pub tips: Vec<ObjectId>,
    /// The tips that are preferred to their neighbours (`pack.preferBitmapTips`).
    pub preferred_tips: Vec<ObjectId>,
    /// Whether commits that no tip reaches get no bitmap, and their closure need not be complete.
    pub only_reachable: bool,
    /// Which tips are grouped into pseudo-merges.
    pub pseudo_merges: Vec<PseudoMergeGroup>,
    /// Commits at the boundary of a shallow clone: their parents are absent.
    pub shallow: HashSet<ObjectId>,
    /// Whether to store the hashes of paths (`pack.writeBitmapHashCache`).
    pub name_hashes: bool,
    /// Whether to write a lookup table (`pack.writeBitmapLookupTable`).
    pub lookup_table: bool,
    /// How to run: [`Stage::Bitmaps`] counts the commits that were compared with their parents.
    pub execution: Execution,
}

/// Makes bitmaps for the packs of `order`, which belong to `store`. The content of `previous`
/// bitmaps is reused instead of computed again.
///
/// # Errors
/// [`Error::NotClosed`] if an object reachable from a commit of the packs is not in them;
/// [`Error::Interrupted`].
pub fn build<'o>(
    store: &ObjectStore,
    order: &'o BitOrder<'o>,
    previous: Option<&Bitmaps<'_>>,
    options: &BuildOptions,
) -> Result<BitmapContents<'o>> {
    let scope = Scope {
        tips: options.only_reachable.then_some(&options.tips),
        shallow: &options.shallow,
    };
    let workers = Workers {
        store,
        threads: options.execution.threads().get(),
        cancel: &options.execution.cancel,
        progress: options.execution.progress.stage(Stage::Bitmaps),
    };
    let mut material = Material::read(workers, order, scope)?;
    let is_useful = |bitmaps: &&Bitmaps<'_>| bitmaps.has_name_hashes() || !options.name_hashes;
    // A bitmap made before the clone became shallow may include objects that are gone.
    let previous = previous
        .filter(|_| options.shallow.is_empty())
        .filter(is_useful);
    let previous = previous.map(|bitmaps| Previous::new(bitmaps, order, &material.history));
    let selected = select(
        &material.history,
        &material.numbers(&options.tips),
        &material.numbers(&options.preferred_tips),
        |number| {
            previous
                .as_ref()
                .is_some_and(|previous| previous.has(number))
        },
    );
    let merges = pseudo_merges::select(
        &options.pseudo_merges,
        &material.history,
        |id| material.number(id),
        &selected.iter().copied().collect(),
    );
    let known = previous.as_ref();
    material.gather(workers, &selected, &merges, known)?;
    let (commits, pseudo_merges) = material.combine(&selected, &merges, workers.cancel)?;
    Ok(BitmapContents {
        order,
        commits,
        pseudo_merges,
        name_hashes: if options.name_hashes {
            material.name_hashes(previous.as_ref())
        } else {
            Vec::new()
        },
        kinds: material.kinds,
        lookup_table: options.lookup_table,
    })
}

/// The commits whose bitmap differs from the set of objects that they reach.
///
/// # Errors
/// As [`build`].
pub fn check(
    store: &ObjectStore,
    bitmaps: &Bitmaps<'_>,
    shallow: &HashSet<ObjectId>,
    threads: usize,
    cancel: &CancelToken,
) -> Result<Vec<ObjectId>> {
    let order = bitmaps.order();
    let bits = bitmaps.commits().map_err(|_| Error::DamagedBitmap)?;
    let ids = bits.iter().filter_map(|bit| order.id(*bit));
    let tips: Vec<ObjectId> = ids.map(ToOwned::to_owned).collect();
    let scope = Scope {
        tips: Some(&tips),
        shallow,
    };
    let workers = Workers {
        store,
        threads,
        cancel,
        progress: &Steps::default(),
    };
    let mut material = Material::read(workers, order, scope)?;
    let mut numbers: Vec<u32> = bits
        .iter()
        .filter_map(|bit| material.by_bit.get(*bit))
        .collect();
    numbers.sort_unstable();
    material.gather(workers, &numbers, &[], None)?;
    let mut right = HashSet::new();
    for commit in material.combine(&numbers, &[], cancel)?.0 {
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

/// The intermediate data from which bitmaps are made.
struct Material<'o> {
    order: &'o BitOrder<'o>,
    kinds: [Words; 4],
    history: History,
    /// Commit numbers by bit.
    by_bit: ByBit,
    /// The known bitmaps of commits, by commit number.
    made: HashMap<u32, CommitBitmap>,
    /// What each walked commit adds.
    found: Vec<Vec<Contribution>>,
}

impl<'o> Material<'o> {
    fn read(workers: Workers<'_>, order: &'o BitOrder<'o>, scope: Scope<'_>) -> Result<Self> {
        let kinds = order
            .kinds()
            .map_err(|(offset, fault)| Error::BadEntry { offset, fault })?;
        let [commits, ..] = &kinds;
        let history = History::read(workers, order, commits, scope)?;
        Ok(Material {
            order,
            kinds,
            by_bit: history.by_bit(),
            history,
            made: HashMap::new(),
            found: Vec::new(),
        })
    }

    /// Finds what each walked commit adds, for the bitmaps of `selected`, ascending, and of
    /// `merges`. Without `previous`, all commits are walked, else those that no previous bitmap
    /// covers.
    fn gather(
        &mut self,
        workers: Workers<'_>,
        selected: &[u32],
        merges: &[Vec<u32>],
        previous: Option<&Previous<'_, '_>>,
    ) -> Result<()> {
        let count = self.history.commits.len();
        let mut numbers: Vec<u32> = (0..count as u32).collect();
        if let Some(previous) = previous {
            let objects = self.order.count() as usize;
            let mut forecast = Forecast::new(&self.history, previous, objects);
            selected.iter().for_each(|number| forecast.add(*number));
            for merge in merges {
                forecast.walk(merge);
            }
            numbers.retain(|number| forecast.walked[*number as usize]);
            self.made = forecast.met;
        }
        let found = contributions(workers, self.order, &self.history, &numbers)?;
        self.found = vec![Vec::new(); count];
        for (number, found) in numbers.into_iter().zip(found) {
            self.found[number as usize] = found;
        }
        Ok(())
    }

    /// The number of the commit `id`, if it is in the history.
    fn number(&self, id: &ObjectId) -> Option<u32> {
        self.by_bit.get(self.order.bit(id)?)
    }

    /// The numbers of the commits in `ids` that are in the history.
    fn numbers(&self, ids: &[ObjectId]) -> HashSet<u32> {
        ids.iter().filter_map(|id| self.number(id)).collect()
    }

    /// The hash of the first path at which each object was found; for objects not found now, the
    /// hash from the previous bitmaps.
    fn name_hashes(&self, previous: Option<&Previous<'_, '_>>) -> Vec<u32> {
        let mut hashes = vec![0; self.order.count() as usize];
        for (bit, hash) in self.found.iter().flatten() {
            let slot = &mut hashes[*bit as usize];
            if *slot == 0 {
                *slot = *hash;
            }
        }
        if let Some(previous) = previous {
            previous.add_name_hashes(&mut hashes);
        }
        hashes
    }

    /// The bitmaps of the commits with the numbers `selected`, ascending, and those of `merges`.
    /// Each walk ends at commits whose bitmap is already made.
    fn combine(
        &mut self,
        selected: &[u32],
        merges: &[Vec<u32>],
        cancel: &CancelToken,
    ) -> Result<(Vec<CommitBitmap>, Vec<PseudoMerge>)> {
        for number in selected {
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            if self.made.contains_key(number) {
                continue;
            }
            let commit = &self.history.commits[*number as usize];
            let made = match self.few_reached(*number) {
                Some(few) => CommitBitmap::of_few(commit.bit, &few),
                None => CommitBitmap::new(commit.bit, &self.reached(&[*number])),
            };
            self.made.insert(*number, made);
        }
        let merge = |numbers: &Vec<u32>| {
            let bit = |number: &u32| self.history.commits[*number as usize].bit;
            let commits = numbers.iter().map(bit);
            PseudoMerge::new(commits.collect(), &self.reached(numbers))
        };
        let merges = merges.iter().map(merge).collect();
        let made = selected.iter().map(|number| {
            let made = self.made.remove(number);
            made.expect("every selected commit has a bitmap, and is selected once")
        });
        Ok((made.collect(), merges))
    }

    /// The objects that the commit `number` reaches, ascending, if they are few.
    fn few_reached(&self, number: u32) -> Option<Vec<u32>> {
        let mut reached = Vec::new();
        let mut pending = vec![number];
        while let Some(current) = pending.pop() {
            let commit = &self.history.commits[current as usize];
            let added = self.found.get(current as usize)?;
            if reached.len() + added.len() >= FEW || self.made.contains_key(&current) {
                return None;
            }
            reached.push(commit.bit);
            reached.extend(added.iter().map(|(bit, _)| *bit));
            pending.extend(&commit.parents);
        }
        reached.sort_unstable();
        reached.dedup();
        Some(reached)
    }

    /// The objects that the commits `numbers` reach.
    fn reached(&self, numbers: &[u32]) -> Words {
        let mut reached = Words::with_bits(self.order.count() as usize);
        let mut pending: BinaryHeap<u32> = numbers.iter().copied().collect();
        while let Some(current) = pending.pop() {
            let commit = &self.history.commits[current as usize];
            if reached.contains(commit.bit) {
                continue;
            }
            if let Some(bitmap) = self.made.get(&current) {
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
