//! Files that a side of a merge renamed: the changes of the other side follow them. Only renames that
//! matter to the other side's changes are looked for.

use crate::config::boolean;
use crate::index::Mode;
use crate::repository::Repository;
use crate::status::rename::{
    detect_relevant, Detection, Filepair, IsRelevant, ObjectContents, RenameOptions,
    Side as PairSide,
};
use crate::status::ChangeKind;
use crate::tree::{Difference, Side};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Options;
use std::collections::BTreeMap;

/// `merge.renameLimit` where it is not set.
const LIMIT: u32 = 7000;

/// The new paths of renamed files, by their old ones. A path that went to several places is not there.
pub(super) type Renames = BTreeMap<BString, BString>;

/// The renames among `changes`, if renames are to be detected. Where a path went that is not relevant
/// is seen by an equal content alone: so it is in nobody's way.
pub(super) fn find(
    repository: &Repository,
    changes: &Difference,
    is_relevant: IsRelevant<'_>,
    engine: &Options,
) -> Result<Renames> {
    let mut renames = Renames::new();
    let Some(options) = options(repository)? else {
        return Ok(renames);
    };
    let side = |path: &BStr, side: Option<Side>| {
        side.map(|side| PairSide {
            path: path.to_owned(),
            mode: Mode::from(side.kind),
            id: Some(side.id),
        })
    };
    // git does not take an empty file for a renamed one in a merge.
    let is_empty = |side: Option<Side>| side.is_some_and(|side| side.id.is_empty_blob());
    let candidates = changes.changes().iter().filter(|change| {
        let is_one_sided = change.old.is_none() || change.new.is_none();
        !(is_one_sided && is_empty(change.old.or(change.new)))
    });
    let pairs = candidates.map(|change| Filepair {
        old: side(changes.path(change), change.old),
        new: side(changes.path(change), change.new),
        ..Filepair::default()
    });
    let mut pairs: Vec<Filepair> = pairs.collect();
    detect_relevant(
        &mut pairs,
        &options,
        &ObjectContents::new(repository),
        engine,
        is_relevant,
    )?;
    for pair in pairs {
        let is_rename = pair.origin.is_some_and(|it| it.kind == ChangeKind::Renamed);
        if let (Some(old), Some(new), true) = (pair.old, pair.new, is_rename) {
            renames.insert(old.path, new.path);
        }
    }
    Ok(renames)
}

/// `merge.renames` and `merge.renameLimit`, or else the same of `diff`; `None` if renames are not
/// detected.
fn options(repository: &Repository) -> Result<Option<RenameOptions>> {
    let config = repository.config();
    let first = |name: &str| {
        let own = config.string(&format!("merge.{name}"));
        own.or_else(|| config.string(&format!("diff.{name}")))
    };
    let wanted = first("renames").and_then(|text| boolean(text.as_bstr()));
    if wanted == Some(false) {
        return Ok(None);
    }
    let limit = match config.integer("merge.renameLimit")? {
        Some(limit) => Some(limit),
        None => config.integer("diff.renameLimit")?,
    };
    let limit = limit.and_then(|limit| u32::try_from(limit).ok());
    Ok(Some(RenameOptions {
        detection: Detection::Renames,
        limit: match limit {
            Some(0) | None => Some(LIMIT),
            limit => limit,
        },
        ..RenameOptions::default()
    }))
}
