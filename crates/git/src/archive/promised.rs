//! What a partial clone lacks of a tree that is listed, because a remote has promised it.

use super::{ArchiveOptions, Source};
use crate::repository::Repository;
use crate::Result;
use bstr::BStr;
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use hedgerow_tree::EntryKind;

/// Decides by path and kind what is read of a tree.
pub(super) type IsRead = Box<dyn Fn(&BStr, EntryKind) -> bool>;

/// Fetches in one request what a partial clone lacks of the tree that `revision` names, as far as `wanted`
/// says that it is read.
///
/// # Errors
/// [`Error::MissingBlob`](crate::Error::MissingBlob) if no remote gives it.
pub(super) fn supply(
    repository: &Repository,
    revision: &BStr,
    options: &ArchiveOptions,
    engine: &Options,
    wanted: &dyn Fn(ObjectId) -> Result<IsRead>,
) -> Result<()> {
    repository.supply(&|| {
        let tree = Source::resolve(repository, revision, options)?.tree;
        let is_wanted = wanted(tree)?;
        repository.require_contents(tree, &is_wanted, engine)
    })
}
