//! Tags that are sent along with their targets.

use crate::{Result, Tag};
use bstr::BStr;
use hedgerow_git::repository::Repository;
use hedgerow_pack::ObjectId;
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
