//! HEAD against the index: what a commit would change.

use super::rename::{Filepair, Side};
use super::{ChangeKind, Version};
use crate::index::{Directory, Entry, Index, Mode, Stage};
use crate::repository::{Objects, Repository};
use crate::tree::limits::{depth_limit, DEPTH_EXCEEDED};
use crate::tree::limits::{DIRECTORY_LIMIT, ENTRY_LIMIT, PATH_LIMIT_BYTES};
use crate::tree::{entries, order, Enters, TreeEntry};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::{run_tasks, Options, Scope};
use hedgerow_pack::Reader;
use hedgerow_tree::{EntryKind, NameRules};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::Mutex;

/// A path at which HEAD and index differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedChange {
    /// The path.
    pub path: BString,
    /// Added, deleted, modified or of another type.
    pub kind: ChangeKind,
    /// HEAD's entry there.
    pub head: Option<Version>,
    /// The index's entry there.
    pub index: Option<Version>,
}

/// How the index differs from HEAD. Paths are unique in both lists together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    /// The differences, ascending by path.
    pub changes: Vec<StagedChange>,
    /// HEAD's entries at paths in conflict, ascending; paths that HEAD does not have are not
    /// listed. They do not count as changes, but copies can be detected from them.
    pub unmerged: Vec<(BString, Version)>,
}

impl Staged {
    /// Converts it to pairs, ascending by path, for rename detection.
    pub fn into_filepairs(self) -> Vec<Filepair> {
        let side = |path: &BString, version: Version| Side {
            path: path.clone(),
            mode: version.mode,
            id: Some(version.id),
        };
        let changes = self.changes.iter().map(|change| Filepair {
            old: change.head.map(|head| side(&change.path, head)),
            new: change.index.map(|index| side(&change.path, index)),
            ..Filepair::default()
        });
        let unmerged = self.unmerged.iter().map(|(path, head)| Filepair {
            old: Some(side(path, *head)),
            unmerged: true,
            ..Filepair::default()
        });
        let mut pairs: Vec<Filepair> = changes.chain(unmerged).collect();
        pairs.sort_by(|a, b| a.path().cmp(&b.path()));
        pairs
    }
}

/// Compares the tree `head`, `None` before the first commit, with `index`, which must not have
/// entries for whole directories.
///
/// Directories whose tree in the index's cache tree equals HEAD's are skipped; the others are read
/// in parallel. As by git, the id of the top is not believed. An intent-to-add entry counts as absent
/// from the index.
pub fn staged(
    repository: &Repository,
    index: &Index,
    head: Option<ObjectId>,
    options: &Options,
) -> Result<Staged> {
    staged_within(repository, index, head, None, options)
}

/// The same; what HEAD has in directories to which `enters` says no is not read, and counts as equal.
pub(crate) fn staged_within<'i>(
    repository: &Repository,
    index: &'i Index,
    head: Option<ObjectId>,
    enters: Option<Enters<'_>>,
    options: &Options,
) -> Result<Staged> {
    let root = Pair {
        path: BString::default(),
        depth: 0,
        tree: head,
        rows: 0..index.entries().len(),
        known: index.cache_tree().map(|tree| tree.root()),
    };
    // The tree of what is at the top says the same as reading that tree.
    let has_root = || index.cache_tree().is_some_and(|it| it.has_root_of(index));
    if root.is_known_equal() && has_root() {
        return Ok(Staged::default());
    }
    let settings = repository.settings();
    let walk = Walk {
        objects: repository.shared_objects(),
        hash: repository.hash_kind(),
        names: NameRules {
            protect_ntfs: settings.protect_ntfs,
            protect_hfs: settings.protect_hfs,
        },
        index,
        enters,
        depth_limit: depth_limit(repository)?,
        directories: AtomicU32::new(1),
        entries: AtomicU64::new(0),
        path_bytes: AtomicU64::new(0),
        found: Mutex::default(),
    };
    let store = repository.objects();
    let worker = |_| Reader::new(store);
    let work = |reader: &mut Reader<'_>, pair: Pair<'i>, scope: &Scope<'_, Pair<'i>>| {
        walk.compare(reader, &pair, scope)
    };
    run_tasks(&options.named("trees"), vec![root], worker, work).map_err(Error::from)?;
    let mut found = walk.found.into_inner().map_err(|_| poisoned())?;
    found.changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.unmerged.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn poisoned() -> Error {
    Error::Internal {
        reason: "a lock was poisoned".to_owned(),
    }
}

/// A directory of HEAD and the rows of the index below it.
struct Pair<'i> {
    /// Empty, or ending in a slash.
    path: BString,
    depth: u32,
    tree: Option<ObjectId>,
    rows: Range<usize>,
    known: Option<Directory<'i>>,
}

