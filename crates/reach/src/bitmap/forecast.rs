//! Which commits have to be walked where some bitmaps are known.

use super::history::History;
use super::previous::Previous;
use hedgerow_pack::{CommitBitmap, Words};
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The walks from commits down to previous bitmaps, before anything is known of what the commits
/// on the way bring: they stand for that.
pub(crate) struct Forecast<'f, 'p, 's> {
    history: &'f History,
    previous: &'f Previous<'p, 's>,
    /// How many objects there are.
    objects: usize,
    /// The previous bitmaps that are met, by the numbers of their commits.
    pub met: HashMap<u32, CommitBitmap>,
    /// Commits whose previous bitmaps cannot be used.
    unusable: HashSet<u32>,
    /// What other walks have found.
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

    /// Foresees the walk to the bitmap of the commit `number`. Later ones end there.
    pub fn add(&mut self, number: u32) {
        if !self.is_known(number) {
            let reached = self.walk(&[number]);
            self.foreseen
                .insert(number, CommitBitmap::new(number, &reached));
        }
    }

    /// Foresees the walk from the commits `numbers`; returns the commits that it reaches, and what
    /// bitmaps on the way reach.
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

    /// Whether the walk ends at the commit `number`.
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
