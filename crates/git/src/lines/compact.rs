//! Moving groups of changed lines to where git shows them. If the first line of a group equals the
//! line behind it, the group may as well start a line later.

use super::indent::Badness;
use super::{myers, Token};
use std::ops::Range;

/// So many lines up, a better place is looked for.
const FURTHEST: usize = 100;

/// Moves the groups of changed lines of the first text: those that meet become one; each then ends as
/// far down as it can, but where a group of the other text can be beside it, it is put there. With a
/// `text`, it ends where the indentation of its lines fits best instead. Where a group has moved and
/// another is beside it, both are compared `again` if that is wanted: they may have lines in common.
pub(super) fn compact(
    (tokens, changed): (&[Token], &mut [bool]),
    (other_tokens, other): (&[Token], &mut [bool]),
    text: Option<&[&[u8]]>,
    again: bool,
) {
    let mut groups = Groups {
        tokens,
        changed,
        other_tokens,
        other,
        text,
        group: 0..0,
        beside: 0..0,
    };
    groups.group = groups.extent(0);
    groups.beside = extent(groups.other, 0);
    loop {
        if !groups.group.is_empty() {
            let place = groups.group.clone();
            groups.settle();
            if again && groups.group != place && !groups.beside.is_empty() {
                groups.compare();
            }
        }
        if !groups.next() {
            return;
        }
    }
}

/// A group of each text. Between two groups is one line that the texts share; either may be empty.
struct Groups<'a> {
    tokens: &'a [Token],
    changed: &'a mut [bool],
    other_tokens: &'a [Token],
    other: &'a mut [bool],
    text: Option<&'a [&'a [u8]]>,
    group: Range<usize>,
    /// The group of the other text at the same place.
    beside: Range<usize>,
}

impl Groups<'_> {
    fn settle(&mut self) {
        let mut highest;
        let mut last_beside;
        loop {
            let size = self.group.len();
            while self.move_up() {}
            highest = self.group.end;
            last_beside = (!self.beside.is_empty()).then_some(highest);
            while self.move_down() {
                if !self.beside.is_empty() {
                    last_beside = Some(self.group.end);
                }
            }
            // A group that met others may move further.
            if self.group.len() == size {
                break;
            }
        }
        if self.group.end == highest {
            return;
        }
        if last_beside.is_some() {
            while self.beside.is_empty() {
                let moved = self.move_up();
                assert!(moved, "a group was beside another further up");
            }
        } else if let Some(text) = self.text {
            let end = self.best_end(text, highest);
            while self.group.end > end {
                let moved = self.move_up();
                assert!(moved, "a group was further up before");
            }
        }
    }

    /// Compares the group with the one beside it.
    fn compare(&mut self) {
        let (group, beside) = (self.group.clone(), self.beside.clone());
        let (marks, others) = (
            &mut self.changed[group.clone()],
            &mut self.other[beside.clone()],
        );
        marks.fill(false);
        others.fill(false);
        let (group, beside) = (&self.tokens[group], &self.other_tokens[beside]);
        myers::compare((group, marks), (beside, others), false);
    }

    /// Where the group ends best, from the line `highest` on.
    fn best_end(&self, text: &[&[u8]], highest: usize) -> usize {
        let Range { start, end } = self.group;
        let size = end - start;
        // Further up, it would be as it is here.
        let first = highest.max((end - size).saturating_sub(1));
        let first = first.max(end.saturating_sub(FURTHEST));
        let mut best = (first, Badness::of(text, first - size, first));
        for end in first + 1..=end {
            let badness = Badness::of(text, end - size, end);
            if !badness.is_worse_than(best.1) {
                best = (end, badness);
            }
        }
        best.0
    }

    fn move_up(&mut self) -> bool {
        let Range { start, end } = self.group;
        if start == 0 || self.tokens[start - 1] != self.tokens[end - 1] {
            return false;
        }
        self.changed[start - 1] = true;
        self.changed[end - 1] = false;
        let above = extent_back(self.changed, start - 1);
        self.group = above..end - 1;
        let end = self.beside.start - 1;
        self.beside = extent_back(self.other, end)..end;
        true
    }

    fn move_down(&mut self) -> bool {
        let Range { start, end } = self.group;
        if end == self.tokens.len() || self.tokens[start] != self.tokens[end] {
            return false;
        }
        self.changed[start] = false;
        self.changed[end] = true;
        self.group = start + 1..self.extent(end + 1).end;
        self.beside = extent(self.other, self.beside.end + 1);
        true
    }

    fn next(&mut self) -> bool {
        if self.group.end == self.tokens.len() {
            return false;
        }
        self.group = self.extent(self.group.end + 1);
        self.beside = extent(self.other, self.beside.end + 1);
        true
    }

    fn extent(&self, start: usize) -> Range<usize> {
        extent(self.changed, start)
    }
}

/// The group that starts at the line `start`.
fn extent(changed: &[bool], start: usize) -> Range<usize> {
    let count = changed[start..].iter().take_while(|it| **it).count();
    start..start + count
}

/// Where the group starts that ends before the line `end`.
fn extent_back(changed: &[bool], end: usize) -> usize {
    let lines = changed[..end].iter().rev();
    end - lines.take_while(|it| **it).count()
}
