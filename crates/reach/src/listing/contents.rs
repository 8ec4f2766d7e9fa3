//! Trees and their entries.

use super::{Found, Listing, Stop, Visitor};
use crate::filter::Situation;
use crate::marks::{mark, Meeting};
use crate::met_trees::{NewTree, PathKey, SMALL_BYTES};
use crate::request::Missing;
use crate::Error;
use gix_hash::ObjectId;
use hedgerow_object::{TreeEntries, TreeEntry};
use hedgerow_pack::ObjectKind;
use std::sync::Arc;

impl<V: Visitor> Listing<'_, '_, V> {
    /// Lists a tree that is not finished yet; `name` is its name in the directory `path`, and `key` that
    /// of its own path.
    pub(super) fn tree(&mut self, found: &Found, name: &[u8], key: PathKey) -> Result<(), Stop> {
        if self.depth > self.walk.request.tree_depth {
            return Err(Error::TooDeep.into());
        }
        let id = &found.id;
        let content = self.walk.trees.read_at(id, found.position)?;
        if content.is_none() && !self.may_be_missing(id)? {
            return Ok(());
        }
        let base = self.path.len();
        self.path.extend_from_slice(name);
        let is_reached = self.is_reached(id);
        let verdict = self.judge(Situation::BeginTree, id, is_reached);
        self.mark_seen(verdict, id, ObjectKind::Tree);
        if verdict.show {
            let path = std::mem::take(&mut self.path);
            let shown = match &content {
                Some(_) => self.show(found, ObjectKind::Tree, &path),
                None => self.missing(id, ObjectKind::Tree, &path),
            };
            self.path = path;
            shown?;
        } else if content.is_none() {
            self.unread.push(*id);
        }
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        if let Some(content) = content {
            if !verdict.skip_tree {
                self.entries(id, key, &content)?;
            }
        }
        self.judge(Situation::EndTree, id, is_reached);
        self.path.truncate(base);
        Ok(())
    }

    /// Whether a missing tree may be reported or skipped instead of being an error.
    fn may_be_missing(&self, id: &ObjectId) -> Result<bool, Stop> {
        let promised = self.walk.promised.as_ref();
        if promised.is_some_and(|promised| promised.contains(id)) {
            return Ok(false);
        }
        match self.walk.request.missing {
            Missing::Error | Missing::AllowPromised => Err(Error::BadTree { id: *id }.into()),
            Missing::Allow | Missing::Collect => Ok(true),
        }
    }

    /// Lists what is in a tree. What it has in common with the last one at its path is finished, unless a
    /// filter left it out there and may not do so here.
    fn entries(&mut self, tree: &ObjectId, key: PathKey, content: &Arc<[u8]>) -> Result<(), Stop> {
        if self.filter.is_some() || content.len() <= SMALL_BYTES {
            let mut entries = TreeEntries::new(content, tree.kind());
            while let Some(entry) = entries.next_of(tree)? {
                self.entry(tree, key, entry)?;
            }
            return Ok(());
        }
        let mut meeting = self.met.begin(NewTree {
            id: tree,
            key,
            content,
            like: None,
        });
        while let Some((entry, _)) = meeting.next_entry()? {
            self.entry(tree, key, entry)?;
        }
        self.met.end(meeting);
        Ok(())
    }

    fn entry(&mut self, tree: &ObjectId, key: PathKey, entry: TreeEntry<'_>) -> Result<(), Stop> {
        let Some(kind) = entry.object_kind() else {
            return Ok(());
        };
        let position = match self.meet(entry.id, kind) {
            Meeting::Done => return Ok(()),
            Meeting::New(position) => position,
            Meeting::OtherKind => {
                return Err(Error::WrongEntry {
                    name: String::from_utf8_lossy(entry.name).into_owned(),
                    tree: *tree,
                    kind: kind.name(),
                }
                .into())
            }
        };
        let id = entry.id.to_owned();
        let found = Found { id, position };
        if self.filter.is_some() {
            self.walk.marks.add(&id, mark::REACHED);
        }
        if kind == ObjectKind::Tree {
            let key = key.join(entry.name, &self.hash);
            self.depth += 1;
            self.tree(&found, entry.name, key)?;
            self.depth -= 1;
            Ok(())
        } else {
            self.blob(&found, entry.name)
        }
    }

    /// Lists a blob that is not finished yet; `name` is its name in the directory `path`.
    pub(super) fn blob(&mut self, found: &Found, name: &[u8]) -> Result<(), Stop> {
        let id = &found.id;
        let promised = self.walk.promised.as_ref();
        if promised.is_some_and(|promised| promised.contains(id)) {
            let source = self.walk.commits.source();
            if source.store.locate(id)?.is_none() {
                return Ok(());
            }
        }
        let size = if self.needs_sizes {
            self.walk.trees.blob_size(id)?
        } else {
            None
        };
        let is_reached = self.is_reached(id);
        let verdict = self.judge(Situation::Blob(size), id, is_reached);
        let base = self.path.len();
        self.path.extend_from_slice(name);
        let path = std::mem::take(&mut self.path);
        let shown = self.apply(verdict, found, ObjectKind::Blob, &path);
        self.path = path;
        self.path.truncate(base);
        shown
    }
}
