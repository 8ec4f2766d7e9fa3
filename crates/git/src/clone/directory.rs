//! The name of the directory that git makes for a clone if it is told none: git-clone(1) under
//! `<directory>`.

use bstr::{BString, ByteSlice};

/// The name that git makes from `source`, a URL or a path: its last part, without `.git` (or `.bundle`
/// if it `is_bundle`). `None` if there is no such part.
pub fn directory_of(source: &[u8], is_bundle: bool) -> Option<BString> {
    let after_scheme = source.find("://").map_or(source, |at| &source[at + 3..]);
    let host_end = after_scheme.find_byte(b'/').unwrap_or(after_scheme.len());
    let user_end = after_scheme[..host_end].rfind_byte(b'@');
    let mut rest = trimmed(user_end.map_or(after_scheme, |at| &after_scheme[at + 1..]));
    if let Some(shorter) = rest.strip_suffix(b"/.git").filter(|it| !it.is_empty()) {
        rest = shorter.trim_end_with(|it| it == '/');
    }
    // A host alone names the directory, without its port.
    if !rest.contains(&b'/') {
        let digits = rest
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        rest = rest[..rest.len() - digits]
            .strip_suffix(b":")
            .unwrap_or(rest);
    }
    let start = rest.iter().rposition(|byte| matches!(byte, b'/' | b':'));
    let last = start.map_or(rest, |at| &rest[at + 1..]);
    let suffix: &[u8] = if is_bundle { b".bundle" } else { b".git" };
    let last = last.strip_suffix(suffix).unwrap_or(last);
    let name = without_controls(last);
    (!name.is_empty()).then_some(name)
}

/// Without slashes and white space at the end.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_end_with(|it| it == '/' || it.is_ascii_whitespace())
}

/// Each run of control characters and white space becomes one space, and none at either end.
fn without_controls(name: &[u8]) -> BString {
    let is_blank = |byte: &u8| *byte < b' ' || byte.is_ascii_whitespace();
    let words = name.split(is_blank).filter(|word| !word.is_empty());
    BString::from(words.collect::<Vec<_>>().join(&b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_names_the_directory() {
        for (source, expected) in [
            ("https://host/a/b.git", "b"),
            ("https://host/a/b.git/", "b"),
            ("/path/to/repo/.git", "repo"),
            ("/path/to/repo/.git///", "repo"),
            ("host:foo", "foo"),
            ("host:foo/bar.git", "bar"),
            ("ssh://host:1234/", "host"),
            ("ssh://user:pass@host:1234", "host"),
            ("ssh://user@host/foo", "foo"),
            ("user:passw@rd@host:1234/", "host"),
            ("../up", "up"),
            ("a b \t c", "a b c"),
            ("x.bundle", "x.bundle"),
        ] {
            let found = directory_of(source.as_bytes(), false);
            assert_eq!(found, Some(expected.into()), "{source}");
        }
        assert_eq!(directory_of(b"d/x.bundle", true), Some("x".into()));
        assert_eq!(directory_of(b"/", false), None);
    }
}