impl Pair<'_> {
    /// Whether the cache tree says that the index equals HEAD here. Its entry count has to agree as
    /// well, since the file is not trusted.
    fn is_known_equal(&self) -> bool {
        let Some(known) = self.known.filter(|known| known.id() == self.tree.as_ref()) else {
            return false;
        };
        self.tree.is_some()
            && known.entry_count().map(|count| count as usize) == Some(self.rows.len())
    }
}

/// The index's entries under one name of a directory: a directory, or all stages of a file.
struct Group<'i> {
    /// The name, as a file or a directory; for a directory the id is meaningless.
    entry: TreeEntry<'i>,
    rows: Range<usize>,
}

struct Walk<'i, 'r> {
    objects: Objects<'r>,
    hash: gix_hash::Kind,
    names: NameRules,
    index: &'i Index,
    enters: Option<Enters<'r>>,
    depth_limit: u32,
    directories: AtomicU32,
    entries: AtomicU64,
    path_bytes: AtomicU64,
    found: Mutex<Staged>,
}

impl<'i> Walk<'i, '_> {
    fn compare(
        &self,
        reader: &mut Reader<'_>,
        pair: &Pair<'i>,
        scope: &Scope<'_, Pair<'i>>,
    ) -> Result<()> {
        if pair.depth > self.depth_limit {
            return Err(self.too_large(pair, DEPTH_EXCEEDED));
        }
        let content = match pair.tree {
            Some(id) => self.objects.read_tree(reader, id)?,
            None => &[],
        };
        let tree = self.parse(pair, content)?;
        let mut children: Vec<Directory<'i>> = Vec::new();
        children.extend(pair.known.iter().flat_map(|known| known.children()));
        children.sort_unstable_by_key(|child| child.name());
        let mut found = Staged::default();
        let mut tree = tree.iter().peekable();
        let mut groups = Groups {
            index: self.index,
            prefix: pair.path.as_bstr(),
            rows: pair.rows.clone(),
        }
        .peekable();
        // Joins HEAD's entries with the index's groups; both are in tree order.
        loop {
            let which = match (tree.peek(), groups.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(head), Some(group)) => order(head, &group.entry),
            };
            let head = (which != Ordering::Greater).then(|| tree.next()).flatten();
            let group = (which != Ordering::Less).then(|| groups.next()).flatten();
            match head {
                Some(head) if head.kind == EntryKind::Directory => {
                    self.descend(pair, head, group.as_ref(), &children, scope);
                }
                _ => self.compare_file(pair, head, group.as_ref(), &mut found)?,
            }
        }
        // Collected per directory, so that the lock is taken only once for each.
        self.charge(pair, &found)?;
        let mut all = self.found.lock().map_err(|_| poisoned())?;
        all.changes.append(&mut found.changes);
        all.unmerged.append(&mut found.unmerged);
        Ok(())
    }

    /// Queues a directory of HEAD for comparison, unless the index is known to equal it.
    fn descend(
        &self,
        parent: &Pair<'i>,
        head: &TreeEntry<'_>,
        group: Option<&Group<'i>>,
        children: &[Directory<'i>],
        scope: &Scope<'_, Pair<'i>>,
    ) {
        let at = children.binary_search_by(|child| child.name().as_bytes().cmp(head.name));
        let mut path = parent.path.clone();
        path.extend_from_slice(head.name);
        path.push(b'/');
        let pair = Pair {
            path,
            depth: parent.depth + 1,
            tree: Some(head.id.to_owned()),
            rows: group.map_or(0..0, |group| group.rows.clone()),
            known: at.ok().and_then(|at| children.get(at)).copied(),
        };
        if self
            .enters
            .is_some_and(|enters| !enters(pair.path.as_bstr()))
        {
            return;
        }
        // If there are too many, `charge` reports it, once for each directory that has them.
        if !pair.is_known_equal() && self.directories.fetch_add(1, Relaxed) < DIRECTORY_LIMIT {
            scope.spawn(pair);
        }
    }

    /// Compares HEAD's entry, if it is not a directory, with the index's entries under that name.
    fn compare_file(
        &self,
        pair: &Pair<'_>,
        head: Option<&TreeEntry<'_>>,
        group: Option<&Group<'_>>,
        found: &mut Staged,
    ) -> Result<()> {
        let Some(group) = group else {
            if let Some(head) = head {
                let mut path = pair.path.clone();
                path.extend_from_slice(head.name);
                found
                    .changes
                    .extend(change(path, Some(version(head)), None));
            }
            return Ok(());
        };
        for entry in &self.index.entries()[group.rows.clone()] {
            let path = self.index.path(entry);
            if entry.mode == Mode::SparseDirectory {
                return Err(Error::Internal {
                    reason: format!("the index has an entry for the whole directory '{path}'"),
                });
            }
            if entry.flags.stage == Stage::Merged {
                let index = (!entry.flags.intent_to_add).then(|| version_of_row(entry));
                let head = head.map(version);
                found.changes.extend(change(path.to_owned(), head, index));
                continue;
            }
            // HEAD's version is listed once for all stages of a path.
            let is_new = found.unmerged.last().is_none_or(|(last, _)| last != path);
            if let Some(head) = head.filter(|_| is_new) {
                found.unmerged.push((path.to_owned(), version(head)));
            }
        }
        Ok(())
    }

    fn parse<'c>(&self, pair: &Pair<'_>, content: &'c [u8]) -> Result<Vec<TreeEntry<'c>>> {
        entries(content, self.hash, self.names).map_err(|reason| {
            if pair.path.is_empty() {
                self.corrupt(pair, reason)
            } else {
                self.corrupt(pair, format!("{reason}, in directory '{}'", pair.path))
            }
        })
    }

    /// Counts a directory's results against the limits.
    fn charge(&self, pair: &Pair<'_>, found: &Staged) -> Result<()> {
        let count = (found.changes.len() + found.unmerged.len()) as u64;
        let changed = found.changes.iter().map(|change| &change.path);
        let paths = changed.chain(found.unmerged.iter().map(|(path, _)| path));
        let bytes: u64 = paths.map(|path| path.len() as u64).sum();
        let entries = self.entries.fetch_add(count, Relaxed) + count;
        let path_bytes = self.path_bytes.fetch_add(bytes, Relaxed) + bytes;
        let directories = self.directories.load(Relaxed);
        if directories > DIRECTORY_LIMIT || entries > ENTRY_LIMIT || path_bytes > PATH_LIMIT_BYTES {
            return Err(self.too_large(pair, "trees list more entries than the limit"));
        }
        Ok(())
    }

    fn too_large(&self, pair: &Pair<'_>, reason: &str) -> Error {
        self.corrupt(pair, format!("{reason}, in directory '{}'", pair.path))
    }

    fn corrupt(&self, pair: &Pair<'_>, reason: String) -> Error {
        Error::CorruptObject {
            kind: "tree",
            id: pair.tree.unwrap_or_else(|| self.hash.null()),
            reason,
        }
    }
}

