//! Splits a line into words.

use super::lines::{is_space, trim_start};
use bstr::ByteSlice;

/// Maximum length of an entry's path in bytes, as in the kernel.
const PATH_BYTES: usize = 4095;

/// The rest of a line.
pub(super) struct Words<'l> {
    rest: &'l [u8],
}

impl<'l> Words<'l> {
    pub(super) fn new(line: &'l [u8]) -> Self {
        Words {
            rest: trim_start(line),
        }
    }

    /// Everything not taken yet, including trailing blanks.
    pub(super) fn rest(&self) -> &'l [u8] {
        self.rest
    }

    /// The bytes up to the next blank; `None` at the end of the line.
    pub(super) fn word(&mut self) -> Option<&'l [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| is_space(*byte));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = trim_start(rest);
        Some(word)
    }

    /// A word, or text in double quotes, where `\"` and `\\` stand for a quote and a backslash. If
    /// `strict`, no other byte may follow a backslash.
    pub(super) fn quoted(&mut self, strict: bool) -> Result<Vec<u8>, String> {
        let Some(text) = self.rest.strip_prefix(b"\"") else {
            return Ok(self.word().unwrap_or_default().to_vec());
        };
        let mut name = Vec::new();
        let mut bytes = text.iter();
        loop {
            match bytes.next() {
                None => return Err("a quote is not closed".into()),
                Some(b'"') => break,
                Some(b'\\') => match bytes.clone().next() {
                    Some(next @ (b'"' | b'\\')) => {
                        name.push(*next);
                        bytes.next();
                    }
                    _ if strict => {
                        return Err("a backslash before something else than \" or \\".into())
                    }
                    _ => name.push(b'\\'),
                },
                Some(byte) => name.push(*byte),
            }
        }
        let rest = bytes.as_slice();
        if rest.first().is_some_and(|byte| !is_space(*byte)) {
            return Err("no blank behind a closing quote".into());
        }
        self.rest = trim_start(rest);
        Ok(name)
    }
}

/// Parses a number with digits of `base`, at most 10. `None` if it is invalid or does not fit.
pub(super) fn number(word: &[u8], base: u32) -> Option<u32> {
    let digit = |byte: &u8| char::from(*byte).to_digit(base);
    let add = |number: u32, byte| number.checked_mul(base)?.checked_add(digit(byte)?);
    if word.is_empty() {
        None
    } else {
        word.iter().try_fold(0, add)
    }
}

/// The canonical path of an entry: no leading, trailing or repeated slashes, and no `.` components.
pub(super) fn canonical(path: &[u8]) -> Result<Vec<u8>, String> {
    let parts = path.split(|byte| *byte == b'/');
    let parts: Vec<&[u8]> = parts.filter(|part| !matches!(*part, b"" | b".")).collect();
    if parts.contains(&&b".."[..]) {
        return Err(format!("'{}' leaves the image", path.as_bstr()));
    }
    let path = parts.join(&b'/');
    match path.len() {
        0..=PATH_BYTES => Ok(path),
        length => Err(format!("a path of {length} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical, number, Words};

    #[test]
    fn quoted_names_may_hold_blanks_quotes_and_backslashes() {
        let mut words = Words::new(br#"  "a \"b\" \\ \c"  rest of it "#);
        assert_eq!(words.quoted(false).unwrap(), br#"a "b" \ \c"#);
        assert_eq!(words.rest(), b"rest of it ");
        assert_eq!(words.quoted(false).unwrap(), b"rest");
        for bad in [&br#""a"#[..], br#""a"b"#, br#""a\""#, br#"""""#] {
            assert!(Words::new(bad).quoted(false).is_err());
        }
        assert!(Words::new(br#""\c""#).quoted(true).is_err());
    }

    #[test]
    fn numbers_fit_or_are_none() {
        assert_eq!(number(b"4294967295", 10), Some(u32::MAX));
        assert_eq!(number(b"0755", 8), Some(0o755));
        for (bad, base) in [
            ("", 10),
            ("4294967296", 10),
            ("8", 8),
            ("-1", 10),
            ("1x", 10),
        ] {
            assert_eq!(number(bad.as_bytes(), base), None, "{bad}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        for (path, expected) in [("/", ""), (".", ""), ("//a/./b//", "a/b"), ("...", "...")] {
            assert_eq!(canonical(path.as_bytes()).unwrap(), expected.as_bytes());
        }
        for path in ["..", "a/..", "/../a"] {
            assert!(canonical(path.as_bytes()).is_err());
        }
        assert!(canonical(&[b'a'; 5000]).is_err());
    }
}
