//! Chains of reused deltas: deltas from several packs may form a loop, which must be cut, and no
//! chain may be too long.

use super::{Base, Entry};

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the chain that is currently walked.
    Active,
    Done,
}

/// Cuts loops, and chains into pieces of at most `limit` deltas; then sets the depth and the height
/// of each entry. An entry cut off from its base is not reused as a delta.
pub(super) fn cut(entries: &mut [Entry<'_>], limit: u32) {
    let mut states = vec![State::New; entries.len()];
    let mut chain = Vec::new();
    for start in 0..entries.len() {
        cut_from(entries, start, limit, &mut states, &mut chain);
    }
    for start in 0..entries.len() {
        let mut number = start;
        let mut height = 0;
        while let Some(base) = base(entries, number) {
            height += 1;
            if entries[base].height >= height {
                break;
            }
            entries[base].height = height;
            number = base;
        }
    }
}

/// The number of the entry that is the delta base of the entry `number`.
fn base(entries: &[Entry<'_>], number: usize) -> Option<usize> {
    match entries[number].delta.as_ref()?.base {
        Base::Entry(base) => Some(base as usize),
        Base::Verbatim { .. } | Base::Had(_) => None,
    }
}

/// Walks from the entry `start` to the first entry that is done or has no base among the entries,
/// then back.
fn cut_from(
    entries: &mut [Entry<'_>],
    start: usize,
    limit: u32,
    states: &mut [State],
    chain: &mut Vec<usize>,
) {
    chain.clear();
    let mut next = Some(start);
    while let Some(number) = next {
        match states[number] {
            State::New => {}
            State::Active => {
                // The last delta of the walk closes a loop.
                let last = chain.last().expect("what is active is on the chain");
                entries[*last].delta = None;
                break;
            }
            State::Done => break,
        }
        states[number] = State::Active;
        chain.push(number);
        next = base(entries, number);
    }
    while let Some(number) = chain.pop() {
        let below = base(entries, number).map(|base| entries[base].depth);
        let entry = &mut entries[number];
        entry.depth = match (&entry.delta, below) {
            (None, _) => 0,
            (Some(_), None) => 1,
            (Some(_), Some(below)) => below + 1,
        };
        if entry.depth > limit {
            entry.depth = 0;
            entry.delta = None;
        }
        states[number] = State::Done;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Delta, Source, Stored};
    use super::*;
    use hedgerow_pack::{HashKind, Location, ObjectId, ObjectKind};

    fn entries(bases: &[Option<u32>]) -> Vec<Entry<'static>> {
        let entry = |base: &Option<u32>| Entry {
            id: ObjectId::null(HashKind::Sha1),
            location: Location::Loose { directory: 0 },
            kind: ObjectKind::Blob,
            name_hash: 0,
            size: 0,
            stored: Stored::Otherwise,
            delta: base.map(|base| Delta {
                base: Base::Entry(base),
                size: 1,
                source: Source::Reused,
            }),
            depth: 0,
            height: 0,
        };
        bases.iter().map(entry).collect()
    }

    #[test]
    fn a_loop_is_cut_once() {
        // 0 -> 1 -> 2 -> 3 -> 1, and 4 -> 4.
        let mut entries = entries(&[Some(1), Some(2), Some(3), Some(1), Some(4)]);
        cut(&mut entries, 50);
        let is_delta: Vec<bool> = entries.iter().map(|e| e.delta.is_some()).collect();
        assert_eq!(is_delta, [true, true, true, false, false]);
        let depths: Vec<u32> = entries.iter().map(|entry| entry.depth).collect();
        assert_eq!(depths, [3, 2, 1, 0, 0]);
        let heights: Vec<u32> = entries.iter().map(|entry| entry.height).collect();
        assert_eq!(heights, [0, 1, 2, 3, 0]);
    }

    #[test]
    fn a_long_chain_is_cut_into_pieces() {
        let bases: Vec<Option<u32>> = (0..1000_u32).map(|n| n.checked_sub(1)).collect();
        let mut entries = entries(&bases);
        cut(&mut entries, 10);
        assert!(entries.iter().all(|entry| entry.depth + entry.height <= 10));
        assert_eq!(entries.iter().filter(|e| e.delta.is_none()).count(), 91);
    }
}
