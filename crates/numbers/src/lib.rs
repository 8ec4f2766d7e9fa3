//! Numbers and sizes as users write them: git's, in options, configuration and filters ([`integer`],
//! [`unsigned`]), and those of squashfs-tools-ng ([`size_bytes`], [`c_number`]);
//! and numbers of things as users read them ([`counted`]).
//!
//! Everything is read from bytes, in one pass, and nothing wraps around. [`Shard`] is a share of a
//! work that several processes do.

mod shard;

pub use shard::{BadShard, Shard};

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNumber {
    /// It is not digits with an optional unit.
    InvalidUnit,
    /// It is more than 64 bits hold.
    OutOfRange,
}

impl BadNumber {
    /// What git calls it.
    pub fn words(self) -> &'static str {
        match self {
            BadNumber::InvalidUnit => "invalid unit",
            BadNumber::OutOfRange => "out of range",
        }
    }
}

/// A signed number as `git config --type=int` reads it: white space, a sign, digits (decimal, `0x`, or
/// octal after a leading `0`), and an optional unit `k`, `m` or `g`, powers of 1024.
///
/// # Errors
/// [`BadNumber`].
pub fn integer(text: &[u8]) -> Result<i64, BadNumber> {
    const LIMIT: u64 = i64::MAX as u64;
    let (is_negative, magnitude, rest) = signed(text)?;
    // The C library can read -2^63; git then refuses it, but after it has looked at the unit.
    if magnitude > LIMIT + u64::from(is_negative) {
        return Err(BadNumber::OutOfRange);
    }
    let magnitude = magnitude.checked_mul(git_unit(rest)?);
    let magnitude = magnitude.and_then(|magnitude| i64::try_from(magnitude).ok());
    let magnitude = magnitude.ok_or(BadNumber::OutOfRange)?;
    Ok(if is_negative { -magnitude } else { magnitude })
}

/// A number that is not negative, as git reads options and filters that are sizes: as [`integer`],
/// but a `-` anywhere is refused.
///
/// # Errors
/// [`BadNumber`].
pub fn unsigned(text: &[u8]) -> Result<u64, BadNumber> {
    if text.contains(&b'-') {
        return Err(BadNumber::InvalidUnit);
    }
    let (_, magnitude, rest) = signed(text)?;
    let factor = git_unit(rest)?;
    magnitude.checked_mul(factor).ok_or(BadNumber::OutOfRange)
}

/// A number as C writes a constant, without sign and unit: `493`, `0755`, `0x1ed`. `None` if it is
/// anything else, or more than 64 bits hold.
pub fn c_number(text: &[u8]) -> Option<u64> {
    let (number, rest) = c_digits(text).ok()?;
    rest.is_empty().then_some(number)
}

/// A number of bytes such as `4096`, `64K` or `20T`: decimal digits with an optional unit up to `E`,
/// powers of 1024. `None` if it is anything else, or more than 64 bits hold.
pub fn size_bytes(text: &[u8]) -> Option<u64> {
    const UNITS: &[u8] = b"KMGTPE";
    let (last, before) = text.split_last()?;
    let unit = last.to_ascii_uppercase();
    let (digits, shift) = match UNITS.iter().position(|known| *known == unit) {
        Some(position) => (before, 10 * (position + 1)),
        None => (text, 0),
    };
    let (number, rest) = digits_of(digits, 10).ok()?;
    number.checked_mul(1 << shift).filter(|_| rest.is_empty())
}

/// A sign, the magnitude, and what follows the digits.
fn signed(text: &[u8]) -> Result<(bool, u64, &[u8]), BadNumber> {
    // What isspace(3) takes for white space in the C locale.
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let text = &text[text.iter().take_while(is_space).count()..];
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (magnitude, rest) = c_digits(digits)?;
    Ok((is_negative, magnitude, rest))
}

/// The digits at the start of `text`, by their prefix, and what follows them.
fn c_digits(text: &[u8]) -> Result<(u64, &[u8]), BadNumber> {
    match text {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => {
            digits_of(rest, 16)
        }
        [b'0', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => digits_of(rest, 8),
        _ => digits_of(text, 10),
    }
}

fn digits_of(text: &[u8], radix: u32) -> Result<(u64, &[u8]), BadNumber> {
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    let count = text.iter().take_while(|byte| digit(byte).is_some()).count();
    if count == 0 {
        return Err(BadNumber::InvalidUnit);
    }
    let (digits, rest) = text.split_at(count);
    let number = digits
        .iter()
        .filter_map(digit)
        .try_fold(0_u64, |number, digit| {
            number
                .checked_mul(u64::from(radix))?
                .checked_add(u64::from(digit))
        });
    Ok((number.ok_or(BadNumber::OutOfRange)?, rest))
}

fn git_unit(unit: &[u8]) -> Result<u64, BadNumber> {
    match unit {
        b"" => Ok(1),
        b"k" | b"K" => Ok(1 << 10),
        b"m" | b"M" => Ok(1 << 20),
        b"g" | b"G" => Ok(1 << 30),
        _ => Err(BadNumber::InvalidUnit),
    }
}

/// A number of things: `1 entry`, `2 entries`.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    // A number that does not fit is many.
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{number} {}", noun_for(number, noun))
}

