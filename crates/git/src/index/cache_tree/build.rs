//! Building cache trees from the entries of an index.

use super::super::entry::{Entry, Mode, PathRange, Stage};
use super::super::prefix::common_len;
use super::super::Index;
use super::{CacheTree, Node};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_object::{hash_object, ObjectKind};
use std::cmp::Ordering;
use std::collections::HashMap;

impl CacheTree {
    /// The cache tree of `index`, with ids computed from the entries; `None` for an index in
    /// conflict.
    ///
    /// A directory is invalid if `exists` says that the object database lacks its tree, if it has
    /// an intent-to-add entry, or if a directory in it is invalid: these are Git's rules
    /// (`cache_tree_update` with `WRITE_TREE_REPAIR`). A tree whose hash computation is refused by
    /// the collision detection counts as missing.
    pub fn build(index: &Index, mut exists: impl FnMut(&ObjectId) -> bool) -> Option<Self> {
        if index.is_unmerged() {
            return None;
        }
        let mut layout = Layout::of(index);
        let mut content = Vec::new();
        layout.assign(index, |layout, at| {
            layout.tree_content(index, at, &mut content);
            let id = hash_object(index.hash(), ObjectKind::Tree, &content)?;
            exists(&id).then_some(id)
        });
        Some(layout.tree.sorted())
    }

    /// The same for an index that was made from another one, `old`, whose cache tree is `known` and [fits
    /// it](Self::fits): what is known of a directory with the same entries is believed, as by Git. Of such
    /// directories, `exists` is only asked about the outermost.
    pub(crate) fn rebuild(
        index: &Index,
        (old, known): (&Index, &CacheTree),
        mut exists: impl FnMut(&ObjectId) -> bool,
    ) -> Option<Self> {
        if index.is_unmerged() {
            return None;
        }
        let mut layout = Layout::of(index);
        let same = layout.same(index, (old, known), &mut exists);
        let mut content = Vec::new();
        layout.assign(index, |layout, at| {
            same[at].or_else(|| {
                layout.tree_content(index, at, &mut content);
                let id = hash_object(index.hash(), ObjectKind::Tree, &content)?;
                exists(&id).then_some(id)
            })
        });
        Some(layout.tree.sorted())
    }

    /// The cache tree of `index` with ids known to the caller, as after a checkout: `known` is
    /// called for the tree of each directory (empty for the root), after those below it. It must
    /// return the tree of exactly the entries that the index has there. A directory is invalid if
    /// `known` returns none, or because of its content, as with [`build`](Self::build); in an index
    /// in conflict, also if it contains a conflict.
    pub fn from_known(index: &Index, mut known: impl FnMut(&BStr) -> Option<ObjectId>) -> Self {
        let mut layout = Layout::of(index);
        layout.assign(index, |layout, at| known(layout.path(index, at)));
        layout.tree.sorted()
    }

    /// Whether the id of the root is that of a tree with the entries at the top of `index`, whose
    /// directories have the trees and the numbers of entries that are known here. What is in these
    /// directories is not looked at.
    pub(crate) fn has_root_of(&self, index: &Index) -> bool {
        let children = self.root().children();
        let children: HashMap<&BStr, _> = children.map(|child| (child.name(), child)).collect();
        let entries = index.entries();
        let mut content = Vec::new();
        let mut row = 0;
        while let Some(entry) = entries.get(row) {
            let path = index.path(entry);
            if let Some(end) = path.find_byte(b'/') {
                let name = path[..end].as_bstr();
                let rows = index.range_under(name);
                let known = children.get(name);
                let known = known.and_then(|child| child.id().zip(child.entry_count()));
                let Some((id, _)) = known.filter(|(_, count)| *count as usize == rows.len()) else {
                    return false;
                };
                push_item(&mut content, b"40000", name, id);
                row = rows.end.max(row + 1);
            } else {
                if !is_in_tree(entry) {
                    return false;
                }
                push_item(&mut content, tree_mode(entry.mode), path, &entry.id);
                row += 1;
            }
        }
        let id = hash_object(index.hash(), ObjectKind::Tree, &content);
        id.is_some() && id.as_ref() == self.root_id()
    }
}

/// The directories of an index in the order of their paths, as nodes without ids.
struct Layout {
    tree: CacheTree,
    /// For each node, its first entry and the length of its path with a trailing slash.
    spans: Vec<Span>,
}

