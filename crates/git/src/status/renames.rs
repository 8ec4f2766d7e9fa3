//! Renames between HEAD and the index, and between the index and the working tree.

use super::remarks::Said;
use super::rename::{detect, Contents, Filepair, ObjectContents, RenameOptions, Score, Side};
use super::staged::Staged;
use super::unstaged::UnstagedChange;
use super::{ChangeKind, Remark, RenameWish, Version};
use crate::convert::Buffers;
use crate::index::{Index, Stage};
use crate::repository::Repository;
use crate::worktree::compare::Comparison;
use crate::Result;
use bstr::{BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_pack::Reader;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The options of rename detection.
pub(super) fn options(repository: &Repository, wish: RenameWish) -> Result<RenameOptions> {
    use super::rename::Detection;
    let mut options = RenameOptions::of_status(repository)?;
    match wish {
        RenameWish::FromConfiguration => {}
        RenameWish::No => options.detection = Detection::Off,
        RenameWish::AtLeastRenames { minimum } => {
            if options.detection == Detection::Off {
                options.detection = Detection::Renames;
            }
            options.minimum = minimum.unwrap_or(Score::DEFAULT);
        }
        RenameWish::Renames { minimum } => {
            options.detection = Detection::Renames;
            options.minimum = minimum.unwrap_or(Score::DEFAULT);
        }
    }
    Ok(options)
}

/// The differences between HEAD and the index as pairs, with renames detected.
pub(super) fn of_staged(
    repository: &Repository,
    staged: Staged,
    options: &RenameOptions,
    engine: &hedgerow_engine::Options,
) -> Result<Vec<Filepair>> {
    let side = |path: &BString, version: Version| Side {
        path: path.clone(),
        mode: version.mode,
        id: Some(version.id),
    };
    let changes = staged.changes.iter().map(|change| Filepair {
        old: change.head.map(|version| side(&change.path, version)),
        new: change.index.map(|version| side(&change.path, version)),
        ..Filepair::default()
    });
    let unmerged = staged.unmerged.iter().map(|(path, head)| Filepair {
        old: Some(side(path, *head)),
        unmerged: true,
        ..Filepair::default()
    });
    let mut pairs: Vec<Filepair> = changes.chain(unmerged).collect();
    pairs.sort_by(|a, b| path_of(a).cmp(&path_of(b)));
    detect(
        &mut pairs,
        options,
        &ObjectContents::new(repository),
        engine,
    )?;
    pairs.retain(|pair| !pair.unmerged);
    Ok(pairs)
}

/// The differences between the index and the working tree as pairs, with renames detected. Renames
/// are possible only if there is an intent-to-add path, or a path in conflict that has a file:
/// git's search treats that file as new, besides its difference from our side.
pub(super) fn of_unstaged(
    comparison: &Comparison<'_>,
    repository: &Repository,
    unstaged: &[UnstagedChange],
    options: &RenameOptions,
    engine: &hedgerow_engine::Options,
    said: &mut Said,
) -> Result<Vec<Filepair>> {
    let index: &Index = comparison.index;
    let mut pairs = Vec::with_capacity(unstaged.len());
    for change in unstaged {
        let entry = &index.entries()[change.compared as usize];
        let side = |mode, id| Side {
            path: index.path(entry).to_owned(),
            mode,
            id,
        };
        // To git's search, the file of a path in conflict is a new one.
        if entry.flags.stage != Stage::Merged {
            pairs.extend(change.worktree.map(|mode| Filepair {
                new: Some(side(mode, None)),
                unmerged: true,
                ..Filepair::default()
            }));
        }
        let Some(kind) = change.kind else { continue };
        pairs.push(Filepair {
            old: (kind != ChangeKind::Added).then(|| side(entry.mode, Some(entry.id))),
            new: change.worktree.map(|mode| side(mode, None)),
            ..Filepair::default()
        });
    }
    let added = pairs.iter().filter(|pair| pair.old.is_none());
    let file = |pair: &Filepair| pair.new.clone().filter(|side| side.mode.is_file());
    let added: Vec<BString> = added.filter_map(|pair| Some(file(pair)?.path)).collect();
    if pairs.iter().any(|pair| pair.old.is_none()) {
        let contents = WorktreeContents {
            objects: ObjectContents::new(repository),
            comparison,
            remarks: Mutex::default(),
        };
        let detected = detect(&mut pairs, options, &contents, engine)?;
        let remarks = contents.remarks.into_inner();
        let remarks = remarks.unwrap_or_else(PoisonError::into_inner);
        // Git repeats its messages for each time that it reads a file.
        for path in added.iter().chain(&detected.read_again) {
            said.attributes_for(path.as_bstr());
            let remarks = remarks.get(path).into_iter().flatten();
            said.remarks.extend(remarks.cloned());
        }
    }
    Ok(pairs)
}

fn path_of(pair: &Filepair) -> Option<&BString> {
    pair.new
        .as_ref()
        .or(pair.old.as_ref())
        .map(|side| &side.path)
}

/// Contents of objects, and of files as they would be added.
struct WorktreeContents<'a> {
    objects: ObjectContents<'a>,
    comparison: &'a Comparison<'a>,
    /// Messages about each path that was read.
    remarks: Mutex<HashMap<BString, Vec<Remark>>>,
}

impl WorktreeContents<'_> {
    fn file(&self, buffers: &mut Buffers, side: &Side) -> Option<Vec<u8>> {
        let file = self
            .comparison
            .cleaned(side.path.as_bstr(), buffers, false)
            .ok()?;
        let error = file.error.map(Remark::Error);
        let remarks: Vec<Remark> = error
            .into_iter()
            .chain(file.warning.map(Remark::Warning))
            .collect();
        if !remarks.is_empty() {
            let mut all = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(side.path.clone(), remarks);
        }
        Some(file.content)
    }
}

impl<'a> Contents for WorktreeContents<'a> {
    type Worker = (Reader<'a>, Buffers);

    fn worker(&self) -> (Reader<'a>, Buffers) {
        let store = self.comparison.objects.store;
        (Reader::new(store), Buffers::default())
    }

    fn id(&self, worker: &mut (Reader<'a>, Buffers), side: &Side) -> Result<Option<ObjectId>> {
        if side.id.is_some() {
            return Ok(side.id);
        }
        let content = self.file(&mut worker.1, side);
        let hash = self.comparison.index.hash();
        content
            .map(|content| crate::worktree::compare::blob_id(hash, &content))
            .transpose()
    }

    fn size(&self, worker: &mut (Reader<'a>, Buffers), side: &Side) -> Result<Option<u64>> {
        match side.id {
            Some(_) => self.objects.size(&mut worker.0, side),
            None => {
                let content = self.file(&mut worker.1, side);
                Ok(content.map(|content| content.len() as u64))
            }
        }
    }

    fn read(
        &self,
        worker: &mut (Reader<'a>, Buffers),
        side: &Side,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if side.id.is_some() {
            return self.objects.read(&mut worker.0, side, sink);
        }
        sink(&self.file(&mut worker.1, side).unwrap_or_default());
        Ok(())
    }
}
