//! Extended attributes in the keywords and values of records.
//!
//! star, GNU tar and libarchive write `SCHILY.xattr.NAME=bytes`; GNU tar encodes `=` and `%` in the
//! name as `%3D` and `%25` (its NEWS, version 1.29). `LIBARCHIVE.xattr.NAME=base64` has a
//! percent-encoded name and a value without padding (libarchive, `tar(5)`).

/// Decodes the name in a `SCHILY` keyword, like GNU tar.
pub(crate) fn decode_schily(name: &[u8]) -> Vec<u8> {
    percent(name, |code| matches!(code, b"3D" | b"25"))
}

/// Encodes a name for a `SCHILY` keyword.
pub(crate) fn encode_schily(name: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b'=' => encoded.extend_from_slice(b"%3D"),
            b'%' => encoded.extend_from_slice(b"%25"),
            _ => encoded.push(*byte),
        }
    }
    encoded
}

/// Decodes the name in a `LIBARCHIVE` keyword.
pub(crate) fn decode_libarchive(name: &[u8]) -> Vec<u8> {
    percent(name, |_| true)
}

fn percent(name: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, behind)) = rest.split_first() {
        let code = behind
            .get(..2)
            .filter(|code| *first == b'%' && wanted(code));
        let value = code.and_then(|code| Some(hex(code[0])? << 4 | hex(code[1])?));
        decoded.push(value.unwrap_or(*first));
        rest = if value.is_some() {
            &behind[2..]
        } else {
            behind
        };
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Decodes base64 with or without padding (RFC 4648); `None` if it is invalid.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = &text[..text.len() - padding];
    if padding > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for at in 0..4 {
            let digit = group
                .get(at)
                .map_or(Some(0), |digit| base64_digit(*digit))?;
            bits = bits << 6 | u32::from(digit);
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

fn base64_digit(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_keyword() {
        for name in [&b"user.a"[..], b"user.a=b%c", b"user.%3D", b"=%", b""] {
            let encoded = encode_schily(name);
            assert!(!encoded.contains(&b'='));
            assert_eq!(decode_schily(&encoded), name);
        }
        assert_eq!(decode_schily(b"user.%41%3d%3"), b"user.%41%3d%3");
        assert_eq!(decode_libarchive(b"user.%41%3d%3"), b"user.A=%3");
        assert_eq!(decode_libarchive(b"%zz%"), b"%zz%");
    }

    #[test]
    fn base64_with_and_without_padding() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg", b"f"),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYg", b"foob"),
            ("/+8A", b"\xff\xef\0"),
        ] {
            assert_eq!(decode_base64(text.as_bytes()).unwrap(), bytes, "{text}");
        }
        for text in ["Z", "Zm9vZ", "Z===", "Z g=", "Zg=a", "===="] {
            assert_eq!(decode_base64(text.as_bytes()), None, "{text}");
        }
    }
}
