//! The ordered answer to a request: commits and objects as git-rev-list(1) prints them, one after
//! the other, with names.

mod contents;

use crate::commits::{flag, State};
use crate::filter::{FilterState, Situation, Verdict};
use crate::ids::IdHashBuilder;
use crate::marks::{mark, Meeting, MissingObject};
use crate::met_trees::MetTrees;
use crate::request::{Missing, Objects};
use crate::walk::{Pending, Walk, WalkedCommit};
use crate::{Error, Result};
use gix_hash::{oid, ObjectId};
use hedgerow_pack::ObjectKind;
use std::ops::ControlFlow;

/// Receives the objects of a listing, and decides whether to continue.
pub trait Visitor {
    /// An uninteresting commit next to wanted ones.
    fn edge(&mut self, id: &ObjectId) -> ControlFlow<()>;
    /// A commit.
    fn commit(&mut self, walk: &Walk<'_>, found: WalkedCommit) -> ControlFlow<()>;
    /// Any other object. `name` is its path, or its name in the tag that refers to it.
    fn object(&mut self, id: &ObjectId, kind: ObjectKind, name: &[u8]) -> ControlFlow<()>;
}

/// The remaining results after a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remainder {
    /// The objects that the filter left out, in order of ids, if requested.
    pub omitted: Vec<ObjectId>,
    /// Missing objects, in order of ids, with [`Missing::Collect`].
    pub missing: Vec<MissingObject>,
    /// With [`Missing::Collect`], missing trees that the filter leaves out: without that, they would be
    /// an error all the same.
    pub unread: Vec<ObjectId>,
}

/// Why a listing ends early.
enum Stop {
    Error(Error),
    Unwanted,
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Error(error.into())
    }
}

/// An object that is met, and its position in the main pack.
struct Found {
    id: ObjectId,
    position: Option<u32>,
}

struct Listing<'w, 's, V> {
    walk: &'w mut Walk<'s>,
    filter: Option<FilterState>,
    needs_sizes: bool,
    visitor: &'w mut V,
    path: Vec<u8>,
    /// How many trees are open.
    depth: usize,
    /// The last tree at each path, whose entries are finished; of use without a filter only.
    met: MetTrees,
    hash: IdHashBuilder,
    unread: Vec<ObjectId>,
}

impl Walk<'_> {
    /// Passes all objects to `visitor`, as the request asks.
    pub fn list(mut self, visitor: &mut impl Visitor) -> Result<Remainder> {
        let keep = self.request.keep_omitted;
        let filter = self
            .request
            .filter
            .as_ref()
            .map(|f| FilterState::new(f, keep));
        if self.request.filter_tips {
            for at in 0..self.pending.len() {
                let id = self.pending[at].id;
                self.marks.add(&id, mark::REACHED);
            }
            for at in 0..self.list.len() {
                let commit = self.list[at];
                self.commits.node_mut(commit).flags |= flag::REACHED;
            }
        }
        let mut listing = Listing {
            needs_sizes: filter.as_ref().is_some_and(FilterState::needs_sizes),
            filter,
            walk: &mut self,
            visitor,
            path: Vec::new(),
            depth: 0,
            met: MetTrees::last_only(),
            hash: IdHashBuilder::default(),
            unread: Vec::new(),
        };
        match listing.run() {
            Ok(()) | Err(Stop::Unwanted) => {}
            Err(Stop::Error(error)) => return Err(error),
        }
        let unread = std::mem::take(&mut listing.unread);
        let omitted = listing.filter.map(FilterState::into_omitted);
        Ok(Remainder {
            omitted: omitted.unwrap_or_default(),
            missing: self.marks.take_missing(),
            unread,
        })
    }
}

impl<V: Visitor> Listing<'_, '_, V> {
    fn run(&mut self) -> Result<(), Stop> {
        for edge in std::mem::take(&mut self.walk.edges) {
            let id = self.walk.commits.id(edge);
            wanted(self.visitor.edge(&id))?;
        }
        while let Some(found) = self.walk.next_commit()? {
            self.commit(found)?;
            if self.walk.request.in_commit_order {
                self.pending()?;
            }
        }
        self.pending()
    }

    fn commit(&mut self, found: WalkedCommit) -> Result<(), Stop> {
        let node = self.walk.commits.node(found.commit);
        let (id, tree, state, flags) = (node.id, node.tree, node.state, node.flags);
        let verdict = self.judge(Situation::Commit, &id, flags & flag::REACHED != 0);
        if self.walk.request.objects != Objects::None && state == State::Read {
            if self.filter.is_some() {
                self.walk.marks.add(&tree, mark::REACHED);
            }
            self.walk.pending.push(Pending {
                id: tree,
                kind: ObjectKind::Tree,
                name: Vec::new(),
            });
        }
        if !verdict.show {
            return Ok(());
        }
        if state == State::Missing {
            return self.missing(&id, ObjectKind::Commit, b"");
        }
        wanted(self.visitor.commit(self.walk, found))
    }

