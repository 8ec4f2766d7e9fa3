//! Selects the commits that get a bitmap.

use super::history::History;
use std::collections::HashSet;

/// All of this many newest commits are candidates.
const ALL: usize = 100;
/// Maximum number of tips, reached from no other commit, that always get a bitmap.
const MAX_TIPS: usize = 4000;

/// The numbers of the commits of `history` that get a bitmap, ascending.
///
/// The rule is git's (`bitmap_writer_select_commits`): all of the newest hundred, then one in a
/// growing number, with `preferred` ones and merges before others. In addition, every tip that no
/// other tip reaches gets one, since the next fetch begins there; and commits that had a bitmap
/// before, `is_known`, come before merges, since nothing has to be walked for them.
pub(crate) fn select(
    history: &History,
    tips: &HashSet<u32>,
    preferred: &HashSet<u32>,
    is_known: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let commits = &history.commits;
    let mut newest: Vec<u32> = (0..commits.len() as u32).collect();
    let date = |number: &u32| commits.get(*number as usize).map(|commit| commit.date);
    newest.sort_by_key(|number| std::cmp::Reverse((date(number), *number)));
    let mut selected: HashSet<u32> = if newest.len() < ALL {
        newest.iter().copied().collect()
    } else {
        spread(history, &newest, preferred, is_known)
    };
    selected.extend(maximal(history, tips));
    let mut selected: Vec<u32> = selected.into_iter().collect();
    selected.sort_unstable();
    selected
}

fn spread(
    history: &History,
    newest: &[u32],
    preferred: &HashSet<u32>,
    is_known: impl Fn(u32) -> bool,
) -> HashSet<u32> {
    let is_merge = |number: &u32| {
        let commit = history.commits.get(*number as usize);
        commit.is_some_and(|commit| commit.parents.len() > 1)
    };
    let mut selected = HashSet::new();
    let mut at = 0;
    loop {
        let step = step(at);
        let Some(group) = newest.get(at..).filter(|rest| rest.len() > step) else {
            return selected;
        };
        let group = &group[..=step];
        let chosen = group
            .iter()
            .find(|number| preferred.contains(number))
            .or_else(|| group.iter().rev().find(|number| is_known(**number)))
            .or_else(|| group.iter().rev().find(|number| is_merge(number)))
            .or(group.last());
        selected.extend(chosen);
        at += step + 1;
    }
}

/// How many commits to skip after the one at `at`.
fn step(at: usize) -> usize {
    const NEAR: usize = 100;
    const FAR: usize = 20_000;
    const LONGEST: usize = 5_000;
    if at <= NEAR {
        0
    } else if at <= FAR {
        (at - NEAR).min(NEAR)
    } else {
        (at - FAR).clamp(NEAR, LONGEST)
    }
}

/// The tips that are not a parent of any commit of the history.
fn maximal(history: &History, tips: &HashSet<u32>) -> Vec<u32> {
    let mut has_child = vec![false; history.commits.len()];
    for parent in history.commits.iter().flat_map(|commit| &commit.parents) {
        if let Some(slot) = has_child.get_mut(*parent as usize) {
            *slot = true;
        }
    }
    let is_maximal = |tip: &u32| has_child.get(*tip as usize) == Some(&false);
    let mut maximal: Vec<u32> = tips.iter().copied().filter(is_maximal).collect();
    maximal.sort_unstable_by(|a, b| b.cmp(a));
    maximal.truncate(MAX_TIPS);
    maximal
}
