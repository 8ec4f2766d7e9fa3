//! Lines of an input, which may be in quotes as git puts them.

use crate::failure::Failure;
use bstr::{BString, ByteSlice};
use hedgerow_fs::ReadFile;

/// The lines of standard input.
pub fn input_lines(end: u8) -> Result<Vec<BString>, Failure> {
    let mut content = Vec::new();
    let input = ReadFile::standard_input().map_err(Failure::fatal)?;
    let read = input.read_to_end(&mut content, u64::MAX);
    read.map_err(Failure::fatal)?;
    split_lines(&content, end)
}

/// The lines of `content`, which end with `end`; unless that is NUL, quotes are taken off.
pub fn split_lines(content: &[u8], end: u8) -> Result<Vec<BString>, Failure> {
    let content = content.strip_suffix(&[end]).unwrap_or(content);
    if content.is_empty() {
        return Ok(Vec::new());
    }
    let lines = content.split(|byte| *byte == end);
    lines
        .map(|line| {
            if end == 0 {
                return Ok(line.into());
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.starts_with(b"\"") {
                return Ok(line.into());
            }
            unquoted(line).ok_or_else(|| {
                let line = line.as_bstr();
                Failure::fatal(format_args!("unable to unquote C-style string '{line}'"))
            })
        })
        .collect()
}

/// What `line` has in its quotes.
fn unquoted(line: &[u8]) -> Option<BString> {
    let mut rest = line.strip_prefix(b"\"")?.iter().copied();
    let mut text = BString::default();
    loop {
        match rest.next()? {
            b'"' => return rest.next().is_none().then_some(text),
            b'\\' => text.push(match rest.next()? {
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 11,
                byte @ (b'"' | b'\\') => byte,
                first @ b'0'..=b'3' => {
                    let mut value = first - b'0';
                    for _ in 0..2 {
                        let digit = rest.next().filter(|it| (b'0'..=b'7').contains(it))?;
                        value = value * 8 + (digit - b'0');
                    }
                    value
                }
                _ => return None,
            }),
            byte => text.push(byte),
        }
    }
}
