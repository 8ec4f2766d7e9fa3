//! Where a group of changed lines that can be moved looks best: where it begins and ends at a place
//! that the indentation of lines and the blank lines around it make one. The weights are those of
//! the `diff.indentHeuristic` of git-config(1).

use std::cmp::Ordering;

/// Deeper is no deeper.
const DEEPEST: i32 = 200;
/// So many blank lines are looked over.
const MOST_BLANKS: usize = 20;
const TAB: i32 = 8;

/// How good a place is; the smaller, the better.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Badness {
    /// The indentations of both ends.
    indent: i32,
    penalty: i32,
}

impl Badness {
    /// Of a group from the line `start` to the line `end`.
    pub(super) fn of(text: &[&[u8]], start: usize, end: usize) -> Self {
        let ends = [start, end].map(|line| Boundary::before(text, line).badness());
        Badness {
            indent: ends[0].indent + ends[1].indent,
            penalty: ends[0].penalty + ends[1].penalty,
        }
    }

    pub(super) fn is_worse_than(self, other: Badness) -> bool {
        let by_indent = match self.indent.cmp(&other.indent) {
            Ordering::Less => -60,
            Ordering::Equal => 0,
            Ordering::Greater => 60,
        };
        by_indent + self.penalty - other.penalty > 0
    }
}

/// What is around the boundary before a line. Indentations are `None` if there is no line.
struct Boundary {
    /// There is no such line.
    is_end: bool,
    /// `None` if the line is blank.
    indent: Option<i32>,
    above: Option<i32>,
    blanks_above: i32,
    below: Option<i32>,
    blanks_below: i32,
}

impl Boundary {
    fn before(text: &[&[u8]], line: usize) -> Self {
        let (above, blanks_above) = next_indent(text[..line].iter().rev());
        let (below, blanks_below) = next_indent(text.iter().skip(line + 1));
        Boundary {
            is_end: line >= text.len(),
            indent: text.get(line).and_then(|line| indent(line)),
            above,
            blanks_above,
            below,
            blanks_below,
        }
    }

    fn badness(&self) -> Badness {
        let mut penalty = 0;
        if self.above.is_none() && self.blanks_above == 0 {
            penalty += 1;
        }
        if self.is_end {
            penalty += 21;
        }
        let blanks_below = match self.indent {
            None => 1 + self.blanks_below,
            Some(_) => 0,
        };
        let blanks = self.blanks_above + blanks_below;
        penalty += -30 * blanks + 6 * blanks_below;
        let indent = self.indent.or(self.below);
        if let (Some(indent), Some(above)) = (indent, self.above) {
            let is_outdent = self.below.is_some_and(|below| below > indent);
            penalty += match (indent.cmp(&above), blanks != 0) {
                (Ordering::Equal, _) => 0,
                (Ordering::Greater, true) => 10,
                (Ordering::Greater, false) => -4,
                (Ordering::Less, true) => 17,
                (Ordering::Less, false) if is_outdent => 24,
                (Ordering::Less, false) => 23,
            };
        }
        Badness {
            indent: indent.unwrap_or(-1),
            penalty,
        }
    }
}

/// The indentation of the next line that is not blank, and how many blank ones are before it.
fn next_indent<'t>(lines: impl Iterator<Item = &'t &'t [u8]>) -> (Option<i32>, i32) {
    let mut blanks = 0;
    for line in lines {
        if let Some(indent) = indent(line) {
            return (Some(indent), blanks);
        }
        blanks += 1;
        if blanks as usize == MOST_BLANKS {
            return (Some(0), blanks);
        }
    }
    (None, blanks)
}

/// The column in which a line begins; `None` if it is blank.
fn indent(line: &[u8]) -> Option<i32> {
    let mut column = 0;
    for byte in line {
        match byte {
            b' ' => column += 1,
            b'\t' => column += TAB - column % TAB,
            b'\r' | b'\n' => {}
            _ => return Some(column),
        }
        if column >= DEEPEST {
            return Some(DEEPEST);
        }
    }
    None
}
