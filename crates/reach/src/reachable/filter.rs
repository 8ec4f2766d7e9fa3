//! Leaving objects out of a set that was found as a whole.

use super::set::{Extra, ObjectSet};
use super::tips::Marked;
use crate::shares::in_shares;
use crate::source::Source;
use crate::{Error, Filter, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{BitOrder, Location, ObjectKind, ObjectStore, Reader, Words};
use std::collections::HashSet;

/// So many objects are looked up before they are looked at.
const BATCH: usize = 64;
/// Blobs whose sizes one thread asks for.
const SHARE: usize = 4096;

/// Whether [`apply`] can apply `filter`: not if it depends on how deep a path is.
pub(crate) fn is_possible(filter: &Filter) -> bool {
    match filter {
        Filter::BlobNone | Filter::BlobLimit(_) | Filter::Kind(_) | Filter::TreeDepth(0) => true,
        Filter::TreeDepth(_) => false,
        Filter::Combine(filters) => filters.iter().all(is_possible),
    }
}

/// Whether `filter` leaves out all trees and blobs but those that are wants themselves.
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
    /// The bits of those that are in the order of the bitmaps.
    bits: Vec<u32>,
    /// The others.
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

/// Leaves out of `objects` what `filter` says, but none of `spared`.
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
        let large = in_shares(&bits, SHARE, threads, |share| {
            large_of(share, order, source.store, limit)
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
    let large = wanted_of(source, &blobs, threads, |reader, id| {
        match source.store.locate(id)? {
            Some(location) => is_large(reader, id, location, limit),
            None => Ok(false),
        }
    })?;
    let large: HashSet<ObjectId> = large.into_iter().collect();
    objects.retain_extra(|extra| !large.contains(&extra.id));
    Ok(())
}

/// Those of the blobs with these `bits` that have `limit` bytes or more. Index and headers are looked
/// at by the batch, with nothing in between: each is a miss of the cache, and several are on their
/// way from memory at a time.
fn large_of(
    bits: &[u32],
    order: &BitOrder<'_>,
    store: &ObjectStore,
    limit: u64,
) -> Result<Vec<u32>> {
    let mut reader = Reader::new(store);
    let mut large = Vec::new();
    let mut places = Vec::with_capacity(BATCH);
    for batch in bits.chunks(BATCH) {
        places.clear();
        for bit in batch {
            let place = order.id(*bit).zip(order.location(*bit));
            let (id, location) = place.ok_or(Error::BrokenOrder { bit: *bit })?;
            places.push((*bit, id.to_owned(), location));
        }
        store.touch(places.iter().map(|(_, _, location)| *location));
        for (bit, id, location) in &places {
            if is_large(&mut reader, id, *location, limit)? {
                large.push(*bit);
            }
        }
    }
    Ok(large)
}

fn is_large(
    reader: &mut Reader<'_>,
    id: &ObjectId,
    location: Location,
    limit: u64,
) -> Result<bool> {
    Ok(reader.header(id, location)?.size >= limit)
}

/// Those of `items` that `is_wanted`, in their order, by up to `threads` threads.
fn wanted_of<T: Copy + Send + Sync>(
    source: Source<'_>,
    items: &[T],
    threads: usize,
    is_wanted: impl Fn(&mut Reader<'_>, &T) -> Result<bool> + Sync,
) -> Result<Vec<T>> {
    in_shares(items, SHARE, threads, |share| {
        let mut reader = Reader::new(source.store);
        let mut wanted = Vec::new();
        for item in share {
            if is_wanted(&mut reader, item)? {
                wanted.push(*item);
            }
        }
        Ok(wanted)
    })
}
