//! The pack that has most of what a store has: its objects go by their positions in its index, which
//! are dense numbers, where those of others need their ids.

use super::store::ObjectStore;
use crate::object::Location;
use crate::pack_file::index::PackIndex;
use crate::pack_file::pack::Pack;
use gix_hash::oid;

/// One pack of a store: which objects it has, by their positions in order of ids.
#[derive(Clone, Copy, Debug)]
pub struct MainPack<'s> {
    number: u32,
    index: &'s PackIndex,
    /// Whether searches look into it first.
    is_first: bool,
}

impl ObjectStore {
    /// The pack that takes at least half of the bytes of all packs, if there is one and it can be used.
    /// It stays the same one for as long as the store lives.
    pub fn main_pack(&self) -> Option<MainPack<'_>> {
        let number = (*self.main.get_or_init(|| self.find_main_pack()))?;
        let index = self.pack(number)?.index().ok()?;
        let has_others = self.multi_indexes().next().is_some();
        let is_first = !has_others && self.first.uncovered.first() == Some(&number);
        Some(MainPack {
            number,
            index,
            is_first,
        })
    }

    fn find_main_pack(&self) -> Option<u32> {
        let packs = &self.first.packs;
        let all = packs
            .iter()
            .fold(0_u64, |sum, pack| sum.saturating_add(pack.size_bytes()));
        let is_main = |pack: &Pack| pack.size_bytes() >= all.div_ceil(2);
        let at = packs.iter().position(is_main)?;
        let pack = packs.get(at)?;
        let is_usable = pack.index().is_ok() && pack.data().is_ok();
        is_usable.then_some(self.first.first + at as u32)
    }
}

impl<'s> MainPack<'s> {
    /// How many objects it has: positions are below this.
    pub fn count(&self) -> u32 {
        self.index.count()
    }

    /// The position of the object with the id `id`, if it has it; always the same one for an id.
    pub fn position(&self, id: &[u8]) -> Option<u32> {
        let (ids, data) = self.index.ids();
        ids.lookup(data, id)
    }

    /// The id of the object at `position`.
    pub fn id(&self, position: u32) -> Option<&'s oid> {
        oid::try_from_bytes(self.index.id(position)?).ok()
    }

    /// Where a search would find the object at `position`; `None` if it would look elsewhere first: of
    /// several copies, the one that git reads counts.
    pub fn location(&self, position: u32) -> Option<Location> {
        if !self.is_first {
            return None;
        }
        let (pack, offset) = (self.number, self.index.offset(position)?);
        Some(Location::Packed { pack, offset })
    }
}
