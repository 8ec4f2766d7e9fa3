use crate::ids::IdMap;
use gix_hash::{oid, ObjectId};
use hedgerow_pack::{Bitmaps, ObjectKind, Words};

/// A set of objects: those in the order of the bitmaps as bits, others in a list.
#[derive(Debug)]
pub struct ObjectSet<'b, 's> {
    /// The bitmaps that define the order of the bits.
    pub(crate) bitmaps: Option<&'b Bitmaps<'s>>,
    /// The objects in that order.
    pub(crate) bits: Words,
    /// Other objects, in the order in which they were found.
    pub(crate) extra: Vec<Extra>,
    /// The positions of ids in `extra`.
    pub(crate) places: IdMap<u32>,
}

/// An object outside the order of the bitmaps.
#[derive(Clone, Copy, Debug)]
pub struct Extra {
    /// The object.
    pub id: ObjectId,
    /// Its kind, as given by the referring object.
    pub kind: ObjectKind,
    /// git's hash of the path at which it was found; 0 if there is none.
    pub name_hash: u32,
}

impl<'b, 's> ObjectSet<'b, 's> {
    pub(crate) fn new(bitmaps: Option<&'b Bitmaps<'s>>) -> Self {
        ObjectSet {
            bitmaps,
            bits: bitmaps.map(Bitmaps::empty).unwrap_or_default(),
            extra: Vec::new(),
            places: IdMap::default(),
        }
    }

    /// The objects that are in the order of the bitmaps.
    pub fn bits(&self) -> &Words {
        &self.bits
    }

    /// The objects outside the order of the bitmaps.
    pub fn extra(&self) -> &[Extra] {
        &self.extra
    }

    /// The bitmaps that define the order of the bits.
    pub fn bitmaps(&self) -> Option<&'b Bitmaps<'s>> {
        self.bitmaps
    }

    /// Number of objects.
    pub fn count(&self) -> u64 {
        self.bits.count() + self.extra.len() as u64
    }

    /// Number of objects of one kind; `None` if the bitmaps are damaged.
    pub fn count_of(&self, kind: ObjectKind) -> Option<u64> {
        let extra = self.extra.iter().filter(|extra| extra.kind == kind).count() as u64;
        match self.bitmaps {
            Some(bitmaps) => {
                let of_kind = bitmaps.of_kind(kind).ok()?;
                Some(extra + self.bits.count_common(of_kind))
            }
            None => Some(extra),
        }
    }

    /// Adds the annotated tag `id`.
    pub fn add_tag(&mut self, id: ObjectId) {
        self.insert(Extra {
            id,
            kind: ObjectKind::Tag,
            name_hash: 0,
        });
    }

    /// Whether the set contains `id`.
    pub fn contains(&self, id: &oid) -> bool {
        match self.bit(id) {
            Some(bit) => self.bits.contains(bit),
            None => self.places.contains_key(&id.to_owned()),
        }
    }

    /// The bit of `id`, if it is in the order of the bitmaps.
    pub(crate) fn bit(&self, id: &oid) -> Option<u32> {
        self.bitmaps?.order().bit(id)
    }

    /// Adds an object; returns whether it was new.
    pub(crate) fn insert(&mut self, extra: Extra) -> bool {
        self.insert_at(self.bit(&extra.id), extra)
    }

    /// As [`ObjectSet::insert`], for an object whose bit is known.
    pub(crate) fn insert_at(&mut self, bit: Option<u32>, extra: Extra) -> bool {
        match bit {
            Some(bit) => self.bits.insert(bit),
            None => self.insert_extra(extra),
        }
    }

    /// Adds an object that is outside the order of the bitmaps.
    pub(crate) fn insert_extra(&mut self, extra: Extra) -> bool {
        let place = self.extra.len() as u32;
        let is_new = !self.places.contains_key(&extra.id);
        if is_new {
            self.places.insert(extra.id, place);
            self.extra.push(extra);
        }
        is_new
    }

    /// Removes the objects of `other`.
    pub(crate) fn subtract(&mut self, other: &ObjectSet<'_, '_>) {
        self.bits.subtract(&other.bits);
        self.retain_extra(|extra| !other.places.contains_key(&extra.id));
    }

    pub(crate) fn retain_extra(&mut self, keep: impl Fn(&Extra) -> bool) {
        let before = self.extra.len();
        self.extra.retain(keep);
        if self.extra.len() != before {
            let ids = self.extra.iter().map(|extra| extra.id);
            self.places = ids.zip(0..).collect();
        }
    }
}
