//! What was in the index of an entry, put into the index of now: as git-apply(1) with `--cached`
//! applies the changes as a patch.

use crate::checkout::Session;
use crate::index::{Index, Mode, Stage};
use crate::merge::{
    edited, is_binary, kind, merge_contents, misfit_of_patch, Algorithm, ContentOptions,
};
use crate::objects::{write_tree, ObjectWriter};
use crate::tree::{Difference, Side};
use crate::Result;
use bstr::BString;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;
use std::collections::BTreeMap;

/// The lines around a change that must be there for a patch to fit.
const CONTEXT: usize = 3;

/// The tree of `index` with the changes from `base` to `wanted`; `Err` has the paths where these do
/// not fit.
pub(super) fn patched(
    session: &Session<'_>,
    writer: &ObjectWriter<'_>,
    index: &Index,
    (base, wanted): (ObjectId, ObjectId),
) -> Result<Result<ObjectId, Vec<String>>> {
    let repository = session.repository;
    let (names, engine) = (session.names(), session.engine());
    let changes = Difference::between(repository, Some(base), Some(wanted), names, &engine)?;
    let mut edits: BTreeMap<BString, Option<Side>> = BTreeMap::new();
    let mut misfits = Vec::new();
    for change in changes.changes() {
        let path = changes.path(change);
        let current = index.find(path, Stage::Merged).ok().map(|row| {
            let entry = &index.entries()[row];
            Side {
                kind: kind(entry.mode),
                id: entry.id,
            }
        });
        if current == change.old {
            edits.insert(path.to_owned(), change.new);
            continue;
        }
        let misfit = match (change.old, current, change.new) {
            (None, Some(_), _) => format!("{path}: already exists in index"),
            (Some(_), None, _) => format!("{path}: does not exist in index"),
            (Some(old), Some(current), Some(new)) => {
                match patch(session, writer, [old, current, new])? {
                    Ok(side) => {
                        edits.insert(path.to_owned(), Some(side));
                        continue;
                    }
                    Err(line) => {
                        let line = line.map(|line| format!("patch failed: {path}:{line}"));
                        misfits.extend(line);
                        format!("{path}: patch does not apply")
                    }
                }
            }
            _ => format!("{path}: patch does not apply"),
        };
        misfits.push(misfit);
    }
    if !misfits.is_empty() {
        return Ok(Err(misfits));
    }
    let rows = edited(index, &edits);
    write_tree(repository, writer, rows.into_iter(), &engine).map(Ok)
}

/// The current content with the change from old to new; `Err` if it does not fit, with the line of
/// the change if that is known.
fn patch(
    session: &Session<'_>,
    writer: &ObjectWriter<'_>,
    [old, current, new]: [Side; 3],
) -> Result<Result<Side, Option<usize>>> {
    let is_link = |side: Side| Mode::from(side.kind) == Mode::Symlink;
    let is_submodule = |side: Side| Mode::from(side.kind) == Mode::Gitlink;
    let sides = [old, current, new];
    if sides.into_iter().any(is_submodule) || is_link(old) != is_link(current) {
        return Ok(Err(None));
    }
    let kind = if old.kind == new.kind {
        current.kind
    } else {
        new.kind
    };
    if old.id == new.id {
        return Ok(Ok(Side {
            kind,
            id: current.id,
        }));
    }
    if old.id == current.id {
        return Ok(Ok(Side { kind, id: new.id }));
    }
    let read = |side: Side| session.repository.read_object(&side.id);
    let [base, ours, theirs] = [read(old)?.1, read(current)?.1, read(new)?.1];
    if [&base, &ours, &theirs]
        .into_iter()
        .any(|content| is_binary(content))
    {
        return Ok(Err(None));
    }
    if let Some(line) = misfit_of_patch(&base, &ours, &theirs, CONTEXT) {
        return Ok(Err(Some(line)));
    }
    let options = ContentOptions {
        algorithm: Algorithm::Myers,
        ..ContentOptions::default()
    };
    let merged = merge_contents(&base, &ours, &theirs, &options);
    if merged.conflicts > 0 {
        return Ok(Err(None));
    }
    let id = writer.write_one(ObjectKind::Blob, &merged.text)?;
    Ok(Ok(Side { kind, id }))
}
