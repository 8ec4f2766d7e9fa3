//! Enumerates the objects of a set.

use super::{ObjectSet, Question};
use crate::request::{Missing, Objects, Order, Request};
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{Bitmaps, ObjectKind};
use std::ops::ControlFlow;

/// Number of ids that are gathered before they are shown. They are spread all over the index: read
/// one after the other with nothing in between, several loads from memory overlap.
const BATCH: usize = 64;

impl Request {
    /// Whether the answer is a set, which bitmaps can give: nothing may depend on an order, on
    /// times or on how objects are reached. With `only_count`, a maximum count does not depend on
    /// the order either. As with git, a set has no edges, even if they were asked for.
    pub fn is_answered_by_bitmaps(&self, only_count: bool) -> bool {
        let usual = Request::default();
        let is_plain = self.order == Order::Met
            && !self.in_commit_order
            && !self.is_reversed
            && !self.first_parent
            && !self.boundary
            && !self.exclude_promised
            && self.skip == 0
            && (self.max_count.is_none() || only_count && self.objects == Objects::None)
            && self.not_before.is_none()
            && self.not_after.is_none()
            && self.min_parents == usual.min_parents
            && self.max_parents.is_none()
            && self.side.is_none()
            && self.no_walk.is_none()
            && self.missing == Missing::Error;
        is_plain && self.question(1).is_set()
    }

    /// The same request as a question about a set.
    pub fn question(&self, threads: usize) -> Question {
        let tips = |is_have: bool| {
            let tips = self.tips.iter();
            let tips = tips.filter(move |tip| tip.is_uninteresting == is_have);
            tips.map(|tip| tip.id).collect::<Vec<_>>()
        };
        Question {
            wants: tips(false),
            haves: tips(true),
            filter: self.filter.clone(),
            filter_wants: self.filter_tips,
            keeps_named: false,
            only_commits: self.objects == Objects::None,
            threads,
        }
    }
}

impl ObjectSet<'_, '_> {
    /// Calls `show` for each object of `kinds`, kind by kind, with its bit if it has one, until
    /// `show` stops.
    ///
    /// # Errors
    /// [`Error::DamagedBitmap`]; the error of `show`.
    pub fn for_each(
        &self,
        kinds: &[ObjectKind],
        mut show: impl FnMut(ObjectId, Option<u32>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut batch = Vec::with_capacity(BATCH);
        for kind in kinds {
            if let Some(bitmaps) = self.bitmaps() {
                let of_kind = bitmaps.of_kind(*kind);
                let mut bits = of_kind.map_err(|_| Error::DamagedBitmap)?.clone();
                bits.intersect(self.bits());
                let mut bits = bits.iter();
                loop {
                    batch.clear();
                    for bit in bits.by_ref().take(BATCH) {
                        let id = bitmaps.order().id(bit).ok_or(Error::DamagedBitmap)?;
                        batch.push((id.to_owned(), bit));
                    }
                    for (id, bit) in &batch {
                        if show(*id, Some(*bit))?.is_break() {
                            return Ok(());
                        }
                    }
                    if batch.len() < BATCH {
                        break;
                    }
                }
            }
            for extra in self.extra().iter().filter(|extra| extra.kind == *kind) {
                if show(extra.id, None)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The bytes that the objects of `kinds` occupy in packs and loose files.
    ///
    /// # Errors
    /// As [`ObjectSet::for_each`]; if the size of an object cannot be determined.
    pub fn disk_bytes(&self, source: Source<'_>, kinds: &[ObjectKind]) -> Result<u64> {
        let mut bytes = 0_u64;
        if let Some(bitmaps) = self.bitmaps() {
            // No order counts: one pass over the pack is enough.
            let mut wanted = bitmaps.empty();
            for kind in kinds {
                let mut bits = bitmaps
                    .of_kind(*kind)
                    .map_err(|_| Error::DamagedBitmap)?
                    .clone();
                bits.intersect(self.bits());
                wanted.union(&bits);
            }
            for bit in wanted.iter() {
                bytes += match bitmaps.order().entry_bytes(bit) {
                    Some(size) => size,
                    None => size_of_bit(source, bitmaps, bit)?,
                };
            }
        }
        for extra in self
            .extra()
            .iter()
            .filter(|extra| kinds.contains(&extra.kind))
        {
            if let Some(location) = source.store.locate(&extra.id)? {
                bytes += source.store.size_on_disk(&extra.id, location)?;
            }
        }
        Ok(bytes)
    }
}

fn size_of_bit(source: Source<'_>, bitmaps: &Bitmaps<'_>, bit: u32) -> Result<u64> {
    let order = bitmaps.order();
    let id = order.id(bit).ok_or(Error::DamagedBitmap)?;
    let location = match order.location(bit) {
        Some(location) => Some(location),
        None => source.store.locate(id)?,
    };
    let size = location.map(|location| source.store.size_on_disk(id, location));
    Ok(size.transpose()?.unwrap_or(0))
}
