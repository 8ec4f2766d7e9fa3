//! The history of a reference, line by line: gitrepository-layout(5) under `logs`.

use super::LogMessage;
use bstr::{BStr, BString, ByteSlice, ByteVec};
use hedgerow_pack::ObjectId;
use std::collections::BTreeSet;

/// One line of a reference's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What the reference pointed to before; null if it did not exist.
    pub old: ObjectId,
    /// What it points to since.
    pub new: ObjectId,
    /// When.
    pub time: gix_date::Time,
    /// Why, in one line.
    pub message: BString,
}

/// A log and what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The full name of its reference.
    pub name: BString,
    /// All objects that it names, in order of ids.
    pub ids: BTreeSet<ObjectId>,
}

/// A person and a point in time, as commits and logs have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name, without the characters a signature cannot hold.
    pub name: BString,
    /// The mail address, likewise.
    pub email: BString,
    /// Seconds since the epoch and the offset of the zone.
    pub time: gix_date::Time,
}

impl Signature {
    /// `NAME <MAIL> SECONDS ZONE`.
    pub(crate) fn to_line(&self) -> BString {
        let time = format!("> {} {}", self.time.seconds, zone(self.time.offset));
        [&self.name[..], b" <", &self.email[..], time.as_bytes()]
            .concat()
            .into()
    }
}

/// The line of a log that tells of a change from `old` to `new`, with its end.
pub(crate) fn log_line(old: ObjectId, new: ObjectId, message: LogMessage<'_>) -> BString {
    let mut line = BString::from(format!("{old} {new} "));
    line.push_str(message.committer.to_line());
    let text = one_line(message.text);
    if !text.is_empty() {
        line.push(b'\t');
        line.push_str(&text);
    }
    line.push(b'\n');
    line
}

/// `OLD NEW NAME <MAIL> SECONDS ZONE`, then a tab and the message, and the end of the line. What git takes for
/// no entry is none: one that is being written, and one without a time.
pub(crate) fn parse(line: &[u8]) -> Option<LogEntry> {
    let line = line.strip_suffix(b"\n")?;
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let old = ObjectId::from_hex(words.next()?).ok()?;
    let new = ObjectId::from_hex(words.next()?).ok()?;
    let rest = words.next()?;
    let end_of_name = rest.find_byteset(b">\0")?;
    let time = rest.get(end_of_name..)?.strip_prefix(b"> ")?;
    let digits = time.find_not_byteset(b"0123456789")?;
    let (seconds, rest) = time.split_at(digits);
    // One that is too large is the latest.
    let seconds: i64 = match seconds {
        [] => return None,
        _ => seconds.to_str().ok()?.parse().unwrap_or(i64::MAX),
    };
    let (zone, rest) = rest.strip_prefix(b" ")?.split_at_checked(ZONE_BYTES)?;
    let offset = zone_offset(zone)?;
    let message = rest.strip_prefix(b"\t").unwrap_or(rest);
    (seconds != 0).then(|| LogEntry {
        old,
        new,
        time: gix_date::Time::new(seconds, offset),
        message: message.into(),
    })
}

const ZONE_BYTES: usize = "+0100".len();

/// `+HHMM` or `-HHMM` in seconds.
fn zone_offset(zone: &[u8]) -> Option<i32> {
    if !matches!(zone.first(), Some(b'+' | b'-')) {
        return None;
    }
    let number: i32 = zone.to_str().ok()?.parse().ok()?;
    let minutes = (number.abs() / 100).checked_mul(60)? + number.abs() % 100;
    minutes.checked_mul(60 * number.signum())
}

/// A message as a log has it: runs of white space become one space, the ends lose theirs.
pub(super) fn one_line(message: &BStr) -> BString {
    let words: Vec<&[u8]> = message
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    BString::from(bstr::join(" ", words))
}

fn zone(offset_seconds: i32) -> String {
    let minutes = offset_seconds.unsigned_abs() / 60;
    let sign = if offset_seconds < 0 { '-' } else { '+' };
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let null = "0".repeat(40);
        let id = "1".repeat(40);
        let line =
            format!("{null} {id} A B <a@b> 1700000000 +0100\tcheckout: moving from a to b\n");
        let entry = parse(line.as_bytes()).unwrap();
        assert!(entry.old.is_null());
        assert_eq!(entry.new.to_string(), id);
        assert_eq!(entry.time, gix_date::Time::new(1_700_000_000, 3600));
        assert_eq!(entry.message, "checkout: moving from a to b");
        for broken in ["", "x", &null] {
            assert_eq!(parse(broken.as_bytes()), None, "{broken}");
        }
        for (end, message) in [
            ("A <a> 1 +0000\n", Some("")),
            ("A <a> 1 +0000 m\n", Some(" m")),
            ("A <a> 99999999999999999999 -0130\tm\r\n", Some("m\r")),
            ("A <a> x y\tm\n", None),
            ("A <a> 1 +0000\tm", None),
            ("A <a> 0 +0000\tm\n", None),
            ("A <a>> 1 +0000\tm\n", None),
            ("A a 1 +0000\tm\n", None),
            ("A\0 <a> 1 +0000\tm\n", None),
            ("A <a> 1 0000\tm\n", None),
            ("A <a> 1 +000\tm\n", None),
        ] {
            let entry = parse(format!("{null} {id} {end}").as_bytes());
            let found = entry.map(|entry| entry.message.to_string());
            assert_eq!(found.as_deref(), message, "{end}");
        }
    }

    #[test]
    fn a_message_becomes_one_line() {
        assert_eq!(one_line("  a\n\n b\tc ".into()), "a b c");
        assert_eq!(one_line("\n".into()), "");
    }

    #[test]
    fn a_line_of_a_signature() {
        let signature = Signature {
            name: "Ada".into(),
            email: "a@b".into(),
            time: gix_date::Time::new(1_700_000_000, -5 * 3600 - 1800),
        };
        assert_eq!(signature.to_line(), "Ada <a@b> 1700000000 -0530");
    }
}
