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
use bstr::{BStr, BString};
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
        match (change.old, current) {
            (Some(old), Some(current)) => {
                let patch = Patch {
                    path,
                    old,
                    new: change.new,
                    context: CONTEXT,
                };
                match patch.applied(session, writer, current)? {
                    Ok(side) => {
                        edits.insert(path.to_owned(), side);
                    }
                    Err(reasons) => misfits.extend(reasons),
                }
            }
            (None, _) => misfits.push(format!("{path}: already exists in index")),
            (Some(_), None) => misfits.push(format!("{path}: does not exist in index")),
        }
    }
    if !misfits.is_empty() {
        return Ok(Err(misfits));
    }
    let rows = edited(index, &edits);
    write_tree(repository, writer, rows.into_iter(), &engine).map(Ok)
}

/// The change of one file.
pub(super) struct Patch<'a> {
    pub path: &'a BStr,
    pub old: Side,
    /// `None` if the change removes the file.
    pub new: Option<Side>,
    /// The lines around a change that must be there for it to fit.
    pub context: usize,
}

impl Patch<'_> {
    /// What the change makes of `current`; `Err` has git's reasons if it does not fit.
    pub(super) fn applied(
        &self,
        session: &Session<'_>,
        writer: &ObjectWriter<'_>,
        current: Side,
    ) -> Result<Result<Option<Side>, Vec<String>>> {
        let (old, path) = (self.old, self.path);
        let is_of = |mode: Mode| move |side: Side| Mode::from(side.kind) == mode;
        let (is_link, is_submodule) = (is_of(Mode::Symlink), is_of(Mode::Gitlink));
        let misfit = format!("{path}: patch does not apply");
        let sides = [Some(old), Some(current), self.new];
        if sides.into_iter().flatten().any(is_submodule) || is_link(old) != is_link(current) {
            return Ok(Err(vec![misfit]));
        }
        let Some(new) = self.new else {
            return self.removed(session, current, misfit);
        };
        let kind = if old.kind == new.kind {
            current.kind
        } else {
            new.kind
        };
        let id = if old.id == new.id {
            current.id
        } else if old.id == current.id {
            new.id
        } else {
            match self.merged(session, writer, [old, current, new])? {
                Ok(id) => id,
                Err(reason) => return Ok(Err(reason.into_iter().chain([misfit]).collect())),
            }
        };
        Ok(Ok(Some(Side { kind, id })))
    }

    /// The same if it removes the file: all of its content must be there.
    fn removed(
        &self,
        session: &Session<'_>,
        current: Side,
        misfit: String,
    ) -> Result<Result<Option<Side>, Vec<String>>> {
        if current.id == self.old.id {
            return Ok(Ok(None));
        }
        let content = session.repository.read_object(&self.old.id)?.1;
        let reason = if content.is_empty() {
            "removal patch leaves file contents".into()
        } else if is_binary(&content) {
            self.other_contents(current)
        } else {
            format!("patch failed: {}:1", self.path)
        };
        Ok(Err(vec![reason, misfit]))
    }

    /// The content with the changes of both sides; `Err` has the reason, if git gives one.
    fn merged(
        &self,
        session: &Session<'_>,
        writer: &ObjectWriter<'_>,
        [old, current, new]: [Side; 3],
    ) -> Result<Result<ObjectId, Option<String>>> {
        let read = |side: Side| session.repository.read_object(&side.id);
        let [base, ours, theirs] = [read(old)?.1, read(current)?.1, read(new)?.1];
        if is_binary(&base) || is_binary(&theirs) {
            return Ok(Err(Some(self.other_contents(current))));
        }
        if let Some(line) = misfit_of_patch(&base, &ours, &theirs, self.context) {
            return Ok(Err(Some(format!("patch failed: {}:{line}", self.path))));
        }
        let options = ContentOptions {
            algorithm: Algorithm::Myers,
            ..ContentOptions::default()
        };
        let merged = merge_contents(&base, &ours, &theirs, &options);
        if merged.conflicts > 0 {
            return Ok(Err(None));
        }
        writer.write_one(ObjectKind::Blob, &merged.text).map(Ok)
    }

    fn other_contents(&self, current: Side) -> String {
        format!(
            "the patch applies to '{}' ({}), which does not match the current contents.",
            self.path, current.id
        )
    }
}
