//! Expands placeholders: git-log(1) under "PRETTY FORMATS", except those that depend on the time of
//! the request.
//!
//! Not expanded, with a warning: times relative to now (`%ar`, `%ah`), signatures (`%G?` and
//! others), paddings (`%<`, `%>`, `%w`), and `%(trailers)` with its options; nor `%(describe)` where
//! files have no order.

use super::described::{Describe, Described, DESCRIBE};
use super::facts::{Facts, Person};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_date::time::{format, CustomFormat};
use std::collections::BTreeSet;

/// Prefixes of placeholders that git expands and this module does not.
const NOT_EXPANDED: [&str; 17] = [
    "(trailers",
    "(decorate:",
    "G?",
    "GG",
    "GS",
    "GK",
    "GF",
    "GP",
    "GT",
    "ar",
    "cr",
    "ah",
    "ch",
    "w(",
    "<",
    ">",
    "C(always",
];

/// Appends `format` to `out` with its placeholders expanded; unknown ones are kept. Those that git
/// would expand are added to `left`.
pub(super) fn append(
    format: &[u8],
    facts: &Facts,
    describe: Describe<'_>,
    out: &mut Vec<u8>,
    left: &mut BTreeSet<&'static str>,
) -> Result<()> {
    let mut rest = format;
    while let Some(at) = rest.find_byte(b'%') {
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before);
        rest = after.get(1..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(b"%") {
            out.push(b'%');
            rest = after;
            continue;
        }
        let modifier = rest.first().copied().filter(|byte| b"+- ".contains(byte));
        let name = rest
            .get(usize::from(modifier.is_some())..)
            .unwrap_or_default();
        let is_left = |known: &&&str| name.starts_with(known.as_bytes());
        left.extend(NOT_EXPANDED.iter().find(is_left));
        let found = if name.starts_with(DESCRIBE.as_bytes()) {
            match describe(name)? {
                Described::Text(text, length) => Some((text, length)),
                Described::Kept => None,
                Described::Never => {
                    left.insert(DESCRIBE);
                    None
                }
            }
        } else {
            value(name, facts)
        };
        // git removes the modifier of an unknown placeholder, for which it has no text.
        let found = found.or_else(|| modifier.map(|_| (BString::default(), 0)));
        match found {
            Some((value, length)) => {
                push(modifier, &value, out);
                rest = name.get(length..).unwrap_or_default();
            }
            None => out.push(b'%'),
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Appends the value of a placeholder, as its modifier says.
fn push(modifier: Option<u8>, value: &[u8], out: &mut Vec<u8>) {
    match modifier {
        Some(b'-') if value.is_empty() => {
            let kept = out.trim_end_with(|character| character == '\n').len();
            out.truncate(kept);
        }
        Some(b'+') if !value.is_empty() => out.push(b'\n'),
        Some(b' ') if !value.is_empty() => out.push(b' '),
        _ => {}
    }
    out.extend_from_slice(value);
}

/// The value of the placeholder at the start of `text`, and its length.
fn value(text: &[u8], facts: &Facts) -> Option<(BString, usize)> {
    let second = text.get(1).copied();
    let value: BString = match *text.first()? {
        b'H' => facts.commit.full.clone().into(),
        b'h' => facts.commit.short.clone().into(),
        b'T' => facts.tree.full.clone().into(),
        b't' => facts.tree.short.clone().into(),
        b'P' => bstr::join(" ", facts.parents.iter().map(|id| &id.full)).into(),
        b'p' => bstr::join(" ", facts.parents.iter().map(|id| &id.short)).into(),
        b'a' => return Some((person(second?, &facts.author)?, 2)),
        b'c' => return Some((person(second?, &facts.committer)?, 2)),
        b'd' => decorations(facts),
        b'D' => bstr::join(", ", &facts.decorations).into(),
        b'e' => facts.encoding.clone(),
        b's' => subject_lines(&facts.message).0,
        b'f' => sanitized(&facts.message),
        b'b' => subject_lines(&facts.message).1.into(),
        b'B' => facts.message.clone(),
        b'n' => "\n".into(),
        b'm' => ">".into(),
        b'x' => {
            let digits = text.get(1..3)?.to_str().ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
            return Some((vec![byte].into(), 3));
        }
        // Empty, since no reflog is walked.
        b'g' if second.is_some_and(|second| b"DdnNeEs".contains(&second)) => {
            return Some((BString::default(), 2));
        }
        // An archive has no colors.
        b'C' => return Some((BString::default(), color(text)?)),
        b'(' if text.starts_with(b"(decorate)") => {
            return Some((decorations(facts), "(decorate)".len()));
        }
        _ => return None,
    };
    Some((value, 1))
}

/// The length of a placeholder for a color.
fn color(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"C(") {
        return Some(text.find_byte(b')')? + 1);
    }
    let names = ["Cred", "Cgreen", "Cblue", "Creset"];
    let name = names.iter().find(|name| text.starts_with(name.as_bytes()));
    name.map(|name| name.len())
}

/// The value of the second letter of a placeholder about a person.
fn person(letter: u8, person: &Option<Person>) -> Option<BString> {
    const LETTERS: &[u8] = b"nNeElLdDtiIs";
    if !LETTERS.contains(&letter) {
        return None;
    }
    // If the commit's line is malformed, git leaves everything empty.
    let Some(person) = person else {
        return Some(BString::default());
    };
    let local = |mail: &BStr| -> BString {
        let end = mail.find_byte(b'@').unwrap_or(mail.len());
        mail[..end].into()
    };
    let formatted = |format: CustomFormat| person.time.format(format).unwrap_or_default().into();
    Some(match letter {
        b'n' => person.name.clone(),
        b'N' => person.mapped_name.clone(),
        b'e' => person.mail.clone(),
        b'E' => person.mapped_mail.clone(),
        b'l' => local(person.mail.as_bstr()),
        b'L' => local(person.mapped_mail.as_bstr()),
        b'd' => formatted(format::DEFAULT),
        b'D' => formatted(format::GIT_RFC2822),
        b't' => person.time.seconds.to_string().into(),
        b'i' => formatted(format::ISO8601),
        b'I' if person.time.offset == 0 => formatted(CustomFormat::new("%Y-%m-%dT%H:%M:%SZ")),
        b'I' => formatted(format::ISO8601_STRICT),
        _ => formatted(format::SHORT),
    })
}

fn decorations(facts: &Facts) -> BString {
    if facts.decorations.is_empty() {
        BString::default()
    } else {
        format!(" ({})", bstr::join(", ", &facts.decorations).as_bstr()).into()
    }
}

/// The lines of the first paragraph joined into one, and the text after it.
fn subject_lines(message: &[u8]) -> (BString, &[u8]) {
    let mut subject = Vec::new();
    let mut rest = without_blank_lines(message);
    loop {
        let line = rest.lines_with_terminator().next().unwrap_or_default();
        rest = rest.get(line.len()..).unwrap_or_default();
        let line = line.trim_ascii_end();
        if line.is_empty() {
            break;
        }
        if !subject.is_empty() {
            subject.push(b' ');
        }
        subject.extend_from_slice(line);
    }
    (subject.into(), without_blank_lines(rest))
}

fn without_blank_lines(mut text: &[u8]) -> &[u8] {
    while let Some(line) = text.lines_with_terminator().next() {
        if !line.trim_ascii().is_empty() {
            break;
        }
        text = text.get(line.len()..).unwrap_or_default();
    }
    text
}

/// The first line as a file name: letters, digits, `.` and `_` are kept, each run of other
/// characters becomes one `-`, and a run of dots becomes one dot.
fn sanitized(message: &[u8]) -> BString {
    let text = without_blank_lines(message);
    let line = text.lines().next().unwrap_or_default();
    let mut name = BString::default();
    let mut gap = false;
    let mut last = 0;
    for byte in line.iter().copied() {
        let is_repeated_dot = byte == b'.' && last == b'.';
        last = byte;
        if is_repeated_dot {
            continue;
        }
        if byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' {
            if gap && !name.is_empty() {
                name.push(b'-');
            }
            gap = false;
            name.push(byte);
        } else {
            gap = true;
        }
    }
    let kept = name.trim_end_with(|last| matches!(last, '.' | '-')).len();
    name.truncate(kept);
    name
}
