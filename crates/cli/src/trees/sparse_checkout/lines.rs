//! Lines of an input, which may be in quotes as git puts them.

use crate::failure::Failure;
use bstr::{BString, ByteSlice};
use hedgerow::display::unquoted;

/// The lines of `content`, which end with `end`, as they are.
pub fn lines(content: &[u8], end: u8) -> Vec<BString> {
    let content = content.strip_suffix(&[end]).unwrap_or(content);
    if content.is_empty() {
        return Vec::new();
    }
    let lines = content.split(|byte| *byte == end);
    let without_return = |line| match end {
        0 => line,
        _ => <[u8]>::strip_suffix(line, b"\r").unwrap_or(line),
    };
    lines.map(|line| without_return(line).into()).collect()
}

/// The same; unless `end` is NUL, quotes are taken off.
pub fn unquoted_lines(content: &[u8], end: u8) -> Result<Vec<BString>, Failure> {
    let is_plain = |line: &BString| end == 0 || !line.starts_with(b"\"");
    let lines = lines(content, end).into_iter();
    lines
        .map(|line| match unquoted(&line) {
            _ if is_plain(&line) => Ok(line),
            Some(line) => Ok(line),
            None => {
                let line = line.as_bstr();
                Err(Failure::fatal(format_args!(
                    "unable to unquote C-style string '{line}'"
                )))
            }
        })
        .collect()
}
