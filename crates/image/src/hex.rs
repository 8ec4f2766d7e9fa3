//! Bytes as hexadecimal digits.

/// Two digits for each byte.
pub fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a text of digits; `None` if it is no such text.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        &[high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    pairs.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        assert_eq!(text(&[0, 0x5a, 0xff]), "005aff");
        assert_eq!(parse("005aFF"), Some(vec![0, 0x5a, 0xff]));
        assert_eq!(parse(""), Some(Vec::new()));
        for wrong in ["0", "0g", "+1", "0x00", "\u{e9}"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
