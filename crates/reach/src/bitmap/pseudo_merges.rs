//! Pseudo-merges: groups of tips whose joint closure is stored beside the bitmaps of commits, for
//! requests that name a whole group. The groups are those of git-config(1), `bitmapPseudoMerge`.

use super::history::History;
use hedgerow_pack::ObjectId;
use std::collections::HashSet;

/// Minimum group size; a smaller group takes all remaining tips instead.
const SMALLEST: u32 = 8;

/// How the tips that a pattern matches are grouped.
#[derive(Clone, Debug)]
pub struct PseudoMergeGroup {
    /// How fast the sizes of groups of young tips decrease.
    pub decay: f64,
    /// The fraction of the young tips that is used, above 0 and up to 1.
    pub sample_rate: f64,
    /// Only tips up to this time, in seconds since 1970, are grouped.
    pub threshold: u64,
    /// Maximum number of groups of young tips.
    pub max_merges: u32,
    /// Tips up to this time, in seconds since 1970, are stable.
    pub stable_threshold: u64,
    /// Number of stable tips in a group.
    pub stable_size: u32,
    /// The tips, all of them commits, grouped by what the pattern captures.
    pub matches: Vec<Vec<ObjectId>>,
}

/// The commits of each pseudo-merge, by their numbers in `history`. `number` gives the number of a
/// commit, if it is in the history; `selected` are the commits with a bitmap of their own.
pub(crate) fn select(
    groups: &[PseudoMergeGroup],
    history: &History,
    number: impl Fn(&ObjectId) -> Option<u32>,
    selected: &HashSet<u32>,
) -> Vec<Vec<u32>> {
    let mut merges = Vec::new();
    for group in groups {
        for tips in &group.matches {
            let mut numbers: Vec<u32> = tips.iter().filter_map(&number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let date = |number: &u32| history.commits.get(*number as usize).map_or(0, |c| c.date);
            numbers.sort_by_key(date);
            let is_stable = |number: &u32| date(number) <= group.stable_threshold;
            let (stable, mut young): (Vec<u32>, Vec<u32>) =
                numbers.into_iter().partition(is_stable);
            young.retain(|number| date(number) <= group.threshold && !selected.contains(number));
            let size = group.stable_size.max(1) as usize;
            merges.extend(stable.chunks(size).map(<[u32]>::to_vec));
            merges.extend(group.of_young(&young));
        }
    }
    merges.retain(|merge| !merge.is_empty());
    merges
}

impl PseudoMergeGroup {
    /// Splits young tips, oldest first, into groups whose sizes follow a decreasing power series.
    fn of_young(&self, young: &[u32]) -> Vec<Vec<u32>> {
        let power = |number: u32| 1.0 / f64::from(number + 1).powi(self.decay as i32);
        let sum: f64 = (0..self.max_merges).map(power).sum();
        let scale = young.len() as f64 / sum;
        let every = (1.0 / self.sample_rate) as usize;
        let mut groups = Vec::new();
        let mut start = 0;
        for number in 0..self.max_merges {
            let size = (scale * power(number) + 0.5) as u32;
            let end = match size {
                ..SMALLEST => young.len(),
                size => young.len().min(start + size as usize),
            };
            let taken = (start..end).filter(|at| at.is_multiple_of(every.max(1)));
            groups.push(taken.filter_map(|at| young.get(at).copied()).collect());
            start = end;
            if start >= young.len() {
                break;
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn young_groups_get_smaller() {
        let group = |decay, max_merges, sample_rate| PseudoMergeGroup {
            decay,
            sample_rate,
            threshold: 0,
            max_merges,
            stable_threshold: 0,
            stable_size: 1,
            matches: Vec::new(),
        };
        let young: Vec<u32> = (0..1000).collect();
        let sizes = |group: PseudoMergeGroup| -> Vec<usize> {
            group.of_young(&young).iter().map(Vec::len).collect()
        };
        // 1000 / (1 + 1/2 + 1/3 + 1/4) = 480, and so on.
        assert_eq!(sizes(group(1.0, 4, 1.0)), [480, 240, 160, 120]);
        assert_eq!(sizes(group(0.0, 4, 1.0)), [250, 250, 250, 250]);
        assert_eq!(sizes(group(0.0, 2, 0.5)), [250, 250]);
        // The second group would have fewer than eight.
        assert_eq!(sizes(group(8.0, 4, 1.0)), [996, 4]);
        assert!(group(1.0, 0, 1.0).of_young(&young).is_empty());
    }
}
