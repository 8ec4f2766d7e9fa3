//! The kinds of all objects of bitmaps, from the headers of pack entries.

use super::{BitOrder, Words};
use crate::fault::Fault;
use crate::object::Location;
use crate::pack_file::entry::EntryForm;

impl BitOrder<'_> {
    /// The kinds of all objects, from their entries; a delta has the kind of its base. In the order
    /// of [`BitmapContents::kinds`](super::BitmapContents::kinds).
    ///
    /// # Errors
    /// The offset of an entry that cannot be read, with the fault.
    pub fn kinds(&self) -> Result<[Words; 4], (u64, Fault)> {
        let mut kinds = [(); 4].map(|()| Words::with_bits(self.count() as usize));
        // Deltas whose base has no kind yet; they are resolved after all others.
        let mut pending: Vec<(u32, u32)> = Vec::new();
        for bit in 0..self.count() {
            let Some(Location::Packed { pack, offset }) = self.location(bit) else {
                return Err((0, Fault::Outside));
            };
            let stored = self.members.pack(pack).ok_or((offset, Fault::Outside))?;
            let (entry, _) = stored.entry(offset).map_err(|fault| (offset, fault))?;
            let base = match entry.kind {
                EntryForm::Whole(kind) => {
                    set_kind(&mut kinds, bit, kind as usize);
                    continue;
                }
                EntryForm::OffsetDelta(base) => self.base(bit, pack, base),
                EntryForm::ReferenceDelta(id) => self.bit(&id),
            };
            let base = base.ok_or((offset, Fault::BaseOffset))?;
            match kind_number(&kinds, base) {
                Some(kind) => set_kind(&mut kinds, bit, kind),
                None => pending.push((bit, base)),
            }
        }
        while !pending.is_empty() {
            let before = pending.len();
            pending.retain(|(bit, base)| match kind_number(&kinds, *base) {
                Some(kind) => {
                    set_kind(&mut kinds, *bit, kind);
                    false
                }
                None => true,
            });
            if pending.len() == before {
                return Err((0, Fault::Loop));
            }
        }
        Ok(kinds)
    }

    /// The bit of the delta base, at `offset` of the pack, of the object with the bit `delta`
    /// there. If the base is in several packs, the chosen copy may be another one.
    fn base(&self, delta: u32, pack: u32, offset: u64) -> Option<u32> {
        let (rank, _) = self.members.key(self.row(delta)?)?;
        let here = self.bit_of_key((rank, offset), delta);
        here.or_else(|| self.bit(&self.members.id_at(pack, offset)?))
    }
}

fn set_kind(kinds: &mut [Words; 4], bit: u32, number: usize) {
    kinds[number].insert(bit);
}

fn kind_number(kinds: &[Words; 4], bit: u32) -> Option<usize> {
    kinds.iter().position(|words| words.contains(bit))
}