/// The index's entries in one directory, name by name, in tree order.
struct Groups<'p, 'i> {
    index: &'i Index,
    prefix: &'p BStr,
    rows: Range<usize>,
}

impl<'i> Iterator for Groups<'_, 'i> {
    type Item = Group<'i>;

    fn next(&mut self) -> Option<Group<'i>> {
        let rows = &self.index.entries()[self.rows.clone()];
        let first = rows.first()?;
        let path: &'i BStr = self.index.path(first);
        let rest = &path[self.prefix.len()..];
        // A slash at the end is that of an entry for a whole directory.
        let slash = rest.find_byte(b'/').filter(|at| at + 1 < rest.len());
        let name_len = slash.unwrap_or(rest.len());
        let len = self.prefix.len() + slash.map_or(name_len, |at| at + 1);
        let head = &path[..len];
        let is_below = |entry: &Entry| self.index.path(entry).starts_with(head);
        let is_same = |entry: &&Entry| self.index.path(entry) == path;
        let count = match slash {
            Some(_) => rows.partition_point(is_below),
            None => rows.iter().take_while(is_same).count(),
        };
        let kind = match slash {
            Some(_) => EntryKind::Directory,
            None => EntryKind::File,
        };
        let start = self.rows.start;
        self.rows.start += count.max(1);
        Some(Group {
            entry: TreeEntry {
                name: &rest[..name_len],
                kind,
                id: &first.id,
            },
            rows: start..self.rows.start,
        })
    }
}

fn version(entry: &TreeEntry<'_>) -> Version {
    Version {
        mode: Mode::from(entry.kind),
        id: entry.id.to_owned(),
    }
}

fn version_of_row(entry: &Entry) -> Version {
    Version {
        mode: entry.mode,
        id: entry.id,
    }
}

/// The change from `head` to `index`; `None` if they are equal.
fn change(path: BString, head: Option<Version>, index: Option<Version>) -> Option<StagedChange> {
    if head == index {
        return None;
    }
    let modes = (head.map(|head| head.mode), index.map(|index| index.mode));
    Some(StagedChange {
        path,
        kind: ChangeKind::between(modes.0, modes.1),
        head,
        index,
    })
}
