//! The lines of a recipe.

use super::RecipeError;
use std::path::Path;

/// Which blanks around a line belong to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trim {
    /// Those at its end.
    Start,
    /// None.
    Both,
}

/// Calls `take` for every line that is neither empty nor begins with `comment`. Line breaks are those of
/// Unix or of DOS.
///
/// # Errors
/// What `take` says, with file and line; a line with a NUL byte.
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

/// Whether C's `isspace` says so.
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
