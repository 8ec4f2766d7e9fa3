//! Myers' algorithm, which finds a shortest way from one text to another, with the shortcuts that
//! git takes: where several ways are as good, or the best one is too costly to find, both choose the
//! same.
//!
//! The algorithm is that of "An O(ND) Difference Algorithm and its Variations" (Myers, 1986): two
//! searches go over the grid of both texts, from its start and from its end, until they meet. A
//! diagonal is named by its line of the first text minus its line of the second.

use super::compare::{Changed, Token};
use std::collections::HashMap;
use std::ops::Range;

/// Git takes shortcuts for a part when the searches have taken so many steps.
const PATIENT_STEPS: isize = 256;
/// A run of so many common lines is worth a shortcut.
const LONG_RUN: isize = 20;
/// A shortcut covers more lines than the steps so far by this factor.
const WORTHWHILE: isize = 4;
/// A line that the other text has so often is a frequent one, whatever the length of the texts.
const FREQUENT: usize = 1024;
/// How far git looks around a frequent line for lines that the other text lacks.
const NEIGHBORHOOD: usize = 100;
/// A frequent line is left out where it is among more lines without a match, by this factor.
const OUTNUMBERED: usize = 4;

/// Marks the lines that differ. The texts start at the lines `at` of those of `changed`.
pub(super) fn compare(
    before: &[Token],
    after: &[Token],
    at: (usize, usize),
    changed: &mut Changed,
) {
    let rows = || before.iter().zip(after);
    let start = rows().take_while(|(old, new)| old == new).count();
    let ends = before[start..]
        .iter()
        .rev()
        .zip(after[start..].iter().rev());
    let end = ends.take_while(|(old, new)| old == new).count();
    let (old_lines, new_lines) = (start..before.len() - end, start..after.len() - end);
    let (in_before, in_after) = (occurrences(before), occurrences(after));
    let old = Compared::of(before, old_lines, &in_after, |line| {
        changed.before[at.0 + line] = true;
    });
    let new = Compared::of(after, new_lines, &in_before, |line| {
        changed.after[at.1 + line] = true;
    });
    let mut parts = vec![(Part::whole(&old, &new), false)];
    let mut search = Search::new(&old, &new);
    while let Some((part, is_exact)) = parts.pop() {
        let part = search.without_common_ends(part);
        if part.before.is_empty() || part.after.is_empty() {
            for line in part.before {
                changed.before[at.0 + old.lines[line as usize]] = true;
            }
            for line in part.after {
                changed.after[at.1 + new.lines[line as usize]] = true;
            }
            continue;
        }
        let split = search.split(&part, is_exact);
        let (x, y) = split.at;
        let second = Part {
            before: x..part.before.end,
            after: y..part.after.end,
        };
        let first = Part {
            before: part.before.start..x,
            after: part.after.start..y,
        };
        parts.push((second, split.are_exact.1));
        parts.push((first, split.are_exact.0));
    }
}

fn occurrences(text: &[Token]) -> HashMap<Token, usize> {
    let mut counts = HashMap::new();
    for token in text {
        *counts.entry(*token).or_default() += 1;
    }
    counts
}

/// Git's square root: a power of two.
fn rough_root(number: usize) -> usize {
    let bits = usize::BITS - number.leading_zeros();
    1 << bits.div_ceil(2)
}

/// How a line is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    /// The other text lacks it: it differs.
    None,
    /// It is compared.
    Few,
    /// The other text has it often. It is compared unless most lines around it have no match.
    Many,
}

/// The lines of a text that are compared.
struct Compared {
    tokens: Vec<Token>,
    /// Where they are in the text.
    lines: Vec<usize>,
}

