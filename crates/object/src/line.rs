use gix_hash::{oid, ObjectId};

/// Takes a line `NAME ID` off `rest`, if it is one.
pub(super) fn take_id<'d>(rest: &mut &'d [u8], name: &[u8], hex_len: usize) -> Option<&'d [u8]> {
    let after = rest.strip_prefix(name)?;
    let (hex, after) = after.split_at_checked(hex_len)?;
    *rest = after.strip_prefix(b"\n")?;
    Some(hex)
}

/// Splits the line at the start of `text`, without its end, off what follows it; `None` if it has
/// no end.
pub fn split_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', text)?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// The id that the digits `hex` spell, if they are as many as an id has.
pub fn parse_id(hex: &[u8]) -> Option<ObjectId> {
    let mut bytes = [0; 32];
    let bytes = bytes.get_mut(..hex.len() / 2)?;
    let mut all = 0;
    for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
        let [high, low] = [0, 1].map(|at| pair.get(at).map_or(NO_DIGIT, |byte| digit(*byte)));
        all |= high | low;
        *byte = high << 4 | low;
    }
    let is_hex = all != NO_DIGIT && hex.len().is_multiple_of(2);
    ObjectId::try_from(&*bytes).ok().filter(|_| is_hex)
}

/// In the place of the value of what is no digit: no digits have all of its bits together.
const NO_DIGIT: u8 = u8::MAX;

/// The value of a hexadecimal digit.
fn digit(byte: u8) -> u8 {
    const VALUES: [u8; 256] = {
        let mut values = [NO_DIGIT; 256];
        let mut value = 0;
        while value < 16 {
            let digits = [b"0123456789abcdef", b"0123456789ABCDEF"];
            values[digits[0][value] as usize] = value as u8;
            values[digits[1][value] as usize] = value as u8;
            value += 1;
        }
        values
    };
    VALUES[usize::from(byte)]
}

/// The seconds in a line `NAME <MAIL> SECONDS ZONE`, which starts `line`: those after the last
/// `>`. 0 if there are none, as for git.
pub(super) fn seconds(line: &[u8]) -> u64 {
    let end = memchr::memchr(b'\n', line);
    let line = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
    let Some(mail_end) = memchr::memrchr(b'>', line) else {
        return 0;
    };
    let rest = line.get(mail_end + 1..).unwrap_or_default();
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0_u64, |value, digit| {
        let digit = u64::from(digit - b'0');
        value.saturating_mul(10).saturating_add(digit)
    })
}

/// The length of an id in digits, by that of the id of the object that is parsed.
pub(super) fn hex_len(id: &oid) -> usize {
    id.as_bytes().len() * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_spell_ids() {
        let hex = "0123456789abcdefABCDEF0123456789aBcDeF01";
        for hex in [hex.to_owned(), hex.repeat(2)[..64].to_owned()] {
            let expected = ObjectId::from_hex(hex.as_bytes()).unwrap();
            assert_eq!(parse_id(hex.as_bytes()), Some(expected));
            for at in 0..hex.len() {
                for wrong in [b'g', b'G', b'/', b':', b'@', b'`', 0, 0xff] {
                    let mut hex = hex.clone().into_bytes();
                    hex[at] = wrong;
                    assert_eq!(parse_id(&hex), None);
                }
            }
            assert_eq!(parse_id(&hex.as_bytes()[1..]), None);
            assert_eq!(parse_id(&hex.as_bytes()[2..]), None);
        }
        assert_eq!(parse_id(b""), None);
        assert_eq!(parse_id(&[b'0'; 41]), None);
        assert_eq!(parse_id(&[b'0'; 80]), None);
    }
}
