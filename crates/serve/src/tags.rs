//! Tags that go along with what they are of.

use crate::{Result, Tag};
use bstr::BStr;
use hedgerow_git::repository::Repository;
use hedgerow_pack::ObjectId;
use std::collections::HashSet;

/// The annotated tags among the references, with what they are of.
pub fn tags(repository: &Repository) -> Result<Vec<Tag>> {
    Ok(annotated(repository, &tagged(repository)?))
}

/// What the references to tags are: annotated tags, and whatever else is tagged.
pub(crate) fn tagged(repository: &Repository) -> Result<Vec<ObjectId>> {
    let references = repository.references_below(BStr::new(b"refs/tags/"))?;
    Ok(references.into_iter().filter_map(|tag| tag.id).collect())
}

/// The annotated tags among `ids` and the tags that those are of, each once, with what they are of
/// past all tags: who gets a tag of a tag gets both.
pub(crate) fn annotated(repository: &Repository, ids: &[ObjectId]) -> Vec<Tag> {
    let mut known = HashSet::new();
    let mut tags = Vec::new();
    for id in ids {
        // What is broken goes with nothing.
        let Ok((chain, target)) = repository.tag_chain(id) else {
            continue;
        };
        let new = chain.into_iter().filter(|id| known.insert(*id));
        tags.extend(new.map(|id| Tag { id, target }));
    }
    tags
}
