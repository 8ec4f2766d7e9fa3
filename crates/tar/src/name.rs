//! Checks names of members and converts them to paths of a tree.

use crate::error::Unusable;

/// Maximum length of a component in bytes, as in Linux and SquashFS.
const COMPONENT_BYTES: usize = 255;

/// Converts a name to a path of a tree: without `.`, repeated slashes and a trailing slash. The
/// root, which archives call `.` or `./`, becomes an empty path.
///
/// Leading slashes are an error, or dropped if `strip`; `..` is always an error.
pub(crate) fn normalize(name: &[u8], strip: bool) -> Result<Vec<u8>, Unusable> {
    match name.first() {
        None => return Err(Unusable::Empty),
        Some(b'/') if !strip => return Err(Unusable::Absolute),
        Some(_) => {}
    }
    if name.contains(&0) {
        return Err(Unusable::Nul);
    }
    let mut path = Vec::with_capacity(name.len());
    for component in name.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => continue,
            b".." => return Err(Unusable::Traversal),
            _ if component.len() > COMPONENT_BYTES => return Err(Unusable::LongComponent),
            _ => {}
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(component);
    }
    Ok(path)
}

/// Checks that a path is normalized already; the empty path of the root is.
pub(crate) fn check(path: &[u8]) -> Result<(), Unusable> {
    if path.is_empty() {
        return Ok(());
    }
    let is_normal = normalize(path, false)? == path;
    is_normal.then_some(()).ok_or(Unusable::Empty)
}

/// Checks that a symbolic link can have this target.
pub(crate) fn check_symlink_target(target: &[u8]) -> Result<(), Unusable> {
    let possible = !target.is_empty() && !target.contains(&0);
    possible.then_some(()).ok_or(Unusable::SymlinkTarget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_means_nothing() {
        for (name, path) in [
            ("a", "a"),
            ("./a//b/", "a/b"),
            ("a/./b/.", "a/b"),
            (".", ""),
            ("./", ""),
            (".//./", ""),
            ("...", "..."),
            ("a/..b", "a/..b"),
        ] {
            let normal = normalize(name.as_bytes(), false).unwrap();
            assert_eq!(normal, path.as_bytes(), "{name:?}");
            assert_eq!(check(&normal), Ok(()));
            assert_eq!(check(name.as_bytes()).is_ok(), name == path, "{name:?}");
        }
    }

    #[test]
    fn hostile_names_are_refused() {
        for (name, reason) in [
            ("", Unusable::Empty),
            ("/", Unusable::Absolute),
            ("/a", Unusable::Absolute),
            ("..", Unusable::Traversal),
            ("a/../b", Unusable::Traversal),
            ("./../b", Unusable::Traversal),
            ("a\0b", Unusable::Nul),
        ] {
            assert_eq!(normalize(name.as_bytes(), false), Err(reason), "{name:?}");
        }
        assert_eq!(normalize(b"//a/", true).unwrap(), b"a");
        assert_eq!(normalize(b"/../a", true), Err(Unusable::Traversal));
        let long = [b'n'; 256];
        assert_eq!(normalize(&long, true), Err(Unusable::LongComponent));
        assert_eq!(normalize(&long[1..], true).unwrap(), &long[1..]);
        assert_eq!(check_symlink_target(b"../.."), Ok(()));
        assert!(check_symlink_target(b"").is_err());
        assert!(check_symlink_target(b"a\0").is_err());
    }
}
