//! Moving groups of changed lines to where git shows them. If the first line of a group equals the
//! line behind it, the group may as well start a line later.

use super::compare::Token;
use std::ops::Range;

/// Moves the groups of `changed`, lines of the text `tokens`: those that meet become one; each then
/// ends as far down as it can, but where a group of the other text can be beside it, it is put there.
pub(super) fn compact(tokens: &[Token], changed: &mut [bool], other: &[bool]) {
    let mut groups = Groups {
        tokens,
        changed,
        other,
        group: 0..0,
        beside: 0..0,
    };
    groups.group = groups.extent(0);
    groups.beside = extent(other, 0);
    loop {
        if !groups.group.is_empty() {
            groups.settle();
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
    other: &'a [bool],
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
        if self.group.end != highest && last_beside.is_some() {
            while self.beside.is_empty() {
                let moved = self.move_up();
                assert!(moved, "a group was beside another further up");
            }
        }
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