impl Compared {
    /// Of the part `lines` of a text, whose other lines are common ends. `elsewhere` counts the lines
    /// of the other text; what is not compared goes to `differs`.
    fn of(
        text: &[Token],
        lines: Range<usize>,
        elsewhere: &HashMap<Token, usize>,
        mut differs: impl FnMut(usize),
    ) -> Self {
        let frequent = rough_root(text.len()).min(FREQUENT);
        let matches: Vec<Match> = text[lines.clone()]
            .iter()
            .map(|token| match elsewhere.get(token) {
                None => Match::None,
                Some(count) if *count < frequent => Match::Few,
                Some(_) => Match::Many,
            })
            .collect();
        let mut compared = Compared {
            tokens: Vec::new(),
            lines: Vec::new(),
        };
        for (row, kind) in matches.iter().enumerate() {
            let line = lines.start + row;
            match kind {
                Match::None => differs(line),
                Match::Many if is_outnumbered(&matches, row) => differs(line),
                Match::Few | Match::Many => {
                    compared.tokens.push(text[line]);
                    compared.lines.push(line);
                }
            }
        }
        compared
    }
}

/// Whether a frequent line has lines without a match on both sides, and enough of them.
fn is_outnumbered(matches: &[Match], row: usize) -> bool {
    let start = row.saturating_sub(NEIGHBORHOOD);
    let end = matches.len().min(row + NEIGHBORHOOD + 1);
    let above = tally(matches[start..row].iter().rev());
    let below = tally(matches[row + 1..end].iter());
    // Git counts the line itself on both sides.
    let frequent = above.frequent + below.frequent + 2;
    let unmatched = above.unmatched + below.unmatched;
    above.unmatched > 0 && below.unmatched > 0 && frequent * OUTNUMBERED < frequent + unmatched
}

struct Tally {
    unmatched: usize,
    frequent: usize,
}

/// Counts the lines before the next one that is compared in any case.
fn tally<'m>(matches: impl Iterator<Item = &'m Match>) -> Tally {
    let mut tally = Tally {
        unmatched: 0,
        frequent: 0,
    };
    for kind in matches.take_while(|kind| **kind != Match::Few) {
        match kind {
            Match::None => tally.unmatched += 1,
            _ => tally.frequent += 1,
        }
    }
    tally
}

/// Parts of both texts, by the numbers of their compared lines.
#[derive(Clone)]
struct Part {
    before: Range<isize>,
    after: Range<isize>,
}

impl Part {
    fn whole(old: &Compared, new: &Compared) -> Self {
        Part {
            before: 0..old.tokens.len() as isize,
            after: 0..new.tokens.len() as isize,
        }
    }
}

/// Where a part is divided, and whether the halves are searched without shortcuts.
struct Split {
    at: (isize, isize),
    are_exact: (bool, bool),
}

struct Search<'t> {
    old: &'t [Token],
    new: &'t [Token],
    forward: Frontier,
    backward: Frontier,
    /// After so many steps, git takes the best there is.
    most_steps: isize,
}

impl<'t> Search<'t> {
    fn new(old: &'t Compared, new: &'t Compared) -> Self {
        let (old, new) = (&old.tokens[..], &new.tokens[..]);
        let diagonals = old.len() + new.len() + 3;
        Search {
            old,
            new,
            forward: Frontier::new(old.len(), new.len()),
            backward: Frontier::new(old.len(), new.len()),
            most_steps: (rough_root(diagonals) as isize).max(PATIENT_STEPS),
        }
    }

    fn is_common(&self, x: isize, y: isize) -> bool {
        self.old[x as usize] == self.new[y as usize]
    }

    fn without_common_ends(&self, part: Part) -> Part {
        let Part { before, after } = part;
        let length = before.len().min(after.len()) as isize;
        let starts = |row| self.is_common(before.start + row, after.start + row);
        let start = (0..length).take_while(|row| starts(*row)).count() as isize;
        let ends = |row| self.is_common(before.end - 1 - row, after.end - 1 - row);
        let end = (0..length - start).take_while(|row| ends(*row)).count() as isize;
        Part {
            before: before.start + start..before.end - end,
            after: after.start + start..after.end - end,
        }
    }

