//! Tags that are sent along with their targets.

use crate::{Result, Tag};
use bstr::BStr;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{oid, Location, ObjectId, ObjectStore, Reader};
use std::collections::HashSet;

/// The annotated tags among the references, with their targets.
pub fn tags(repository: &Repository) -> Result<Vec<Tag>> {
    Ok(annotated(repository, &tagged(repository)?))
}

/// The objects that tag references point to: annotated tags and others.
pub(crate) fn tagged(repository: &Repository) -> Result<Vec<ObjectId>> {
    let references = repository.references_below(BStr::new(b"refs/tags/"))?;
    Ok(references.into_iter().filter_map(|tag| tag.id).collect())
}

/// The annotated tags among `ids` and the tags that they point to, each once, with their peeled
/// targets: a receiver of a tag of a tag gets both.
pub(crate) fn annotated(repository: &Repository, ids: &[ObjectId]) -> Vec<Tag> {
    let mut known = HashSet::new();
    let mut tags = Vec::new();
    for id in ids {
        // Broken tags are ignored.
        let Ok((chain, target)) = repository.tag_chain(id) else {
            continue;
        };
        let new = chain.into_iter().filter(|id| known.insert(*id));
        tags.extend(new.map(|id| Tag { id, target }));
    }
    tags
}

/// Where a tag is, if its file has what its id names; entries of packs are checked when they are copied.
/// Nobody asked for a tag that comes with its target: git leaves it out if it is damaged, too, because
/// the receiver would refuse all.
pub(crate) fn intact(store: &ObjectStore, id: &oid) -> Option<Location> {
    let location = store.locate(id).ok()??;
    if let Location::Loose { .. } = location {
        Reader::new(store).verify(id, location).ok()?;
    }
    Some(location)
}
