//! Selects the objects of many packs, each once and in order of ids.

use super::source::Source;
use super::split::in_parallel;
use crate::format::big_endian::u64_at;
use std::num::NonZeroUsize;

/// The location of an object's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of its pack in the new file.
    pub pack: u32,
    pub offset: u64,
}

/// The objects whose ids have the same first byte, in order of ids.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    pub ids: Vec<u8>,
    pub rows: Vec<Row>,
}

/// The object at `position` of the source with that rank.
#[derive(Clone, Copy)]
struct RankedObject {
    /// The bytes of the id after the first one.
    key: u64,
    rank: u32,
    position: u32,
}

/// The number for a pack that is not listed.
pub(super) const DROPPED: u32 = u32::MAX;

/// The buckets of all first bytes. `numbers` maps the packs' numbers in the sources to those in the
/// new file. The error is a reason.
pub(super) fn select(
    mut sources: Vec<Source<'_>>,
    numbers: &[u32],
    threads: NonZeroUsize,
) -> Result<Vec<Bucket>, String> {
    sources.sort_by(|a, b| a.rank().cmp(&b.rank()));
    in_parallel(256, threads, |byte| bucket(&sources, byte as u8, numbers))
}

/// Selects and sorts the objects with one first byte, as git does: for a repository with many
/// copies of its objects, this limits the memory needed at a time.
fn bucket(sources: &[Source<'_>], byte: u8, numbers: &[u32]) -> Result<Bucket, String> {
    let mut found = Vec::new();
    for (rank, source) in (0..).zip(sources) {
        for position in source.of_first_byte(byte) {
            let id = source.id(position).ok_or(UNSORTED)?;
            if id.first() != Some(&byte) {
                return Err(UNSORTED.into());
            }
            if !source.skips(position) {
                let key = u64_at(id, 1).expect("an id has more than eight bytes");
                found.push(RankedObject {
                    key,
                    rank,
                    position,
                });
            }
        }
    }
    let source = |found: &RankedObject| &sources[found.rank as usize];
    let id = |found: &RankedObject| source(found).id(found.position);
    found.sort_by(|a, b| {
        let by_key = a.key.cmp(&b.key);
        by_key.then_with(|| id(a).cmp(&id(b)).then(a.rank.cmp(&b.rank)))
    });
    found.dedup_by(|next, first| next.key == first.key && id(next) == id(first));
    let mut bucket = Bucket::default();
    bucket.rows.reserve_exact(found.len());
    for found in &found {
        let row = source(found).row(found.position);
        let (pack, offset) = row.ok_or(NO_OFFSET)?;
        let number = numbers.get(pack as usize).copied();
        let pack = number
            .filter(|number| *number != DROPPED)
            .ok_or(NO_OFFSET)?;
        let id = id(found).expect("it was read before");
        bucket.ids.extend_from_slice(id);
        bucket.rows.push(Row { pack, offset });
    }
    Ok(bucket)
}

const UNSORTED: &str = "the ids of a pack index do not agree with its fanout";
const NO_OFFSET: &str = "an index does not say where an object is";
