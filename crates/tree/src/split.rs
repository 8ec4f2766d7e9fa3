/// The path of the directory a path is in, empty at the root, and the last component.
pub fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&path[..0], path),
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
