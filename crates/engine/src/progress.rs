//! Progress of some work, for display while it runs.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A part of some work with a count of its own. The parts follow each other in the order of the
/// variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Listing the objects and finding out how each is stored.
    Counting,
    /// Searching deltas for the objects that get a new one.
    Compressing,
    /// Writing the objects of a pack.
    Writing,
    /// Reading the entries of a pack that is being indexed.
    Receiving,
    /// Applying the deltas of a pack that is being indexed.
    Resolving,
    /// Checking the order of the ids in a multi-pack-index.
    CheckingOrder,
    /// Comparing the offsets of a multi-pack-index with its packs.
    CheckingOffsets,
    /// Building the bitmaps of selected commits.
    Bitmaps,
    /// Writing the files of a working tree.
    Files,
    /// Passing entries from a source to a sink.
    Entries,
    /// Compressing and storing the contents of an image: the steps are bytes. That is done while
    /// entries are read, so the total is known after the last of them.
    Contents,
}

impl Stage {
    /// All stages, in their order.
    pub const ALL: [Stage; 11] = [
        Stage::Counting,
        Stage::Compressing,
        Stage::Writing,
        Stage::Receiving,
        Stage::Resolving,
        Stage::CheckingOrder,
        Stage::CheckingOffsets,
        Stage::Bitmaps,
        Stage::Files,
        Stage::Entries,
        Stage::Contents,
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Counting => "Counting objects",
            Stage::Compressing => "Compressing objects",
            Stage::Writing => "Writing objects",
            Stage::Receiving => "Receiving objects",
            Stage::Resolving => "Resolving deltas",
            Stage::CheckingOrder => "Checking the order of objects",
            Stage::CheckingOffsets => "Checking offsets",
            Stage::Bitmaps => "Building bitmaps",
            Stage::Files => "Updating files",
            Stage::Entries => "Processing entries",
            Stage::Contents => "Compressing and storing",
        })
    }
}

/// The steps of one stage. Workers count them; another thread may read them at any time.
#[derive(Debug, Default)]
pub struct Steps {
    done: AtomicU64,
    total: AtomicU64,
    bytes: AtomicU64,
}

impl Steps {
    /// Number of steps done.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Total number of steps; 0 while unknown.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Bytes read or written in the steps done, if the stage counts them.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether the stage has started and all its steps are done.
    pub fn is_over(&self) -> bool {
        self.total() > 0 && self.done() >= self.total()
    }

    /// Adds to the total number of steps.
    pub fn expect(&self, steps: u64) {
        self.total.fetch_add(steps, Ordering::Relaxed);
    }

    /// Sets the total number of steps, if it is unknown.
    pub fn expect_all(&self, steps: u64) {
        // Whoever set it first knew it.
        let _ = self
            .total
            .compare_exchange(0, steps, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// No step will follow: those done are all.
    pub fn end(&self) {
        self.total.store(self.done(), Ordering::Relaxed);
    }

    /// Adds to the number of steps done.
    pub fn step(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Adds to the number of bytes.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the number of bytes, for stages in which a single thread knows it.
    pub fn set_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// Progress of some work: the [`Steps`] of each [`Stage`].
#[derive(Debug, Default)]
pub struct Progress {
    stages: [Steps; Stage::ALL.len()],
    is_watched: AtomicBool,
}

impl Progress {
    /// The steps of `stage`.
    pub fn stage(&self, stage: Stage) -> &Steps {
        &self.stages[stage as usize]
    }

    /// Somebody will show this: totals that take some work to find out are wanted.
    pub fn watch(&self) {
        self.is_watched.store(true, Ordering::Relaxed);
    }

    /// Whether somebody shows this.
    pub fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// The stage in progress, or the last one if all are over; `None` before the first step is
    /// known.
    pub fn current(&self) -> Option<(Stage, &Steps)> {
        let started = |stage: &Stage| {
            let steps = self.stage(*stage);
            // Contents are stored while entries are read.
            steps.total() > 0 || steps.done() > 0 && *stage != Stage::Contents
        };
        let stage = Stage::ALL.into_iter().rev().find(started)?;
        Some((stage, self.stage(stage)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_its_own_steps() {
        for (position, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, position);
        }
        let progress = Progress::default();
        assert!(progress.current().is_none());
        progress.stage(Stage::Counting).expect(3);
        progress.stage(Stage::Counting).step(3);
        assert!(progress.stage(Stage::Counting).is_over());
        assert!(!progress.stage(Stage::Writing).is_over());
        progress.stage(Stage::Writing).expect(2);
        progress.stage(Stage::Writing).step(1);
        progress.stage(Stage::Writing).add_bytes(10);
        let (stage, steps) = progress.current().unwrap();
        assert_eq!(stage, Stage::Writing);
        assert_eq!((steps.done(), steps.total(), steps.bytes()), (1, 2, 10));
        assert!(!steps.is_over());
        progress.stage(Stage::Entries).step(1);
        progress.stage(Stage::Contents).step(1);
        assert_eq!(progress.current().unwrap().0, Stage::Entries);
        progress.stage(Stage::Entries).end();
        progress.stage(Stage::Entries).expect_all(7);
        assert_eq!(progress.stage(Stage::Entries).total(), 1);
        progress.stage(Stage::Contents).expect(2);
        assert_eq!(progress.current().unwrap().0, Stage::Contents);
    }
}
