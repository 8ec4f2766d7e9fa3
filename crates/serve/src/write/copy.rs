//! Copying entries of one pack as they are, in constant memory.

use super::output::Output;
use crate::plan::is_intact;
use crate::verbatim::Kept;
use crate::{PackOptions, Result};
use hedgerow_engine::Stage;
use hedgerow_object::pack_entry::{EntryHeader, EntryType};
use hedgerow_pack::{EntryForm, Fault, ObjectId, RawEntry};

/// Maximum bytes of entries that are copied at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// Number of entries that are looked up before they are copied.
const BATCH: usize = 64;

/// Minimum number of starts of recent entries that are remembered, as far as there are so many; 16
/// bytes each.
const STARTS: usize = 1 << 19;

/// How far copied entries have moved: a step for each gap before them.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The old and the new start of each run of entries.
    steps: Vec<(u64, u64)>,
}

impl Moves {
    fn note(&mut self, old: u64, new: u64) {
        debug_assert!(self.steps.last().is_none_or(|(a, b)| old > *a && new > *b));
        let is_same = self.steps.last().is_some_and(|(a, b)| old - a == new - b);
        if !is_same {
            self.steps.push((old, new));
        }
    }

    /// Where the entry is now that was at `old`, and was copied.
    /// `None` if nothing was copied up to there.
    pub fn moved(&self, old: u64) -> Option<u64> {
        let after = self.steps.partition_point(|(start, _)| *start <= old);
        let (from, to) = self.steps.get(after.checked_sub(1)?)?;
        Some(old - from + to)
    }
}

/// Copies what is `kept`. The entries before the first gap are copied in large pieces, since all
/// distances between them stay; later ones one by one, with their distances rewritten where
/// something between has changed.
pub(super) fn copy(
    kept: &Kept<'_>,
    options: &PackOptions,
    listed: bool,
    output: &mut Output<'_>,
) -> Result<Moves> {
    let mut moves = Moves::default();
    let mut next = 0;
    if keeps_leading(options, listed) {
        let new = output.position();
        next = copy_leading(kept, options, output)?;
        let old = kept.entries.offset(0).filter(|_| next > 0);
        old.into_iter().for_each(|old| moves.note(old, new));
    }
    let mut batch = Vec::with_capacity(BATCH);
    let mut starts = Starts::default();
    loop {
        gather(kept, &mut next, &mut batch)?;
        if !options.delta_base_offset {
            starts.find_bases(kept, &mut batch)?;
        }
        for entry in &batch {
            copy_entry(kept, entry, options, &mut moves, output)?;
            options.execution.progress.stage(Stage::Writing).step(1);
        }
        if batch.len() < BATCH {
            return Ok(moves);
        }
    }
}

/// An entry to copy.
struct Copied<'s> {
    order: u32,
    /// Its old offset.
    old: u64,
    raw: RawEntry<'s>,
    /// Its base, if it is to be named by its id.
    base: Option<ObjectId>,
}

/// Puts the next entries from `next` on into `batch`, up to its size. The lookups are spread all
/// over the index and the pack: done one after the other with nothing in between, several loads
/// from memory overlap.
fn gather<'s>(kept: &Kept<'s>, next: &mut u32, batch: &mut Vec<Copied<'s>>) -> Result<()> {
    let outside = || kept.fault(Fault::Outside);
    let mut places = [(0, 0, 0); BATCH];
    let mut count = 0;
    let mut last_end = 0;
    for place in &mut places {
        let Some(order) = kept.next_selected(*next) else {
            break;
        };
        // An entry starts where the previous one ends.
        let start = if count > 0 && order == *next {
            last_end
        } else {
            kept.entries.offset(order).ok_or_else(outside)?
        };
        last_end = kept.entries.offset(order + 1).ok_or_else(outside)?;
        *place = (order, start, last_end);
        *next = order + 1;
        count += 1;
    }
    batch.clear();
    for (order, old, end) in places.into_iter().take(count) {
        let raw = kept.entries.between(old, end);
        batch.push(Copied {
            order,
            old,
            raw: raw.map_err(|fault| kept.fault(fault))?,
            base: None,
        });
    }
    Ok(())
}

/// The offsets and numbers of recently copied entries: they usually include the bases of the next
/// ones.
#[derive(Default)]
struct Starts {
    entries: Vec<(u64, u32)>,
}

