use super::limits::{depth_limit, DEPTH_EXCEEDED, DIRECTORY_LIMIT, ENTRY_LIMIT, PATH_LIMIT_BYTES};
use super::parse::{entries, order, TreeEntry};
use crate::repository::{Objects, Repository};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::{run_tasks, Options, Scope};
use hedgerow_pack::Reader;
use hedgerow_tree::{EntryKind, NameRules};
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::Mutex;

/// Whether what is in a directory counts, whose path has a slash at its end.
pub(crate) type Enters<'a> = &'a (dyn Fn(&BStr) -> bool + Sync);

/// What one side has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its kind; never a directory.
    pub kind: EntryKind,
    /// Its object.
    pub id: ObjectId,
}

/// A path at which two trees differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    path: (u32, u32),
    /// What the old tree has there.
    pub old: Option<Side>,
    /// What the new tree has there.
    pub new: Option<Side>,
}

/// All paths at which two trees differ, in ascending byte order. Directories are not listed.
#[derive(Debug, Default)]
pub struct Difference {
    paths: Vec<u8>,
    changes: Vec<Change>,
}

impl Difference {
    /// Compares two trees, `None` being the empty one. Subtrees that are equal are not read;
    /// the others are read in parallel.
    pub fn between(
        repository: &Repository,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        rules: NameRules,
        options: &Options,
    ) -> Result<Self> {
        Self::within(repository, old, new, (rules, None), options)
    }

    /// The same in those directories alone that `enters` says yes to, told their paths with a slash at the
    /// end: what is in others is not read, and counts as equal.
    pub(crate) fn within(
        repository: &Repository,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        (rules, enters): (NameRules, Option<Enters<'_>>),
        options: &Options,
    ) -> Result<Self> {
        if old == new {
            return Ok(Difference::default());
        }
        let walk = Walk {
            objects: repository.shared_objects(),
            hash: repository.hash_kind(),
            rules,
            enters,
            depth_limit: depth_limit(repository)?,
            next_node: AtomicU32::new(1),
            entries: AtomicU64::new(0),
            path_bytes: AtomicU64::new(0),
            nodes: Mutex::new(Vec::new()),
        };
        let root = Pair {
            node: 0,
            path: BString::default(),
            depth: 0,
            old,
            new,
        };
        let store = repository.objects();
        let worker = |_| Reader::new(store);
        let work = |reader: &mut Reader<'_>, pair: Pair, scope: &Scope<'_, Pair>| {
            walk.compare(reader, pair, scope)
        };
        run_tasks(&options.named("trees"), vec![root], worker, work).map_err(Error::from)?;
        let nodes = walk
            .nodes
            .into_inner()
            .map_err(|_| failure_text("a lock was poisoned"))?;
        Ok(assemble(nodes, walk.next_node.into_inner() as usize))
    }

    /// A list of changes that are already known, in ascending byte order of their paths.
    pub(crate) fn of<'p>(
        changes: impl Iterator<Item = (&'p BStr, Option<Side>, Option<Side>)>,
    ) -> Self {
        let mut known = Difference::default();
        for (path, old, new) in changes {
            let start = known.paths.len() as u32;
            known.paths.extend_from_slice(path);
            let path = (start, known.paths.len() as u32);
            known.changes.push(Change { path, old, new });
        }
        known
    }

    /// The changes.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The change at `path`, if the trees differ there.
    pub(crate) fn find(&self, path: &BStr) -> Option<&Change> {
        let found = self
            .changes
            .binary_search_by(|change| self.path(change).cmp(path));
        found.ok().map(|row| &self.changes[row])
    }

    /// The path of a change.
    pub fn path(&self, change: &Change) -> &BStr {
        self.paths[change.path.0 as usize..change.path.1 as usize].as_bstr()
    }
}

fn failure_text(reason: &str) -> Error {
    Error::Internal {
        reason: reason.to_owned(),
    }
}

/// Two trees at one path that are to be compared.
struct Pair {
    node: u32,
    path: BString,
    depth: u32,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
}

/// What was found in one pair of trees, in order. Items name a part of `names`.
struct Node {
    number: u32,
    path: BString,
    names: Vec<u8>,
    items: Vec<Item>,
}

enum Item {
    Change {
        name: (u32, u32),
        old: Option<Side>,
        new: Option<Side>,
    },
    Directory {
        node: u32,
    },
}

struct Walk<'a> {
    objects: Objects<'a>,
    hash: gix_hash::Kind,
    rules: NameRules,
    enters: Option<Enters<'a>>,
    depth_limit: u32,
    next_node: AtomicU32,
    entries: AtomicU64,
    path_bytes: AtomicU64,
    nodes: Mutex<Vec<Node>>,
}

