//! Which of the paths that were found are removed as a whole.

use bstr::{BStr, BString, ByteSlice};

/// The paths without those of directories that contain one of `kept`, and without those that are in
/// another one. Both lists are in git's order; paths of directories have a slash at their ends.
pub(super) fn without_kept(paths: Vec<BString>, kept: &[BString]) -> Vec<BString> {
    let mut chosen: Vec<BString> = Vec::with_capacity(paths.len());
    let mut next = 0;
    for path in paths {
        if chosen.last().is_some_and(|last| contains(last, &path)) {
            continue;
        }
        while kept.get(next).is_some_and(|kept| kept <= &path) {
            next += 1;
        }
        // What is in a directory follows it at once.
        if !kept.get(next).is_some_and(|kept| contains(&path, kept)) {
            chosen.push(path);
        }
    }
    chosen
}

/// Whether `outer` is a directory that contains `inner`.
fn contains(outer: &BString, inner: &BString) -> bool {
    let (outer, inner): (&BStr, &BStr) = (outer.as_bstr(), inner.as_bstr());
    outer.ends_with(b"/") && outer.len() < inner.len() && inner.starts_with(outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_to_keep_is_not_removed_as_a_whole() {
        for (paths, kept, expected) in [
            (&["a", "d/", "d/x"][..], &[][..], &["a", "d/"][..]),
            (&["d/", "d/x"], &["d/y"], &["d/x"]),
            (&["d/", "d/e/", "d/e/x", "d/x"], &["d/y"], &["d/e/", "d/x"]),
            (&["d/", "d/e/", "d/e/x"], &["d/e/y"], &["d/e/x"]),
            (&["d/", "e/"], &["a", "b", "f"], &["d/", "e/"]),
            (&["d-", "d/", "d0"], &["d/x"], &["d-", "d0"]),
        ] {
            let list = |paths: &[&str]| paths.iter().map(|path| BString::from(*path)).collect();
            let kept: Vec<BString> = list(kept);
            let found = without_kept(list(paths), &kept);
            assert_eq!(found, expected, "{paths:?} {kept:?}");
        }
    }
}
