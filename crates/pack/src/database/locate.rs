use super::generation::MultiIndex;
use super::store::ObjectStore;
use crate::error::{Error, Result};
use crate::loose;
use crate::object::Location;
use crate::pack_file::pack::Pack;
use gix_hash::{oid, ObjectId};
use std::collections::HashSet;

/// From how many wanted loose objects that share a first byte on, listing their directory beats
/// asking for each.
const LIST_FROM: usize = 8;

/// A pack that was passed over in a search.
type Unusable = Option<(std::path::PathBuf, String)>;

impl ObjectStore {
    /// Where the object `id` is; `None` if it is nowhere.
    ///
    /// # Errors
    /// [`Error::UnusablePack`] if it is nowhere, but a pack it may be in is broken.
    pub fn locate(&self, id: &oid) -> Result<Option<Location>> {
        let mut hint = None;
        if let Some(found) = self.locate_packed(id, &mut hint)? {
            return Ok(Some(found));
        }
        match self.locate_loose(id) {
            Ok(Some(found)) => Ok(Some(found)),
            // It asks once more, and tells the error.
            Ok(None) | Err(_) => self.last_resort(id),
        }
    }

    /// Where each of the objects `ids` is, in their order; `None` for one that is nowhere.
    ///
    /// # Errors
    /// As [`ObjectStore::locate`].
    pub fn locate_all(&self, ids: &[ObjectId]) -> Result<Vec<Option<Location>>> {
        let mut hint = None;
        let mut found = Vec::with_capacity(ids.len());
        let mut absent = Vec::new();
        for (index, id) in ids.iter().enumerate() {
            let location = self.locate_packed(id, &mut hint)?;
            if location.is_none() {
                absent.push((*id, index));
            }
            found.push(location);
        }
        absent.sort_unstable();
        self.locate_all_loose(&mut absent, &mut found, false)?;
        self.last_resort_of_all(absent, &mut found)?;
        Ok(found)
    }

    /// Fills in `found` for those of `absent`, which are ids in order with their indexes, that are loose, and
    /// leaves the others. Unless this `is_last`, what cannot be asked is left, too: who asks last tells the
    /// error.
    fn locate_all_loose(
        &self,
        absent: &mut Vec<(ObjectId, usize)>,
        found: &mut [Option<Location>],
        is_last: bool,
    ) -> Result<()> {
        for group in absent.chunk_by(|a, b| a.0.first_byte() == b.0.first_byte()) {
            let listed = match group.first() {
                Some((first, _)) if group.len() >= LIST_FROM => {
                    Some(self.list_loose(first.first_byte())?)
                }
                _ => None,
            };
            for (id, index) in group {
                found[*index] = match &listed {
                    Some(listed) => listed.iter().zip(0..).find_map(|(ids, directory)| {
                        ids.contains(id).then_some(Location::Loose { directory })
                    }),
                    None if is_last => self.locate_loose(id)?,
                    None => self.locate_loose(id).unwrap_or(None),
                };
            }
        }
        absent.retain(|(_, index)| found[*index].is_none());
        Ok(())
    }

    /// As [`ObjectStore::last_resort`] for each of `absent`; the system is asked once for all where it can be: a
    /// partial clone may lack most of what is looked for.
    fn last_resort_of_all(
        &self,
        mut absent: Vec<(ObjectId, usize)>,
        found: &mut [Option<Location>],
    ) -> Result<()> {
        if absent.len() < LIST_FROM {
            for (id, index) in absent {
                found[index] = self.last_resort(&id)?;
            }
            return Ok(());
        }
        loop {
            let seen = self.generations().count();
            for (id, index) in &absent {
                // Which pack could not be read is told in the end.
                found[*index] = self.search_all_packs(id).unwrap_or(None);
            }
            absent.retain(|(_, index)| found[*index].is_none());
            if absent.is_empty() {
                return Ok(());
            }
            if !self.relist(seen)? {
                break;
            }
        }
        self.locate_all_loose(&mut absent, found, true)?;
        for (id, _) in &absent {
            self.search_all_packs(id)?;
        }
        Ok(())
    }

    /// For each object directory, the loose objects whose ids start with `byte`.
    fn list_loose(&self, byte: u8) -> Result<Vec<HashSet<ObjectId>>> {
        let list = |directory| {
            let ids = loose::list(directory, byte, self.options.hash)?;
            Ok(ids.into_iter().collect())
        };
        self.directories.iter().map(|path| list(path)).collect()
    }

    /// Searches the multi-pack-indexes and then the packs they do not list. `hint` is the pack of
    /// the last hit: neighbours in a tree tend to be in one pack.
    pub(crate) fn locate_packed(
        &self,
        id: &oid,
        hint: &mut Option<u32>,
    ) -> Result<Option<Location>> {
        let found = self
            .multi_indexes()
            .find_map(|multi_index| self.locate_by_multi_index(multi_index, id));
        if found.is_some() {
            return Ok(found);
        }
        let uncovered = self
            .generations()
            .flat_map(|generation| &generation.uncovered);
        for number in hint.iter().chain(uncovered) {
            let found = self.pack(*number).and_then(|pack| pack.usable_offset(id));
            if let Some(offset) = found {
                let pack = *number;
                *hint = Some(pack);
                return Ok(Some(Location::Packed { pack, offset }));
            }
        }
        Ok(None)
    }

