//! Answers to a [`Request`] for which no order counts: a set by bitmaps, or numbers that many threads
//! find.

use crate::{
    reachable, walk_set, Error, Met, ObjectSet, Objects, Request, Result, Seen, SeenIds, Source,
};
use gix_hash::{oid, ObjectId};
use hedgerow_pack::{Bitmaps, Location, ObjectKind};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The kinds of objects, in the order that git lists them in by bitmaps.
const KINDS: [ObjectKind; 4] = [
    ObjectKind::Commit,
    ObjectKind::Tree,
    ObjectKind::Blob,
    ObjectKind::Tag,
];

/// The answer to a [`Request`] as a set, found by bitmaps.
#[derive(Debug)]
pub struct RequestedSet<'b, 's> {
    source: Source<'s>,
    objects: ObjectSet<'b, 's>,
    kinds: &'static [ObjectKind],
    max_count: Option<u64>,
}

impl<'b, 's> RequestedSet<'b, 's> {
    /// Finds what `request` asks for, with `threads` threads, by `bitmaps` as far as they go, or
    /// without them if they are damaged. [`Request::is_answered_by_bitmaps`] says whether that can
    /// be.
    ///
    /// # Errors
    /// As [`reachable`]; [`Error::BadTip`] if what is excluded is missing.
    pub fn find(
        source: Source<'s>,
        bitmaps: &'b Bitmaps<'s>,
        request: &Request,
        threads: usize,
    ) -> Result<Self> {
        for tip in request.tips.iter().filter(|tip| tip.is_uninteresting) {
            let is_here = bitmaps.order().bit(&tip.id).is_some()
                || source.store.locate(&source.replacement(&tip.id))?.is_some();
            if !is_here {
                let name = tip.shown_name();
                return Err(Error::BadTip { name });
            }
        }
        let question = request.question(threads);
        let answer = match reachable(source, Some(bitmaps), &question) {
            Err(Error::DamagedBitmap) => reachable(source, None, &question),
            answer => answer,
        };
        Ok(RequestedSet {
            source,
            objects: answer?.objects,
            kinds: match request.objects {
                Objects::None => &KINDS[..1],
                _ => &KINDS,
            },
            max_count: request.max_count,
        })
    }

    /// How many objects there are, or as many as were wanted at most.
    ///
    /// # Errors
    /// [`Error::DamagedBitmap`].
    pub fn count(&self) -> Result<u64> {
        let counts = self.kinds.iter().map(|kind| self.objects.count_of(*kind));
        let count = counts.sum::<Option<u64>>().ok_or(Error::DamagedBitmap)?;
        Ok(self.max_count.map_or(count, |most| most.min(count)))
    }

    /// The bytes that they take in packs and loose files.
    ///
    /// # Errors
    /// As [`ObjectSet::disk_bytes`].
    pub fn disk_bytes(&self) -> Result<u64> {
        self.objects.disk_bytes(self.source, self.kinds)
    }

    /// Calls `show` for each, kind by kind, until it wants no more.
    ///
    /// # Errors
    /// [`Error::DamagedBitmap`].
    pub fn for_each(&self, mut show: impl FnMut(ObjectId) -> ControlFlow<()>) -> Result<()> {
        self.objects.for_each(self.kinds, |id, _| Ok(show(id)))
    }
}

/// How many objects `request` asks for, found by `threads` threads.
///
/// # Errors
/// As [`walk_set`].
pub fn count_objects(source: Source<'_>, request: Request, threads: usize) -> Result<u64> {
    let seen = SeenIds::of(source.store);
    walk_set(source, request, threads, &seen)?;
    Ok(seen.count())
}

/// The bytes that what `request` asks for takes in packs and loose files, found by `threads` threads.
///
/// # Errors
/// As [`walk_set`]; [`Error::DiskUsage`].
pub fn sum_disk_bytes(source: Source<'_>, request: Request, threads: usize) -> Result<u64> {
    let sizes = Sizes {
        seen: SeenIds::of(source.store),
        source,
        bytes: AtomicU64::new(0),
        has_failed: AtomicBool::new(false),
    };
    walk_set(source, request, threads, &sizes)?;
    if sizes.has_failed.load(Ordering::Relaxed) {
        Err(Error::DiskUsage)
    } else {
        Ok(sizes.bytes.load(Ordering::Relaxed))
    }
}

/// The sum of what objects take on disk.
struct Sizes<'s> {
    seen: SeenIds,
    source: Source<'s>,
    bytes: AtomicU64,
    has_failed: AtomicBool,
}

impl Seen for Sizes<'_> {
    fn insert(&self, object: Met<'_>) -> bool {
        self.seen.insert(object)
    }

    fn wants_locations(&self) -> bool {
        true
    }

    fn found(&self, id: &oid, _: ObjectKind, location: Option<Location>) {
        if id.is_empty_tree() {
            // Git knows it by heart: it takes nothing.
            return;
        }
        let size = location.map(|location| self.source.store.size_on_disk(id, location));
        match size {
            Some(Ok(size)) => {
                self.bytes.fetch_add(size, Ordering::Relaxed);
            }
            _ => self.has_failed.store(true, Ordering::Relaxed),
        }
    }
}

impl Source<'_> {
    /// The bytes that `id` takes in a pack or a loose file; 0 for the empty tree, which git knows by
    /// heart.
    ///
    /// # Errors
    /// If it is nowhere, or its size cannot be found out.
    pub fn disk_bytes(&self, id: &ObjectId) -> hedgerow_pack::Result<u64> {
        if id.is_empty_tree() {
            return Ok(0);
        }
        let missing = || hedgerow_pack::Error::Missing { id: *id };
        let location = self.store.locate(id)?.ok_or_else(missing)?;
        self.store.size_on_disk(id, location)
    }
}
