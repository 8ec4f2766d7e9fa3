//! The histogram algorithm: texts are split at the longest run of common lines that are rare in the
//! first text, and the parts before and behind it are compared likewise.

use super::{myers, Changed, Token};
use std::collections::HashMap;
use std::ops::Range;

/// Lines that are in a text more often than this do not split it.
const RARE: usize = 64;

/// Parts of both texts.
#[derive(Clone, Debug)]
struct Part {
    before: Range<usize>,
    after: Range<usize>,
}

/// Marks the lines that differ.
pub(super) fn compare(before: &[Token], after: &[Token], changed: &mut Changed) {
    let mut parts = vec![Part {
        before: 0..before.len(),
        after: 0..after.len(),
    }];
    while let Some(part) = parts.pop() {
        if part.before.is_empty() || part.after.is_empty() {
            changed.before[part.before].fill(true);
            changed.after[part.after].fill(true);
            continue;
        }
        let texts = (&before[part.before.clone()], &after[part.after.clone()]);
        let start = (part.before.start, part.after.start);
        match Search::new(texts.0, texts.1).run() {
            Found::Nothing => {
                changed.before[part.before].fill(true);
                changed.after[part.after].fill(true);
            }
            Found::OnlyFrequent => {
                let old = &mut changed.before[part.before];
                let new = &mut changed.after[part.after];
                myers::compare((texts.0, old), (texts.1, new), false);
            }
            Found::Common(common) => {
                let (old, new) = (common.before, common.after);
                parts.push(Part {
                    before: start.0 + old.end..part.before.end,
                    after: start.1 + new.end..part.after.end,
                });
                parts.push(Part {
                    before: start.0..start.0 + old.start,
                    after: start.1..start.1 + new.start,
                });
            }
        }
    }
}

enum Found {
    /// The texts have no line in common.
    Nothing,
    /// All lines in common are frequent ones.
    OnlyFrequent,
    Common(Part),
}

struct Search<'t> {
    before: &'t [Token],
    after: &'t [Token],
    /// Where each line is in the first text, ascending.
    places: HashMap<Token, Vec<usize>>,
    best: Option<Part>,
    /// How often the rarest line of the best run is in the first text.
    rarest: usize,
    has_common: bool,
}

impl<'t> Search<'t> {
    fn new(before: &'t [Token], after: &'t [Token]) -> Self {
        let mut places: HashMap<Token, Vec<usize>> = HashMap::new();
        for (line, token) in before.iter().enumerate() {
            places.entry(*token).or_default().push(line);
        }
        Search {
            before,
            after,
            places,
            best: None,
            rarest: RARE + 1,
            has_common: false,
        }
    }

    fn run(mut self) -> Found {
        let mut line = 0;
        while line < self.after.len() {
            line = self.try_from(line);
        }
        match self.best {
            _ if self.has_common && self.rarest > RARE => Found::OnlyFrequent,
            Some(best) => Found::Common(best),
            None => Found::Nothing,
        }
    }

    /// Looks at the runs through the line `line` of the second text. Returns where to go on.
    fn try_from(&mut self, line: usize) -> usize {
        let mut next = line + 1;
        let Some(places) = self.places.get(&self.after[line]) else {
            return next;
        };
        self.has_common = true;
        if places.len() > self.rarest {
            return next;
        }
        let mut passed = 0;
        for place in places {
            if *place < passed {
                continue;
            }
            let (run, count) = self.run_through(*place, line, places.len());
            next = next.max(run.after.end);
            passed = run.before.end;
            let length = self.best.as_ref().map_or(1, |best| best.before.len());
            if length < run.before.len() || count < self.rarest {
                self.best = Some(run);
                self.rarest = count;
            }
        }
        next
    }

    /// The longest run of common lines through a line of each text, and how often its rarest line is
    /// in the first text; `count` is how often this one is.
    fn run_through(&self, old: usize, new: usize, mut count: usize) -> (Part, usize) {
        let (mut before, mut after) = (old..old + 1, new..new + 1);
        let rarer = |line: usize, count: usize| {
            let places = self.places.get(&self.before[line]);
            count.min(places.map_or(count, Vec::len))
        };
        while before.start > 0 && after.start > 0 {
            if self.before[before.start - 1] != self.after[after.start - 1] {
                break;
            }
            before.start -= 1;
            after.start -= 1;
            count = rarer(before.start, count);
        }
        while before.end < self.before.len() && after.end < self.after.len() {
            if self.before[before.end] != self.after[after.end] {
                break;
            }
            count = rarer(before.end, count);
            before.end += 1;
            after.end += 1;
        }
        (Part { before, after }, count)
    }
}
