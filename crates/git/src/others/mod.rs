//! The paths of a working tree that the index does not name: what `ls-files --others` lists and
//! `clean` removes. What git lists depends on several settings at once, and on what is found below
//! a directory; so one parallel pass ([`scan`]) records how each entry is treated, and a pure
//! function ([`resolve`](resolve::resolve)) then decides what is listed.

mod resolve;
mod scan;

use crate::index::{Entry, Index, Stage};
use crate::status::exclusion::Rules;
use crate::status::remarks::Warning;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::Worktree;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use std::cmp::Ordering;

/// Which paths are listed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    /// A directory without tracked files is one line.
    pub folds: bool,
    /// Such a directory is not listed if there is nothing in it.
    pub hides_empty: bool,
    /// What becomes of ignored paths.
    pub ignored: IgnoredPaths,
    /// What is in an untracked directory is listed besides the directory.
    pub keeps_contents: bool,
    /// Other repositories are not listed.
    pub skips_repositories: bool,
    /// Only paths in the way of tracked ones are searched.
    pub only_killed: bool,
    /// Entries of the index outside the leading directory of all pathspecs count as absent, also
    /// when it is asked whether the directories above it are tracked.
    pub prunes_index: bool,
}

/// What becomes of ignored paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IgnoredPaths {
    /// They are not listed.
    #[default]
    Hidden,
    /// Only they are listed.
    Alone,
    /// They are listed apart; an ignored directory is searched for them.
    Apart,
    /// They are listed apart where they match a pattern themselves.
    ApartIfMatching,
}

impl IgnoredPaths {
    fn is_apart(self) -> bool {
        matches!(self, IgnoredPaths::Apart | IgnoredPaths::ApartIfMatching)
    }
}

/// The result of a search. Paths of directories have a slash at their ends.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// The paths, in git's order.
    pub paths: Vec<BString>,
    /// The ignored paths that are listed apart, in git's order.
    pub ignored: Vec<BString>,
    /// What could not be examined, in git's words.
    pub warnings: Vec<Warning>,
}

/// Searches the working tree for paths that `index` does not name.
pub(crate) fn others(
    worktree: &Worktree<'_>,
    index: &Index,
    rules: &Rules<'_>,
    pathspecs: Option<&Pathspecs>,
    wish: Wish,
) -> Result<Others> {
    let (records, mut warnings) = scan::scan(worktree, index, rules, pathspecs, wish)?;
    let mut found = resolve::resolve(&records, wish);
    // Both come in runs that are sorted, which the stable sort finds.
    found.paths.sort();
    found.ignored.sort();
    retain_others(index, &mut found.ignored);
    if let Ok(mut more) = rules.warnings.lock() {
        warnings.append(&mut more);
    }
    warnings.sort_unstable();
    found.warnings = warnings;
    Ok(found)
}

/// Removes the paths that are in the index from sorted ones, as [`is_other`] decides.
pub(crate) fn retain_others(index: &Index, paths: &mut Vec<BString>) {
    let entries = index.entries();
    // No row before this one has a path that is still to come.
    let mut from = 0;
    paths.retain(|path| {
        // Without its slash, it is not where it was sorted.
        if path.ends_with(b"/") {
            return is_other(index, path.as_bstr());
        }
        // Most paths stand between the same two rows as the one before, so the search is near.
        let is_before = |entry: &Entry| index.path(entry) < path;
        let mut step = 1;
        while entries.get(from + step - 1).is_some_and(is_before) {
            from += step;
            step *= 2;
        }
        let near = &entries[from..entries.len().min(from + step)];
        from += near.partition_point(is_before);
        let next = entries.get(from);
        next.is_none_or(|entry| index.path(entry) != path)
    });
}

/// Whether the index has no entry of this path, whose slash at the end does not count.
pub(crate) fn is_other(index: &Index, path: &BStr) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path).as_bstr();
    match index.find(path, Stage::Merged) {
        Ok(_) => false,
        Err(row) => {
            let next = index.entries().get(row);
            next.is_none_or(|entry| index.path(entry).cmp(path) != Ordering::Equal)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Builder, Mode, Version};
    use gix_hash::Kind;

    #[test]
    fn one_pass_finds_what_single_searches_find() {
        let tracked = ["a", "a-b", "c/d", "c/e", "c/g", "d", "e/f", "z"];
        let mut builder = Builder::new(Kind::Sha1, Version::V2);
        for path in tracked {
            let id = Kind::Sha1.empty_blob();
            let (stat, flags) = Default::default();
            let pushed = builder.push(path.into(), id, Mode::File, stat, flags);
            pushed.unwrap();
        }
        let index = builder.finish();
        let others = [
            "A", "a-a", "a-c", "a.", "c/da", "c/f", "d0", "dir/", "e/g", "zz",
        ];
        let mut paths: Vec<BString> = tracked
            .iter()
            .chain(&others)
            .map(|it| (*it).into())
            .collect();
        paths.extend(["a/", "z/"].map(BString::from));
        paths.sort();
        let expected: Vec<BString> = paths
            .iter()
            .filter(|it| is_other(&index, it.as_bstr()))
            .cloned()
            .collect();
        retain_others(&index, &mut paths);
        assert_eq!(paths, expected);
        assert_eq!(paths.len(), others.len());
    }
}
