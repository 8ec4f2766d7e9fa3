//! Which lines of two texts differ, with the choices that git makes where there are several. Merges,
//! patches and diffstats all ask here.

mod compact;
mod histogram;
mod indent;
mod myers;

use compact::compact;
use std::collections::HashMap;
use std::ops::Range;

/// How the lines that two texts have in common are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Git's default for single files.
    Myers,
    /// The same without shortcuts: the fewest lines.
    Minimal,
    /// That of merges of trees.
    #[default]
    Histogram,
}

/// Lines of one text that take the place of lines of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// The number of a line; equal lines have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token(u32);

/// A text as lines with their ends, each with a number that equal lines share.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    pub text: Vec<&'t [u8]>,
    pub tokens: Vec<Token>,
}

/// Gives equal lines equal numbers.
#[derive(Debug, Default)]
pub(crate) struct Interner<'t> {
    known: HashMap<&'t [u8], u32>,
}

impl<'t> Interner<'t> {
    pub(crate) fn lines(&mut self, text: &'t [u8]) -> Lines<'t> {
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
pub(crate) fn differences(algorithm: Algorithm, before: &[Token], after: &[Token]) -> Vec<Hunk> {
    let mut changed = Changed::between(algorithm, before, after);
    changed.compact(algorithm, (before, None), (after, None));
    changed.hunks()
}

/// The same, but a difference that can be at several places is put where its indentation fits best.
pub(crate) fn indented_differences(
    algorithm: Algorithm,
    before: &Lines<'_>,
    after: &Lines<'_>,
) -> Vec<Hunk> {
    let mut changed = Changed::between(algorithm, &before.tokens, &after.tokens);
    let old = (&before.tokens[..], Some(&before.text[..]));
    let new = (&after.tokens[..], Some(&after.text[..]));
    changed.compact(algorithm, old, new);
    changed.hunks()
}

/// How many lines of `before` are not in `after`, and the other way round.
pub(crate) fn changed_lines(algorithm: Algorithm, before: &[u8], after: &[u8]) -> (u64, u64) {
    let mut interner = Interner::default();
    let [before, after] = [before, after].map(|text| interner.lines(text));
    let hunks = indented_differences(algorithm, &before, &after);
    let sum = |lines: fn(&Hunk) -> usize| hunks.iter().map(lines).sum::<usize>() as u64;
    (sum(|hunk| hunk.before.len()), sum(|hunk| hunk.after.len()))
}

/// The texts without what they have in common at their ends, up to the end of a line. Where no lines
/// around changes are shown, git compares only these. The frequencies of lines are others then, which
/// may lead to other differences.
pub(crate) fn without_common_tail<'t>(before: &'t [u8], after: &'t [u8]) -> [&'t [u8]; 2] {
    const BLOCK: usize = 1024;
    let blocks = before.rchunks_exact(BLOCK).zip(after.rchunks_exact(BLOCK));
    let common = BLOCK * blocks.take_while(|(old, new)| old == new).count();
    let tail = &before[before.len() - common..];
    let kept = tail.iter().position(|byte| *byte == b'\n');
    let cut = common - kept.map_or(common, |end| end + 1);
    [&before[..before.len() - cut], &after[..after.len() - cut]]
}

/// For each line of two texts, whether the other lacks it.
#[derive(Debug)]
struct Changed {
    before: Vec<bool>,
    after: Vec<bool>,
}

impl Changed {
    fn between(algorithm: Algorithm, before: &[Token], after: &[Token]) -> Self {
        let mut changed = Changed {
            before: vec![false; before.len()],
            after: vec![false; after.len()],
        };
        let (old, new) = (&mut changed.before[..], &mut changed.after[..]);
        match algorithm {
            Algorithm::Myers => myers::compare((before, old), (after, new), false),
            Algorithm::Minimal => myers::compare((before, old), (after, new), true),
            Algorithm::Histogram => histogram::compare(before, after, &mut changed),
        }
        changed
    }

    /// Moves the differences to where git shows them: first the lines that `before` has, then those
    /// of `after`. With texts, the indentation of their lines counts.
    fn compact(
        &mut self,
        algorithm: Algorithm,
        before: (&[Token], Option<&[&[u8]]>),
        after: (&[Token], Option<&[&[u8]]>),
    ) {
        let again = algorithm == Algorithm::Histogram;
        let (old, new) = (&mut self.before[..], &mut self.after[..]);
        compact((before.0, old), (after.0, new), before.1, again);
        let (old, new) = (&mut self.before[..], &mut self.after[..]);
        compact((after.0, new), (before.0, old), after.1, again);
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
