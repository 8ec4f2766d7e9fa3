//! The canonical order of a tree.

use std::cmp::Ordering;

/// Compares two paths in canonical order: siblings ascend by the bytes of their names, and the
/// entries of a directory follow it directly. This is the byte order of the paths if `/` is taken
/// for the lowest byte.
///
/// ```
/// use hedgerow_tree::canonical_order;
/// let mut paths = ["a.c", "a/b", "a", "B"];
/// paths.sort_by(|a, b| canonical_order(a.as_bytes(), b.as_bytes()));
/// assert_eq!(paths, ["B", "a", "a/b", "a.c"]);
/// ```
pub fn canonical_order(a: &[u8], b: &[u8]) -> Ordering {
    let differing = a.iter().zip(b).find(|(a, b)| a != b);
    match differing {
        None => a.len().cmp(&b.len()),
        Some((b'/', _)) => Ordering::Less,
        Some((_, b'/')) => Ordering::Greater,
        Some((a, b)) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::canonical_order;

    #[test]
    fn paths_are_compared_component_by_component() {
        let paths: [&[u8]; 12] = [
            b"a", b"a/\x01", b"a/a", b"a/a/z", b"a/a-", b"a/b", b"a\x01", b"a-", b"a.c", b"aa",
            b"b", b"\xff",
        ];
        for (row, a) in paths.iter().enumerate() {
            for (column, b) in paths.iter().enumerate() {
                let components = |path: &'static [u8]| path.split(|byte| *byte == b'/');
                assert_eq!(canonical_order(a, b), row.cmp(&column), "{a:?} {b:?}");
                assert_eq!(canonical_order(a, b), components(a).cmp(components(b)));
            }
        }
    }
}
