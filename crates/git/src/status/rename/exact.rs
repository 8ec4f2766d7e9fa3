//! Renames of contents that are equal.

use super::search::Search;
use super::similarity::{basename, is_comparable};
use super::{spread, Contents, Detection, Score, Side};
use crate::Result;
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use std::collections::HashMap;

/// So many sources of one content are looked at.
const LOOKED_AT: usize = 100;

/// Finds for each destination, in order, the best source of the same content: one that is not used
/// yet and has the same name rather than one of the two, the first of equally good ones.
pub(super) fn find<C: Contents>(
    search: &mut Search<'_>,
    contents: &C,
    engine: &Options,
) -> Result<()> {
    let sources = ids(
        search.sources.iter().map(|source| source.side),
        contents,
        engine,
    )?;
    let wanted = ids(
        search.destinations.iter().map(|to| to.side),
        contents,
        engine,
    )?;
    let mut by_id: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (number, id) in sources.iter().enumerate() {
        if let Some(id) = id {
            by_id.entry(*id).or_default().push(number);
        }
    }
    if is_reversed(sources.len()) {
        by_id.values_mut().for_each(|numbers| numbers.reverse());
    }
    for (destination, id) in wanted.iter().enumerate() {
        let same = id.as_ref().and_then(|id| by_id.get(id));
        let best = same.and_then(|same| best(search, destination, same));
        if let Some(source) = best {
            search.record(destination, source, Score::EQUAL);
        }
    }
    Ok(())
}

fn best(search: &Search<'_>, destination: usize, same: &[usize]) -> Option<usize> {
    let side = search.destinations[destination].side;
    let mut best = None;
    let mut left = LOOKED_AT;
    for source in same {
        let old = search.sources[*source].side;
        let is_used = search.is_used(*source);
        if !modes_allow(old, side) || is_used && search.detection != Detection::Copies {
            continue;
        }
        let score = u8::from(!is_used) + u8::from(basename(old) == basename(side));
        if best.is_none_or(|(_, known)| score > known) {
            best = Some((*source, score));
        }
        left -= 1;
        if score == 2 || left == 0 {
            break;
        }
    }
    best.map(|(source, _)| source)
}

/// Regular files of any mode can be one another, all else must be of the same kind.
fn modes_allow(old: &Side, new: &Side) -> bool {
    old.mode == new.mode || is_comparable(old) && is_comparable(new)
}

/// Git keeps the sources in a hash table that quadruples when it is four fifths full. It is made
/// large enough for all of them, but for these numbers of sources, due to rounding, one place too
/// small: then the last step turns the order of all equal ones round.
fn is_reversed(sources: usize) -> bool {
    let mut size = 64;
    while size < sources * 100 / 80 {
        size *= 4;
    }
    sources > size * 80 / 100
}

fn ids<'s, C: Contents>(
    sides: impl Iterator<Item = &'s Side>,
    contents: &C,
    engine: &Options,
) -> Result<Vec<Option<ObjectId>>> {
    let sides: Vec<&Side> = sides.collect();
    let mut ids: Vec<_> = sides.iter().map(|side| side.id).collect();
    let unknown: Vec<usize> = (0..ids.len()).filter(|at| ids[*at].is_none()).collect();
    let found = spread::map(
        contents,
        engine,
        unknown.len(),
        || (),
        |worker, (), at| contents.id(worker, sides[unknown[at]]),
    )?;
    for (at, id) in unknown.into_iter().zip(found) {
        ids[at] = id;
    }
    Ok(ids)
}
