//! Applies a filter to a set of objects that is already complete.

use super::set::{Extra, ObjectSet};
use super::tips::Marked;
use crate::shares::in_shares;
use crate::source::Source;
use crate::{Error, Filter, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{Location, ObjectKind, ObjectStore, Reader, Words};
use std::collections::HashSet;

/// Number of objects that are looked up in one batch.
const BATCH: usize = 64;
/// Number of blobs whose sizes one thread determines.
const SHARE: usize = 4096;

/// Whether [`apply`] supports `filter`: it must not depend on the depth of a path.
pub(crate) fn is_possible(filter: &Filter) -> bool {
    match filter {
        Filter::BlobNone | Filter::BlobLimit(_) | Filter::Kind(_) | Filter::TreeDepth(0) => true,
        Filter::TreeDepth(_) => false,
        Filter::Combine(filters) => filters.iter().all(is_possible),
    }
}

/// Whether `filter` leaves out all trees and blobs except named wants.
pub(crate) fn leaves_out_trees(filter: &Filter) -> bool {
    match filter {
        Filter::TreeDepth(0) | Filter::Kind(ObjectKind::Commit | ObjectKind::Tag) => true,
        Filter::Combine(filters) => filters.iter().any(leaves_out_trees),
        _ => false,
    }
}

/// Objects that no filter leaves out.
#[derive(Debug, Default)]
pub(super) struct Spared {
    /// The bits of objects in the order of the bitmaps.
    bits: Vec<u32>,
    /// Other objects.
    extra: HashSet<ObjectId>,
}

impl FromIterator<Marked> for Spared {
    fn from_iter<I: IntoIterator<Item = Marked>>(objects: I) -> Self {
        let mut spared = Spared::default();
        for Marked { id, bit } in objects {
            match bit {
                Some(bit) => spared.bits.push(bit),
                None => drop(spared.extra.insert(id)),
            }
        }
        spared
    }
}

/// Removes from `objects` what `filter` leaves out, except `spared`.
pub(super) fn apply(
    filter: &Filter,
    source: Source<'_>,
    objects: &mut ObjectSet<'_, '_>,
    spared: &Spared,
    threads: usize,
) -> Result<()> {
    match filter {
        Filter::BlobNone => remove(objects, ObjectKind::Blob, spared),
        Filter::TreeDepth(0) => {
            remove(objects, ObjectKind::Blob, spared)?;
            remove(objects, ObjectKind::Tree, spared)
        }
        Filter::TreeDepth(_) => Err(Error::Filter(
            "a depth of trees cannot be told from bitmaps".into(),
        )),
        Filter::Kind(kept) => {
            let kinds = [
                ObjectKind::Commit,
                ObjectKind::Tree,
                ObjectKind::Blob,
                ObjectKind::Tag,
            ];
            let mut others = kinds.into_iter().filter(|kind| kind != kept);
            others.try_for_each(|kind| remove(objects, kind, spared))
        }
        Filter::BlobLimit(limit) => remove_large(*limit, source, objects, spared, threads),
        Filter::Combine(filters) => {
            let mut filters = filters.iter();
            filters.try_for_each(|filter| apply(filter, source, objects, spared, threads))
        }
    }
}

fn remove(objects: &mut ObjectSet<'_, '_>, kind: ObjectKind, spared: &Spared) -> Result<()> {
    if let Some(bitmaps) = objects.bitmaps {
        let mut removed = bitmaps
            .of_kind(kind)
            .map_err(|_| Error::DamagedBitmap)?
            .clone();
        for bit in &spared.bits {
            removed.remove(*bit);
        }
        objects.bits.subtract(&removed);
    }
    objects.retain_extra(|extra| extra.kind != kind || spared.extra.contains(&extra.id));
    Ok(())
}

/// Removes blobs of `limit` bytes or more.
fn remove_large(
    limit: u64,
    source: Source<'_>,
    objects: &mut ObjectSet<'_, '_>,
    spared: &Spared,
    threads: usize,
) -> Result<()> {
    if let Some(bitmaps) = objects.bitmaps {
        let mut blobs = bitmaps
            .of_kind(ObjectKind::Blob)
            .map_err(|_| Error::DamagedBitmap)?
            .clone();
        blobs.intersect(&objects.bits);
        for bit in &spared.bits {
            blobs.remove(*bit);
        }
        let bits: Vec<u32> = blobs.iter().collect();
        let order = bitmaps.order();
        let large = large_of(&bits, source.store, limit, threads, |bit| {
            let place = order.id(*bit).zip(order.location(*bit));
            let (id, location) = place.ok_or(Error::BrokenOrder { bit: *bit })?;
            Ok(Some((id.to_owned(), location)))
        })?;
        objects.bits.subtract(&large.into_iter().collect::<Words>());
    }
    let is_candidate =
        |extra: &&Extra| extra.kind == ObjectKind::Blob && !spared.extra.contains(&extra.id);
    let blobs: Vec<ObjectId> = objects
        .extra
        .iter()
        .filter(is_candidate)
        .map(|extra| extra.id)
        .collect();
    let large = large_of(&blobs, source.store, limit, threads, |id| {
        Ok(source.store.locate(id)?.map(|location| (*id, location)))
    })?;
    let large: HashSet<ObjectId> = large.into_iter().collect();
    objects.retain_extra(|extra| !large.contains(&extra.id));
    Ok(())
}

/// The `blobs` of `limit` bytes or more, in their order, by up to `threads` threads; blobs without
/// a `place` are not included. Index and headers are read in batches with nothing in between: each
/// access is a cache miss, and several loads from memory overlap.
fn large_of<T: Copy + Send + Sync>(
    blobs: &[T],
    store: &ObjectStore,
    limit: u64,
    threads: usize,
    place: impl Fn(&T) -> Result<Option<(ObjectId, Location)>> + Sync,
) -> Result<Vec<T>> {
    in_shares(blobs, SHARE, threads, |share| {
        let mut reader = Reader::new(store);
        let mut large = Vec::new();
        let mut places = Vec::with_capacity(BATCH);
        for batch in share.chunks(BATCH) {
            places.clear();
            for blob in batch {
                if let Some((id, location)) = place(blob)? {
                    places.push((*blob, id, location));
                }
            }
            store.touch(places.iter().map(|(_, _, location)| *location));
            for (blob, id, location) in &places {
                if reader.header(id, *location)?.size >= limit {
                    large.push(*blob);
                }
            }
        }
        Ok(large)
    })
}
