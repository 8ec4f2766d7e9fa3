//! Reads the tips of a walk.

use super::Walk;
use crate::commits::{flag, CommitIndex};
use crate::marks::{mark, MissingObject};
use crate::request::{Missing, Objects, Tip};
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_object::TagRef;
use hedgerow_pack::{Location, ObjectKind, Reader};

/// An object other than a commit that a walk returns.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub id: ObjectId,
    pub kind: ObjectKind,
    /// The name in the tag, or the path of a tree or blob.
    pub name: Vec<u8>,
}

/// A tip that exists.
struct FoundTip {
    kind: ObjectKind,
    location: Location,
    /// Its position in the main pack.
    place: Option<u32>,
    is_in_graph: bool,
}

impl Walk<'_> {
    /// Reads the tips and adds them to the list or to the pending objects. Returns whether one is
    /// uninteresting.
    pub(super) fn read_tips(&mut self) -> Result<bool> {
        let tips = std::mem::take(&mut self.request.tips);
        let mut reader = Reader::new(self.commits.source().store);
        let mut known = Vec::with_capacity(tips.len());
        let mut commits = Vec::new();
        for tip in &tips {
            let found = self.find_tip(&mut reader, tip)?;
            let found = found.map(|found| (found.kind, self.mark_tip(tip, &found), found));
            if let Some((_, Some(commit), found)) = &found {
                commits.push((*commit, found.location));
            }
            known.push(found.map(|(kind, commit, _)| (kind, commit)));
        }
        self.commits.read_ahead(&commits, self.request.threads);
        let mut has_uninteresting = false;
        for (tip, kind) in tips.iter().zip(known) {
            has_uninteresting |= match kind {
                Some((_, Some(commit))) => self.add_commit(commit)?,
                Some((kind, None)) => self.add_tip(&mut reader, tip, kind)?,
                None => false,
            };
        }
        self.request.tips = tips;
        Ok(has_uninteresting)
    }

    /// A tip as it is found; `None` if it is missing and may be.
    fn find_tip(&mut self, reader: &mut Reader<'_>, tip: &Tip) -> Result<Option<FoundTip>> {
        let (source, finder) = (*self.commits.source(), *self.commits.finder());
        let found = source.replacement(&tip.id);
        let place = finder.position(tip.id.as_slice());
        let location = finder.location_of(&found, &tip.id, place)?;
        let is_false = self.commits.false_commits().contains(&tip.id);
        let Some(location) = location.filter(|_| !is_false) else {
            let missing = self.missing_tip(&tip.id, &|| tip.shown_name());
            return missing.map(|()| None);
        };
        let graph = source.usable_graph();
        let is_in_graph = graph.is_some_and(|graph| graph.position(&found).is_some());
        let kind = if is_in_graph {
            ObjectKind::Commit
        } else {
            reader.header(&found, location)?.kind
        };
        Ok(Some(FoundTip {
            kind,
            location,
            place,
            is_in_graph,
        }))
    }

    fn missing_tip(&mut self, id: &ObjectId, name: &dyn Fn() -> String) -> Result<()> {
        if self.is_promised(id) {
            return Ok(());
        }
        match self.request.missing {
            Missing::Error => Err(Error::BadTip { name: name() }),
            Missing::Allow | Missing::AllowPromised => Ok(()),
            Missing::Collect => {
                self.marks.add_missing(MissingObject {
                    id: *id,
                    kind: None,
                    path: Vec::new(),
                });
                Ok(())
            }
        }
    }

    /// Returns the number of a commit.
    fn mark_tip(&mut self, tip: &Tip, found: &FoundTip) -> Option<CommitIndex> {
        let kind = found.kind;
        if kind == ObjectKind::Commit {
            let commit = if found.is_in_graph {
                self.commits.index(&tip.id)
            } else {
                self.commits.index_at(&tip.id, found.place)
            };
            let node = self.commits.node_mut(commit);
            node.flags |= if tip.is_uninteresting {
                flag::UNINTERESTING
            } else {
                0
            };
            node.flags |= if tip.is_left { flag::LEFT } else { 0 };
            Some(commit)
        } else {
            let uninteresting = if tip.is_uninteresting {
                mark::UNINTERESTING
            } else {
                0
            };
            self.marks.add(&tip.id, uninteresting | mark::of(kind));
            None
        }
    }

    /// Adds a tip that is no commit itself. Returns whether it is of an uninteresting commit.
    fn add_tip(&mut self, reader: &mut Reader<'_>, tip: &Tip, kind: ObjectKind) -> Result<bool> {
        let with_objects = self.request.objects != Objects::None;
        let (mut id, mut kind) = (tip.id, kind);
        let mut path = tip.path.clone();
        let mut is_uninteresting = self.marks.has(&id, mark::UNINTERESTING);
        while kind == ObjectKind::Tag {
            let (target, named, name) = self.read_tag(reader, &id)?;
            if with_objects && !is_uninteresting {
                self.pending.push(Pending { id, kind, name });
            }
            if named != ObjectKind::Commit && self.commits.false_commits().contains(&target) {
                let missing = self.missing_tip(&tip.id, &|| tip.shown_name());
                return missing.map(|()| false);
            }
            let source = *self.commits.source();
            let found = source.replacement(&target);
            let Some(location) = source.store.locate(&found)? else {
                if !is_uninteresting {
                    self.missing_tip(&target, &|| target.to_string())?;
                }
                return Ok(false);
            };
            let found = reader.header(&found, location)?.kind;
            if found != named {
                // An object that may be missing may also be wrong, as in git; excluded ones are
                // ignored.
                return if is_uninteresting || self.request.missing != Missing::Error {
                    Ok(false)
                } else {
                    Err(Error::wrong_kind(&target, named, found))
                };
            }
            (id, kind) = (target, found);
            path = Vec::new();
            if kind == ObjectKind::Commit {
                let commit = self.commits.index(&id);
                let flags = if is_uninteresting {
                    flag::UNINTERESTING
                } else {
                    0
                };
                let left = if tip.is_left { flag::LEFT } else { 0 };
                self.commits.node_mut(commit).flags |= flags | left;
            } else if is_uninteresting {
                self.marks.add(&id, mark::UNINTERESTING | mark::of(kind));
            } else {
                is_uninteresting = false;
            }
        }
        if kind == ObjectKind::Commit {
            let commit = self.commits.index(&id);
            return self.add_commit(commit);
        }
        if !with_objects {
            return Ok(false);
        }
        match (kind, is_uninteresting) {
            (ObjectKind::Tree, true) => self.mark_tree_contents_uninteresting(&id)?,
            (_, true) => {}
            (kind, false) => {
                let name = path;
                self.pending.push(Pending { id, kind, name });
            }
        }
        Ok(false)
    }

    fn add_commit(&mut self, commit: CommitIndex) -> Result<bool> {
        if !self.commits.load(commit)? {
            return Err(Error::Missing {
                kind: "commit",
                id: self.commits.id(commit),
            });
        }
        let is_uninteresting = self.commits.has(commit, flag::UNINTERESTING);
        if is_uninteresting {
            self.mark_parents_uninteresting(commit);
        }
        let node = self.commits.node_mut(commit);
        if node.flags & flag::SEEN == 0 {
            node.flags |= flag::SEEN;
            self.list.push_back(commit);
        }
        Ok(is_uninteresting)
    }

    /// The target of the tag `id`, the target's kind according to the tag, and the name in the tag.
    fn read_tag(
        &self,
        reader: &mut Reader<'_>,
        id: &ObjectId,
    ) -> Result<(ObjectId, ObjectKind, Vec<u8>)> {
        let source = self.commits.source();
        let found = source.replacement(id);
        let location = source.store.locate(&found)?;
        let location = location.ok_or(hedgerow_pack::Error::Missing { id: found })?;
        let (_, content) = reader.read(&found, location)?;
        let tag = TagRef::parse(id, content)?;
        Ok((tag.target, tag.kind, tag.name.to_vec()))
    }
}