    /// Finds a point of a good way through `part`, whose texts are not empty and differ at both ends.
    fn split(&mut self, part: &Part, is_exact: bool) -> Split {
        let (before, after) = (&part.before, &part.after);
        self.forward.begin(before.start - after.start, before.start);
        self.backward.begin(before.end - after.end, before.end);
        let meets_forward = (self.forward.middle - self.backward.middle) % 2 != 0;
        for step in 1.. {
            let (mut met, found_run) = self.go_forward(part, meets_forward);
            let mut has_run = found_run;
            if met.is_none() {
                let (met_backward, found_run) = self.go_backward(part, !meets_forward);
                met = met_backward;
                has_run |= found_run;
            }
            if let Some(at) = met {
                let are_exact = (true, true);
                return Split { at, are_exact };
            }
            if is_exact {
                continue;
            }
            if has_run && step > PATIENT_STEPS {
                if let Some(split) = self.shortcut(part, step) {
                    return split;
                }
            }
            if step >= self.most_steps {
                break;
            }
        }
        self.furthest(part)
    }

    /// Takes the search from the start a step further. Returns where it meets the other one, if that is
    /// looked for, and whether it found a long run of common lines.
    fn go_forward(&mut self, part: &Part, meets: bool) -> (Option<(isize, isize)>, bool) {
        self.forward.widen(part, -1);
        let mut has_run = false;
        for diagonal in self.forward.diagonals() {
            let (below, above) = (self.forward.at(diagonal - 1), self.forward.at(diagonal + 1));
            let start = if below >= above { below + 1 } else { above };
            let mut x = start;
            while x < part.before.end
                && x - diagonal < part.after.end
                && self.is_common(x, x - diagonal)
            {
                x += 1;
            }
            has_run |= x - start > LONG_RUN;
            self.forward.set(diagonal, x);
            if meets && self.backward.covers(diagonal) && self.backward.at(diagonal) <= x {
                return (Some((x, x - diagonal)), has_run);
            }
        }
        (None, has_run)
    }

    /// The same from the end.
    fn go_backward(&mut self, part: &Part, meets: bool) -> (Option<(isize, isize)>, bool) {
        self.backward.widen(part, isize::MAX);
        let mut has_run = false;
        for diagonal in self.backward.diagonals() {
            let (below, above) = (
                self.backward.at(diagonal - 1),
                self.backward.at(diagonal + 1),
            );
            let start = if below < above { below } else { above - 1 };
            let mut x = start;
            while x > part.before.start
                && x - diagonal > part.after.start
                && self.is_common(x - 1, x - diagonal - 1)
            {
                x -= 1;
            }
            has_run |= start - x > LONG_RUN;
            self.backward.set(diagonal, x);
            if meets && self.forward.covers(diagonal) && x <= self.forward.at(diagonal) {
                return (Some((x, x - diagonal)), has_run);
            }
        }
        (None, has_run)
    }

    /// The end of a long run of common lines that got far for the steps it took.
    fn shortcut(&self, part: &Part, steps: isize) -> Option<Split> {
        let (before, after) = (&part.before, &part.after);
        let inside = |(x, y): (isize, isize), above: isize, below: isize| {
            (before.start + above..=before.end - below).contains(&x)
                && (after.start + above..=after.end - below).contains(&y)
        };
        let gained = |(x, y)| x - before.start + y - after.start;
        let mut from_start = self.forward.points(gained, steps);
        from_start.retain(|(_, at)| inside(*at, LONG_RUN, 1) && self.ends_run(*at));
        if let Some(at) = first_best(from_start) {
            let are_exact = (true, false);
            return Some(Split { at, are_exact });
        }
        let gained = |(x, y)| before.end - x + after.end - y;
        let mut from_end = self.backward.points(gained, steps);
        let starts_run = |(x, y)| self.ends_run((x + LONG_RUN, y + LONG_RUN));
        from_end.retain(|(_, at)| inside(*at, 1, LONG_RUN) && starts_run(*at));
        let are_exact = (false, true);
        first_best(from_end).map(|at| Split { at, are_exact })
    }

