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
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// The id that the digits `hex` spell.
pub(super) fn parse_id(hex: &[u8]) -> Option<ObjectId> {
    ObjectId::from_hex(hex).ok()
}

/// The seconds in a line `NAME <MAIL> SECONDS ZONE`, which starts `line`: those after the last
/// `>`. 0 if there are none, as for git.
pub(super) fn seconds(line: &[u8]) -> u64 {
    let end = line.iter().position(|byte| *byte == b'\n');
    let line = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
    let Some(mail_end) = line.iter().rposition(|byte| *byte == b'>') else {
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
