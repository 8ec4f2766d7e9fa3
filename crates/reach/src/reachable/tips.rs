//! What tips lead to, and the account of how their question was answered.

use crate::object::TagRef;
use crate::shares::in_shares;
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{Bitmaps, ObjectKind, Reader};

/// Annotated tags of annotated tags are followed this far.
const TAG_DEPTH: usize = 1000;
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
    pub tags: Vec<ObjectId>,
    pub end: ObjectId,
    pub kind: ObjectKind,
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
    let mut all = Vec::with_capacity(tips.len());
    for tip in tips {
        all.push(match is_commit_by(bitmaps, tip)? {
            true => Some(Followed {
                tags: Vec::new(),
                end: *tip,
                kind: ObjectKind::Commit,
            }),
            false => follow(&source, &mut reader, tip)?,
        });
    }
    Ok(all)
}

/// Whether `id` is a commit that the bitmaps know.
fn is_commit_by(bitmaps: Option<&Bitmaps<'_>>, id: &ObjectId) -> Result<bool> {
    let bit = |bitmaps: &Bitmaps<'_>| bitmaps.order().bit(id);
    let Some((bitmaps, bit)) = bitmaps.and_then(|bitmaps| Some((bitmaps, bit(bitmaps)?))) else {
        return Ok(false);
    };
    let commits = bitmaps.of_kind(ObjectKind::Commit);
    Ok(commits.map_err(|_| Error::DamagedBitmap)?.contains(bit))
}

/// Follows the tip `id` through annotated tags. `None` if it is nowhere, or not what a tag says.
fn follow(source: &Source<'_>, reader: &mut Reader<'_>, id: &ObjectId) -> Result<Option<Followed>> {
    let mut tags = Vec::new();
    let mut current = *id;
    // What the tag before says that this is.
    let mut named: Option<ObjectKind> = None;
    for _ in 0..TAG_DEPTH {
        let stored = source.replacement(&current);
        let Some(location) = source.store.locate(&stored)? else {
            return Ok(None);
        };
        let kind = reader.header(&stored, location)?.kind;
        if named.is_some_and(|named| named != kind) {
            return Ok(None);
        }
        if kind != ObjectKind::Tag {
            let end = current;
            return Ok(Some(Followed { tags, end, kind }));
        }
        let (_, content) = reader.read(&stored, location)?;
        let tag = TagRef::parse(&current, content)?;
        named = Some(tag.kind);
        let target = tag.target;
        tags.push(current);
        current = target;
    }
    Err(Error::malformed(
        "tag",
        id,
        "it starts a chain of tags that is too long",
    ))
}
