//! Myers' algorithm in linear space ("An O(ND) difference algorithm and its variations", 1986), with
//! the shortcuts that git takes: lines that can hardly match are left out before, and a search that
//! takes too long ends with a good split instead of the best one.

use super::Token;
use std::ops::Range;

/// A line that is more often in the other text than this is never a sign that texts match there.
const FREQUENT_LIMIT: usize = 1024;
/// So many lines around a frequent one decide whether it is left out.
const AROUND: usize = 100;
/// With fewer edits, a search takes no shortcut.
const SHORTCUT_EDITS: isize = 256;
/// The least limit of edits of a search.
const LEAST_LIMIT: usize = 256;
/// So many common lines in a row are a sign of a good split.
const GOOD_RUN: isize = 20;
/// A good split is so many times further than the number of edits.
const GOOD_PACE: isize = 4;

/// Marks the lines that differ; the others are not touched.
pub(super) fn compare(
    (before, old_marks): (&[Token], &mut [bool]),
    (after, new_marks): (&[Token], &mut [bool]),
    minimal: bool,
) {
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tails = before[start..]
        .iter()
        .rev()
        .zip(after[start..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    let counts = [counts(before), counts(after)];
    let middle = |text: &[Token]| start..text.len() - tail;
    let old = Kept::of(before, middle(before), &counts[1], minimal, old_marks);
    let new = Kept::of(after, middle(after), &counts[0], minimal, new_marks);
    Search::new(&old, &new).run(minimal, old_marks, new_marks);
}

/// How often each line is in a text.
fn counts(text: &[Token]) -> Vec<u32> {
    let highest = text.iter().map(|token| token.0 as usize + 1).max();
    let mut counts = vec![0; highest.unwrap_or(0)];
    for token in text {
        counts[token.0 as usize] += 1;
    }
    counts
}

/// A power of two near the square root.
fn rough_root(number: usize) -> usize {
    let pairs_of_bits = (usize::BITS - number.leading_zeros()).div_ceil(2);
    1 << pairs_of_bits
}

/// The lines of a text that are compared, and where they are.
struct Kept {
    tokens: Vec<Token>,
    lines: Vec<usize>,
}

/// How often the other text has a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matches {
    None,
    Some,
    Frequent,
}

impl Kept {
    /// Marks the lines that are not kept as changed.
    fn of(
        text: &[Token],
        part: Range<usize>,
        others: &[u32],
        minimal: bool,
        marks: &mut [bool],
    ) -> Self {
        let frequent = rough_root(text.len()).min(FREQUENT_LIMIT);
        let matches = text[part.clone()].iter().map(|token| {
            match others
                .get(token.0 as usize)
                .map_or(0, |count| *count as usize)
            {
                0 => Matches::None,
                count if count >= frequent && !minimal => Matches::Frequent,
                _ => Matches::Some,
            }
        });
        let matches: Vec<Matches> = matches.collect();
        let mut kept = Kept {
            tokens: Vec::with_capacity(part.len()),
            lines: Vec::with_capacity(part.len()),
        };
        for (at, line) in part.enumerate() {
            let is_kept = match matches[at] {
                Matches::None => false,
                Matches::Some => true,
                Matches::Frequent => !is_among_unmatched(&matches, at),
            };
            if is_kept {
                kept.tokens.push(text[line]);
                kept.lines.push(line);
            } else {
                marks[line] = true;
            }
        }
        kept
    }
}

/// Whether a frequent line is between lines that match nothing, so that it says nothing either.
fn is_among_unmatched(matches: &[Matches], at: usize) -> bool {
    let count = |run: &mut dyn Iterator<Item = &Matches>| {
        let (mut unmatched, mut frequent) = (0, 0);
        for matches in run {
            match matches {
                Matches::None => unmatched += 1,
                Matches::Frequent => frequent += 1,
                Matches::Some => break,
            }
        }
        (unmatched, frequent)
    };
    let above = count(&mut matches[at.saturating_sub(AROUND)..at].iter().rev());
    let below = count(&mut matches[at + 1..].iter().take(AROUND));
    // The line itself counts on both sides.
    let (unmatched, frequent) = (above.0 + below.0, above.1 + below.1 + 2);
    above.0 > 0 && below.0 > 0 && frequent * 4 < unmatched + frequent
}

/// Parts of both texts that are still to be compared.
struct Area {
    before: Range<isize>,
    after: Range<isize>,
    minimal: bool,
}

/// Where an area is split, and whether each half deserves a full search.
struct Split {
    at: (isize, isize),
    minimal: (bool, bool),
}

/// The diagonals that a search has reached. The line `x` of the first text is on the diagonal
/// `x - y` with the line `y` of the second.
struct Front {
    /// The furthest line of the first text on each diagonal.
    reached: Vec<isize>,
    zero: isize,
    middle: isize,
    lowest: isize,
    highest: isize,
}

impl Front {
    fn new(before: usize, after: usize) -> Self {
        Front {
            reached: vec![0; before + after + 3],
            zero: after as isize + 1,
            middle: 0,
            lowest: 0,
            highest: 0,
        }
    }

    fn start(&mut self, (x, y): (isize, isize)) {
        self.middle = x - y;
        (self.lowest, self.highest) = (self.middle, self.middle);
        self.set(self.middle, x);
    }

    /// Goes to the diagonals beside; those outside of `limits` are left out. What is beyond counts
    /// as reached at `nowhere`.
    fn widen(&mut self, limits: &Range<isize>, nowhere: isize) {
        if self.lowest > limits.start {
            self.lowest -= 1;
            self.set(self.lowest - 1, nowhere);
        } else {
            self.lowest += 1;
        }
        if self.highest < limits.end {
            self.highest += 1;
            self.set(self.highest + 1, nowhere);
        } else {
            self.highest -= 1;
        }
    }

    fn get(&self, diagonal: isize) -> isize {
        self.reached[(diagonal + self.zero) as usize]
    }

    fn set(&mut self, diagonal: isize, x: isize) {
        self.reached[(diagonal + self.zero) as usize] = x;
    }

    /// The diagonals of the last step, from the highest.
    fn diagonals(&self) -> impl Iterator<Item = isize> {
        let (lowest, highest) = (self.lowest, self.highest);
        (0..)
            .map(move |step| highest - 2 * step)
            .take_while(move |it| *it >= lowest)
    }

    fn has(&self, diagonal: isize) -> bool {
        (self.lowest..=self.highest).contains(&diagonal)
    }
}

struct Search<'k> {
    old: &'k Kept,
    new: &'k Kept,
    forward: Front,
    backward: Front,
    /// A search with more edits ends with what it has.
    limit: isize,
}

