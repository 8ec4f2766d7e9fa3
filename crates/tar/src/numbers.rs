//! Numbers in header fields.
//!
//! A number is written as octal digits surrounded by blanks or NULs (POSIX.1-2017, `pax`, "ustar
//! Interchange Format"). If the first bit of the field is set, the remaining bits are a big-endian
//! two's complement number (GNU tar manual, "Extensions to Traditional Unix Formats", base-256).

/// Decodes a field; 0 if it is blank. `None` if it is not a number or does not fit.
pub(crate) fn parse(field: &[u8]) -> Option<i64> {
    match field.first() {
        Some(first) if first & 0x80 != 0 => base_256(field),
        _ => octal(field),
    }
}

/// Decodes a field that cannot be negative.
pub(crate) fn parse_unsigned(field: &[u8]) -> Option<u64> {
    parse(field).and_then(|number| u64::try_from(number).ok())
}

fn octal(field: &[u8]) -> Option<i64> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | 0);
    let begin = field.iter().position(|byte| !is_blank(byte));
    let field = field.get(begin.unwrap_or(field.len())..)?;
    let digits = field.iter().take_while(|byte| !is_blank(byte));
    digits.into_iter().try_fold(0i64, |number, digit| {
        let digit = matches!(digit, b'0'..=b'7').then(|| i64::from(digit - b'0'))?;
        number.checked_mul(8)?.checked_add(digit)
    })
}

fn base_256(field: &[u8]) -> Option<i64> {
    let (first, rest) = field.split_first()?;
    // The bit after the mark is the sign.
    let first = i64::from(first & 0x7f) - if first & 0x40 != 0 { 0x80 } else { 0 };
    rest.iter().try_fold(first, |number, byte| {
        number.checked_mul(256)?.checked_add(i64::from(*byte))
    })
}

/// Writes octal digits and a NUL. Returns false if there are too many digits.
#[must_use]
pub(crate) fn write_octal(field: &mut [u8], number: u64) -> bool {
    let Some((last, digits)) = field.split_last_mut() else {
        return false;
    };
    *last = 0;
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest & 7) as u8;
        rest >>= 3;
    }
    rest == 0
}

/// Parses an unsigned decimal number, as in records and maps of sparse files.
pub(crate) fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_numbers_may_have_blanks_around_them() {
        for field in [
            &b"0000644\0"[..],
            b"    644 ",
            b"644\0\0\0\0\0",
            b"\x00\x000644 ",
            b"00000644",
        ] {
            assert_eq!(parse(field), Some(0o644), "{field:?}");
        }
        assert_eq!(parse(b"77777777777"), Some(0o77777777777));
        assert_eq!(parse(b"        "), Some(0));
        assert_eq!(parse(&[0; 12]), Some(0));
        assert_eq!(parse(b""), Some(0));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for field in [&b"0000648\0"[..], b"-0000001", b"64x", b"0x1f"] {
            assert_eq!(parse(field), None, "{field:?}");
        }
        assert_eq!(parse(b"7777777777777777777777777"), None);
    }

    #[test]
    fn base_256_has_a_sign() {
        let mut field = [0u8; 12];
        field[0] = 0x80;
        field[7] = 1;
        assert_eq!(parse(&field), Some(1 << 32));
        assert_eq!(parse(&[0xff; 12]), Some(-1));
        assert_eq!(parse_unsigned(&[0xff; 12]), None);
        field[1] = 1;
        assert_eq!(parse(&field), None);
        let mut least = [0xff; 12];
        least[4] = 0x80;
        least[5..].fill(0);
        assert_eq!(parse(&least), Some(i64::MIN));
        least[4] = 0x7f;
        assert_eq!(parse(&least), None);
    }

    #[test]
    fn octal_numbers_that_do_not_fit_are_not_cut() {
        let mut field = [0; 8];
        assert!(write_octal(&mut field, 0o7777777));
        assert_eq!(&field, b"7777777\0");
        assert!(write_octal(&mut field, 5));
        assert_eq!(&field, b"0000005\0");
        assert!(!write_octal(&mut field, 0o10000000));
    }

    #[test]
    fn decimal_numbers_are_digits_alone() {
        assert_eq!(parse_decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_decimal(b"18446744073709551616"), None);
        for digits in [&b""[..], b"-1", b"+1", b" 1", b"1 "] {
            assert_eq!(parse_decimal(digits), None, "{digits:?}");
        }
    }
}
