//! How git reads the text of a value: gitglossary(7), git-config(1) under "Values".

use bstr::{BStr, ByteSlice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why a number is none, in git's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// Not digits with an optional unit.
    InvalidUnit,
    /// More than 64 bits hold.
    OutOfRange,
}

impl BadNumber {
    pub(crate) fn words(self) -> &'static str {
        match self {
            BadNumber::InvalidUnit => "invalid unit",
            BadNumber::OutOfRange => "out of range",
        }
    }
}

/// A boolean: the words git knows, or a number that is or is not zero.
pub fn boolean(text: &BStr) -> Option<bool> {
    match text.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" => Some(true),
        b"" | b"false" | b"no" | b"off" => Some(false),
        // Git reads this number into 32 bits.
        _ => i32::try_from(integer(text).ok()?)
            .ok()
            .map(|number| number != 0),
    }
}

/// A number as C reads one (decimal, `0x` or a leading `0` for octal), with an optional unit
/// `k`, `m` or `g`, powers of 1024.
pub(crate) fn integer(text: &BStr) -> Result<i64, BadNumber> {
    let text = text.trim_start();
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (radix, text) = match text {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => {
            (16, rest)
        }
        [b'0', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => (8, rest),
        _ => (10, text),
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    let count = text.iter().take_while(|byte| digit(byte).is_some()).count();
    let (digits, unit) = text.split_at(count);
    let factor: i64 = match unit {
        b"" => 1,
        b"k" | b"K" => 1 << 10,
        b"m" | b"M" => 1 << 20,
        b"g" | b"G" => 1 << 30,
        _ => return Err(BadNumber::InvalidUnit),
    };
    if digits.is_empty() {
        return Err(BadNumber::InvalidUnit);
    }
    let mut number: i64 = 0;
    for value in digits.iter().filter_map(digit) {
        let value = i64::from(value);
        number = number
            .checked_mul(i64::from(radix))
            .and_then(|number| {
                if negative {
                    number.checked_sub(value)
                } else {
                    number.checked_add(value)
                }
            })
            .ok_or(BadNumber::OutOfRange)?;
    }
    number.checked_mul(factor).ok_or(BadNumber::OutOfRange)
}

/// A path with `~/`, `~user/` or `%(prefix)/` in front replaced. `None` if the home directory it
/// asks for is not known.
pub(crate) fn interpolate(text: &BStr, home: Option<&Path>, prefix: &Path) -> Option<PathBuf> {
    if let Some(rest) = text.strip_prefix(b"%(prefix)/") {
        return Some(prefix.join(OsStr::from_bytes(rest)));
    }
    let Some(after) = text.strip_prefix(b"~") else {
        return Some(PathBuf::from(OsStr::from_bytes(text)));
    };
    let end = after.find_byte(b'/').unwrap_or(after.len());
    let (user, rest) = after.split_at(end);
    let home = match user {
        b"" => home?.to_owned(),
        _ => hedgerow_fs::account_by_name(user)?.home,
    };
    match rest.strip_prefix(b"/") {
        Some(rest) => Some(home.join(OsStr::from_bytes(rest))),
        None => Some(home),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans() {
        for yes in ["true", "YES", "on", "1", "-1", "2k"] {
            assert_eq!(boolean(yes.into()), Some(true), "{yes}");
        }
        for no in ["false", "No", "off", "0", "", "00"] {
            assert_eq!(boolean(no.into()), Some(false), "{no}");
        }
        for neither in ["y", "tru", "1x", " ", "2g"] {
            assert_eq!(boolean(neither.into()), None, "{neither}");
        }
    }

    #[test]
    fn numbers() {
        for (text, number) in [
            ("0", 0),
            ("512m", 512 << 20),
            ("1K", 1024),
            ("-2g", -(2 << 30)),
            ("0x10", 16),
            ("010", 8),
            ("+7", 7),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(integer(text.into()), Ok(number), "{text}");
        }
        for text in ["", "k", "1t", "1 k", "ten", "0x", "1.5", "08"] {
            assert_eq!(integer(text.into()), Err(BadNumber::InvalidUnit), "{text}");
        }
        for text in ["9223372036854775808", "9007199254740993k"] {
            assert_eq!(integer(text.into()), Err(BadNumber::OutOfRange), "{text}");
        }
    }

    #[test]
    fn paths() {
        let home = Some(Path::new("/home/ada"));
        let read = |text: &str| interpolate(text.into(), home, Path::new("/usr"));
        assert_eq!(read("~/x"), Some("/home/ada/x".into()));
        assert_eq!(read("~"), Some("/home/ada".into()));
        assert_eq!(read("%(prefix)/etc"), Some("/usr/etc".into()));
        assert_eq!(read("a/~"), Some("a/~".into()));
        assert_eq!(read("~nobody-of-this-name/x"), None);
        assert_eq!(interpolate("~/x".into(), None, Path::new("/")), None);
    }
}
