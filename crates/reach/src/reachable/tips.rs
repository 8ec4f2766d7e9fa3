//! What tips lead to, and the account of how their question was answered.

use crate::shares::in_shares;
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_object::{Malformed, TagRef};
use hedgerow_pack::{Bitmaps, ObjectKind, Reader};

/// Annotated tags of annotated tags are followed this far.
const TAG_DEPTH: usize = 1000;
/// What a tag points to is in its first so many bytes: the lines `object`, with an id in hexadecimal
/// digits, and `type`.
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
    /// How many objects the answer has.
    pub objects: u64,
}

/// What a set of tips needed to be followed to the end of history.
#[derive(Clone, Debug, Default)]
pub struct BitmapUse {
    /// How many commits the tips are.
    pub tips: u64,
    /// The commits whose bitmaps were used, in the order they were met.
    pub bitmaps: Vec<ObjectId>,
    /// Tips that bitmaps of others included.
    pub included: u64,
    /// How many pseudo-merges were used.
    pub pseudo_merges: u64,
    /// How many commits without a bitmap were walked.
    pub commits_walked: u64,
    /// How many trees were read for their objects.
    pub trees_read: u64,
    /// Objects that are outside the pack of the bitmaps.
    pub outside: u64,
}

/// A tip, followed to the end: the tags on the way, and what they are of.
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

/// Follows each of `tips` to its end, by up to `threads` threads; `None` for one that is nowhere. A
/// commit that the bitmaps know need not be looked at.
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

/// Whether the bitmaps know that the object with that bit is a commit.
fn is_commit_by(bitmaps: &Bitmaps<'_>, bit: u32) -> Result<bool> {
    let commits = bitmaps.of_kind(ObjectKind::Commit);
    Ok(commits.map_err(|_| Error::DamagedBitmap)?.contains(bit))
}

/// Follows `tip` through annotated tags. `None` if it is nowhere, or not what a tag says.
fn follow(
    source: &Source<'_>,
    bitmaps: Option<&Bitmaps<'_>>,
    reader: &mut Reader<'_>,
    tip: &ObjectId,
) -> Result<Option<Followed>> {
    let mut tags = Vec::new();
    let mut start = [0; TAG_TARGET_BYTES];
    let mut id = *tip;
    // What the tag before says that this is.
    let mut named: Option<ObjectKind> = None;
    for _ in 0..TAG_DEPTH {
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
        tags.reserve_exact(1);
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
    }
    let reason = "it starts a chain of tags that is too long";
    Err(Malformed::new(ObjectKind::Tag, tip, reason).into())
}
