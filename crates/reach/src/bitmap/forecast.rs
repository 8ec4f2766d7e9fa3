//! Determines which commits have to be walked when some bitmaps are known.

use super::history::History;
use super::previous::Previous;
use hedgerow_pack::{CommitBitmap, Words};
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Simulates the walks from commits down to previous bitmaps, with commits alone, before it is
/// known what the commits on the way add.
pub(crate) struct Forecast<'f, 'p, 's> {
    history: &'f History,
    previous: &'f Previous<'p, 's>,
    /// Number of objects.
    objects: usize,
    /// The previous bitmaps that walks reach, by commit number.
    pub met: HashMap<u32, CommitBitmap>,
    /// Commits whose previous bitmaps cannot be used.
    unusable: HashSet<u32>,
    /// What earlier simulated walks reach, by commit number.
    foreseen: HashMap<u32, CommitBitmap>,
    /// Whether each commit is walked.
    pub walked: Vec<bool>,
}

impl<'f, 'p, 's> Forecast<'f, 'p, 's> {
    pub fn new(history: &'f History, previous: &'f Previous<'p, 's>, objects: usize) -> Self {
        Forecast {
            history,
            previous,
            objects,
            met: HashMap::new(),
            unusable: HashSet::new(),
            foreseen: HashMap::new(),
            walked: vec![false; history.commits.len()],
        }
    }

    /// Simulates the walk for the bitmap of the commit `number`. Later walks end there.
    pub fn add(&mut self, number: u32) {
        if !self.is_known(number) {
            let reached = self.walk(&[number]);
            self.foreseen
                .insert(number, CommitBitmap::new(number, &reached));
        }
    }

    /// Simulates the walk from the commits `numbers`; returns the commits that it reaches, and all
    /// that bitmaps on the way include.
    pub fn walk(&mut self, numbers: &[u32]) -> Words {
        let mut reached = Words::with_bits(self.objects);
        let mut pending: BinaryHeap<u32> = numbers.iter().copied().collect();
        while let Some(current) = pending.pop() {
            let commit = &self.history.commits[current as usize];
            if reached.contains(commit.bit) {
                continue;
            }
            if self.is_known(current) {
                let met = self.met.get(&current);
                let bitmap = met.or_else(|| self.foreseen.get(&current));
                bitmap
                    .into_iter()
                    .for_each(|bitmap| bitmap.add_to(&mut reached));
                continue;
            }
            reached.insert(commit.bit);
            self.walked[current as usize] = true;
            pending.extend(&commit.parents);
        }
        reached
    }

    /// Whether a walk ends at the commit `number`.
    fn is_known(&mut self, number: u32) -> bool {
        if self.met.contains_key(&number) || self.foreseen.contains_key(&number) {
            return true;
        }
        if !self.previous.has(number) || self.unusable.contains(&number) {
            return false;
        }
        let bitmap = self.previous.bitmap(self.history, number);
        match bitmap {
            Some(bitmap) => drop(self.met.insert(number, bitmap)),
            None => drop(self.unusable.insert(number)),
        }
        self.met.contains_key(&number)
    }
}
