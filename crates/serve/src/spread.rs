//! Distributes selected objects over packs, if the bitmaps cover several packs.

use crate::{Error, PackReuse, Result, Verbatim, Wanted};
use hedgerow_pack::{Bitmaps, Location, ObjectStore, OrderPart, Words};

/// How the selected objects in the order of the bitmaps are sent.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    /// The pack whose entries, all of them and in pack order, correspond to the first bits.
    first: Option<u32>,
    /// The selected entries of further packs, a bit for each entry in the order of its pack.
    others: Vec<(u32, Words)>,
    /// The objects that are sent one by one.
    pub wanted: Vec<Wanted>,
}

impl Spread {
    /// Distributes `bits`, objects in the order of `bitmaps`.
    pub fn new(
        store: &ObjectStore,
        bitmaps: &Bitmaps<'_>,
        bits: &Words,
        reuse: PackReuse,
    ) -> Result<Self> {
        let mut spread = Spread::default();
        for part in bitmaps.order().parts() {
            let is_first = part.bits.start == 0;
            let is_copied = match reuse {
                PackReuse::None => false,
                PackReuse::Single => is_first,
                PackReuse::Multi => true,
            };
            if is_copied && is_first && is_whole(store, &part) {
                spread.first = Some(part.pack);
                continue;
            }
            let mut rest = Vec::new();
            if is_copied {
                spread.add_entries(store, bitmaps, bits, &part, &mut rest)
            } else {
                rest.extend(bits.range(part.bits.clone()))
            }
            for bit in rest {
                spread.wanted.push(wanted(bitmaps, bit)?);
            }
        }
        Ok(spread)
    }

    /// The entries to copy; `bits` are those given to [`Spread::new`].
    pub fn verbatim<'c>(&'c self, bits: &'c Words) -> Vec<Verbatim<'c>> {
        let first = self.first.map(|pack| (pack, bits));
        let others = self.others.iter().map(|(pack, words)| (*pack, words));
        let all = first.into_iter().chain(others);
        all.map(|(pack, words)| Verbatim {
            pack,
            words: words.as_slice(),
        })
        .collect()
    }

    /// Finds the entries for the selected bits of `part`: both are in the order of offsets. Objects
    /// without an entry go to `rest`.
    fn add_entries(
        &mut self,
        store: &ObjectStore,
        bitmaps: &Bitmaps<'_>,
        bits: &Words,
        part: &OrderPart,
        rest: &mut Vec<u32>,
    ) {
        let selected = bits.range(part.bits.clone());
        let Ok(entries) = store.pack_entries(part.pack) else {
            // Its objects may be elsewhere, too.
            return rest.extend(selected);
        };
        let mut words = Words::with_bits(entries.count() as usize);
        let mut next = 0;
        for bit in selected {
            let offset = match bitmaps.order().location(bit) {
                Some(Location::Packed { pack, offset }) if pack == part.pack => Some(offset),
                _ => None,
            };
            let is_at = |entry| offset.is_some() && entries.offset(entry) == offset;
            // Adjacent entries are often selected together.
            let entry = if is_at(next) {
                Some(next)
            } else {
                offset.and_then(|offset| entries.order_of(offset))
            };
            match entry {
                Some(entry) => {
                    words.insert(entry);
                    next = entry + 1;
                }
                None => rest.push(bit),
            }
        }
        if !words.is_empty() {
            self.others.push((part.pack, words));
        }
    }
}

/// Whether the bits of `part` are all entries of its pack.
fn is_whole(store: &ObjectStore, part: &OrderPart) -> bool {
    let entries = store.pack_entries(part.pack);
    entries.is_ok_and(|entries| entries.count() == part.bits.end - part.bits.start)
}

fn wanted(bitmaps: &Bitmaps<'_>, bit: u32) -> Result<Wanted> {
    let order = bitmaps.order();
    let found = order.id(bit).zip(order.location(bit));
    let damaged = || Error::Reach(hedgerow_reach::Error::DamagedBitmap);
    let (id, location) = found.ok_or_else(damaged)?;
    Ok(Wanted {
        id: id.to_owned(),
        location,
        kind: bitmaps.kind(bit).map_err(|_| damaged())?,
        name_hash: bitmaps.name_hash(bit),
    })
}
