//! Which trees and blobs a filter leaves out although they are named. git keeps named objects, but
//! goes through them in the order of the names: a tree or blob that it meets first in a tree named
//! before, or as the tree of a walked commit, counts as reached.

use crate::commits::Commits;
use crate::ids::IdSet;
use crate::trees::TreeReader;
use crate::{Error, Filter, Result};
use gix_hash::ObjectId;
use hedgerow_object::TreeEntries;
use hedgerow_pack::ObjectKind;

/// A named tree or blob, and whether the filter leaves it out if it is reached.
struct Named {
    id: ObjectId,
    kind: ObjectKind,
    is_filtered: bool,
}

/// The trees and blobs of `named`, in that order, that `filter` leaves out. `commits` are the
/// walked commits; `is_known`: bitmaps have the object, so that it is not walked; `is_had`: the
/// tree is not walked because the receiver has it.
pub(crate) fn not_spared(
    filter: &Filter,
    named: &[(ObjectId, ObjectKind)],
    commits: &Commits<'_>,
    is_known: impl Fn(&ObjectId) -> bool,
    is_had: impl Fn(&ObjectId) -> bool,
) -> Result<IdSet> {
    let mut trees = TreeReader::new(*commits.source());
    let mut rest = Vec::new();
    for (id, kind) in named.iter().filter(|(id, _)| !is_known(id)) {
        let (id, kind) = (*id, *kind);
        let is_filtered = leaves_out(filter, kind, &id, &mut trees)?;
        rest.push(Named {
            id,
            kind,
            is_filtered,
        });
    }
    let last = rest.iter().rposition(|object| object.is_filtered);
    rest.truncate(last.map_or(0, |last| last + 1));
    let filtered = |object: &&Named| object.is_filtered && object.kind == ObjectKind::Tree;
    let roots: IdSet = rest.iter().filter(filtered).map(|tree| tree.id).collect();
    let mut below = Below {
        met: if roots.is_empty() {
            IdSet::default()
        } else {
            commits
                .trees()
                .filter(|tree| roots.contains(tree))
                .collect()
        },
        walked: IdSet::default(),
        trees,
        is_descended: !skips_trees(filter),
    };
    let (mut spared, mut not_spared) = (IdSet::default(), IdSet::default());
    for (at, object) in rest.iter().enumerate() {
        let is_met = below.met.contains(&object.id);
        if spared.contains(&object.id) {
            continue;
        } else if is_met && object.is_filtered {
            not_spared.insert(object.id);
        } else {
            spared.insert(object.id);
        }
        // After the last one, nothing more needs to be known.
        let is_last = at + 1 == rest.len();
        let is_walked = object.kind == ObjectKind::Tree && (!is_met || below.is_descended);
        if is_walked && !is_last && !is_had(&object.id) {
            below.walk(object.id, |tree| is_known(tree) || is_had(tree))?;
        }
    }
    Ok(not_spared)
}

/// What was found below the named trees.
struct Below<'s> {
    trees: TreeReader<'s>,
    met: IdSet,
    walked: IdSet,
    /// Whether unnamed trees are walked.
    is_descended: bool,
}

impl Below<'_> {
    fn walk(&mut self, root: ObjectId, is_passed: impl Fn(&ObjectId) -> bool) -> Result<()> {
        let mut pending = vec![root];
        while let Some(tree) = pending.pop() {
            if !self.walked.insert(tree) {
                continue;
            }
            let content = self.trees.read(&tree)?;
            let content = content.ok_or(Error::BadTree { id: tree })?;
            let mut entries = TreeEntries::new(&content, tree.kind());
            while let Some(entry) = entries.next_of(&tree)? {
                let id = entry.id.to_owned();
                let Some(kind) = entry.object_kind() else {
                    continue;
                };
                self.met.insert(id);
                let is_entered = kind == ObjectKind::Tree && self.is_descended;
                if is_entered && !self.walked.contains(&id) && !is_passed(&id) {
                    pending.push(id);
                }
            }
        }
        Ok(())
    }
}

/// Whether `filter` leaves out a tree or blob if it is reached.
fn leaves_out(
    filter: &Filter,
    kind: ObjectKind,
    id: &ObjectId,
    trees: &mut TreeReader<'_>,
) -> Result<bool> {
    Ok(match filter {
        Filter::BlobNone => kind == ObjectKind::Blob,
        Filter::BlobLimit(limit) => {
            let size = match kind {
                ObjectKind::Blob => trees.blob_size(id)?,
                _ => None,
            };
            size.is_some_and(|size| size >= *limit)
        }
        Filter::TreeDepth(depth) => *depth == 0,
        Filter::Kind(kept) => kind != *kept,
        Filter::Combine(filters) => {
            for filter in filters {
                if leaves_out(filter, kind, id, trees)? {
                    return Ok(true);
                }
            }
            false
        }
    })
}

/// Whether `filter` leaves out everything in a tree that is reached.
pub(crate) fn skips_trees(filter: &Filter) -> bool {
    match filter {
        Filter::TreeDepth(depth) => *depth == 0,
        Filter::Kind(kind) => matches!(kind, ObjectKind::Commit | ObjectKind::Tag),
        Filter::Combine(filters) => filters.iter().all(skips_trees),
        Filter::BlobNone | Filter::BlobLimit(_) => false,
    }
}
