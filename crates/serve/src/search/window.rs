//! The sliding window: each object is tried against the previous ones.

use super::NewDelta;
use crate::plan::{Plan, Stored};
use crate::{Error, PackOptions, Result};
use hedgerow_codec::Deflater;
use hedgerow_engine::Stage;
use hedgerow_pack::{DeltaIndex, Location, Reader};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// A base more than this many times larger than the object is not tried.
const MAX_RATIO: u64 = 32;

/// The state of one thread's search.
pub(super) struct Search<'p, 's> {
    plan: &'p Plan<'s>,
    options: &'p PackOptions,
    reader: Reader<'p>,
    deflater: Deflater,
    /// The bytes of all kept deltas, of all threads.
    cached: &'p AtomicU64,
    /// The objects of the window, in the order in which they are tried.
    slots: VecDeque<Slot>,
    /// The bytes of contents and indexes in `slots`.
    held_bytes: u64,
    /// The best delta so far.
    best: Vec<u8>,
    /// The delta under construction.
    attempt: Vec<u8>,
}

/// An object in the window.
struct Slot {
    number: u32,
    content: Option<Vec<u8>>,
    index: Option<DeltaIndex>,
    depth: u32,
    is_unreadable: bool,
}

/// The outcome of an attempt.
enum Outcome {
    /// A delta that is better than the previous one, if there was one.
    Better,
    Worse,
    /// Neither this base nor the later ones are useful.
    Over,
}

impl<'p, 's> Search<'p, 's> {
    pub fn new(
        plan: &'p Plan<'s>,
        options: &'p PackOptions,
        reader: Reader<'p>,
        cached: &'p AtomicU64,
    ) -> Self {
        Search {
            plan,
            options,
            reader,
            deflater: Deflater::new(options.level),
            cached,
            slots: VecDeque::new(),
            held_bytes: 0,
            best: Vec::new(),
            attempt: Vec::new(),
        }
    }

    /// Searches deltas for the objects of one part, with a window of its own.
    pub fn run(&mut self, part: &[u32]) -> Result<Vec<NewDelta>> {
        self.slots.clear();
        self.held_bytes = 0;
        let mut found = Vec::new();
        for number in part {
            if self.options.execution.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.make_room();
            found.extend(self.try_all(*number)?);
            self.options
                .execution
                .progress
                .stage(Stage::Compressing)
                .step(1);
        }
        self.reader.shrink();
        Ok(found)
    }

    /// Drops the oldest object if the window is full, and more if they use too much memory.
    fn make_room(&mut self) {
        let limit = self.options.window_memory_bytes;
        loop {
            let is_full = self.slots.len() >= self.options.window;
            let is_large = limit > 0 && self.held_bytes > limit && self.slots.len() > 1;
            if !is_full && !is_large {
                return;
            }
            if let Some(slot) = self.slots.pop_back() {
                self.held_bytes -= slot.held_bytes();
            }
        }
    }

    /// Tries the object `number` against the whole window, and adds it to the window.
    fn try_all(&mut self, number: u32) -> Result<Option<NewDelta>> {
        let mut target = Slot::new(number);
        let height = self
            .plan
            .entries
            .get(number as usize)
            .map_or(0, |entry| entry.height);
        let max_depth = self.options.depth.saturating_sub(height);
        let mut best = None;
        if max_depth > 0 && !self.plan.is_had(number) {
            for at in 0..self.slots.len() {
                match self.attempt(&mut target, at, best.is_some(), max_depth)? {
                    Outcome::Better => best = Some(at),
                    Outcome::Worse => {}
                    Outcome::Over => break,
                }
            }
        }
        let found = best.and_then(|at| self.keep(&target, at));
        // At the maximum depth it cannot be a base.
        if found.is_some() && target.depth >= max_depth {
            return Ok(found);
        }
        self.held_bytes += target.held_bytes();
        self.slots.push_front(target);
        // A good base is likely to be good for the next object too: it is tried first.
        if let Some(base) = best.and_then(|at| self.slots.remove(at + 1)) {
            self.slots.push_front(base);
        }
        Ok(found)
    }