struct Span {
    first: usize,
    prefix_len: usize,
}

impl Layout {
    fn of(index: &Index) -> Self {
        let mut layout = Layout {
            tree: CacheTree {
                nodes: Vec::new(),
                names: Vec::new(),
            },
            spans: Vec::new(),
        };
        layout.open(index, 0, 0, &[]);
        let mut open = vec![0];
        let mut previous = BStr::new("");
        for (position, (path, _)) in index.iter().enumerate() {
            let common = common_len(previous, path);
            let mut start = 0;
            while let Some(&at) = open.last() {
                start = layout.spans[at].prefix_len;
                if start <= common {
                    break;
                }
                layout.close(at, position);
                open.pop();
            }
            while let Some(len) = path[start..].find_byte(b'/') {
                let name = &path[start..start + len];
                start += len + 1;
                open.push(layout.open(index, position, start, name));
            }
            previous = path;
        }
        for at in open.into_iter().rev() {
            layout.close(at, index.entries().len());
        }
        layout
    }

    fn open(&mut self, index: &Index, first: usize, prefix_len: usize, name: &[u8]) -> usize {
        let range = PathRange::new(self.tree.names.len(), name.len());
        self.tree.nodes.push(Node {
            name: range.expect("no more names than paths, and those fit"),
            entry_count: None,
            id: index.hash().null(),
            end: 0,
        });
        self.tree.names.extend_from_slice(name);
        self.spans.push(Span { first, prefix_len });
        self.spans.len() - 1
    }

    /// Closes the node `at` before the entry `position`.
    fn close(&mut self, at: usize, position: usize) {
        let end = self.tree.nodes.len() as u32;
        let node = &mut self.tree.nodes[at];
        node.end = end;
        node.entry_count = Some((position - self.spans[at].first) as u32);
    }

    /// Gives each node the id that `id_of` returns, children before parents, and invalidates nodes
    /// without an id.
    fn assign(&mut self, index: &Index, mut id_of: impl FnMut(&Self, usize) -> Option<ObjectId>) {
        // The entry counts of invalid nodes are needed until all containing trees were processed.
        let mut invalid = vec![false; self.tree.nodes.len()];
        for at in (0..self.tree.nodes.len()).rev() {
            let id = match self.sparse_directory(index, at) {
                Some(entry) => Some(entry.id),
                None => {
                    let broken_below = self.tree.children(at).any(|child| invalid[child]);
                    let sound = !broken_below && self.own_entries(index, at).all(is_in_tree);
                    sound.then(|| id_of(self, at)).flatten()
                }
            };
            match id {
                Some(id) => self.tree.nodes[at].id = id,
                None => invalid[at] = true,
            }
        }
        for (node, invalid) in self.tree.nodes.iter_mut().zip(invalid) {
            if invalid {
                node.entry_count = None;
            }
        }
    }

    /// The known trees of the nodes whose entries are the same in `old`.
    fn same(
        &self,
        index: &Index,
        (old, known): (&Index, &CacheTree),
        exists: &mut dyn FnMut(&ObjectId) -> bool,
    ) -> Vec<Option<ObjectId>> {
        let changes = changes_before(index, old);
        let nodes = &self.tree.nodes;
        let mut same: Vec<Option<ObjectId>> = vec![None; nodes.len()];
        // For each node, the known one of the same path, and whether the one above is the same.
        let mut twins = vec![None; nodes.len()];
        twins[0] = Some((0, false));
        for at in 0..nodes.len() {
            let Some((twin, is_below_same)) = twins[at] else {
                continue;
            };
            let (first, count) = (self.spans[at].first, nodes[at].entry_count);
            let end = first + count.unwrap_or(0) as usize;
            let it = &known.nodes[twin];
            let has_same = count == it.entry_count && changes[first] == changes[end];
            if has_same && (is_below_same || exists(&it.id)) {
                same[at] = Some(it.id);
            }
            let mut others: Vec<usize> = known.children(twin).collect();
            others.sort_unstable_by_key(|other| known.name(*other));
            for child in self.tree.children(at) {
                let name = self.tree.name(child);
                let other = others.binary_search_by_key(&name, |other| known.name(*other));
                let other = other.ok().map(|other| others[other]);
                twins[child] = other.map(|other| (other, same[at].is_some()));
            }
        }
        same
    }

