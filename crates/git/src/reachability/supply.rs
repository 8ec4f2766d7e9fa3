//! What a partial clone lacks of the objects that a walk lists.

use super::Sources;
use crate::repository::Repository;
use crate::Result;
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;
use hedgerow_reach::{
    Filter, Missing, NoWalk, Objects, Remainder, Request, Source, Tip, Visitor, Walk, WalkedCommit,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// In a partial clone, fetches the objects whose lack would end the walk for `request`, and the directories of
/// excluded commits next to wanted ones: what is named, directories level by level, then all contents in one
/// request, where git asks for each.
///
/// # Errors
/// [`Error::NotFetched`](crate::Error::NotFetched) if an object is still missing that a remote has promised.
pub fn supply(repository: &Repository, request: &Request) -> Result<()> {
    let ends_at_missing = request.missing == Missing::Error && !request.exclude_promised;
    if ends_at_missing {
        let named: Vec<_> = request.tips.iter().map(|tip| tip.id).collect();
        repository.fetch_missing(&named)?;
    }
    let ends_at_missing = ends_at_missing && request.objects != Objects::None;
    let mut asked = BTreeSet::new();
    while ends_at_missing && repository.fetches_promised() {
        let mut wanted = missing(repository, request)?;
        wanted.retain(|id| asked.insert(*id));
        if wanted.is_empty() {
            break;
        }
        repository.fetch_missing(&wanted)?;
    }
    Ok(())
}

/// What is missing of what a walk finds: contents only if nothing else is. Directories name further contents,
/// and whoever asks for both at once does not get the contents that are in those directories. The walk itself
/// will tell of other errors.
fn missing(repository: &Repository, request: &Request) -> Result<Vec<ObjectId>> {
    let sources = Sources::read(repository)?;
    let source = sources.of(repository);
    let mut edges = Edges::default();
    let request = Request {
        objects: Objects::WithEdges,
        missing: Missing::Collect,
        ..request.clone()
    };
    let found = listed(source, request, &mut edges);
    // What these have is not listed; of that, no contents need be known.
    let directories = Request {
        tips: edges.0.into_iter().map(|id| Tip::new(id, false)).collect(),
        objects: Objects::All,
        filter: Some(Filter::BlobNone),
        no_walk: Some(NoWalk::Unsorted),
        missing: Missing::Collect,
        ..Request::default()
    };
    let of_edges = listed(source, directories, &mut Edges::default()).missing;
    let (mut contents, mut others) = (Vec::new(), found.unread);
    for object in found.missing.into_iter().chain(of_edges) {
        match object.kind {
            Some(ObjectKind::Blob) => contents.push(object.id),
            _ => others.push(object.id),
        }
    }
    Ok(if others.is_empty() { contents } else { others })
}

fn listed(source: Source<'_>, request: Request, edges: &mut Edges) -> Remainder {
    let walk = Walk::new(source, request);
    walk.and_then(|walk| walk.list(edges)).unwrap_or_default()
}

/// Goes on whatever is found, and keeps the excluded commits next to wanted ones.
#[derive(Default)]
struct Edges(Vec<ObjectId>);

impl Visitor for Edges {
    fn edge(&mut self, id: &ObjectId) -> ControlFlow<()> {
        self.0.push(*id);
        ControlFlow::Continue(())
    }

    fn commit(&mut self, _: &Walk<'_>, _: WalkedCommit) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn object(&mut self, _: &ObjectId, _: ObjectKind, _: &[u8]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