    /// Tries the delta of `target` against the slot `at`.
    fn attempt(
        &mut self,
        target: &mut Slot,
        at: usize,
        has_delta: bool,
        max_depth: u32,
    ) -> Result<Outcome> {
        let Some(mut source) = self.slots.get_mut(at).map(Slot::take) else {
            return Ok(Outcome::Over);
        };
        let before = source.held_bytes();
        let outcome = self.attempt_against(target, &mut source, has_delta, max_depth);
        self.held_bytes += source.held_bytes() - before;
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = source;
        }
        outcome
    }

    fn attempt_against(
        &mut self,
        target: &mut Slot,
        source: &mut Slot,
        has_delta: bool,
        max_depth: u32,
    ) -> Result<Outcome> {
        let entries = &self.plan.entries;
        let pair = entries
            .get(target.number as usize)
            .zip(entries.get(source.number as usize));
        let Some((to, from)) = pair else {
            return Ok(Outcome::Over);
        };
        if to.kind != from.kind {
            return Ok(Outcome::Over);
        }
        let is_had = self.plan.is_had(source.number);
        // This pair was tried, or skipped, when the pack that contains both was made.
        let was_tried = self.options.reuse_deltas
            && !is_had
            && matches!(to.stored, Stored::Whole(_))
            && pack(to.location).is_some()
            && pack(to.location) == pack(from.location);
        if was_tried || source.depth >= max_depth || source.is_unreadable {
            return Ok(Outcome::Worse);
        }
        let hash_len = to.id.as_bytes().len() as u64;
        // A deeper delta must be smaller to be as good.
        let (limit, depth) = if has_delta {
            (self.best.len() as u64, target.depth)
        } else {
            ((to.size / 2).saturating_sub(hash_len), 1)
        };
        let share = u64::from(max_depth - source.depth);
        let limit = limit.saturating_mul(share) / u64::from(max_depth - depth + 1);
        if to.size.saturating_sub(from.size) >= limit || to.size < from.size / MAX_RATIO {
            return Ok(Outcome::Worse);
        }
        self.load(target)?;
        if let Err(error) = self.load(source) {
            // An unreadable object that is not sent is ignored.
            source.is_unreadable = true;
            return if is_had {
                Ok(Outcome::Worse)
            } else {
                Err(error)
            };
        }
        let content = target.content.as_ref().expect("it was loaded just now");
        let base = source.content.as_ref().expect("it was loaded just now");
        let index = source.index.get_or_insert_with(|| DeltaIndex::new(base));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if !index.encode(base, content, limit, &mut self.attempt) {
            return Ok(Outcome::Worse);
        }
        let is_equal = has_delta && self.attempt.len() == self.best.len();
        if is_equal && source.depth + 1 >= target.depth {
            return Ok(Outcome::Worse);
        }
        std::mem::swap(&mut self.attempt, &mut self.best);
        target.depth = source.depth + 1;
        Ok(Outcome::Better)
    }

    fn load(&mut self, slot: &mut Slot) -> Result<()> {
        if slot.content.is_none() {
            let entry = &self.plan.entries[slot.number as usize];
            let (_, content) = entry.read(&mut self.reader, self.options)?;
            slot.content = Some(content.to_vec());
        }
        Ok(())
    }

    /// Records the best delta of `target`, which is against the slot `at`.
    fn keep(&mut self, target: &Slot, at: usize) -> Option<NewDelta> {
        let base = self.slots.get(at)?.number;
        let compressed = self.deflater.zlib(&self.best);
        let limit = self.options.delta_cache_bytes;
        let bytes = compressed.len() as u64;
        let cached = self.cached.fetch_add(bytes, Ordering::Relaxed);
        let has_room = limit == 0 || cached + bytes <= limit;
        if !has_room {
            self.cached.fetch_sub(bytes, Ordering::Relaxed);
        }
        Some(NewDelta {
            entry: target.number,
            base,
            depth: target.depth,
            size: self.best.len() as u64,
            compressed: has_room.then_some(compressed),
        })
    }
}

impl Slot {
    fn new(number: u32) -> Self {
        Slot {
            number,
            content: None,
            index: None,
            depth: 0,
            is_unreadable: false,
        }
    }

    /// Takes the data out of the slot; the caller puts it back.
    fn take(&mut self) -> Self {
        Slot {
            content: self.content.take(),
            index: self.index.take(),
            ..*self
        }
    }

    fn held_bytes(&self) -> u64 {
        let content = self.content.as_ref().map_or(0, Vec::len);
        let index = self.index.as_ref().map_or(0, DeltaIndex::size_bytes);
        (content + index) as u64
    }
}

fn pack(location: Location) -> Option<u32> {
    match location {
        Location::Packed { pack, .. } => Some(pack),
        Location::Loose { .. } => None,
    }
}
