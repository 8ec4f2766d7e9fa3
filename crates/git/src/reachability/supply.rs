//! What a partial clone lacks of the objects that a walk lists.

use super::Sources;
use crate::repository::Repository;
use crate::Result;
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;
use hedgerow_reach::{Missing, MissingObject, Objects, Request, Visitor, Walk, WalkedCommit};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// In a partial clone, fetches the objects whose lack would end the walk for `request`: what is named, directories
/// level by level, then all contents in one request, where git asks for each. Returns the repository that has them.
///
/// # Errors
/// [`Error::NotFetched`](crate::Error::NotFetched) if an object is still missing that a remote has promised.
pub fn supplied(mut repository: Repository, request: &Request) -> Result<Repository> {
    let ends_at_missing = request.missing == Missing::Error && !request.exclude_promised;
    if ends_at_missing {
        let named: Vec<_> = request.tips.iter().map(|tip| tip.id).collect();
        repository.fetch_missing(&named)?;
    }
    let ends_at_missing = ends_at_missing && request.objects != Objects::None;
    let mut asked = BTreeSet::new();
    while ends_at_missing && !repository.promisor_remotes().is_empty() {
        let mut wanted = missing(&repository, request)?;
        wanted.retain(|id| asked.insert(*id));
        if wanted.is_empty() {
            break;
        }
        repository.fetch_missing(&wanted)?;
        repository = Repository::discover(repository.environment())?;
    }
    Ok(repository)
}

/// What is missing of what a walk finds: contents only if nothing else is. Directories name further contents,
/// and whoever asks for both at once does not get the contents that are in those directories. The walk itself
/// will tell of other errors.
fn missing(repository: &Repository, request: &Request) -> Result<Vec<ObjectId>> {
    let sources = Sources::read(repository)?;
    let request = Request {
        missing: Missing::Collect,
        ..request.clone()
    };
    let walk = Walk::new(sources.of(repository), request);
    let found = walk.and_then(|walk| walk.list(&mut Unseen));
    let missing = found.map_or_else(|_| Vec::new(), |remainder| remainder.missing);
    let is_content = |object: &MissingObject| object.kind == Some(ObjectKind::Blob);
    let (contents, others): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_content);
    let wanted = if others.is_empty() { contents } else { others };
    Ok(wanted.into_iter().map(|object| object.id).collect())
}

/// Goes on whatever is found.
struct Unseen;

impl Visitor for Unseen {
    fn edge(&mut self, _: &ObjectId) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn commit(&mut self, _: &Walk<'_>, _: WalkedCommit) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn object(&mut self, _: &ObjectId, _: ObjectKind, _: &[u8]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