    /// Looks `id` up in `multi_index` and confirms the answer by the pack's own index: nothing
    /// else would tell that the file is damaged or stale.
    fn locate_by_multi_index(&self, multi_index: &MultiIndex, id: &oid) -> Option<Location> {
        let (number, offset) = multi_index.file.lookup(id.as_bytes())?;
        let pack = multi_index.packs.get(number as usize).copied();
        let Some((pack, data)) = pack.and_then(|pack| Some((pack, self.pack(pack)?))) else {
            self.distrust(multi_index);
            return None;
        };
        let confirmed = data.index().ok()?.lookup(id.as_bytes());
        if confirmed != Some(offset) {
            self.distrust(multi_index);
        }
        let offset = confirmed.filter(|_| data.data().is_ok())?;
        Some(Location::Packed { pack, offset })
    }

    pub(crate) fn multi_indexes(&self) -> impl Iterator<Item = &MultiIndex> + '_ {
        self.generations()
            .flat_map(|generation| &generation.multi_indexes)
    }

    fn distrust(&self, multi_index: &MultiIndex) {
        let path = multi_index.path.display();
        self.warn(format!(
            "'{path}' does not agree with the indexes of its packs"
        ));
    }

    /// The first object directory with a file for `id`.
    ///
    /// # Errors
    /// None has it, and one could not be asked: whoever would write the object, or do without it,
    /// must not go on.
    pub(crate) fn locate_loose(&self, id: &oid) -> Result<Option<Location>> {
        let mut unanswered = Ok(None);
        for (directory, path) in (0..).zip(&self.directories) {
            match hedgerow_fs::is_there(&loose::path(path, id)) {
                Ok(true) => return Ok(Some(Location::Loose { directory })),
                Ok(false) => {}
                Err(error) => unanswered = Err(error.into()),
            }
        }
        unanswered
    }

    /// What is left for an object that is in no pack it should be in, and not loose: the packs
    /// whose multi-pack-index does not know it, packs that appeared meanwhile, and the question
    /// which packs could not be read.
    fn last_resort(&self, id: &oid) -> Result<Option<Location>> {
        loop {
            let seen = self.generations().count();
            let found = self.search_all_packs(id);
            if matches!(found, Ok(Some(_))) {
                return found;
            }
            // Who repacks writes the new pack before the loose object is removed.
            if !self.relist(seen)? {
                return match self.locate_loose(id)? {
                    Some(found) => Ok(Some(found)),
                    None => found,
                };
            }
        }
    }

    fn search_all_packs(&self, id: &oid) -> Result<Option<Location>> {
        let mut unusable: Unusable = None;
        for (number, pack) in self.packs() {
            if let Some(offset) = pack.usable_offset(id) {
                for multi_index in self.multi_indexes() {
                    let lists_pack = multi_index.packs.contains(&number);
                    if lists_pack && multi_index.file.lookup(id.as_bytes()).is_none() {
                        self.distrust(multi_index);
                    }
                }
                let pack = number;
                return Ok(Some(Location::Packed { pack, offset }));
            }
            if let (None, Some(reason)) = (&unusable, reason_for_doubt(pack, id)) {
                unusable = Some((pack.path().to_owned(), reason));
            }
        }
        match unusable {
            None => Ok(None),
            Some((pack, reason)) => Err(Error::UnusablePack {
                id: id.to_owned(),
                pack,
                reason,
            }),
        }
    }

    /// Every place that has `id`: packs in order of search, then loose objects.
    pub fn all_copies<'s>(&'s self, id: &'s oid) -> impl Iterator<Item = Location> + 's {
        let packed = self.packs().filter_map(move |(pack, data)| {
            let offset = data.usable_offset(id)?;
            Some(Location::Packed { pack, offset })
        });
        let directories = self.directories.iter().zip(0..);
        let loose = directories.filter_map(move |(path, directory)| {
            let exists = hedgerow_fs::exists(&loose::path(path, id));
            exists.then_some(Location::Loose { directory })
        });
        packed.chain(loose)
    }

    /// Where the object `id` is that an entry of the pack `number` is a delta against: in the same
    /// pack as a rule, but no pack of a hostile repository need follow it.
    pub(crate) fn locate_base(&self, number: u32, id: &oid) -> Result<Option<Location>> {
        match self.pack(number).and_then(|pack| pack.usable_offset(id)) {
            Some(offset) => Ok(Some(Location::Packed {
                pack: number,
                offset,
            })),
            None => self.locate(id),
        }
    }

    /// Whether `location` can be one of this store.
    pub(crate) fn owns(&self, location: Location) -> bool {
        match location {
            Location::Packed { pack, .. } => self.pack(pack).is_some(),
            Location::Loose { directory } => (directory as usize) < self.directories.len(),
        }
    }
}

/// Why `pack` may have `id` although it cannot be had from it. One that was deleted has nothing:
/// who did that has put its objects elsewhere, or does not want them.
fn reason_for_doubt(pack: &Pack, id: &oid) -> Option<String> {
    if pack.is_gone() && !hedgerow_fs::exists(pack.path()) {
        return None;
    }
    match pack.index() {
        Err(reason) => Some(reason.to_owned()),
        Ok(index) => {
            index.lookup(id.as_bytes())?;
            pack.data().err().map(str::to_owned)
        }
    }
}
