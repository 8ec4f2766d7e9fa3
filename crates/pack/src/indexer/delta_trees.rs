//! The trees formed by deltas and their bases.

use super::record::{Form, Record, Records};
use gix_hash::ObjectId;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};

/// Marks the absence of an object.
const NONE: u32 = u32::MAX;

/// The deltas of a pack by their bases, and the base found for each.
#[derive(Debug)]
pub(crate) struct DeltaTrees {
    /// For each entry, the start of its deltas in `children`; at the end, the total.
    starts: Vec<u32>,
    /// Deltas with a base at an offset, ordered by base, then by their own position.
    children: Vec<u32>,
    /// Deltas with a base given by id, in order of these ids.
    waiting: Vec<(ObjectId, u32)>,
    /// The base of each delta, once it is found.
    parents: Vec<AtomicU32>,
}

impl DeltaTrees {
    pub fn new(records: &Records) -> Self {
        let list = &records.list;
        let mut waiting = Vec::new();
        let mut pairs = Vec::new();
        for (record, number) in list.iter().zip(0..) {
            match record.form {
                Form::Whole(_) => {}
                Form::OffsetDelta { distance } => {
                    pairs.extend(find(list, record.offset - distance).map(|base| (base, number)));
                }
                Form::ReferenceDelta { row } => {
                    let base = records.bases.get(row as usize);
                    waiting.push((*base.expect("each reference has a row"), number));
                }
            }
        }
        waiting.sort_unstable();
        // A counting sort by base, which keeps the deltas on one base in pack order.
        let mut starts = vec![0; list.len() + 1];
        for (base, _) in &pairs {
            starts[*base as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; pairs.len()];
        for (base, number) in pairs {
            let at = &mut next[base as usize];
            children[*at as usize] = number;
            *at += 1;
        }
        debug_assert!(next
            .iter()
            .zip(&starts[1..])
            .all(|(end, start)| end == start));
        DeltaTrees {
            starts,
            children,
            waiting,
            parents: list.iter().map(|_| AtomicU32::new(NONE)).collect(),
        }
    }

    /// Whether there are deltas against the entry `number`, whose object is `id`.
    pub fn is_base(&self, number: u32, id: &ObjectId) -> bool {
        !self.placed(number).is_empty() || !self.named(id).is_empty()
    }

    /// Appends to `list` the deltas against the entry `number`, whose object is `id`, last ones
    /// first, and claims them. Deltas claimed for another copy of the object are not included.
    pub fn claim(&self, number: u32, id: &ObjectId, list: &mut Vec<u32>) {
        let start = list.len();
        let named = self.named(id).iter().map(|(_, child)| child);
        for child in self.placed(number).iter().chain(named) {
            let slot = self.parents.get(*child as usize);
            let slot = slot.expect("every delta has a slot for its base");
            let relaxed = Ordering::Relaxed;
            let claimed = slot.compare_exchange(NONE, number, relaxed, relaxed);
            if claimed.is_ok() {
                list.push(*child);
            }
        }
        list[start..].reverse();
    }

    /// The base of the delta `number`, once it is claimed. Numbers from the number of entries on
    /// denote bases outside the pack.
    pub fn parent(&self, number: u32) -> Option<u32> {
        let parent = self.parents.get(number as usize)?.load(Ordering::Relaxed);
        (parent != NONE).then_some(parent)
    }

    /// The ids of bases that deltas still wait for, each once, in the order of the first deltas on
    /// them.
    pub fn wanted(&self) -> Vec<ObjectId> {
        let unclaimed = self
            .waiting
            .iter()
            .filter(|(_, child)| self.parent(*child).is_none());
        let mut firsts: Vec<(u32, ObjectId)> = Vec::new();
        for (id, child) in unclaimed {
            match firsts.last() {
                Some((_, last)) if last == id => {}
                _ => firsts.push((*child, *id)),
            }
        }
        firsts.sort_unstable();
        firsts.into_iter().map(|(_, id)| id).collect()
    }

    /// Whether a delta waits for the base `id`.
    pub fn is_wanted(&self, id: &ObjectId) -> bool {
        let named = self.named(id);
        named.iter().any(|(_, child)| self.parent(*child).is_none())
    }

    /// Which of `candidates`, bases that the repository has, in the order of the first deltas on
    /// them, are added to the pack. As in git, they are added one after the other, if deltas still
    /// wait for them after everything based on the previous ones is resolved. `is_open` says for
    /// each of `records`, all of which have their ids, whether it lacked a base before the first
    /// addition.
    ///
    /// Bases that the pack itself contains, as deltas, come last: only deltas in a cycle need them.
    /// git adds such a base if a delta on it comes first, and then the pack contains it twice.
    pub fn added(
        &self,
        records: &[Record],
        mut is_open: Vec<bool>,
        candidates: &[ObjectId],
    ) -> Vec<ObjectId> {
        let wanted: HashSet<&ObjectId> = candidates.iter().collect();
        let ids = records.iter().map(|record| &record.id);
        let own: HashSet<&ObjectId> = ids.filter(|id| wanted.contains(id)).collect();
        let (own, others): (Vec<_>, Vec<_>) = candidates.iter().partition(|id| own.contains(id));
        let candidates = others.into_iter().chain(own);
        candidates
            .filter(|id| self.settle(id, records, &mut is_open))
            .collect()
    }

    /// Closes all open deltas that depend on `id`. Returns whether an open delta named it as its
    /// base.
    fn settle(&self, id: &ObjectId, records: &[Record], is_open: &mut [bool]) -> bool {
        let mut close = |child: &u32| {
            let slot = is_open.get_mut(*child as usize);
            slot.is_some_and(|slot| std::mem::replace(slot, false))
        };
        let waiting = self.named(id).iter().map(|(_, child)| *child);
        let mut stack: Vec<u32> = waiting.filter(&mut close).collect();
        let is_needed = !stack.is_empty();
        while let Some(number) = stack.pop() {
            let id = records.get(number as usize).map(|record| record.id);
            let named = id.as_ref().map_or(&[][..], |id| self.named(id));
            let children = named.iter().map(|(_, child)| *child);
            let children = children.chain(self.placed(number).iter().copied());
            stack.extend(children.filter(&mut close));
        }
        is_needed
    }

    /// For each entry, the total size of itself and the offset deltas on it, directly and
    /// indirectly: an estimate of the work.
    pub fn weights(&self, records: &[Record]) -> Vec<u64> {
        let mut weights: Vec<u64> = records.iter().map(|record| record.size).collect();
        // The base of an offset delta always precedes it.
        for number in (0..records.len()).rev() {
            let above = self.placed(number as u32).iter();
            let sum: u64 = above.filter_map(|child| weights.get(*child as usize)).sum();
            weights[number] += sum;
        }
        weights
    }

    fn placed(&self, number: u32) -> &[u32] {
        let at = |number: usize| self.starts.get(number).map(|at| *at as usize);
        // The numbers of bases outside the pack follow those of the entries.
        match at(number as usize).zip(at(number as usize + 1)) {
            Some((start, end)) => self
                .children
                .get(start..end)
                .expect("the starts are within the children"),
            None => &[],
        }
    }

    fn named(&self, id: &ObjectId) -> &[(ObjectId, u32)] {
        if self.waiting.is_empty() {
            return &[];
        }
        let start = self.waiting.partition_point(|(base, _)| base < id);
        let (_, rest) = self.waiting.split_at(start);
        let count = rest.partition_point(|(base, _)| base == id);
        rest.split_at(count).0
    }
}

/// The entry at `offset`.
fn find(records: &[Record], offset: u64) -> Option<u32> {
    let found = records.binary_search_by_key(&offset, |record| record.offset);
    found.ok().map(|number| number as u32)
}