    /// Whether a long run of common lines ends before the point.
    fn ends_run(&self, (x, y): (isize, isize)) -> bool {
        (1..=LONG_RUN).all(|back| self.is_common(x - back, y - back))
    }

    /// Where the search that got further is.
    fn furthest(&self, part: &Part) -> Split {
        let (before, after) = (&part.before, &part.after);
        let of_forward = self.forward.diagonals().map(|diagonal| {
            let x = self.forward.at(diagonal).min(before.end);
            let y = (x - diagonal).min(after.end);
            (y + diagonal, y)
        });
        let of_backward = self.backward.diagonals().map(|diagonal| {
            let x = self.backward.at(diagonal).max(before.start);
            let y = (x - diagonal).max(after.start);
            (y + diagonal, y)
        });
        let sum = |(x, y): (isize, isize)| x + y;
        let forward = first_best(of_forward.map(|at| (sum(at), at)).collect());
        let backward = first_best(of_backward.map(|at| (-sum(at), at)).collect());
        let (forward, backward) = forward
            .zip(backward)
            .expect("a search has a diagonal at least");
        let to_come = sum((before.end, after.end)) - sum(backward);
        if to_come < sum(forward) - sum((before.start, after.start)) {
            Split {
                at: forward,
                are_exact: (true, false),
            }
        } else {
            Split {
                at: backward,
                are_exact: (false, true),
            }
        }
    }
}

/// The first point of those with the highest value.
fn first_best(points: Vec<(isize, (isize, isize))>) -> Option<(isize, isize)> {
    let best = points.iter().map(|(value, _)| *value).max()?;
    let first = points.into_iter().find(|(value, _)| *value == best);
    first.map(|(_, at)| at)
}

/// How far a search has come on each diagonal.
struct Frontier {
    /// Lines of the first text, for all diagonals from `lowest` on.
    lines: Vec<isize>,
    lowest: isize,
    middle: isize,
    first: isize,
    last: isize,
}

impl Frontier {
    fn new(old: usize, new: usize) -> Self {
        Frontier {
            lines: vec![0; old + new + 5],
            lowest: -(new as isize) - 2,
            middle: 0,
            first: 0,
            last: 0,
        }
    }

    fn begin(&mut self, diagonal: isize, line: isize) {
        (self.middle, self.first, self.last) = (diagonal, diagonal, diagonal);
        self.set(diagonal, line);
    }

    /// Adds a diagonal on each side; at the edge of the part, the outermost one is done.
    /// `outside` is the line of a diagonal that was not reached.
    fn widen(&mut self, part: &Part, outside: isize) {
        if self.first > part.before.start - part.after.end {
            self.first -= 1;
            self.set(self.first - 1, outside);
        } else {
            self.first += 1;
        }
        if self.last < part.before.end - part.after.start {
            self.last += 1;
            self.set(self.last + 1, outside);
        } else {
            self.last -= 1;
        }
    }

    /// The diagonals of this step, highest first.
    fn diagonals(&self) -> impl Iterator<Item = isize> {
        (self.first..=self.last).rev().step_by(2)
    }

    fn covers(&self, diagonal: isize) -> bool {
        (self.first..=self.last).contains(&diagonal)
    }

    fn at(&self, diagonal: isize) -> isize {
        self.lines[(diagonal - self.lowest) as usize]
    }

    fn set(&mut self, diagonal: isize, line: isize) {
        self.lines[(diagonal - self.lowest) as usize] = line;
    }

    /// The points that got far for `steps`, and how far: what they `gained`, less their distance from
    /// the middle.
    fn points(
        &self,
        gained: impl Fn((isize, isize)) -> isize,
        steps: isize,
    ) -> Vec<(isize, (isize, isize))> {
        let points = self.diagonals().map(|diagonal| {
            let at = (self.at(diagonal), self.at(diagonal) - diagonal);
            (gained(at) - (diagonal - self.middle).abs(), at)
        });
        points
            .filter(|(value, _)| *value > WORTHWHILE * steps)
            .collect()
    }
}
