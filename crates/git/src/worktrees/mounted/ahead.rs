//! Writing what a commit has and its image does not into the layer of changes, ahead of its first mount.
//!
//! In an overlay, every file that is replaced costs a lookup in the image, copies of its directories and
//! several operations on the layer. Nobody uses the layer yet, so its content is written as it will be:
//! files as in an ordinary working tree, and in the place of what is gone, whiteouts. Format:
//! Documentation/filesystems/overlayfs.rst of Linux, "whiteouts and opaque directories".

use super::fill::Checkout;
use crate::checkout::{Done, Unused};
use crate::index::{Entry, Index};
use crate::repository::Repository;
use crate::tree::Difference;
use crate::worktrees::populate::not_reset;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::{Dir, FileKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether that is possible for the working tree of `linked`: whiteouts need root, and a hook that git runs
/// after it has written the index expects all files.
pub(super) fn can_write_ahead(linked: &Repository, is_privileged: bool) -> Result<bool> {
    Ok(is_privileged && !linked.has_hook("post-index-change")?)
}

/// Writes into the layer `upper` what a commit has and the image below has not: its index is `image`, and
/// the `changes` make it that of the commit. Returns what was done, and the index of the working tree.
pub(super) fn write_ahead(
    checkout: &Checkout<'_>,
    upper: &Path,
    image: &Index,
    changes: &Difference,
    execution: &Execution,
) -> Result<(Done, Index)> {
    let linked = checkout.linked;
    let in_layer = linked.open_admin(linked.git_dir(), upper)?;
    let (done, index) = in_layer.with_promised(|| {
        let unused = Unused {
            repository: &in_layer,
            index: image.clone(),
            changes,
            commit: checkout.commit,
            branch: checkout.branch.clone(),
            threshold: checkout.threshold,
        };
        unused.renew(execution)
    })?;
    let Some(mut index) = index else {
        return Err(done.ended_by(not_reset()));
    };
    // It would be that of the layer.
    *index.untracked_cache_mut() = None;
    let root = Dir::open(upper)?;
    for path in gone(image, &index) {
        let (above, name) = hedgerow_tree::split_path(&path);
        hedgerow_fs::create_directories(&upper.join(OsStr::from_bytes(above)))?;
        let directory = (!above.is_empty())
            .then(|| root.open_dir(above))
            .transpose()?;
        let directory = directory.as_ref().unwrap_or(&root);
        directory.create_node(name, FileKind::CharacterDevice, 0, (0, 0))?;
    }
    Ok((done, index))
}

/// The outermost paths of the files of `old` at which, and below which, `new` has none, in order.
fn gone(old: &Index, new: &Index) -> Vec<BString> {
    let mut gone: Vec<BString> = Vec::new();
    let mut others = new.iter().peekable();
    let is_file = |entry: &Entry| !entry.flags.skip_worktree;
    let has = |rows: std::ops::Range<usize>| new.entries()[rows].iter().any(is_file);
    let is_empty = |path: &BStr| !has(new.range_under(path));
    for (path, entry) in old.iter() {
        let is_below = |above: &BString| {
            let rest = path.strip_prefix(above.as_slice());
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        while others.next_if(|(other, _)| *other < path).is_some() {}
        let same = others.next_if(|(other, _)| *other == path);
        let is_there = same.is_some_and(|(_, entry)| is_file(entry));
        if !is_file(entry) || is_there || gone.last().is_some_and(is_below) {
            continue;
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| path[..at].as_bstr());
        let outermost = above.find(|path| is_empty(path)).unwrap_or(path);
        // What is there now hides what was.
        if is_empty(outermost) && !has(new.rows_at(outermost)) {
            gone.push(outermost.to_owned());
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Builder, EntryStat, Flags, Mode, Version};
    use gix_hash::ObjectId;

    fn index(paths: &[&str]) -> Index {
        let mut builder = Builder::new(gix_hash::Kind::Sha1, Version::default());
        for path in paths {
            let (path, skip_worktree) = match path.strip_prefix('!') {
                Some(path) => (path, true),
                None => (*path, false),
            };
            let flags = Flags {
                skip_worktree,
                ..Flags::default()
            };
            let (id, stat) = (
                ObjectId::from_bytes_or_panic(&[7; 20]),
                EntryStat::default(),
            );
            builder
                .push(path.into(), id, Mode::File, stat, flags)
                .unwrap();
        }
        builder.finish()
    }

    #[test]
    fn what_is_gone_is_hidden_where_it_begins() {
        let cases: [(&[&str], &[&str], &[&str]); 8] = [
            (&["a", "b"], &["a"], &["b"]),
            (&["d/a", "d/e/b", "d/e/c"], &["d/a"], &["d/e"]),
            (&["d/a", "d/e/b"], &["x"], &["d"]),
            (&["d.c", "d/a", "d0"], &["d/b"], &["d.c", "d/a", "d0"]),
            // A directory in the place of a file, and a file in that of a directory.
            (&["a"], &["a/b"], &[]),
            (&["a/b", "a/c/d"], &["a"], &[]),
            (&["a/b/c", "a/d"], &["a/b"], &["a/d"]),
            // What is not written is not there.
            (&["!x/a", "x/b", "y/c"], &["!x/b", "y/c"], &["x"]),
        ];
        for (old, new, expected) in cases {
            let found = gone(&index(old), &index(new));
            assert_eq!(found, expected, "{old:?} to {new:?}");
        }
    }
}
