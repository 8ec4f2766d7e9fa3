//! Which lines of two texts differ, with the choices that git makes where there are several.

use super::compact::compact;
use super::{histogram, myers};
use std::collections::HashMap;
use std::ops::Range;

/// How the lines that two texts have in common are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Git's default for single files.
    Myers,
    /// That of merges of trees.
    #[default]
    Histogram,
}

/// The number of a line; equal lines have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Token(u32);

/// Lines of one text that take the place of lines of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// A text as lines with their ends, each with a number that equal lines share.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    pub text: Vec<&'t [u8]>,
    pub tokens: Vec<Token>,
}

/// Gives equal lines equal numbers.
#[derive(Debug, Default)]
pub(super) struct Interner<'t> {
    known: HashMap<&'t [u8], u32>,
}

impl<'t> Interner<'t> {
    pub(super) fn lines(&mut self, text: &'t [u8]) -> Lines<'t> {
        let text: Vec<&[u8]> = bstr::ByteSlice::lines_with_terminator(text).collect();
        let tokens = text.iter().map(|line| self.token(line)).collect();
        Lines { text, tokens }
    }

    fn token(&mut self, line: &'t [u8]) -> Token {
        // No more lines than bytes, and texts of 1 GiB and more are not compared.
        let next = self.known.len() as u32;
        Token(*self.known.entry(line).or_insert(next))
    }
}

/// The differences of `before` and `after`, in order; no two of them touch.
pub(super) fn differences(algorithm: Algorithm, before: &[Token], after: &[Token]) -> Vec<Hunk> {
    let mut changed = Changed::new(before.len(), after.len());
    match algorithm {
        Algorithm::Myers => myers::compare(before, after, (0, 0), &mut changed),
        Algorithm::Histogram => histogram::compare(before, after, &mut changed),
    }
    compact(before, &mut changed.before, &changed.after);
    compact(after, &mut changed.after, &changed.before);
    changed.hunks()
}

/// For each line of two texts, whether the other lacks it.
#[derive(Debug)]
pub(super) struct Changed {
    pub before: Vec<bool>,
    pub after: Vec<bool>,
}

impl Changed {
    fn new(before: usize, after: usize) -> Self {
        Changed {
            before: vec![false; before],
            after: vec![false; after],
        }
    }

    fn hunks(&self) -> Vec<Hunk> {
        let mut hunks = Vec::new();
        let (mut old, mut new) = (0, 0);
        loop {
            let hunk = Hunk {
                before: run(&self.before, old),
                after: run(&self.after, new),
            };
            (old, new) = (hunk.before.end, hunk.after.end);
            if !hunk.before.is_empty() || !hunk.after.is_empty() {
                hunks.push(hunk);
            }
            if old == self.before.len() && new == self.after.len() {
                return hunks;
            }
            // Here both have a line in common.
            old += 1;
            new += 1;
        }
    }
}

/// The changed lines from the line `start` on.
fn run(changed: &[bool], start: usize) -> Range<usize> {
    let count = changed[start..].iter().take_while(|it| **it).count();
    start..start + count
}
