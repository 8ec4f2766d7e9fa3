//! Patterns of fnmatch(3): `*`, `?`, `[a-z]`, `[![:digit:]]`, and a backslash that makes the next
//! byte literal. They match bytes, not characters. Matching takes at most time proportional to the
//! product of the lengths.

/// Whether the pattern matches all of `path`; `*`, `?` and brackets never match a slash.
pub(super) fn matches_path(pattern: &[u8], path: &[u8]) -> bool {
    let mut names = path.split(|byte| *byte == b'/');
    let mut patterns = pattern.split(|byte| *byte == b'/');
    loop {
        match (patterns.next(), names.next()) {
            (None, None) => return true,
            (Some(pattern), Some(name)) if matches(pattern, name) => {}
            _ => return false,
        }
    }
}

/// Whether the pattern matches all of `text`; `*`, `?` and brackets match slashes too.
pub(super) fn matches(mut pattern: &[u8], mut text: &[u8]) -> bool {
    // Where to continue after a mismatch: behind the last star, which then matches one byte more.
    let mut star: Option<(&[u8], &[u8])> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix(b"*") {
            star = Some((rest, text));
            pattern = rest;
            continue;
        }
        let Some((byte, rest)) = text.split_first() else {
            return pattern.is_empty();
        };
        if let Some(fitting) = one(pattern, *byte) {
            (pattern, text) = (fitting, rest);
            continue;
        }
        let Some((behind, from)) = star else {
            return false;
        };
        let from = from.get(1..).unwrap_or_default();
        star = Some((behind, from));
        (pattern, text) = (behind, from);
    }
}

/// The rest of the pattern, if its first element matches the byte.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    let (first, rest) = pattern.split_first()?;
    match first {
        b'?' => Some(rest),
        b'[' => match bracket(rest, byte) {
            Some((true, rest)) => Some(rest),
            Some((false, _)) => None,
            None => (byte == b'[').then_some(rest),
        },
        b'\\' => {
            let (escaped, rest) = rest.split_first()?;
            (*escaped == byte).then_some(rest)
        }
        first => (*first == byte).then_some(rest),
    }
}

/// Whether a bracket expression matches the byte, and the rest of the pattern. `None` if the bracket
/// is not closed.
pub(crate) fn bracket(pattern: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let negated = matches!(pattern.first(), Some(b'!' | b'^'));
    let mut rest = pattern.get(usize::from(negated)..)?;
    let (mut found, mut is_first) = (false, true);
    loop {
        if let Some(after) = rest.strip_prefix(b"]").filter(|_| !is_first) {
            return Some((found != negated, after));
        }
        is_first = false;
        if let Some((is_in, after)) = class(rest, byte) {
            found |= is_in;
            rest = after;
            continue;
        }
        let (low, after) = literal(rest)?;
        let (high, after) = match after {
            [b'-', tail @ ..] if !tail.starts_with(b"]") => literal(tail)?,
            _ => (low, after),
        };
        found |= (low..=high).contains(&byte);
        rest = after;
    }
}

fn literal(pattern: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = pattern.split_first()?;
    match first {
        b'\\' => rest.split_first().map(|(byte, rest)| (*byte, rest)),
        first => Some((*first, rest)),
    }
}

/// A character class such as `[:alpha:]`: whether it contains the byte, and the rest of the pattern.
fn class(pattern: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    type IsIn = fn(&u8) -> bool;
    let classes: [(&str, IsIn); 12] = [
        ("[:alnum:]", u8::is_ascii_alphanumeric),
        ("[:alpha:]", u8::is_ascii_alphabetic),
        ("[:blank:]", |byte| matches!(byte, b' ' | b'\t')),
        ("[:cntrl:]", u8::is_ascii_control),
        ("[:digit:]", u8::is_ascii_digit),
        ("[:graph:]", u8::is_ascii_graphic),
        ("[:lower:]", u8::is_ascii_lowercase),
        ("[:print:]", |byte| matches!(byte, b' '..=b'~')),
        ("[:punct:]", u8::is_ascii_punctuation),
        ("[:space:]", |byte| super::lines::is_space(*byte)),
        ("[:upper:]", u8::is_ascii_uppercase),
        ("[:xdigit:]", u8::is_ascii_hexdigit),
    ];
    classes.iter().find_map(|(name, is_in)| {
        let rest = pattern.strip_prefix(name.as_bytes())?;
        Some((is_in(&byte), rest))
    })
}

#[cfg(test)]
mod tests {
    use super::{matches, matches_path};

    #[test]
    fn patterns_match_as_fnmatch_does() {
        for (pattern, text, expected) in [
            ("*.so.*", "a.so.1", true),
            ("*.so.*", "a.so", false),
            ("a*b*c", "axxbyybzc", true),
            ("*", "", true),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]x]", "]", true),
            ("[[:digit:]-]", "-", true),
            ("[[:upper:]_]*", "_a", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("a\\", "a\\", false),
            ("[\\]]", "]", true),
            ("a/*", "a/b/c", true),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
        for (pattern, text, expected) in [
            ("bin/*", "bin/a", true),
            ("bin/*", "bin/a/b", false),
            ("*", "a/b", false),
            ("*/?", "a/b", true),
            ("a?b", "a/b", false),
        ] {
            assert_eq!(
                matches_path(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "a*".repeat(1000) + "b";
        assert!(!matches(pattern.as_bytes(), &[b'a'; 4000]));
    }
}
