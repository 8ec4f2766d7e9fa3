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
            if let Some((kind, location)) = found {
                let commit = self.mark_tip(tip, kind);
                commits.extend(commit.map(|commit| (commit, location)));
            }
            known.push(found.map(|(kind, _)| kind));
        }
        self.commits.read_ahead(&commits, self.request.threads);
        let mut has_uninteresting = false;
        for (tip, kind) in tips.iter().zip(known) {
            if let Some(kind) = kind {
                has_uninteresting |= self.add_tip(&mut reader, tip, kind)?;
            }
        }
        self.request.tips = tips;
        Ok(has_uninteresting)
    }

    /// The kind of a tip and where it is; `None` if it is missing and may be.
    fn find_tip(
        &mut self,
        reader: &mut Reader<'_>,
        tip: &Tip,
    ) -> Result<Option<(ObjectKind, Location)>> {
        let source = *self.commits.source();
        let found = source.replacement(&tip.id);
        let Some(location) = source.store.locate(&found)? else {
            let missing = self.missing_tip(&tip.id, &|| tip.shown_name());
            return missing.map(|()| None);
        };
        if source
            .usable_graph()
            .is_some_and(|graph| graph.position(&found).is_some())
        {
            return Ok(Some((ObjectKind::Commit, location)));
        }
        let kind = reader.header(&found, location)?.kind;
        Ok(Some((kind, location)))
    }

    fn missing_tip(&mut self, id: &ObjectId, name: &dyn Fn() -> String) -> Result<()> {
        if self.is_promised(id) {
            return Ok(());
        }
        match self.request.missing {
            Missing::Error | Missing::AllowPromised => Err(Error::BadTip { name: name() }),
            Missing::Allow => Ok(()),
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
    fn mark_tip(&mut self, tip: &Tip, kind: ObjectKind) -> Option<CommitIndex> {
        if kind == ObjectKind::Commit {
            let commit = self.commits.index(&tip.id);
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

    /// Returns whether it is an uninteresting commit.
    fn add_tip(&mut self, reader: &mut Reader<'_>, tip: &Tip, kind: ObjectKind) -> Result<bool> {
        let with_objects = self.request.objects != Objects::None;
        let (mut id, mut kind) = (tip.id, kind);
        let mut path = tip.path.clone();
        let mut is_uninteresting = match kind {
            ObjectKind::Commit => false,
            _ => self.marks.has(&id, mark::UNINTERESTING),
        };
        while kind == ObjectKind::Tag {
            let (target, named, name) = self.read_tag(reader, &id)?;
            if with_objects && !is_uninteresting {
                self.pending.push(Pending { id, kind, name });
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
            return self.add_commit(&id);
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

    fn add_commit(&mut self, id: &ObjectId) -> Result<bool> {
        let commit = self.commits.index(id);
        if !self.commits.load(commit)? {
            return Err(Error::Missing {
                kind: "commit",
                id: *id,
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
