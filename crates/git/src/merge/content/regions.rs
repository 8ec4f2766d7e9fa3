//! Where two sides changed a text, and whether they are in conflict there.

use crate::lines::{differences, Algorithm, Hunk, Lines};
use std::ops::Range;

/// Conflicts with no more lines than these between them become one.
const NEAR: usize = 3;

/// What is taken in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Both sides changed it, differently.
    Conflict,
    Ours,
    Theirs,
    /// Both sides have the same there.
    Same,
}

/// Lines of the base, and what each side has in their place.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub taken: Taken,
    pub base: Range<usize>,
    pub ours: Range<usize>,
    pub theirs: Range<usize>,
}

pub(super) struct Regions<'a> {
    base: &'a Lines<'a>,
    ours: &'a Lines<'a>,
    theirs: &'a Lines<'a>,
    pub list: Vec<Region>,
}

impl<'a> Regions<'a> {
    /// No region yet; `texts` are the base, ours and theirs.
    pub(super) fn new(texts: &'a [Lines<'a>; 3]) -> Self {
        let [base, ours, theirs] = texts;
        Regions {
            base,
            ours,
            theirs,
            list: Vec::new(),
        }
    }

    /// Joins the changes of both sides. Changes that touch are in conflict, but for equal ones.
    pub(super) fn join(&mut self, ours: &[Hunk], theirs: &[Hunk]) {
        let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
        let lines = self.base.tokens.len();
        let ends = (self.ours.tokens.len(), self.theirs.tokens.len());
        loop {
            match (ours.peek(), theirs.peek()) {
                (None, None) => return,
                (Some(mine), Some(yours)) => {
                    if mine.before.end < yours.before.start {
                        self.take(Taken::Ours, mine, (yours.before.start, yours.after.start));
                        ours.next();
                    } else if yours.before.end < mine.before.start {
                        self.take(Taken::Theirs, yours, (mine.before.start, mine.after.start));
                        theirs.next();
                    } else {
                        if !self.are_same(mine, yours) {
                            self.conflict(mine, yours);
                        }
                        let (mine, yours) = (mine.before.end, yours.before.end);
                        if mine >= yours {
                            theirs.next();
                        }
                        if yours >= mine {
                            ours.next();
                        }
                    }
                }
                (Some(mine), None) => {
                    self.take(Taken::Ours, mine, (lines, ends.1));
                    ours.next();
                }
                (None, Some(yours)) => {
                    self.take(Taken::Theirs, yours, (lines, ends.0));
                    theirs.next();
                }
            }
        }
    }

    fn are_same(&self, mine: &Hunk, yours: &Hunk) -> bool {
        mine.before == yours.before
            && self.ours.tokens[mine.after.clone()] == self.theirs.tokens[yours.after.clone()]
    }

    /// Adds a change of one side. The other has not changed the lines from there to the line
    /// `next.0` of the base, which is its line `next.1`.
    fn take(&mut self, taken: Taken, hunk: &Hunk, next: (usize, usize)) {
        let end = next.1 - (next.0 - hunk.before.end);
        // What is before it may have been changed; then it is joined with the last region.
        let unchanged = end.saturating_sub(hunk.before.len())..end;
        let (ours, theirs) = if taken == Taken::Ours {
            (hunk.after.clone(), unchanged)
        } else {
            (unchanged, hunk.after.clone())
        };
        self.push(Region {
            taken,
            base: hunk.before.clone(),
            ours,
            theirs,
        });
    }

    /// Adds changes that meet. Where one covers more of the base, the other is extended by
    /// unchanged lines.
    fn conflict(&mut self, mine: &Hunk, yours: &Hunk) {
        let start = mine.before.start.min(yours.before.start);
        let end = mine.before.end.max(yours.before.end);
        let widened = |hunk: &Hunk| {
            // Before it may be another change; then it is joined with the last region.
            let first = hunk.after.start.saturating_sub(hunk.before.start - start);
            first..hunk.after.end + (end - hunk.before.end)
        };
        self.push(Region {
            taken: Taken::Conflict,
            base: start..end,
            ours: widened(mine),
            theirs: widened(yours),
        });
    }

    /// Adds a region; one that meets the last is joined with it.
    fn push(&mut self, region: Region) {
        match self.list.last_mut() {
            Some(last)
                if region.ours.start <= last.ours.end || region.theirs.start <= last.theirs.end =>
            {
                if last.taken != region.taken {
                    last.taken = Taken::Conflict;
                }
                last.base.end = region.base.end;
                last.ours.end = region.ours.end;
                last.theirs.end = region.theirs.end;
            }
            _ => self.list.push(region),
        }
    }

    /// Narrows conflicts down to the lines in which the sides differ from each other.
    pub(super) fn refine(&mut self, algorithm: Algorithm, join_over_marks: bool) {
        let mut refined = Vec::with_capacity(self.list.len());
        for region in std::mem::take(&mut self.list) {
            if region.taken != Taken::Conflict || region.ours.is_empty() || region.theirs.is_empty()
            {
                refined.push(region);
                continue;
            }
            let ours = &self.ours.tokens[region.ours.clone()];
            let theirs = &self.theirs.tokens[region.theirs.clone()];
            let hunks = differences(algorithm, ours, theirs);
            if hunks.is_empty() {
                refined.push(Region {
                    taken: Taken::Same,
                    ..region
                });
                continue;
            }
            refined.extend(hunks.into_iter().map(|hunk| Region {
                taken: Taken::Conflict,
                base: region.base.clone(),
                ours: moved(hunk.before, region.ours.start),
                theirs: moved(hunk.after, region.theirs.start),
            }));
        }
        for region in refined {
            match self.list.last() {
                Some(last) if self.are_near(last, &region, join_over_marks) => {
                    let last = self.list.last_mut().expect("there is a last one");
                    last.ours.end = region.ours.end;
                    last.theirs.end = region.theirs.end;
                }
                _ => self.list.push(region),
            }
        }
    }

    /// Whether two conflicts are easier to read as one.
    fn are_near(&self, last: &Region, next: &Region, join_over_marks: bool) -> bool {
        if last.taken != Taken::Conflict || next.taken != Taken::Conflict {
            return false;
        }
        let between = last.ours.end..next.ours.start;
        let has_words = |line: &&[u8]| line.iter().any(u8::is_ascii_alphanumeric);
        between.len() <= NEAR || join_over_marks && !self.ours.text[between].iter().any(has_words)
    }

    /// Takes lines that both sides have at an end of a conflict out of it.
    pub(super) fn trim(&mut self) {
        for region in &mut self.list {
            if region.taken != Taken::Conflict {
                continue;
            }
            let (ours, theirs) = (&region.ours, &region.theirs);
            let mine = &self.ours.tokens[ours.clone()];
            let yours = &self.theirs.tokens[theirs.clone()];
            let both = mine.iter().zip(yours);
            let above = both.take_while(|(mine, yours)| mine == yours).count();
            let both = mine[above..].iter().rev().zip(yours[above..].iter().rev());
            let below = both.take_while(|(mine, yours)| mine == yours).count();
            region.ours = ours.start + above..ours.end - below;
            region.theirs = theirs.start + above..theirs.end - below;
        }
    }
}

fn moved(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}
