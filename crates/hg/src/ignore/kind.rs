use super::glob;
use bstr::{BString, ByteSlice};

/// The kinds of patterns in an ignore file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular expression that may match anywhere: `regexp`.
    RelativeRegex,
    /// A glob that may start at any component: `glob`.
    RelativeGlob,
    /// A glob that starts at the root: `rootglob`.
    RootGlob,
    /// The patterns of another file: `include`.
    Include,
    /// The patterns of another file, applied to the directory of that file: `subinclude`.
    SubInclude,
}

/// The kind given before the colon, and the pattern, with globs and paths normalized. A pattern
/// without a kind is a rooted glob.
pub(super) fn split(text: &[u8]) -> (Kind, BString) {
    let (kind, pattern) = match text.split_once_str(b":") {
        Some((b"relre", pattern)) => (Kind::RelativeRegex, pattern),
        Some((b"relglob", pattern)) => (Kind::RelativeGlob, pattern),
        Some((b"rootglob", pattern)) => (Kind::RootGlob, pattern),
        Some((b"include", pattern)) => (Kind::Include, pattern),
        Some((b"subinclude", pattern)) => (Kind::SubInclude, pattern),
        _ => (Kind::RootGlob, text),
    };
    match kind {
        Kind::RelativeGlob | Kind::RootGlob => (kind, normalized(pattern)),
        _ => (kind, pattern.into()),
    }
}

/// The flag letters with which a regular expression may start, as in `(?i)`; they apply to all of
/// it.
const FLAGS: &[u8] = b"aiLmsux";
/// The end of a glob's expression: it also matches everything below the match.
const BELOW: &[u8] = b"(?:/|$)";

/// The regular expression, in Python's syntax, that a path must match from its start.
pub(super) fn to_regex(kind: Kind, pattern: &[u8]) -> Vec<u8> {
    match kind {
        Kind::RelativeRegex => relative_regex(pattern),
        Kind::RelativeGlob => {
            let regex = glob::to_regex(pattern);
            match regex.strip_prefix(b"[^/]*") {
                Some(rest) => [b".*", rest, BELOW].concat(),
                None => [b"(?:|.*/)", regex.as_slice(), BELOW].concat(),
            }
        }
        _ => [glob::to_regex(pattern).as_slice(), BELOW].concat(),
    }
}

fn relative_regex(pattern: &[u8]) -> Vec<u8> {
    let (flags, pattern) = leading_flags(pattern).unwrap_or((b"", pattern));
    let anywhere: &[u8] = if pattern.starts_with(b"^") {
        b""
    } else {
        b".*"
    };
    if flags.is_empty() {
        [anywhere, pattern].concat()
    } else {
        [b"(?", flags, b":", anywhere, pattern, b")"].concat()
    }
}

fn leading_flags(pattern: &[u8]) -> Option<(&[u8], &[u8])> {
    let (flags, rest) = pattern.strip_prefix(b"(?")?.split_once_str(b")")?;
    let known = flags.iter().all(|flag| FLAGS.contains(flag));
    (known && !flags.is_empty()).then_some((flags, rest))
}

/// A path or glob without empty components and `.`, and with `..` resolved where something precedes
/// it; `.` if nothing is left.
pub(super) fn normalized(path: &[u8]) -> BString {
    let root: &[u8] = match path {
        [b'/', b'/', third, ..] if *third != b'/' => b"//",
        [b'/', b'/'] => b"//",
        [b'/', ..] => b"/",
        _ => b"",
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            b".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    let joined = [root, parts.join(&b'/').as_slice()].concat();
    if joined.is_empty() {
        ".".into()
    } else {
        joined.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_as_posix_has_it() {
        for (path, expected) in [
            ("a/b/", "a/b"),
            ("./a//b", "a/b"),
            ("a/../b", "b"),
            ("../a", "../a"),
            ("/../a", "/a"),
            ("//a", "//a"),
            ("///a", "/a"),
            ("", "."),
            ("a/..", "."),
        ] {
            assert_eq!(normalized(path.as_bytes()), expected);
        }
    }

    #[test]
    fn every_kind_becomes_an_expression() {
        for (kind, pattern, expected) in [
            (Kind::RelativeRegex, "a$", ".*a$"),
            (Kind::RelativeRegex, "^a", "^a"),
            (Kind::RelativeRegex, "(?i)a", "(?i:.*a)"),
            (Kind::RelativeRegex, "(?i)^a", "(?i:^a)"),
            (Kind::RelativeRegex, "(?q)a", ".*(?q)a"),
            (Kind::RelativeGlob, "*.o", r".*\.o(?:/|$)"),
            (Kind::RelativeGlob, "a/b", "(?:|.*/)a/b(?:/|$)"),
            (Kind::RootGlob, "a*", "a[^/]*(?:/|$)"),
        ] {
            let made = BString::from(to_regex(kind, pattern.as_bytes()));
            assert_eq!(made, expected);
        }
    }
}
