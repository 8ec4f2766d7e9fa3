//! Untracked paths that a checkout of the index would have to remove.

use crate::index::{Index, Stage};
use bstr::{BStr, ByteSlice};

/// Whether the untracked `path` is in the way of a path of the index: the index has a file in place
/// of a directory above it, or a directory in its own place. A directory has a slash at its end.
pub(super) fn is_killed(index: &Index, path: &BStr) -> bool {
    for end in path.find_iter(b"/") {
        if index.find(path[..end].as_bstr(), Stage::Merged).is_ok() {
            return true;
        }
    }
    if path.ends_with(b"/") {
        return false;
    }
    let Err(row) = index.find(path, Stage::Merged) else {
        return false;
    };
    let rest = index.entries().get(row..).unwrap_or_default();
    let next = rest.iter().find(|entry| entry.flags.stage == Stage::Merged);
    next.is_some_and(|entry| {
        let below = index.path(entry).strip_prefix(path.as_bytes());
        below.is_some_and(|below| below.starts_with(b"/"))
    })
}