impl Starts {
    /// Finds the ids of the bases of offset deltas, in two passes for the reason given at
    /// [`gather`].
    fn find_bases(&mut self, kept: &Kept<'_>, batch: &mut [Copied<'_>]) -> Result<()> {
        let mut bases = Vec::with_capacity(batch.len());
        for entry in batch.iter_mut() {
            if let EntryForm::OffsetDelta(base) = entry.raw.kind {
                let known = self.order_of(base);
                let order = known.or_else(|| kept.entries.order_before(entry.order, base));
                bases.push((&mut entry.base, order));
            }
            self.add(entry.old, entry.order);
        }
        for (base, order) in bases {
            let id = order.and_then(|order| kept.entries.id(order));
            *base = Some(id.ok_or_else(|| kept.fault(Fault::Outside))?);
        }
        Ok(())
    }

    fn add(&mut self, start: u64, order: u32) {
        if self.entries.len() == 2 * STARTS {
            self.entries.drain(..STARTS);
        }
        self.entries.push((start, order));
    }

    /// The entry at the offset `start`; a near one is found faster.
    fn order_of(&self, start: u64) -> Option<u32> {
        let mut step = 1;
        let mut near = self.entries.as_slice();
        while let Some((far, rest)) = near.split_at_checked(near.len().saturating_sub(step)) {
            let is_before = rest.first().is_some_and(|(first, _)| *first <= start);
            if is_before || far.is_empty() {
                let place = rest.binary_search_by_key(&start, |(start, _)| *start);
                return rest.get(place.ok()?).map(|(_, order)| *order);
            }
            near = far;
            step *= 4;
        }
        None
    }
}

/// Whether the entries before the first gap are copied without examining each.
pub(super) fn keeps_leading(options: &PackOptions, listed: bool) -> bool {
    options.delta_base_offset && !listed && !options.check_copies
}

/// Copies the entries before the first gap. Returns their number.
fn copy_leading(kept: &Kept<'_>, options: &PackOptions, output: &mut Output<'_>) -> Result<u32> {
    let outside = || kept.fault(Fault::Outside);
    let data = kept.entries.data();
    let mut start = kept.entries.offset(0).ok_or_else(outside)?;
    let mut order = 0;
    while order < kept.leading {
        let first = order;
        let mut end = start;
        while order < kept.leading && end - start < CHUNK_BYTES {
            order += 1;
            end = kept.entries.offset(order).ok_or_else(outside)?;
        }
        let range = start as usize..end as usize;
        output.put(data.get(range).ok_or_else(outside)?)?;
        options
            .execution
            .progress
            .stage(Stage::Writing)
            .step(u64::from(order - first));
        start = end;
    }
    Ok(order)
}

fn copy_entry(
    kept: &Kept<'_>,
    entry: &Copied<'_>,
    options: &PackOptions,
    moves: &mut Moves,
    output: &mut Output<'_>,
) -> Result<()> {
    let Copied {
        order, old, raw, ..
    } = entry;
    let outside = || kept.fault(Fault::Outside);
    let id = || kept.entries.id(*order).ok_or_else(outside);
    if options.check_copies && !is_intact(&kept.entries, *order, raw.bytes) {
        let id = id()?;
        let reason = format!("the entry of {id} does not have the CRC-32 of the index");
        return Err(kept.fault(Fault::Unreadable(reason)));
    }
    let new = output.position();
    let kind = match (raw.kind, entry.base) {
        (EntryForm::Whole(kind), _) => EntryType::Whole(kind),
        (EntryForm::ReferenceDelta(base), _) => EntryType::ReferenceDelta(base),
        (EntryForm::OffsetDelta(_), Some(base)) => EntryType::ReferenceDelta(base),
        (EntryForm::OffsetDelta(base), None) => {
            let base = moves.moved(base).ok_or_else(outside)?;
            let distance = new.checked_sub(base);
            let distance = distance.ok_or_else(outside)?;
            EntryType::OffsetDelta { distance }
        }
    };
    moves.note(*old, new);
    let size = raw.size;
    let header = EntryHeader { kind, size }.encode();
    if output.lists() {
        output.list(id()?, &[header.as_bytes(), raw.compressed()]);
    }
    output.put(header.as_bytes())?;
    output.put(raw.compressed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_copied_is_found_where_it_is_now() {
        let mut moves = Moves::default();
        assert_eq!(moves.moved(12), None);
        for (old, new) in [(12, 12), (30, 30), (100, 50), (120, 70), (200, 90)] {
            moves.note(old, new);
        }
        assert_eq!(moves.steps, [(12, 12), (100, 50), (200, 90)]);
        for (old, new) in [(12, 12), (30, 30), (100, 50), (120, 70), (200, 90)] {
            assert_eq!(moves.moved(old), Some(new));
        }
    }
}