impl<'k> Search<'k> {
    fn new(old: &'k Kept, new: &'k Kept) -> Self {
        let (before, after) = (old.tokens.len(), new.tokens.len());
        Search {
            old,
            new,
            forward: Front::new(before, after),
            backward: Front::new(before, after),
            limit: rough_root(before + after + 3).max(LEAST_LIMIT) as isize,
        }
    }

    fn run(mut self, minimal: bool, old_marks: &mut [bool], new_marks: &mut [bool]) {
        let mut areas = vec![Area {
            before: 0..self.old.tokens.len() as isize,
            after: 0..self.new.tokens.len() as isize,
            minimal,
        }];
        let mark = |kept: &Kept, part: &Range<isize>, marks: &mut [bool]| {
            for line in &kept.lines[part.start as usize..part.end as usize] {
                marks[*line] = true;
            }
        };
        while let Some(mut area) = areas.pop() {
            self.shrink(&mut area);
            if area.before.is_empty() || area.after.is_empty() {
                mark(self.old, &area.before, old_marks);
                mark(self.new, &area.after, new_marks);
                continue;
            }
            let Split { at, minimal } = self.split(&area);
            areas.push(Area {
                before: at.0..area.before.end,
                after: at.1..area.after.end,
                minimal: minimal.1,
            });
            areas.push(Area {
                before: area.before.start..at.0,
                after: area.after.start..at.1,
                minimal: minimal.0,
            });
        }
    }

    fn is_same(&self, x: isize, y: isize) -> bool {
        self.old.tokens[x as usize] == self.new.tokens[y as usize]
    }

    /// Leaves out what both have in common at the ends.
    fn shrink(&self, area: &mut Area) {
        let (before, after) = (&mut area.before, &mut area.after);
        let rest = |one: &Range<isize>, other: &Range<isize>| {
            (one.end - one.start).min(other.end - other.start)
        };
        while rest(before, after) > 0 && self.is_same(before.start, after.start) {
            before.start += 1;
            after.start += 1;
        }
        while rest(before, after) > 0 && self.is_same(before.end - 1, after.end - 1) {
            before.end -= 1;
            after.end -= 1;
        }
    }

    fn split(&mut self, area: &Area) -> Split {
        self.forward.start((area.before.start, area.after.start));
        self.backward.start((area.before.end, area.after.end));
        let is_odd = (self.forward.middle - self.backward.middle) % 2 != 0;
        let mut edits = 0;
        loop {
            edits += 1;
            let mut has_good_run = false;
            let met = self.step_forward(area, is_odd, &mut has_good_run);
            let met = met.or_else(|| self.step_backward(area, !is_odd, &mut has_good_run));
            if let Some(at) = met {
                return Split {
                    at,
                    minimal: (true, true),
                };
            }
            if area.minimal {
                continue;
            }
            if has_good_run && edits > SHORTCUT_EDITS {
                if let Some(at) = self.good_forward(area, edits) {
                    return Split {
                        at,
                        minimal: (true, false),
                    };
                }
                if let Some(at) = self.good_backward(area, edits) {
                    return Split {
                        at,
                        minimal: (false, true),
                    };
                }
            }
            if edits >= self.limit {
                return self.furthest(area);
            }
        }
    }

