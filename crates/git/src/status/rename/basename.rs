//! Renames that keep the last component of the path.

use super::search::Search;
use super::similarity::{basename, sizes_allow};
use super::sizes::sizes;
use super::spans::{Spans, Tally};
use super::{spread, Contents, Detection, RenameOptions, Score, Side};
use crate::Result;
use hedgerow_engine::Options;
use std::collections::HashMap;

/// Finds the renames among paths whose last component is unique among the sources and among the
/// destinations. Such a pair is compared with nothing else, and needs a higher score for it: half
/// way between the minimum and equality. Not used when copies are detected.
pub(super) fn find<C: Contents>(
    search: &mut Search<'_>,
    options: &RenameOptions,
    contents: &C,
    engine: &Options,
) -> Result<()> {
    if search.detection == Detection::Copies {
        return Ok(());
    }
    let minimum = options.minimum.half_way_to_equal();
    let sources = search.usable();
    let unique = unique(sources.iter().map(|at| (*at, search.sources[*at].side)));
    let waiting = search.waiting();
    let wanted = self::unique(
        waiting
            .iter()
            .map(|at| (*at, search.destinations[*at].side)),
    );
    let partner = |source: &usize| {
        let name = basename(search.sources[*source].side);
        unique.get(name).copied().flatten()?;
        Some((*source, wanted.get(name).copied().flatten()?))
    };
    let relevant = search.relevant();
    let pairs: Vec<(usize, usize)> = relevant.iter().filter_map(partner).collect();
    let sides: Vec<(&Side, &Side)> = pairs
        .iter()
        .map(|(from, to)| (search.sources[*from].side, search.destinations[*to].side))
        .collect();
    let scores = scores(&sides, minimum, contents, engine)?;
    for ((source, destination), score) in pairs.into_iter().zip(scores) {
        search.destinations[destination].compared |= score.is_some();
        if let Some(score) = score.filter(|score| *score >= minimum) {
            search.record(destination, source, score);
        }
    }
    Ok(())
}

/// The owner of each unique name; `None` for names that occur several times.
fn unique<'s>(sides: impl Iterator<Item = (usize, &'s Side)>) -> HashMap<&'s [u8], Option<usize>> {
    let mut owners = HashMap::new();
    for (number, side) in sides {
        let owner = owners.entry(basename(side));
        owner
            .and_modify(|owner| *owner = None)
            .or_insert(Some(number));
    }
    owners
}

/// The similarity of each pair; `None` if the sizes show that it is below `minimum`.
fn scores<C: Contents>(
    pairs: &[(&Side, &Side)],
    minimum: Score,
    contents: &C,
    engine: &Options,
) -> Result<Vec<Option<Score>>> {
    let all: Vec<&Side> = pairs.iter().flat_map(|(old, new)| [*old, *new]).collect();
    let sizes = sizes(&all, contents, engine)?;
    spread::map(
        contents,
        engine,
        pairs.len(),
        Tally::new,
        |worker, tally, at| {
            let (Some(old_size), Some(new_size)) = (sizes[2 * at], sizes[2 * at + 1]) else {
                return Ok(None);
            };
            if !sizes_allow(old_size, new_size, minimum) {
                return Ok(None);
            }
            let (old, new) = pairs[at];
            tally.count(contents, worker, old)?;
            let spans: Spans = tally.spans().collect();
            tally.count(contents, worker, new)?;
            let common = tally.common_bytes(&spans);
            Ok(Some(Score::of_share(common, old_size.max(new_size))))
        },
    )
}
