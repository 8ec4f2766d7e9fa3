//! Peels tips, and records how a question was answered.

use crate::shares::in_shares;
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_object::{CycleGuard, Malformed, TagRef};
use hedgerow_pack::{Bitmaps, ObjectKind, Reader};

/// Length of the beginning of a tag that contains its target, in bytes: the lines `object`, with an
/// id in hexadecimal digits, and `type`.
const TAG_TARGET_BYTES: usize = 7 + 64 + 1 + 5 + 6 + 1;
/// Fewer tips than this are not worth a thread.
const SHARE: usize = 128;

/// How a question was answered.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The bitmaps that were used for the wants.
    pub wants: BitmapUse,
    /// The bitmaps that were used for the haves.
    pub haves: BitmapUse,
    /// Number of objects in the answer.
    pub objects: u64,
}

/// What was needed to answer for one set of tips.
#[derive(Clone, Debug, Default)]
pub struct BitmapUse {
    /// Number of commits among the tips.
    pub tips: u64,
    /// The commits whose bitmaps were used, in the order in which they were met.
    pub bitmaps: Vec<ObjectId>,
    /// Number of tips included in bitmaps of others.
    pub included: u64,
    /// Number of pseudo-merges used.
    pub pseudo_merges: u64,
    /// Number of walked commits without a bitmap.
    pub commits_walked: u64,
    /// Number of trees read.
    pub trees_read: u64,
    /// Number of objects outside the packs of the bitmaps.
    pub outside: u64,
}

/// A peeled tip: the tags on the way, and the object at the end.
#[derive(Debug)]
pub(crate) struct Followed {
    pub tags: Vec<Marked>,
    pub end: Marked,
    pub kind: ObjectKind,
}

/// An object, with its bit if it is in the order of the bitmaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marked {
    pub id: ObjectId,
    pub bit: Option<u32>,
}

/// Peels each of `tips`, by up to `threads` threads; `None` for a missing object. A commit in the
/// bitmaps need not be read.
pub(crate) fn follow_all(
    source: Source<'_>,
    bitmaps: Option<&Bitmaps<'_>>,
    tips: &[ObjectId],
    threads: usize,
) -> Result<Vec<Option<Followed>>> {
    in_shares(tips, SHARE, threads, |share| {
        follow_share(source, bitmaps, share)
    })
}

fn follow_share(
    source: Source<'_>,
    bitmaps: Option<&Bitmaps<'_>>,
    tips: &[ObjectId],
) -> Result<Vec<Option<Followed>>> {
    let mut reader = Reader::new(source.store);
    let tips = tips.iter();
    tips.map(|tip| follow(&source, bitmaps, &mut reader, tip))
        .collect()
}

/// Whether the bitmaps say that the object with that bit is a commit.
fn is_commit_by(bitmaps: &Bitmaps<'_>, bit: u32) -> Result<bool> {
    let commits = bitmaps.of_kind(ObjectKind::Commit);
    Ok(commits.map_err(|_| Error::DamagedBitmap)?.contains(bit))
}

/// Peels the annotated tag `tip`. `None` if an object is missing, or not of the kind that a tag
/// says.
fn follow(
    source: &Source<'_>,
    bitmaps: Option<&Bitmaps<'_>>,
    reader: &mut Reader<'_>,
    tip: &ObjectId,
) -> Result<Option<Followed>> {
    let mut tags = Vec::new();
    let mut start = [0; TAG_TARGET_BYTES];
    let mut id = *tip;
    // The kind that the previous tag gives.
    let mut named: Option<ObjectKind> = None;
    let mut guard = CycleGuard::new(&id);
    loop {
        let known = bitmaps.and_then(|bitmaps| Some((bitmaps, bitmaps.order().bit(&id)?)));
        let bit = known.map(|(_, bit)| bit);
        let end = Marked { id, bit };
        let mut location = None;
        let stored = source.replacement(&id);
        if let Some((bitmaps, bit)) = known {
            if is_commit_by(bitmaps, bit)? {
                let kind = ObjectKind::Commit;
                let is_so = named.is_none_or(|named| named == kind);
                return Ok(is_so.then_some(Followed { tags, end, kind }));
            }
            if stored == id {
                location = bitmaps.order().location(bit);
            }
        }
        if location.is_none() {
            location = source.store.locate(&stored)?;
        }
        let Some(location) = location else {
            return Ok(None);
        };
        let kind = reader.header(&stored, location)?.kind;
        if named.is_some_and(|named| named != kind) {
            return Ok(None);
        }
        if kind != ObjectKind::Tag {
            return Ok(Some(Followed { tags, end, kind }));
        }
        // Nearly every chain has one tag.
        if tags.is_empty() {
            tags.reserve_exact(1);
        }
        tags.push(end);
        let start = reader.leading(location, &mut start);
        let (target, kind) = match TagRef::leading(&id, start) {
            Some(leading) => leading,
            None => {
                let tag = TagRef::parse(&id, reader.read(&stored, location)?.1)?;
                (tag.target, tag.kind)
            }
        };
        (id, named) = (target, Some(kind));
        if guard.is_cycle(&id) {
            let reason = "it starts a chain of tags that has no end";
            return Err(Malformed::new(ObjectKind::Tag, tip, reason).into());
        }
    }
}
