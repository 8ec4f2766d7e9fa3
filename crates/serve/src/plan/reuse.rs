use super::places::Places;
use super::{Base, Delta, Entry, Source, Stored};
use crate::verbatim::KeptPacks;
use crate::{PackOptions, Result};
use hedgerow_pack::{oid, EntryForm, Location, ObjectStore, PackEntries, RawEntry, Reader};

/// Decides whether the stored form of an object can be sent.
pub(super) struct Reuse<'p, 's> {
    pub store: &'s ObjectStore,
    pub options: &'p PackOptions,
    pub places: &'p Places,
    pub kept: &'p KeptPacks<'s>,
    /// Number of entries that are sent; later ones are only bases.
    pub sent: usize,
    pub has: Option<&'p (dyn Fn(&oid) -> bool + Sync)>,
}

impl<'s> Reuse<'_, 's> {
    /// Determines how each entry is stored, and which deltas can be sent as they are: those whose
    /// base is sent too, or had.
    pub fn look_up(&self, entries: &mut [Entry<'s>]) -> Result<()> {
        let mut current: Option<(u32, Option<PackEntries<'s>>)> = None;
        let mut next = 0;
        for (location, number) in self.places.packed() {
            let Location::Packed { pack, offset } = location else {
                continue;
            };
            if current.is_none_or(|(number, _)| number != pack) {
                // An unusable pack is reported when the object is read.
                current = Some((pack, self.store.pack_entries(pack).ok()));
                next = 0;
            }
            let Some((_, Some(stored))) = current else {
                continue;
            };
            // Adjacent entries are often wanted together.
            let order = if stored.offset(next) == Some(offset) {
                Some(next)
            } else {
                stored.order_of(offset)
            };
            let Some((order, raw)) = order.and_then(|at| Some((at, stored.entry(at).ok()?))) else {
                continue;
            };
            next = order + 1;
            if self.options.check_copies && !is_intact(&stored, order, raw.bytes) {
                continue;
            }
            self.note(entries, number, raw, pack, &stored);
        }
        Ok(())
    }

    fn note(
        &self,
        entries: &mut [Entry<'s>],
        number: u32,
        raw: RawEntry<'s>,
        pack: u32,
        stored: &PackEntries<'s>,
    ) {
        let base = match raw.kind {
            EntryForm::Whole(_) => None,
            _ if number as usize >= self.sent => None,
            _ => self.base(entries, raw.kind, pack, stored),
        };
        let entry = &mut entries[number as usize];
        match raw.kind {
            EntryForm::Whole(kind) => {
                (entry.kind, entry.size) = (kind, raw.size);
                entry.stored = Stored::Whole(raw.compressed());
            }
            _ => entry.stored = Stored::Delta(raw.compressed()),
        }
        entry.delta = base.map(|base| Delta {
            base,
            size: raw.size,
            source: Source::Reused,
        });
    }

    /// The base against which the delta of that `kind` in `pack` can be sent, if any.
    fn base(
        &self,
        entries: &[Entry<'s>],
        kind: EntryForm,
        pack: u32,
        stored: &PackEntries<'s>,
    ) -> Option<Base> {
        if !self.options.reuse_deltas {
            return None;
        }
        let id = match kind {
            EntryForm::Whole(_) => return None,
            EntryForm::ReferenceDelta(id) => id,
            EntryForm::OffsetDelta(offset) => {
                let location = Location::Packed { pack, offset };
                if let Some(number) = self.places.at(location) {
                    return Some(Base::Entry(number));
                }
                stored.id(stored.order_of(offset)?)?
            }
        };
        if let Some(number) = self.places.of(&id, entries) {
            return Some(Base::Entry(number));
        }
        let here = match kind {
            EntryForm::OffsetDelta(offset) => Some((pack, offset)),
            _ => None,
        };
        let is_kept = |(pack, offset): &(u32, u64)| {
            let (pack, offset) = (*pack, *offset);
            self.kept.has(Location::Packed { pack, offset })
        };
        // Another copy of the base may be the one that is sent.
        match here.filter(is_kept).or_else(|| self.kept.find(&id)) {
            Some((pack, offset)) => Some(Base::Verbatim { pack, offset, id }),
            None => self.has.filter(|has| has(&id)).map(|_| Base::Had(id)),
        }
    }

    /// Determines the sizes of the objects that are not sent in their stored form.
    pub fn measure(&self, entries: &mut [Entry<'s>]) -> Result<()> {
        let mut reader = Reader::new(self.store);
        for (number, entry) in entries.iter_mut().enumerate() {
            let is_known = matches!(entry.stored, Stored::Whole(_)) || entry.delta.is_some();
            if is_known {
                continue;
            }
            match reader.size_bytes(&entry.id, entry.location) {
                Ok(size) => entry.size = size,
                Err(error) if number < self.sent => return Err(error.into()),
                // An unreadable object that is not sent is ignored: size 0 is too small for a base.
                Err(_) => entry.size = 0,
            }
        }
        Ok(())
    }
}

/// Whether the bytes of an entry match the CRC-32 in its index, if there is one.
pub(crate) fn is_intact(stored: &PackEntries<'_>, order: u32, bytes: &[u8]) -> bool {
    let known = stored.crc32(order);
    known.is_none_or(|known| known == hedgerow_codec::crc32(0, bytes))
}