    /// The path of the node, without a trailing slash.
    fn path<'i>(&self, index: &'i Index, at: usize) -> &'i BStr {
        let span = &self.spans[at];
        let entry = index.entries().get(span.first);
        let path = entry.map_or(BStr::new(""), |entry| index.path(entry));
        path[..span.prefix_len.saturating_sub(1)].as_bstr()
    }

    /// The sparse directory entry that stands for the node, if any.
    fn sparse_directory<'i>(&self, index: &'i Index, at: usize) -> Option<&'i Entry> {
        let span = &self.spans[at];
        let entry = index.entries().get(span.first)?;
        let is_whole = index.path(entry).len() == span.prefix_len;
        (entry.mode == Mode::SparseDirectory && is_whole).then_some(entry)
    }

    /// The entries of the node's tree, in tree order.
    fn items(&self, at: usize) -> impl Iterator<Item = Item> + '_ {
        let first = self.spans[at].first;
        let count = self.tree.nodes[at].entry_count.unwrap_or(0) as usize;
        let mut children = self.tree.children(at).peekable();
        let mut next = first;
        std::iter::from_fn(move || {
            if next >= first + count {
                return None;
            }
            let child = children.next_if(|&child| self.spans[child].first == next);
            let Some(child) = child else {
                next += 1;
                return Some(Item::Entry(next - 1));
            };
            next += self.tree.nodes[child].entry_count.unwrap_or(0) as usize;
            Some(Item::Directory(child))
        })
    }

    fn own_entries<'a>(
        &'a self,
        index: &'a Index,
        at: usize,
    ) -> impl Iterator<Item = &'a Entry> + 'a {
        self.items(at).filter_map(|item| match item {
            Item::Entry(position) => index.entries().get(position),
            Item::Directory(_) => None,
        })
    }

    /// Stores the content of the node's tree object in `content`.
    fn tree_content(&self, index: &Index, at: usize, content: &mut Vec<u8>) {
        content.clear();
        let prefix_len = self.spans[at].prefix_len;
        for item in self.items(at) {
            let (mode, name, id): (&[u8], &[u8], _) = match item {
                Item::Directory(child) => {
                    (b"40000", self.tree.name(child), &self.tree.nodes[child].id)
                }
                Item::Entry(position) => {
                    let entry = &index.entries()[position];
                    let name = &index.path(entry)[prefix_len..];
                    (tree_mode(entry.mode), name, &entry.id)
                }
            };
            push_item(content, mode, name, id);
        }
    }
}

/// For each row of `index`, and its end, how many rows before it `old` has not.
fn changes_before(index: &Index, old: &Index) -> Vec<u32> {
    let mut others = old.entries().iter().peekable();
    let mut count = 0;
    let mut counts = vec![count];
    for entry in index.entries() {
        let path = index.path(entry);
        let mut order = Ordering::Greater;
        while let Some(other) = others.peek() {
            order = old.path(other).cmp(path);
            if order.is_ge() {
                break;
            }
            others.next();
        }
        let twin = order.is_eq().then(|| others.next()).flatten();
        let is_twin = |other: &Entry| {
            let is_both = is_in_tree(entry) && is_in_tree(other);
            is_both && (other.id, other.mode) == (entry.id, entry.mode)
        };
        count += u32::from(!twin.is_some_and(is_twin));
        counts.push(count);
    }
    counts
}

/// Appends an entry to the content of a tree object.
fn push_item(content: &mut Vec<u8>, mode: &[u8], name: &[u8], id: &ObjectId) {
    content.extend_from_slice(mode);
    content.push(b' ');
    content.extend_from_slice(name);
    content.push(0);
    content.extend_from_slice(id.as_slice());
}

enum Item {
    Entry(usize),
    Directory(usize),
}

/// Whether a tree can contain the entry.
fn is_in_tree(entry: &Entry) -> bool {
    !entry.flags.intent_to_add && entry.flags.stage == Stage::Merged && !entry.id.is_null()
}

/// The mode as written in trees: octal, without leading zeros.
fn tree_mode(mode: Mode) -> &'static [u8] {
    match mode {
        Mode::File => b"100644",
        Mode::Executable => b"100755",
        Mode::Symlink => b"120000",
        Mode::Gitlink => b"160000",
        Mode::SparseDirectory => b"40000",
    }
}
