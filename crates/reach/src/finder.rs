use crate::Result;
use gix_hash::{oid, ObjectId};
use hedgerow_pack::{Location, MainPack, ObjectStore};

/// Finds objects. What is in the main pack of the store goes by its position there from then on: it is
/// found once, and noted where that number says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finder<'s> {
    store: &'s ObjectStore,
    main: Option<MainPack<'s>>,
}

impl<'s> Finder<'s> {
    pub fn new(store: &'s ObjectStore) -> Self {
        let main = store.main_pack();
        Finder { store, main }
    }

    /// How many positions there are.
    pub fn count(&self) -> usize {
        self.main.map_or(0, |main| main.count() as usize)
    }

    /// The position of the object `id` in the main pack, if it is there.
    #[inline]
    pub fn position(&self, id: &[u8]) -> Option<u32> {
        self.main.as_ref()?.position(id)
    }

    /// Where the object `id` is, whose position in the main pack is `position`.
    pub fn location(&self, id: &oid, position: Option<u32>) -> Result<Option<Location>> {
        let main = self.main.as_ref().zip(position);
        match main.and_then(|(main, position)| main.location(position)) {
            Some(found) => Ok(Some(found)),
            None => Ok(self.store.locate(id)?),
        }
    }

    /// Where `stored` is, which is read in the place of the object `id`, whose position in the main pack
    /// is `position`.
    pub fn location_of(
        &self,
        stored: &ObjectId,
        id: &ObjectId,
        position: Option<u32>,
    ) -> Result<Option<Location>> {
        self.location(stored, position.filter(|_| stored == id))
    }
}

/// Number of slots of the positions that were found lately.
const SLOTS: usize = 1 << 14;
/// In a pack with fewer objects than this, looking in its index is as fast.
const FEW: usize = 1 << 15;

/// The positions of the objects that were found lately, in slots given by their ids: most entries of a
/// tree are those of a tree before it, and an index is larger than the caches of a processor.
#[derive(Debug, Default)]
pub(crate) struct RecentPositions {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// A part of the id.
    check: u32,
    position: u32,
}

impl RecentPositions {
    /// As [`Finder::position`].
    pub fn position(&mut self, finder: &Finder<'_>, id: &oid) -> Option<u32> {
        let main = finder.main.as_ref()?;
        let id = id.as_bytes();
        if finder.count() < FEW {
            return main.position(id);
        }
        if self.slots.is_empty() {
            let nothing = Slot {
                check: 0,
                position: u32::MAX,
            };
            self.slots = vec![nothing; SLOTS];
        }
        let (check, number) = parts(id);
        let slot = self.slots.get_mut(number % SLOTS)?;
        let is_it = |found: &oid| found.as_bytes() == id;
        if slot.check == check && main.id(slot.position).is_some_and(is_it) {
            return Some(slot.position);
        }
        let position = main.position(id)?;
        *slot = Slot { check, position };
        Some(position)
    }
}

/// Two parts of an id. Who chooses ids that have them in common makes lookups slow, not wrong.
fn parts(id: &[u8]) -> (u32, usize) {
    let part = |at: usize| {
        let bytes = id.get(at..).and_then(|rest| rest.first_chunk());
        u32::from_le_bytes(bytes.copied().unwrap_or_default())
    };
    (part(8), part(12) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_testkit::Repository;

    #[test]
    fn what_was_found_lately_is_where_it_is() {
        let repository = Repository::bare("sha1");
        let blobs = (0..FEW + 20_000).map(|number| format!("blob\ndata 8\n{number:08}\n"));
        let blobs: String = blobs.collect();
        repository.git_with(
            &["-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"],
            blobs.as_bytes(),
        );
        let store = ObjectStore::open(&repository.objects(), Default::default()).unwrap();
        let finder = Finder::new(&store);
        assert_eq!(finder.count(), FEW + 20_000);
        let mut recent = RecentPositions::default();
        // More than there are slots, and again and again.
        for round in 0..3 {
            for position in (0..finder.count() as u32).step_by(2 + round) {
                let id = finder.main.unwrap().id(position).unwrap();
                assert_eq!(recent.position(&finder, id), Some(position));
                assert_eq!(recent.position(&finder, id), Some(position));
                let mut other = id.to_owned();
                other.as_mut_slice()[19] ^= 1;
                assert_eq!(recent.position(&finder, &other), None);
            }
        }
    }
}
