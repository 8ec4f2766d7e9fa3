//! The packs by their numbers: what each is, and what it holds.

use super::store::ObjectStore;
use crate::fault::Fault;
use crate::object::Location;
use crate::pack_file::index::PackIndex;
use crate::pack_file::pack::Pack;
use crate::pack_file::raw_entries::{PackEntries, RawEntry};
use crate::pack_file::sizes::PackedEntry;
use gix_hash::oid;
use std::path::Path;

impl ObjectStore {
    /// How many packs the store has: their numbers are below this.
    pub fn pack_count(&self) -> u32 {
        self.packs().count() as u32
    }

    /// The path of the pack `number`.
    pub fn pack_path(&self, number: u32) -> Option<&Path> {
        self.pack(number).map(Pack::path)
    }

    /// Whether the pack `number` is in the store's own object directory, and not an alternate.
    pub fn is_local_pack(&self, number: u32) -> bool {
        let own = self.directories.first().map(|own| own.join("pack"));
        own.is_some() && self.pack_path(number).and_then(Path::parent) == own.as_deref()
    }

    /// The entries of the pack `number`. The first call for a pack goes through its offsets once.
    ///
    /// # Errors
    /// [`Fault::Unreadable`] if the pack or its index cannot be used, or its offsets make no sense;
    /// [`Fault::Outside`] if there is no such pack.
    pub fn pack_entries(&self, number: u32) -> Result<PackEntries<'_>, Fault> {
        PackEntries::new(self.pack(number).ok_or(Fault::Outside)?)
    }

    /// Has the first bytes of the entries at `locations` come from memory, so that they need not be
    /// waited for one by one when they are read.
    pub fn touch(&self, locations: impl IntoIterator<Item = Location>) {
        for place in locations.into_iter().filter_map(Location::place) {
            let data = self.pack(place.pack).and_then(|pack| pack.data().ok());
            let first = data.and_then(|data| data.get(usize::try_from(place.offset).ok()?));
            std::hint::black_box(first.copied());
        }
    }

    /// The entry at `location`, which must be in a pack. For more than a few, use
    /// [`ObjectStore::pack_entries`].
    ///
    /// # Errors
    /// A [`Fault`] of the entry's header or of the pack; [`Fault::Outside`] for a loose object.
    pub fn raw_entry(&self, location: Location) -> Result<RawEntry<'_>, Fault> {
        let place = location.place().ok_or(Fault::Outside)?;
        self.pack_entries(place.pack)?.at_offset(place.offset)
    }

    /// The packs: the number of each, its path, and how many objects it has; `None` for one that
    /// cannot be used.
    pub fn pack_files(&self) -> impl Iterator<Item = (u32, &Path, Option<u32>)> {
        self.packs().map(|(number, pack)| {
            let count = pack.index().ok().map(PackIndex::count);
            (number, pack.path(), count)
        })
    }

    /// About how many objects are packed: an object in several packs counts in each. What is
    /// loose does not count, as for git, which sizes its abbreviations of ids by this.
    pub fn packed_count(&self) -> u64 {
        self.packs()
            .filter_map(|(_, pack)| pack.index().ok())
            .map(|index| u64::from(index.count()))
            .sum()
    }

    /// How many objects the pack `number` has; 0 if it cannot be used.
    pub fn pack_object_count(&self, number: u32) -> u32 {
        let pack = self.pack(number).filter(|pack| pack.data().is_ok());
        let index = pack.and_then(|pack| pack.index().ok());
        index.map_or(0, |index| index.count())
    }

    /// The id of the object at `position`, in order of ids, of the pack `number`.
    pub fn pack_object_id(&self, number: u32, position: u32) -> Option<&oid> {
        let index = self.pack(number)?.index().ok()?;
        oid::try_from_bytes(index.id(position)?).ok()
    }

    /// Whether each object that the index of the pack `number` lists is found by its id: a damaged one
    /// may say ids where nobody looks for them. Compares all of them.
    pub fn has_sorted_ids(&self, number: u32) -> bool {
        let index = self.pack(number).and_then(|pack| pack.index().ok());
        index.is_none_or(|index| {
            let (ids, data) = index.ids();
            ids.is_sorted(data)
        })
    }

    /// Where the pack `number` has the object `id`, if it does and can be used.
    pub fn offset_in_pack(&self, number: u32, id: &oid) -> Option<u64> {
        self.pack(number)?.usable_offset(id)
    }

    /// The entries of the pack `number`, in order of offsets; nothing if it cannot be used. What
    /// its index says twice is there twice.
    pub fn sizes_in_pack(&self, number: u32) -> Vec<PackedEntry> {
        let usable = self.pack(number).filter(|pack| pack.data().is_ok());
        usable.map(Pack::entries).unwrap_or_default()
    }

    /// The numbers of the packs that came from the remote of a partial clone, which has promised
    /// what they refer to: beside them is a `.promisor` file.
    pub fn promisor_packs(&self) -> Vec<u32> {
        let marked = |pack: &Pack| hedgerow_fs::exists(&pack.path().with_extension("promisor"));
        self.packs()
            .filter_map(|(number, pack)| marked(pack).then_some(number))
            .collect()
    }

    /// Packs that are there and cannot be used, and why, or whose index is damaged: each index is
    /// hashed. What packs list is not all that there is then, or not what there is.
    pub fn damaged_packs(&self) -> Vec<String> {
        let damage = |(_, pack): (u32, &Pack)| {
            let index = pack.path().with_extension("idx");
            let (path, reason) = match pack.whole_index() {
                Err(reason) => (index.as_path(), reason),
                Ok(_) => (pack.path(), pack.data().err()?),
            };
            let is_there = hedgerow_fs::exists(path);
            is_there.then(|| format!("cannot use '{}': {reason}", path.display()))
        };
        self.packs().filter_map(damage).collect()
    }
}
