//! Patterns that ignore the case of letters, as git matches them.

use bstr::{BString, ByteSlice};

/// Rewrites `pattern` for a matcher that ignores the case of every letter, so that it matches what git
/// matches with it. Git makes the letters of paths small, and those of patterns that stand for themselves
/// (`wildmatch.c`), but not a letter behind a backslash, nor a single one in brackets: a capital letter
/// there matches nothing. `None` if the whole pattern matches nothing.
pub fn pattern_for_folding(pattern: &[u8]) -> Option<BString> {
    let mut out = BString::default();
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        let rest = &pattern[at..];
        let len = match byte {
            b'\\' => match rest.get(1) {
                Some(letter) if letter.is_ascii_uppercase() => return None,
                _ => copy(&mut out, rest, 2),
            },
            b'[' => match Set::read(rest) {
                Some(set) => {
                    set.write(&mut out)?;
                    set.len
                }
                // It has no end.
                None => copy(&mut out, rest, rest.len()),
            },
            _ => copy(&mut out, rest, 1),
        };
        at += len;
    }
    Some(out)
}

fn copy(out: &mut Vec<u8>, from: &[u8], count: usize) -> usize {
    let count = count.min(from.len());
    out.extend_from_slice(&from[..count]);
    count
}

/// A set in brackets, without the members that match nothing.
struct Set {
    is_negated: bool,
    members: Vec<u8>,
    /// Of the whole set in the pattern.
    len: usize,
}

impl Set {
    /// Reads the set that `text` begins with; `None` if it does not end.
    fn read(text: &[u8]) -> Option<Set> {
        let is_negated = matches!(text.get(1), Some(b'!' | b'^'));
        let start = 1 + usize::from(is_negated);
        let mut members = Vec::new();
        let mut at = start;
        // The next closing bracket that may end a class; it is looked for once, however many seem to begin.
        let mut bracket = 0;
        loop {
            let rest = text.get(at..)?;
            let first = *rest.first()?;
            if first == b']' && at > start {
                break;
            } else if rest.starts_with(b"[:") {
                let name = at + 2;
                if bracket < name {
                    bracket = name + text[name..].find_byte(b']')?;
                }
                if bracket > name && text[bracket - 1] == b':' {
                    at += copy(&mut members, rest, bracket + 1 - at);
                    continue;
                }
            }
            let len = member_len(rest);
            let letter = *rest.get(len - 1)?;
            let is_range =
                rest.get(len) == Some(&b'-') && rest.get(len + 1).is_some_and(|end| *end != b']');
            if is_range {
                let end = len + 1 + member_len(&rest[len + 1..]);
                rest.get(end - 1)?;
                at += copy(&mut members, rest, end);
            } else if letter.is_ascii_uppercase() {
                at += len;
            } else {
                at += copy(&mut members, rest, len);
            }
        }
        Some(Set {
            is_negated,
            members,
            len: at + 1,
        })
    }

    /// Appends the set; `None` if it matches nothing.
    fn write(&self, out: &mut Vec<u8>) -> Option<()> {
        match (self.is_negated, self.members.first()) {
            (false, None) => return None,
            (true, None) => {
                out.push(b'?');
                return Some(());
            }
            (true, Some(_)) => out.extend_from_slice(b"[!"),
            // It must not become the sign of another set.
            (false, Some(b'!' | b'^')) => out.extend_from_slice(b"[\\"),
            (false, Some(_)) => out.push(b'['),
        }
        out.extend_from_slice(&self.members);
        out.push(b']');
        Some(())
    }
}

/// How long a member is that is no class.
fn member_len(text: &[u8]) -> usize {
    if text.first() == Some(&b'\\') {
        2
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_letters_that_git_matches_with_nothing_are_left_out() {
        for (pattern, expected) in [
            ("Abc*D?", Some("Abc*D?")),
            ("x\\b", Some("x\\b")),
            ("x\\B", None),
            ("x[B]", None),
            ("x[\\B]y", None),
            ("x[!B]", Some("x?")),
            ("x[^BC]", Some("x?")),
            ("[aBc]", Some("[ac]")),
            ("[!aB]", Some("[!a]")),
            ("[A-C]", Some("[A-C]")),
            ("[A-CX-]", Some("[A-C-]")),
            ("[B-]", Some("[-]")),
            ("[\\A-\\C]", Some("[\\A-\\C]")),
            ("[B!a]", Some("[\\!a]")),
            ("[]B]", Some("[]]")),
            ("[[:upper:]B]", Some("[[:upper:]]")),
            ("[[:upperB]", Some("[[:upper]")),
            ("[[:[:alpha:]B]", Some("[[:[:alpha:]]")),
            ("[[:]B[:x]", Some("[[:]B[:x]")),
            ("[Bc", Some("[Bc")),
            ("\\", Some("\\")),
        ] {
            let found = pattern_for_folding(pattern.as_bytes());
            assert_eq!(
                found.as_ref().map(|it| it.as_bstr()),
                expected.map(Into::into),
                "{pattern}"
            );
        }
        let many = [&b"["[..], &b"[:".repeat(1 << 20), b"]"].concat();
        assert_eq!(pattern_for_folding(&many), Some(many.into()));
    }
}
