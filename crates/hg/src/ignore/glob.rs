//! Globs as regular expressions: `hg help patterns`.

/// Translates a glob to a regular expression in Python's syntax that matches from the current
/// position.
///
/// `*` matches anything within a component, `**` anything at all, `**/` any number of whole
/// components or none, `?` one byte (even a slash, as with Mercurial), `[...]` a class that `!`
/// negates, `{a,b}` alternatives; a backslash makes the next character literal.
pub(super) fn to_regex(glob: &[u8]) -> Vec<u8> {
    let mut regex = Vec::with_capacity(2 * glob.len());
    let mut open_braces = 0_u32;
    let mut rest = glob;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'*' if after.starts_with(b"*/") => {
                rest = after.get(2..).unwrap_or_default();
                regex.extend_from_slice(b"(?:.*/)?");
            }
            b'*' if after.starts_with(b"*") => {
                rest = after.get(1..).unwrap_or_default();
                regex.extend_from_slice(b".*");
            }
            b'*' => regex.extend_from_slice(b"[^/]*"),
            b'?' => regex.push(b'.'),
            b'[' => rest = class(after, &mut regex),
            b'{' => {
                open_braces += 1;
                regex.extend_from_slice(b"(?:");
            }
            b'}' if open_braces > 0 => {
                open_braces -= 1;
                regex.push(b')');
            }
            b',' if open_braces > 0 => regex.push(b'|'),
            b'\\' => match after.split_first() {
                Some((next, after)) => {
                    literal(*next, &mut regex);
                    rest = after;
                }
                None => literal(b'\\', &mut regex),
            },
            byte => literal(*byte, &mut regex),
        }
    }
    regex
}

/// Appends a class whose content starts at `after`, behind the `[`; one without an end is a literal
/// bracket. Returns the rest.
fn class<'glob>(after: &'glob [u8], regex: &mut Vec<u8>) -> &'glob [u8] {
    let first = usize::from(matches!(after.first(), Some(b'!' | b']')));
    let ending = after.iter().skip(first).position(|byte| *byte == b']');
    let Some((inside, rest)) = ending.and_then(|at| after.split_at_checked(first + at)) else {
        literal(b'[', regex);
        return after;
    };
    regex.push(b'[');
    let inside = match inside.split_first() {
        Some((b'!', inside)) => {
            regex.push(b'^');
            inside
        }
        Some((b'^', _)) => {
            regex.push(b'\\');
            inside
        }
        _ => inside,
    };
    for byte in inside {
        match byte {
            b'\\' => regex.extend_from_slice(b"\\\\"),
            byte => regex.push(*byte),
        }
    }
    regex.push(b']');
    rest.get(1..).unwrap_or_default()
}

/// Appends an expression that matches exactly this byte.
pub(super) fn literal(byte: u8, regex: &mut Vec<u8>) {
    if byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'/' | b'"' | b'\'') {
        regex.push(b'\\');
    }
    regex.push(byte);
}

#[cfg(test)]
mod tests {
    use super::to_regex;
    use bstr::BString;

    #[test]
    fn globs_become_the_expressions_that_mercurial_makes() {
        for (glob, regex) in [
            ("?", "."),
            ("*", "[^/]*"),
            ("**", ".*"),
            ("**/a", "(?:.*/)?a"),
            ("a/**/b", "a/(?:.*/)?b"),
            ("[a*?!^][^b][!c]", r"[a*?!^][\^b][^c]"),
            ("{a,b}", "(?:a|b)"),
            (r".\*\?", r"\.\*\?"),
            ("a,b}", r"a\,b\}"),
            ("[a", r"\[a"),
            ("[]a]b", "[]a]b"),
            ("[!]a]", r"[^]a\]"),
            (r"[\d]", r"[\\d]"),
            ("a\\", r"a\\"),
        ] {
            let made = BString::from(to_regex(glob.as_bytes()));
            assert_eq!(made, regex, "{glob}");
        }
    }
}
