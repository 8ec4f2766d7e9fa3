use bstr::BStr;

/// Splits a path into the path of its parent directory, empty for the root, and its last component.
pub fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&path[..0], path),
    }
}

/// A path below the root of a tree as messages show it; the root itself is `/`.
pub fn shown_path(path: &[u8]) -> &BStr {
    match path {
        [] => BStr::new("/"),
        path => BStr::new(path),
    }
}

#[cfg(test)]
mod tests {
    use super::split_path;

    #[test]
    fn the_last_separator_splits() {
        assert_eq!(split_path(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split_path(b"a"), (&b""[..], &b"a"[..]));
    }
}
