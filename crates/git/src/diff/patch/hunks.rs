//! The changed lines of a text with the unchanged lines around them.

use crate::lines::{
    differences, indented_differences, without_common_tail, Algorithm, Hunk, Interner, Lines,
};
use bstr::ByteSlice;
use std::ops::Range;

/// How lines are compared and shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HunkOptions {
    pub algorithm: Algorithm,
    /// See [`super::PatchOptions`].
    pub context: usize,
    pub between: usize,
    pub indent: bool,
    pub bare_blanks: bool,
}

/// So many bytes are shown of the line that names the function.
const FUNCTION_BYTES: usize = 80;
/// And so many of the whole line in which it stands.
const HEADER_BYTES: usize = 127;

/// All hunks; empty if the texts are the same.
pub(crate) fn hunks(before: &[u8], after: &[u8], options: &HunkOptions) -> Vec<u8> {
    let [before, after] = match options.context {
        0 => without_common_tail(before, after),
        _ => [before, after],
    };
    let mut interner = Interner::default();
    let [before, after] = [before, after].map(|text| interner.lines(text));
    let changes = if options.indent {
        indented_differences(options.algorithm, &before, &after)
    } else {
        differences(options.algorithm, &before.tokens, &after.tokens)
    };
    let mut text = Vec::new();
    let mut functions = Functions {
        lines: &before,
        searched: 0,
        last: Vec::new(),
    };
    for group in groups(&changes, options) {
        write(&before, &after, group, options, &mut functions, &mut text);
    }
    text
}

/// The changes that are shown together.
fn groups<'h>(changes: &'h [Hunk], options: &HunkOptions) -> impl Iterator<Item = &'h [Hunk]> {
    let near = options
        .context
        .saturating_mul(2)
        .saturating_add(options.between);
    changes.chunk_by(move |one, next| next.before.start - one.before.end <= near)
}

fn write(
    before: &Lines<'_>,
    after: &Lines<'_>,
    group: &[Hunk],
    options: &HunkOptions,
    functions: &mut Functions<'_, '_>,
    text: &mut Vec<u8>,
) {
    let ([first, ..], [.., last]) = (group, group) else {
        return;
    };
    let above = options
        .context
        .min(first.before.start)
        .min(first.after.start);
    let rest = (before.text.len() - last.before.end).min(after.text.len() - last.after.end);
    let below = options.context.min(rest);
    let old = first.before.start - above..last.before.end + below;
    let new = first.after.start - above..last.after.end + below;
    let mut header = format!("@@ -{} +{} @@", range(&old), range(&new)).into_bytes();
    let function = functions.above(old.start);
    if !function.is_empty() {
        header.push(b' ');
        let room = HEADER_BYTES.saturating_sub(header.len());
        header.extend_from_slice(&function[..function.len().min(room)]);
    }
    text.extend(header);
    text.push(b'\n');
    let mut line = new.start;
    for hunk in group {
        context(&after.text[line..hunk.after.start], options, text);
        changed(b'-', &before.text[hunk.before.clone()], text);
        changed(b'+', &after.text[hunk.after.clone()], text);
        line = hunk.after.end;
    }
    context(&after.text[line..new.end], options, text);
}

/// The first line, counted from 1, and the number of lines if it is not one. No lines are named by
/// the line before them.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn context(lines: &[&[u8]], options: &HunkOptions, text: &mut Vec<u8>) {
    for line in lines {
        if options.bare_blanks && *line == b"\n" {
            text.push(b'\n');
        } else {
            changed(b' ', &[line], text);
        }
    }
}

fn changed(sign: u8, lines: &[&[u8]], text: &mut Vec<u8>) {
    for line in lines {
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// The length of `text` up to the first bytes that git does not take for UTF-8: besides invalid ones,
/// those of the two noncharacters U+FFFE and U+FFFF.
fn valid_length(text: &[u8]) -> usize {
    let valid = match std::str::from_utf8(text) {
        Ok(_) => text,
        Err(error) => &text[..error.valid_up_to()],
    };
    let noncharacters = ["\u{fffe}", "\u{ffff}"];
    let ends = noncharacters.iter().filter_map(|it| valid.find(it));
    ends.min().unwrap_or(valid.len())
}

/// The lines that name functions: those that begin with a letter, `_` or `$`.
struct Functions<'l, 't> {
    lines: &'l Lines<'t>,
    /// The lines before this one were looked at.
    searched: usize,
    last: Vec<u8>,
}

impl Functions<'_, '_> {
    /// The last such line before the line `start`, cut and without blanks at its end.
    fn above(&mut self, start: usize) -> &[u8] {
        let is_function =
            |line: &&&[u8]| matches!(line[0], b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$');
        let lines = self.lines.text[self.searched.min(start)..start].iter();
        if let Some(line) = lines.rev().find(is_function) {
            let line = &line[..line.len().min(FUNCTION_BYTES)];
            let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n' | b'\r');
            let blanks = line.iter().rev().take_while(is_blank).count();
            let line = &line[..line.len() - blanks];
            let line = &line[..valid_length(line)];
            self.last = line.to_vec();
        }
        self.searched = start;
        &self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_end_where_git_ends_them() {
        for (text, expected) in [
            (&b"func a"[..], 6),
            (b"func \xe4b", 5),
            ("\u{e4}b\u{ffff}c".as_bytes(), 3),
            (b"cut \xc3", 4),
        ] {
            assert_eq!(valid_length(text), expected, "{text:?}");
        }
    }
}