impl Walk<'_> {
    fn compare(&self, reader: &mut Reader<'_>, pair: Pair, scope: &Scope<'_, Pair>) -> Result<()> {
        if pair.depth > self.depth_limit {
            return Err(self.too_large(&pair, DEPTH_EXCEEDED));
        }
        let old_content = match pair.old {
            Some(id) => self.objects.read_tree(reader, id)?.to_vec(),
            None => Vec::new(),
        };
        let old = self.parse(&pair, pair.old, &old_content)?;
        let new_content = match pair.new {
            Some(id) => self.objects.read_tree(reader, id)?,
            None => &[],
        };
        let new = self.parse(&pair, pair.new, new_content)?;
        let names = Vec::new();
        let mut node = Node {
            number: pair.node,
            path: pair.path.clone(),
            names,
            items: Vec::new(),
        };
        join(&old, &new, |old, new| {
            self.add(&mut node, &pair, old, new, scope)
        });
        self.charge(&pair, &node)?;
        self.nodes
            .lock()
            .map_err(|_| failure_text("a lock was poisoned"))?
            .push(node);
        Ok(())
    }

    fn parse<'c>(
        &self,
        pair: &Pair,
        id: Option<ObjectId>,
        content: &'c [u8],
    ) -> Result<Vec<TreeEntry<'c>>> {
        let Some(id) = id else { return Ok(Vec::new()) };
        entries(content, self.hash, self.rules).map_err(|reason| {
            let reason = if pair.path.is_empty() {
                reason
            } else {
                format!("{reason}, in directory '{}'", pair.path)
            };
            Error::CorruptObject {
                kind: "tree",
                id,
                reason,
            }
        })
    }

    /// Adds what the two sides have under one name, if they differ.
    fn add(
        &self,
        node: &mut Node,
        pair: &Pair,
        old: Option<&TreeEntry<'_>>,
        new: Option<&TreeEntry<'_>>,
        scope: &Scope<'_, Pair>,
    ) {
        if let (Some(old), Some(new)) = (old, new) {
            if old.id == new.id && old.kind == new.kind {
                return;
            }
        }
        let Some(entry) = new.or(old) else { return };
        if entry.kind == EntryKind::Directory {
            let mut path = join_path(pair.path.as_bstr(), entry.name);
            if let Some(enters) = self.enters {
                path.push(b'/');
                if !enters(path.as_bstr()) {
                    return;
                }
                path.pop();
            }
            let number = self.next_node.fetch_add(1, Relaxed);
            // Told by `charge`, once for this tree.
            if number >= DIRECTORY_LIMIT {
                return;
            }
            node.items.push(Item::Directory { node: number });
            scope.spawn(Pair {
                node: number,
                path,
                depth: pair.depth + 1,
                old: old.map(|entry| entry.id.to_owned()),
                new: new.map(|entry| entry.id.to_owned()),
            });
            return;
        }
        let start = node.names.len() as u32;
        node.names.extend_from_slice(entry.name);
        let name = (start, node.names.len() as u32);
        node.items.push(Item::Change {
            name,
            old: old.map(side),
            new: new.map(side),
        });
    }

    /// Counts what a node adds to the result against the limits.
    fn charge(&self, pair: &Pair, node: &Node) -> Result<()> {
        let items = node.items.len() as u64;
        let bytes = node.names.len() as u64 + items * (pair.path.len() as u64 + 1);
        let entries = self.entries.fetch_add(items, Relaxed) + items;
        let path_bytes = self.path_bytes.fetch_add(bytes, Relaxed) + bytes;
        let directories = self.next_node.load(Relaxed);
        if directories > DIRECTORY_LIMIT || entries > ENTRY_LIMIT || path_bytes > PATH_LIMIT_BYTES {
            return Err(self.too_large(pair, "trees list more entries than the limit"));
        }
        Ok(())
    }

    fn too_large(&self, pair: &Pair, reason: &str) -> Error {
        let id = pair.new.or(pair.old).unwrap_or_else(|| self.hash.null());
        let reason = format!("{reason}, in directory '{}'", pair.path);
        Error::CorruptObject {
            kind: "tree",
            id,
            reason,
        }
    }
}

fn side(entry: &TreeEntry<'_>) -> Side {
    Side {
        kind: entry.kind,
        id: entry.id.to_owned(),
    }
}

fn join_path(directory: &BStr, name: &[u8]) -> BString {
    let mut path = BString::from(Vec::with_capacity(directory.len() + 1 + name.len()));
    if !directory.is_empty() {
        path.extend_from_slice(directory);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Visits two ordered lists together: equal names as a pair, others alone.
fn join<'a, 'c>(
    old: &'a [TreeEntry<'c>],
    new: &'a [TreeEntry<'c>],
    mut visit: impl FnMut(Option<&'a TreeEntry<'c>>, Option<&'a TreeEntry<'c>>),
) {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let which = match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => order(a, b),
        };
        match which {
            Ordering::Less => visit(old.next(), None),
            Ordering::Greater => visit(None, new.next()),
            Ordering::Equal => visit(old.next(), new.next()),
        }
    }
}

/// Puts the nodes, found in any order, together in the order of paths.
fn assemble(nodes: Vec<Node>, count: usize) -> Difference {
    let mut by_number: Vec<Option<Node>> = (0..count).map(|_| None).collect();
    for node in nodes {
        let number = node.number as usize;
        by_number[number] = Some(node);
    }
    let mut result = Difference::default();
    let mut stack: Vec<(Node, usize)> = by_number[0].take().into_iter().map(|n| (n, 0)).collect();
    while let Some((node, at)) = stack.last_mut() {
        let Some(item) = node.items.get(*at) else {
            stack.pop();
            continue;
        };
        *at += 1;
        match item {
            Item::Directory { node } => {
                let child = by_number[*node as usize].take();
                stack.extend(child.map(|node| (node, 0)));
            }
            Item::Change { name, old, new } => {
                let start = result.paths.len() as u32;
                if !node.path.is_empty() {
                    result.paths.extend_from_slice(&node.path);
                    result.paths.push(b'/');
                }
                let name = &node.names[name.0 as usize..name.1 as usize];
                result.paths.extend_from_slice(name);
                let path = (start, result.paths.len() as u32);
                result.changes.push(Change {
                    path,
                    old: *old,
                    new: *new,
                });
            }
        }
    }
    result
}