/// The noun alone, as it stands after this number.
pub fn noun_for(number: u64, noun: &str) -> String {
    if number == 1 {
        return noun.to_owned();
    }
    match noun.strip_suffix('y') {
        Some(stem) if !noun.ends_with("ey") => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

/// A message in which the reasons of Rust's own parsers of numbers have words that everybody knows.
pub fn in_plain_words(message: &str) -> String {
    const REASONS: [(&str, &str); 7] = [
        ("invalid digit found in string", "not a number"),
        (
            "cannot parse integer from empty string",
            "no number is given",
        ),
        ("number too large to fit in target type", "too large"),
        ("number too small to fit in target type", "too small"),
        (
            "number would be zero for non-zero type",
            "it must be 1 or more",
        ),
        ("invalid float literal", "not a number"),
        ("cannot parse float from empty string", "no number is given"),
    ];
    let plain = |text: String, (reason, words): &(&str, &str)| text.replace(reason, words);
    let text = REASONS.iter().fold(message.to_owned(), plain);
    let Some((before, after)) = text.split_once(" is not in ") else {
        return text;
    };
    let end = after.find(|it: char| !it.is_ascii_digit() && !"-.=".contains(it));
    let (range, rest) = after.split_at(end.unwrap_or(after.len()));
    match range.split_once("..=") {
        Some((from, to)) => format!("{before} is not a number from {from} to {to}{rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_parsers_are_in_plain_words() {
        let reason = |text: &str| text.parse::<u32>().unwrap_err().to_string();
        for (message, words) in [
            (reason("x"), "not a number"),
            (reason(""), "no number is given"),
            (reason("99999999999"), "too large"),
            (
                "0".parse::<std::num::NonZeroU8>().unwrap_err().to_string(),
                "it must be 1 or more",
            ),
            ("-999".parse::<i8>().unwrap_err().to_string(), "too small"),
            ("x".parse::<f64>().unwrap_err().to_string(), "not a number"),
            (
                "".parse::<f64>().unwrap_err().to_string(),
                "no number is given",
            ),
            (
                "error: 9 is not in 0..=7\n".into(),
                "error: 9 is not a number from 0 to 7\n",
            ),
            ("he is not in Rome".into(), "he is not in Rome"),
        ] {
            assert_eq!(in_plain_words(&message), words);
        }
    }

    #[test]
    fn integers_have_a_sign_a_radix_and_a_unit() {
        for (text, number) in [
            ("0", 0),
            ("512m", 512 << 20),
            ("1K", 1024),
            ("-2g", -(2 << 30)),
            ("0x10", 16),
            ("010", 8),
            (" \t+7", 7),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775807", -i64::MAX),
        ] {
            assert_eq!(integer(text.as_bytes()), Ok(number), "{text}");
        }
        for text in ["", "k", "1t", "1 k", "ten", "0x", "1.5", "08", "--1", "1 "] {
            let read = integer(text.as_bytes());
            assert_eq!(read, Err(BadNumber::InvalidUnit), "{text}");
        }
        for text in [
            "9223372036854775808",
            "-9223372036854775808",
            "9007199254740993k",
            "99999999999999999999",
        ] {
            let read = integer(text.as_bytes());
            assert_eq!(read, Err(BadNumber::OutOfRange), "{text}");
        }
    }

    #[test]
    fn sizes_are_not_negative() {
        assert_eq!(unsigned(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(unsigned(b"0x10k"), Ok(16 << 10));
        assert_eq!(unsigned(b"17179869184g"), Err(BadNumber::OutOfRange));
        assert_eq!(unsigned(b"-1"), Err(BadNumber::InvalidUnit));
    }

    #[test]
    fn sizes_of_images_are_decimal_with_units_up_to_e() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64K", 64 << 10),
            ("20t", 20 << 40),
            ("15E", 15 << 60),
            ("010", 10),
        ] {
            assert_eq!(size_bytes(text.as_bytes()), Some(bytes), "{text}");
        }
        for text in ["", "K", "16E", "0x10", "-1", "+1", " 1", "1KK", "1B"] {
            assert_eq!(size_bytes(text.as_bytes()), None, "{text}");
        }
        for (text, number) in [("493", 493), ("0755", 493), ("0x1ed", 493), ("0", 0)] {
            assert_eq!(c_number(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["", "0x", "08", "1k", "-1"] {
            assert_eq!(c_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn one_is_singular_and_nothing_is_plural() {
        assert_eq!(counted(0_u64, "file"), "0 files");
        assert_eq!(counted(1_u32, "file"), "1 file");
        assert_eq!(counted(1_u64, "entry"), "1 entry");
        assert_eq!(counted(2_usize, "entry"), "2 entries");
        assert_eq!(counted(2_u64, "key"), "2 keys");
    }
}
