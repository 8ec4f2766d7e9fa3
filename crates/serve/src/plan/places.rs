use super::Entry;
use hedgerow_pack::{Location, ObjectId};
use std::sync::OnceLock;

/// Lookup of the entries of a plan by location and by id.
#[derive(Debug)]
pub(super) struct Places {
    by_place: Vec<(Location, u32)>,
    /// By the first bytes of the id, once one is looked for.
    by_id: OnceLock<Vec<(u64, u32)>>,
}

impl Places {
    pub fn new(entries: &[Entry<'_>]) -> Self {
        let numbered = || entries.iter().zip(0..);
        let packed = numbered().filter(|(entry, _)| is_packed(entry.location));
        let mut by_place: Vec<_> = packed.map(|(entry, at)| (entry.location, at)).collect();
        by_place.sort_unstable();
        Places {
            by_place,
            by_id: OnceLock::new(),
        }
    }

    /// The entries that are in packs, in order of location.
    pub fn packed(&self) -> impl Iterator<Item = (Location, u32)> + '_ {
        self.by_place.iter().copied()
    }

    pub fn at(&self, location: Location) -> Option<u32> {
        let found = self.by_place.binary_search_by_key(&location, |(at, _)| *at);
        self.by_place.get(found.ok()?).map(|(_, number)| *number)
    }

    pub fn of(&self, id: &ObjectId, entries: &[Entry<'_>]) -> Option<u32> {
        let key = start(id);
        let by_id = self.by_id.get_or_init(|| {
            let mut by_id = by_id(entries);
            by_id.sort_unstable();
            by_id
        });
        let first = by_id.partition_point(|(other, _)| *other < key);
        let (_, candidates) = by_id.split_at(first);
        let alike = candidates.iter().take_while(|(other, _)| *other == key);
        let is_it = |number: &u32| entries.get(*number as usize).is_some_and(|e| e.id == *id);
        alike.map(|(_, number)| *number).find(is_it)
    }
}

/// The first bytes of the id of each entry, and its number.
pub(super) fn by_id(entries: &[Entry<'_>]) -> Vec<(u64, u32)> {
    let starts = entries.iter().map(|entry| start(&entry.id));
    starts.zip(0..).collect()
}

fn is_packed(location: Location) -> bool {
    matches!(location, Location::Packed { .. })
}

fn start(id: &ObjectId) -> u64 {
    let start = id.as_bytes().first_chunk();
    start.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
