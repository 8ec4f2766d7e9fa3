//! Splits a recipe into lines.

use super::RecipeError;
use std::path::Path;

/// Where blanks are removed from a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trim {
    /// Only at the start.
    Start,
    /// At both ends.
    Both,
}

/// Calls `take` with the number and the text of every line that is not empty. Lines end with LF or
/// CRLF.
///
/// # Errors
/// An error of `take`, or a line with a NUL byte; the error names file and line.
pub(super) fn for_each_line(
    file: &Path,
    content: &[u8],
    trim: Trim,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), String>,
) -> Result<(), RecipeError> {
    for (number, line) in (1..).zip(content.split(|byte| *byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = match trim {
            Trim::Start => trim_start(line),
            Trim::Both => trim_end(trim_start(line)),
        };
        if line.is_empty() {
            continue;
        }
        let taken = if line.contains(&0) {
            Err("a NUL byte".into())
        } else {
            take(number, line)
        };
        taken.map_err(RecipeError::at(file, number))?;
    }
    Ok(())
}

/// The same bytes as C's `isspace` in the C locale.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

pub(super) fn trim_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte));
    start.and_then(|at| text.get(at..)).unwrap_or_default()
}

pub(super) fn trim_end(text: &[u8]) -> &[u8] {
    let last = text.iter().rposition(|byte| !is_space(*byte));
    last.and_then(|at| text.get(..=at)).unwrap_or_default()
}
