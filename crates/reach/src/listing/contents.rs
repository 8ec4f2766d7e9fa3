//! Trees and their entries.

use super::{Found, Listing, Stop, Visitor};
use crate::filter::Situation;
use crate::marks::{mark, Meeting as Known};
use crate::met_trees::{Meeting, NewTree, PathKey, SMALL_BYTES};
use crate::request::Missing;
use crate::Error;
use gix_hash::ObjectId;
use hedgerow_object::{TreeEntries, TreeEntry};
use hedgerow_pack::ObjectKind;
use std::sync::Arc;

/// A tree whose entries are being listed.
struct OpenTree {
    id: ObjectId,
    key: PathKey,
    is_reached: bool,
    /// Bytes of the path of the directory that it is in.
    base: usize,
    entries: Entries,
}

/// The entries of a tree that are still to be listed.
enum Entries {
    /// None: it is missing, or a filter skips it.
    None,
    All {
        content: Arc<[u8]>,
        /// The start of the next one.
        at: usize,
    },
    /// Those that the last tree at its path has not: the others are finished.
    New(Box<Meeting>),
}

impl<V: Visitor> Listing<'_, '_, V> {
    /// Lists a tree that is not finished yet, and what is in it; `name` is its name in the directory `path`.
    /// Trees may lie as deep as they like: those that are open are a list.
    pub(super) fn tree(&mut self, found: &Found, name: &[u8]) -> Result<(), Stop> {
        let mut open = vec![self.open(found, name, PathKey::default())?];
        self.depth = open.len();
        while let Some(tree) = open.last_mut() {
            match self.next_subtree(tree)? {
                Some(subtree) => open.push(subtree),
                None => open.pop().into_iter().for_each(|tree| self.close(tree)),
            }
            self.depth = open.len();
        }
        Ok(())
    }

    /// Lists a tree itself; `key` is that of its own path.
    fn open(&mut self, found: &Found, name: &[u8], key: PathKey) -> Result<OpenTree, Stop> {
        let id = &found.id;
        let content = self.walk.trees.read_at(id, found.position)?;
        if content.is_none() && !self.may_be_missing(id)? {
            return Ok(OpenTree {
                id: *id,
                key,
                is_reached: false,
                base: self.path.len(),
                entries: Entries::None,
            });
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
        let content = content.filter(|_| !verdict.skip_tree);
        Ok(OpenTree {
            id: *id,
            key,
            is_reached,
            base,
            entries: content.map_or(Entries::None, |content| self.entries(id, key, content)),
        })
    }

    /// Leaves a tree whose entries are listed.
    fn close(&mut self, tree: OpenTree) {
        if let Entries::New(meeting) = tree.entries {
            self.met.end(*meeting);
        }
        self.judge(Situation::EndTree, &tree.id, tree.is_reached);
        self.path.truncate(tree.base);
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

    /// What is to be listed of a tree. What it has in common with the last one at its path is finished,
    /// unless a filter left it out there and may not do so here.
    fn entries(&self, id: &ObjectId, key: PathKey, content: Arc<[u8]>) -> Entries {
        if self.filter.is_some() || content.len() <= SMALL_BYTES {
            return Entries::All { content, at: 0 };
        }
        Entries::New(Box::new(self.met.begin(NewTree {
            id,
            key,
            content: &content,
            like: None,
        })))
    }

    /// Lists entries of `tree` up to a tree that is not finished yet, and opens that. `None`: all entries
    /// are listed.
    fn next_subtree(&mut self, tree: &mut OpenTree) -> Result<Option<OpenTree>, Stop> {
        let (id, key) = (tree.id, tree.key);
        match &mut tree.entries {
            Entries::None => {}
            Entries::All { content, at } => {
                let (_, rest) = content.split_at(*at);
                let mut entries = TreeEntries::new(rest, id.kind());
                while let Some(entry) = entries.next_of(&id)? {
                    if let Some(subtree) = self.entry(&id, key, entry)? {
                        *at += entries.offset();
                        return Ok(Some(subtree));
                    }
                }
                *at = content.len();
            }
            Entries::New(meeting) => {
                while let Some((entry, _)) = meeting.next_entry()? {
                    if let Some(subtree) = self.entry(&id, key, entry)? {
                        return Ok(Some(subtree));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Lists an entry of `tree`. Returns it if it is a tree that was opened.
    fn entry(
        &mut self,
        tree: &ObjectId,
        key: PathKey,
        entry: TreeEntry<'_>,
    ) -> Result<Option<OpenTree>, Stop> {
        let Some(kind) = entry.object_kind() else {
            return Ok(None);
        };
        let position = match self.meet(entry.id, kind) {
            Known::Done => return Ok(None),
            Known::New(position) => position,
            Known::OtherKind => {
                return Err(Error::wrong_entry(tree, entry.name, kind).into());
            }
        };
        let id = entry.id.to_owned();
        let found = Found { id, position };
        if self.filter.is_some() {
            self.walk.marks.add(&id, mark::REACHED);
        }
        if kind == ObjectKind::Tree {
            let key = key.join(entry.name, &self.hash);
            if self.depth > self.walk.request.tree_depth {
                return Err(Error::TooDeep.into());
            }
            self.open(&found, entry.name, key).map(Some)
        } else {
            self.blob(&found, entry.name)?;
            Ok(None)
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