    /// Lists the pending objects and their contents.
    fn pending(&mut self) -> Result<(), Stop> {
        let pending = std::mem::take(&mut self.walk.pending);
        for object in pending {
            let (id, name) = (object.id, &object.name);
            let position = match self.meet(&id, object.kind) {
                Meeting::Done => continue,
                Meeting::New(position) => position,
                Meeting::OtherKind => return Err(self.met_as_another(&id, object.kind).into()),
            };
            let found = Found { id, position };
            match object.kind {
                ObjectKind::Tag => {
                    let is_reached = self.is_reached(&id);
                    let verdict = self.judge(Situation::Tag, &id, is_reached);
                    self.apply(verdict, &found, ObjectKind::Tag, name)?;
                }
                ObjectKind::Tree => self.tree(&found, name)?,
                ObjectKind::Blob => self.blob(&found, name)?,
                ObjectKind::Commit => {}
            }
        }
        Ok(())
    }

    /// What is known of an object, met as `kind`. Without a filter it is finished from now on.
    fn meet(&mut self, id: &oid, kind: ObjectKind) -> Meeting {
        if self.filter.is_some() {
            self.walk.marks.look_up(id, kind)
        } else {
            self.walk.marks.meet(id, kind)
        }
    }

    /// Whether the filter, if there is one, applies to the object.
    fn is_reached(&self, id: &ObjectId) -> bool {
        self.filter.is_some() && self.walk.marks.has(id, mark::REACHED)
    }

    /// Marks an object as finished if the filter says so; without one, [`Listing::meet`] did.
    fn mark_seen(&mut self, verdict: Verdict, id: &ObjectId, kind: ObjectKind) {
        if verdict.mark_seen && self.filter.is_some() {
            self.walk.marks.add(id, mark::SEEN | mark::of(kind));
        }
    }

    fn judge(&mut self, situation: Situation, id: &ObjectId, is_reached: bool) -> Verdict {
        match &mut self.filter {
            Some(filter) if is_reached => filter.judge(situation, id),
            _ if situation == Situation::EndTree => Verdict::default(),
            _ => Verdict::SHOW,
        }
    }

    /// Applies the filter's verdict to the object.
    fn apply(
        &mut self,
        verdict: Verdict,
        found: &Found,
        kind: ObjectKind,
        name: &[u8],
    ) -> Result<(), Stop> {
        self.mark_seen(verdict, &found.id, kind);
        if verdict.show {
            self.show(found, kind, name)
        } else {
            Ok(())
        }
    }

    fn show(&mut self, found: &Found, kind: ObjectKind, name: &[u8]) -> Result<(), Stop> {
        let source = self.walk.commits.source();
        // A tree that is listed was read, so it exists.
        let is_here = kind == ObjectKind::Tree
            || found.position.is_some()
            || source.store.locate(&found.id)?.is_some();
        if is_here {
            wanted(self.visitor.object(&found.id, kind, name))
        } else {
            self.missing(&found.id, kind, name)
        }
    }

    /// The error for an object that was met as two different kinds.
    fn met_as_another(&self, id: &ObjectId, expected: ObjectKind) -> Error {
        let found = if self.walk.marks.has(id, mark::COMMIT) {
            ObjectKind::Commit
        } else if self.walk.marks.has(id, mark::TREE) {
            ObjectKind::Tree
        } else {
            ObjectKind::Blob
        };
        Error::wrong_kind(id, expected, found)
    }

    fn missing(&mut self, id: &ObjectId, kind: ObjectKind, path: &[u8]) -> Result<(), Stop> {
        if self.walk.is_promised(id) {
            return Ok(());
        }
        match self.walk.request.missing {
            Missing::Error | Missing::AllowPromised => {
                let kind = kind.name();
                Err(Error::Missing { kind, id: *id }.into())
            }
            Missing::Allow => Ok(()),
            Missing::Collect => {
                self.walk.marks.add_missing(MissingObject {
                    id: *id,
                    kind: Some(kind),
                    path: path.to_vec(),
                });
                Ok(())
            }
        }
    }
}

fn wanted(answer: ControlFlow<()>) -> Result<(), Stop> {
    match answer {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stop::Unwanted),
    }
}
