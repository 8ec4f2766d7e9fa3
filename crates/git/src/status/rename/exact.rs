//! Renames with equal contents.

use super::search::Search;
use super::similarity::{basename, is_comparable};
use super::{spread, Contents, Detection, Score, Side};
use crate::Result;
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use std::collections::HashMap;

/// Maximum number of sources examined for one content.
const LOOKED_AT: usize = 100;

/// Finds the best source of the same content for each destination, in order: preferably one that is
/// unused and has the same name, then one with either property; of equally good ones, the first.
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

/// Regular files of any mode can be renamed to one another; others must have the same mode.
fn modes_allow(old: &Side, new: &Side) -> bool {
    old.mode == new.mode || is_comparable(old) && is_comparable(new)
}

/// Git keeps the sources in a hash table that quadruples when it is four fifths full. It is sized
/// for all of them, except that for these numbers of sources rounding makes it one place too small:
/// the last growth then reverses the order of equal sources.
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
