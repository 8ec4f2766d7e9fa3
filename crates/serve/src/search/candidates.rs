use crate::plan::{Entry, Plan};
use crate::PackOptions;
use hedgerow_pack::ObjectKind;
use std::cmp::Reverse;
use std::ops::Range;

/// Objects smaller than this, in bytes, are not worth a delta.
const MIN_BYTES: u64 = 50;
/// Minimum size of a part of the search, in bytes: a smaller one is not worth losing the window.
const PART_BYTES: u64 = 1 << 20;
/// Approximate maximum number of parts.
const PARTS: u64 = 128;
/// Number of objects from which a part may be cut even within a name.
const MANY: usize = 1000;
/// Estimated cost of an object besides its content, in bytes.
const OBJECT_BYTES: u64 = 512;

/// The objects among which deltas are searched, in the order of the search: by kind, by name, those
/// that the receiver has first, then from the largest, usually the newest, to the smallest.
pub(super) fn candidates(plan: &Plan<'_>, options: &PackOptions) -> Vec<u32> {
    let usable = |entry: &Entry<'_>| {
        entry.delta.is_none() && (MIN_BYTES..=options.big_file_bytes).contains(&entry.size)
    };
    let numbered = plan.entries.iter().zip(0_u32..);
    let mut numbers: Vec<u32> = numbered
        .filter(|(entry, _)| usable(entry))
        .map(|(_, number)| number)
        .collect();
    if !numbers.iter().any(|number| !plan.is_had(*number)) {
        return Vec::new();
    }
    let key = |number: u32| {
        let entry = plan.entries.get(number as usize)?;
        let rank = kind_rank(entry.kind);
        Some((
            rank,
            Reverse(entry.name_hash),
            !plan.is_had(number),
            Reverse(entry.size),
            number,
        ))
    };
    numbers.sort_by_cached_key(|number| key(*number));
    numbers
}

fn kind_rank(kind: ObjectKind) -> u8 {
    match kind {
        ObjectKind::Tag => 0,
        ObjectKind::Blob => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Commit => 3,
    }
}

/// Splits `candidates` into parts that are searched separately: where possible between names, where
/// little is lost.
pub(super) fn parts(plan: &Plan<'_>, candidates: &[u32], window: usize) -> Vec<Range<usize>> {
    let entry = |number: &u32| plan.entries.get(*number as usize);
    let weight = |number: &u32| entry(number).map_or(0, |entry| entry.size) + OBJECT_BYTES;
    let name = |number: &u32| entry(number).map(|entry| (kind_rank(entry.kind), entry.name_hash));
    let total: u64 = candidates.iter().map(weight).sum();
    let enough = (total / PARTS).max(PART_BYTES);
    let mut parts = Vec::new();
    let (mut start, mut gathered) = (0, 0);
    for (at, pair) in candidates.windows(2).enumerate() {
        let [this, next] = pair else { continue };
        gathered += weight(this);
        let end = at + 1;
        let is_boundary = name(this) != name(next);
        let is_enough = gathered >= enough && end - start >= 2 * window;
        // A cut within a name costs a whole object, and those may be large.
        let is_long = gathered >= 8 * enough && end - start >= MANY;
        if is_enough && (is_boundary || is_long) {
            parts.push(start..end);
            (start, gathered) = (end, 0);
        }
    }
    parts.push(start..candidates.len());
    parts
}