    /// One more edit from the start; `Some` where it meets the search from the end, if `may_meet`.
    fn step_forward(
        &mut self,
        area: &Area,
        may_meet: bool,
        has_good_run: &mut bool,
    ) -> Option<(isize, isize)> {
        self.forward.widen(&limits(area), -1);
        for diagonal in self.forward.diagonals() {
            let (below, above) = (
                self.forward.get(diagonal - 1),
                self.forward.get(diagonal + 1),
            );
            let start = (below + 1).max(above);
            let mut x = start;
            while x < area.before.end
                && x - diagonal < area.after.end
                && self.is_same(x, x - diagonal)
            {
                x += 1;
            }
            *has_good_run |= x - start > GOOD_RUN;
            self.forward.set(diagonal, x);
            if may_meet && self.backward.has(diagonal) && self.backward.get(diagonal) <= x {
                return Some((x, x - diagonal));
            }
        }
        None
    }

    /// One more edit from the end.
    fn step_backward(
        &mut self,
        area: &Area,
        may_meet: bool,
        has_good_run: &mut bool,
    ) -> Option<(isize, isize)> {
        self.backward.widen(&limits(area), isize::MAX);
        for diagonal in self.backward.diagonals() {
            let (below, above) = (
                self.backward.get(diagonal - 1),
                self.backward.get(diagonal + 1),
            );
            let start = below.min(above - 1);
            let mut x = start;
            while x > area.before.start
                && x - diagonal > area.after.start
                && self.is_same(x - 1, x - diagonal - 1)
            {
                x -= 1;
            }
            *has_good_run |= start - x > GOOD_RUN;
            self.backward.set(diagonal, x);
            if may_meet && self.forward.has(diagonal) && x <= self.forward.get(diagonal) {
                return Some((x, x - diagonal));
            }
        }
        None
    }

    /// The end of a long run of common lines that is far from the start.
    fn good_forward(&self, area: &Area, edits: isize) -> Option<(isize, isize)> {
        let mut best = None;
        let mut furthest = 0;
        for diagonal in self.forward.diagonals() {
            let x = self.forward.get(diagonal);
            let y = x - diagonal;
            let way = (x - area.before.start) + (y - area.after.start);
            let way = way - (diagonal - self.forward.middle).abs();
            let is_inside = (area.before.start + GOOD_RUN..area.before.end).contains(&x)
                && (area.after.start + GOOD_RUN..area.after.end).contains(&y);
            if way > GOOD_PACE * edits
                && way > furthest
                && is_inside
                && (1..=GOOD_RUN).all(|back| self.is_same(x - back, y - back))
            {
                furthest = way;
                best = Some((x, y));
            }
        }
        best
    }

    /// The start of a long run of common lines that is far from the end.
    fn good_backward(&self, area: &Area, edits: isize) -> Option<(isize, isize)> {
        let mut best = None;
        let mut furthest = 0;
        for diagonal in self.backward.diagonals() {
            let x = self.backward.get(diagonal);
            let y = x - diagonal;
            let way = (area.before.end - x) + (area.after.end - y);
            let way = way - (diagonal - self.backward.middle).abs();
            let is_inside = (area.before.start + 1..=area.before.end - GOOD_RUN).contains(&x)
                && (area.after.start + 1..=area.after.end - GOOD_RUN).contains(&y);
            if way > GOOD_PACE * edits
                && way > furthest
                && is_inside
                && (0..GOOD_RUN).all(|on| self.is_same(x + on, y + on))
            {
                furthest = way;
                best = Some((x, y));
            }
        }
        best
    }

    /// The place that either search has come furthest to.
    fn furthest(&self, area: &Area) -> Split {
        let mut ahead: Option<(isize, isize)> = None;
        for diagonal in self.forward.diagonals() {
            let x = self.forward.get(diagonal).min(area.before.end);
            let x = x.min(area.after.end + diagonal);
            let at = (x, x - diagonal);
            if ahead.is_none_or(|best| best.0 + best.1 < at.0 + at.1) {
                ahead = Some(at);
            }
        }
        let mut back: Option<(isize, isize)> = None;
        for diagonal in self.backward.diagonals() {
            let x = self.backward.get(diagonal).max(area.before.start);
            let x = x.max(area.after.start + diagonal);
            let at = (x, x - diagonal);
            if back.is_none_or(|best| at.0 + at.1 < best.0 + best.1) {
                back = Some(at);
            }
        }
        let start = (area.before.start, area.after.start);
        let end = (area.before.end, area.after.end);
        let (ahead, back) = (ahead.unwrap_or(start), back.unwrap_or(end));
        if end.0 + end.1 - (back.0 + back.1) < ahead.0 + ahead.1 - (start.0 + start.1) {
            Split {
                at: ahead,
                minimal: (true, false),
            }
        } else {
            Split {
                at: back,
                minimal: (false, true),
            }
        }
    }
}

/// The diagonals that cross an area.
fn limits(area: &Area) -> Range<isize> {
    area.before.start - area.after.end..area.before.end - area.after.start
}
