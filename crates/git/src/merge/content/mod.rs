//! Merging the contents of one file: git-merge-file(1).

mod regions;
#[cfg(test)]
mod tests;
mod write;

pub use crate::lines::Algorithm;

use crate::lines::{differences, Interner};
use bstr::{BStr, ByteSlice};
use regions::Regions;
use std::ops::Range;

/// Texts as large as this or larger are not compared, as by git: 1 GiB less 1 MiB.
const TEXT_LIMIT_BYTES: usize = 1023 << 20;
/// A NUL among so many bytes at the start makes a file a binary one.
const BINARY_BYTES: usize = 8000;
/// The length of conflict markers, if nothing else is said.
pub const MARKER_SIZE: usize = 7;

/// What a conflict shows besides both sides: `merge.conflictStyle` of git-config(1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConflictStyle {
    /// Nothing.
    #[default]
    Merge,
    /// The base too.
    Diff3,
    /// The base too, and lines at both ends that are the same on both sides are no part of it.
    ZealousDiff3,
}

impl ConflictStyle {
    /// The style of git's name for it.
    pub fn from_name(name: &BStr) -> Option<Self> {
        match name.as_bytes() {
            b"merge" => Some(ConflictStyle::Merge),
            b"diff3" => Some(ConflictStyle::Diff3),
            b"zdiff3" => Some(ConflictStyle::ZealousDiff3),
            _ => None,
        }
    }
}

/// What becomes of a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Favor {
    /// Both sides, between markers.
    #[default]
    Neither,
    /// Our side.
    Ours,
    /// Their side.
    Theirs,
    /// Our side, then theirs.
    Union,
}

/// How contents are merged.
#[derive(Clone, Debug)]
pub struct ContentOptions<'a> {
    /// How conflicts are shown.
    pub style: ConflictStyle,
    /// What becomes of conflicts.
    pub favor: Favor,
    /// How the texts are compared.
    pub algorithm: Algorithm,
    /// The length of conflict markers.
    pub marker_size: usize,
    /// Conflicts become one if there is neither a letter nor a digit between them, as with
    /// git-merge-file(1).
    pub join_over_marks: bool,
    /// The names of our side, the base and their side, for the markers.
    pub labels: [&'a BStr; 3],
}

impl Default for ContentOptions<'_> {
    fn default() -> Self {
        ContentOptions {
            style: ConflictStyle::default(),
            favor: Favor::default(),
            algorithm: Algorithm::default(),
            marker_size: MARKER_SIZE,
            join_over_marks: false,
            labels: ["".into(); 3],
        }
    }
}

/// A merged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedContent {
    /// The text, with markers around conflicts.
    pub text: Vec<u8>,
    /// How many conflicts it has.
    pub conflicts: usize,
}

/// Whether git takes the content for that of a binary file, or does not compare it for its size.
pub fn is_binary(content: &[u8]) -> bool {
    let start = &content[..content.len().min(BINARY_BYTES)];
    content.len() > TEXT_LIMIT_BYTES || start.contains(&0)
}

/// Whether a patch from `base` to `theirs`, with `context` unchanged lines around each change, fits
/// `ours`, which comes from `base` too: nothing is changed there or next to it. If not, the first line
/// of the patch, counted from 1, where it does not fit.
pub fn misfit_of_patch(base: &[u8], ours: &[u8], theirs: &[u8], context: usize) -> Option<usize> {
    let mut interner = Interner::default();
    let [base, ours, theirs] = [base, ours, theirs].map(|text| interner.lines(text));
    let of_ours = differences(Algorithm::Myers, &base.tokens, &ours.tokens);
    let patch = differences(Algorithm::Myers, &base.tokens, &theirs.tokens);
    // Changes that are near each other are one part of a patch.
    let mut parts: Vec<Range<usize>> = Vec::new();
    for hunk in patch {
        match parts.last_mut() {
            Some(last) if hunk.before.start - last.end <= 2 * context => last.end = hunk.before.end,
            _ => parts.push(hunk.before),
        }
    }
    let lines = base.tokens.len();
    for part in parts {
        let start = part.start.saturating_sub(context);
        let end = lines.min(part.end + context);
        let touches = |other: &Range<usize>| {
            // What starts or ends with the file must still do so.
            let is_at_edge =
                (start, other.start) == (0, 0) || (part.end, other.start) == (lines, lines);
            let is_between = start < other.start && other.start < end;
            start < other.end && other.start < end || other.is_empty() && (is_at_edge || is_between)
        };
        if of_ours.iter().any(|other| touches(&other.before)) {
            return Some(start + 1);
        }
    }
    None
}

/// Merges what `ours` and `theirs` changed since `base`.
pub fn merge_contents(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    options: &ContentOptions<'_>,
) -> MergedContent {
    let mut interner = Interner::default();
    let texts = [base, ours, theirs].map(|text| interner.lines(text));
    let [base_lines, our_lines, their_lines] = &texts;
    let algorithm = options.algorithm;
    let of_ours = differences(algorithm, &base_lines.tokens, &our_lines.tokens);
    let of_theirs = differences(algorithm, &base_lines.tokens, &their_lines.tokens);
    let whole = |text: &[u8]| MergedContent {
        text: text.to_vec(),
        conflicts: 0,
    };
    if of_ours.is_empty() {
        return whole(theirs);
    }
    if of_theirs.is_empty() {
        return whole(ours);
    }
    let mut regions = Regions::new(&texts);
    regions.join(&of_ours, &of_theirs);
    match options.style {
        ConflictStyle::Merge => regions.refine(algorithm, options.join_over_marks),
        ConflictStyle::Diff3 => {}
        ConflictStyle::ZealousDiff3 => regions.trim(),
    }
    write::write(&texts, &regions.list, options)
}
