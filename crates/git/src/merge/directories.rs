//! Directories that a side of a merge renamed. Git lets what the other side added to such a directory
//! follow it, or suggests that (`merge.directoryRenames`); that is not built, and refused where it
//! would matter.

use super::renames::Renames;
use crate::config::boolean;
use crate::index::Index;
use crate::repository::Repository;
use crate::tree::Difference;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// How the trees of both sides differ from the base.
pub(super) struct Changes<'a> {
    pub of_ours: &'a Difference,
    pub of_theirs: &'a Difference,
    /// Our tree.
    pub ours: &'a Index,
}

/// Refuses to merge a file that one side added to a directory which the other side renamed. `renames`
/// finds the renamed files among changes.
pub(super) fn refuse_renamed(
    repository: &Repository,
    sides: &Changes<'_>,
    renames: &dyn Fn(&Difference) -> Result<Renames>,
) -> Result<()> {
    let wanted = repository.config().string("merge.directoryRenames");
    if wanted.and_then(|text| boolean(text.as_bstr())) == Some(false) {
        return Ok(());
    }
    let (ours, theirs) = (Paths::of(sides.of_ours), Paths::of(sides.of_theirs));
    // What the base has and neither side's changes tell is still there on both sides.
    let in_ours = |directory: &BStr| !sides.ours.range_under(directory).is_empty();
    let in_theirs = |directory: &BStr| {
        let rows = &sides.ours.entries()[sides.ours.range_under(directory)];
        let stays = |path: &BStr| !theirs.gone.contains(path) && !ours.added.contains(path);
        theirs.has_added_below(directory)
            || rows.iter().any(|entry| stays(sides.ours.path(entry)))
            || ours
                .gone_below(directory)
                .any(|path| !theirs.gone.contains(path))
    };
    refuse(&theirs, (&ours, sides.of_ours), &in_ours, renames)?;
    refuse(&ours, (&theirs, sides.of_theirs), &in_theirs, renames)
}

/// Refuses what one side added to a directory that is gone on the `other` side, where files of it were
/// renamed. `has` says whether the other side has anything in a directory.
fn refuse(
    side: &Paths<'_>,
    (other, changes): (&Paths<'_>, &Difference),
    has: &dyn Fn(&BStr) -> bool,
    renames: &dyn Fn(&Difference) -> Result<Renames>,
) -> Result<()> {
    let mut known: Option<Renames> = None;
    for path in &side.added {
        for at in path.find_iter(b"/") {
            let directory = path[..at].as_bstr();
            if other.gone_below(directory).next().is_none() || has(directory) {
                continue;
            }
            let renamed = match &known {
                Some(renamed) => renamed,
                None => known.insert(renames(changes)?),
            };
            if renamed.keys().any(|old| is_below(old.as_bstr(), directory)) {
                return Err(Error::NotBuilt {
                    reason: format!(
                        "merging '{path}', which one side added to '{directory}', a directory that \
                         the other side renamed,"
                    ),
                });
            }
        }
    }
    Ok(())
}

/// The paths that a side added and removed.
struct Paths<'a> {
    added: BTreeSet<&'a BStr>,
    gone: BTreeSet<&'a BStr>,
}

impl<'a> Paths<'a> {
    fn of(changes: &'a Difference) -> Self {
        let mut paths = Paths {
            added: BTreeSet::new(),
            gone: BTreeSet::new(),
        };
        for change in changes.changes() {
            match (change.old, change.new) {
                (None, Some(_)) => paths.added.insert(changes.path(change)),
                (Some(_), None) => paths.gone.insert(changes.path(change)),
                _ => false,
            };
        }
        paths
    }

    fn has_added_below(&self, directory: &BStr) -> bool {
        below(&self.added, directory).next().is_some()
    }

    fn gone_below(&self, directory: &BStr) -> impl Iterator<Item = &'a BStr> + '_ {
        below(&self.gone, directory)
    }
}

fn below<'p, 'a>(
    paths: &'p BTreeSet<&'a BStr>,
    directory: &BStr,
) -> impl Iterator<Item = &'a BStr> + 'p {
    let start = BString::from([directory.as_bytes(), b"/"].concat());
    let end = BString::from([directory.as_bytes(), b"0"].concat());
    let range = (
        std::ops::Bound::Included(start.as_bstr()),
        std::ops::Bound::Excluded(end.as_bstr()),
    );
    let found: Vec<&'a BStr> = paths.range::<BStr, _>(range).copied().collect();
    found.into_iter()
}

fn is_below(path: &BStr, directory: &BStr) -> bool {
    let rest = path.strip_prefix(directory.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"/"))
}
