//! The index of an archive: its members in canonical order, and where their contents are.

use super::names::{Arena, Directories, Span, ROOT};
use super::{links, Defaults, SourceError};
use crate::{device_parts, Member, MemberKind, SparseMap};
use hedgerow_tree::{split_path, NodeKind, Xattr};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A member. If several members have the same path, the last one wins.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: Span,
    /// Depends on the kind. File: the position of its content. Symbolic link: the [`Span`] of its
    /// target. Hard link: the [`Span`] of its target's path, after resolution see
    /// [`Entry::linked_to`]. Device: the major and minor number.
    pub(super) data: u64,
    pub(super) size_bytes: u64,
    pub(super) mtime_s: i64,
    pub(super) mtime_ns: u32,
    /// The number of its parent directory.
    pub(super) directory: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Index of its set of extended attributes; 0 is the empty set.
    pub(super) xattrs: u32,
    /// Index of its sparse map; 0 if it has no holes.
    pub(super) sparse: u32,
    pub(super) mode: u16,
    pub(super) kind: MemberKind,
    /// Whether a hard link refers to it.
    pub(super) is_linked: bool,
}

/// Memory use of an entry, with its elements of the sort orders, in bytes.
const ENTRY_BYTES: usize = std::mem::size_of::<Entry>() + 8;
const _: () = assert!(ENTRY_BYTES <= 72, "archives have millions of members");
/// Memory use of a directory in bytes.
const DIRECTORY_BYTES: usize = 32;

/// Collects the members of an archive.
pub(super) struct IndexBuilder {
    pub(super) arena: Arena,
    pub(super) directories: Directories,
    pub(super) entries: Vec<Entry>,
    root: Entry,
    is_root_made_up: bool,
    xattrs: Vec<Arc<[Xattr]>>,
    xattr_sets: BTreeMap<Arc<[Xattr]>, u32>,
    maps: Vec<SparseMap>,
    /// Memory use of attributes and maps in bytes.
    side_bytes: usize,
    limit_bytes: usize,
    /// The directory of the last member, in which the next one probably is, too.
    last_directory: (Vec<u8>, u32),
}

/// The index exceeds its memory limit.
pub(super) struct TooLarge;

impl IndexBuilder {
    pub(super) fn new(defaults: &Defaults, limit_bytes: usize) -> IndexBuilder {
        let none: Arc<[Xattr]> = Arc::new([]);
        IndexBuilder {
            arena: Arena::default(),
            directories: Directories::new(),
            entries: Vec::new(),
            root: made_up(defaults, ROOT, Span::EMPTY),
            is_root_made_up: true,
            xattrs: vec![none.clone()],
            xattr_sets: BTreeMap::from([(none, 0)]),
            maps: vec![SparseMap::solid(0)],
            side_bytes: 0,
            limit_bytes,
            last_directory: (Vec::new(), ROOT),
        }
    }

    /// Adds a member whose content, if it has any, starts at `content`.
    pub(super) fn add(&mut self, member: Member, content: u64) -> Result<(), TooLarge> {
        let entry = self.entry(member, content).ok_or(TooLarge)?;
        match entry {
            Some(entry) => self.entries.push(entry),
            None => return Ok(()),
        }
        let weight = self.entries.len().saturating_mul(ENTRY_BYTES)
            + self.directories.len().saturating_mul(DIRECTORY_BYTES)
            + self.arena.weight()
            + self.side_bytes;
        let numbers_last = self.entries.len() < u32::MAX as usize / 2;
        (weight <= self.limit_bytes && numbers_last)
            .then_some(())
            .ok_or(TooLarge)
    }

    /// The entry of a member; the inner `None` is for the root, the outer one means that a limit is
    /// exceeded.
    fn entry(&mut self, member: Member, content: u64) -> Option<Option<Entry>> {
        let data = match member.kind {
            MemberKind::HardLink | MemberKind::Node(NodeKind::Symlink) => {
                self.arena.add(&member.link_target)?.to_word()
            }
            MemberKind::Node(NodeKind::File) => content,
            MemberKind::Node(_) => {
                let (major, minor) = device_parts(member.metadata.rdev);
                u64::from(major) << 32 | u64::from(minor)
            }
        };
        let entry = Entry {
            data,
            size_bytes: if member.is_file() {
                member.metadata.size_bytes
            } else {
                0
            },
            mtime_s: member.metadata.mtime_s,
            mtime_ns: member.metadata.mtime_ns,
            uid: member.metadata.uid,
            gid: member.metadata.gid,
            xattrs: self.xattr_set(member.xattrs)?,
            sparse: match member.sparse {
                Some(map) => self.map(map)?,
                None => 0,
            },
            mode: member.metadata.mode as u16,
            kind: member.kind,
            is_linked: false,
            name: Span::EMPTY,
            directory: ROOT,
        };
        if member.path.is_empty() {
            (self.root, self.is_root_made_up) = (entry, false);
            return Some(None);
        }
        let (directory, name) = split_path(&member.path);
        Some(Some(Entry {
            directory: self.directory(directory)?,
            name: self.arena.add(name)?,
            ..entry
        }))
    }

    fn directory(&mut self, path: &[u8]) -> Option<u32> {
        if self.last_directory.0 != path {
            let found = self.directories.intern_path(&mut self.arena, path)?;
            self.last_directory = (path.to_vec(), found);
        }
        Some(self.last_directory.1)
    }

    fn xattr_set(&mut self, xattrs: BTreeMap<Vec<u8>, Vec<u8>>) -> Option<u32> {
        if xattrs.is_empty() {
            return Some(0);
        }
        let bytes = xattrs
            .iter()
            .map(|(name, value)| name.len() + value.len() + 64);
        let bytes: usize = bytes.sum();
        let set = xattrs.into_iter().map(|(name, value)| Xattr {
            name: name.into(),
            value,
        });
        let set: Arc<[Xattr]> = set.collect();
        if let Some(number) = self.xattr_sets.get(&set) {
            return Some(*number);
        }
        let number = u32::try_from(self.xattrs.len()).ok()?;
        self.side_bytes += bytes + 64;
        self.xattrs.push(set.clone());
        self.xattr_sets.insert(set, number);
        Some(number)
    }

    fn map(&mut self, map: SparseMap) -> Option<u32> {
        let number = u32::try_from(self.maps.len()).ok()?;
        self.side_bytes += map.segments().len() * 16 + 64;
        self.maps.push(map);
        Some(number)
    }

    /// Sorts the members. Fails if they do not form a tree.
    pub(super) fn finish(mut self, defaults: &Defaults) -> Result<Index, SourceError> {
        self.xattr_sets = BTreeMap::new();
        let mut order: Vec<u32> = (0..self.entries.len() as u32).collect();
        self.sort(&mut order);
        links::resolve(&mut self, &order);
        self.keep_last(&mut order);
        let first_made_up = self.entries.len();
        self.add_missing_directories(&mut order, defaults)?;
        links::mark(&mut self.entries, &order);
        self.entries.shrink_to_fit();
        Ok(Index {
            starts: self.starts(&order),
            arena: self.arena,
            directories: self.directories,
            entries: self.entries,
            first_made_up,
            is_root_made_up: self.is_root_made_up,
            root: self.root,
            order,
            xattrs: self.xattrs,
            maps: self.maps,
        })
    }

    /// Sorts by directory and name; members with the same path stay in their order in the archive.
    fn sort(&self, order: &mut [u32]) {
        let key = |at: u32| {
            let entry = &self.entries[at as usize];
            (entry.directory, self.arena.get(entry.name), at)
        };
        order.sort_by(|a, b| key(*a).cmp(&key(*b)));
    }

    fn is_same_place(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.entries[a as usize], &self.entries[b as usize]);
        a.directory == b.directory && self.arena.get(a.name) == self.arena.get(b.name)
    }

    /// Keeps only the last one of members with the same path.
    fn keep_last(&self, order: &mut Vec<u32>) {
        order.dedup_by(|later, earlier| {
            let is_same = self.is_same_place(*later, *earlier);
            if is_same {
                *earlier = *later;
            }
            is_same
        });
    }

    /// Members with this directory and name, in their order in the archive.
    pub(super) fn called<'o>(&self, order: &'o [u32], directory: u32, name: &[u8]) -> &'o [u32] {
        let compare = |at: &u32| {
            let entry = &self.entries[*at as usize];
            (entry.directory, self.arena.get(entry.name)).cmp(&(directory, name))
        };
        let start = order.partition_point(|at| compare(at).is_lt());
        let rest = &order[start..];
        &rest[..rest.partition_point(|at| compare(at).is_eq())]
    }

    /// Adds directories that have no member of their own. Every directory in the table has entries.
    fn add_missing_directories(
        &mut self,
        order: &mut Vec<u32>,
        defaults: &Defaults,
    ) -> Result<(), SourceError> {
        let mut missing = Vec::new();
        for (number, directory) in self.directories.below_root() {
            let name = self.arena.get(directory.name);
            let own = self.called(order, directory.parent, name).first();
            let own = own.map(|at| self.entries[*at as usize].kind);
            match own {
                None => missing.push(made_up(defaults, directory.parent, directory.name)),
                Some(MemberKind::Node(NodeKind::Directory)) => {}
                Some(_) => return Err(SourceError::NotADirectory(self.path_of(number).into())),
            }
        }
        if !missing.is_empty() {
            let first = self.entries.len();
            self.entries.append(&mut missing);
            order.extend(first as u32..self.entries.len() as u32);
            self.sort(order);
        }
        Ok(())
    }

    /// The path of a directory.
    fn path_of(&self, number: u32) -> Vec<u8> {
        let mut names = Vec::new();
        let mut number = number;
        let all: Vec<_> = self.directories.below_root().collect();
        while let Some((_, directory)) = all.get((number as usize).wrapping_sub(1)) {
            names.push(self.arena.get(directory.name));
            number = directory.parent;
        }
        names.reverse();
        names.join(&b'/')
    }

    /// The start of each directory's entries in `order`, and the end of the last ones.
    fn starts(&self, order: &[u32]) -> Vec<u32> {
        let mut starts = vec![0u32; self.directories.len() + 1];
        for at in order {
            starts[self.entries[*at as usize].directory as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        starts
    }
}

fn made_up(defaults: &Defaults, directory: u32, name: Span) -> Entry {
    Entry {
        name,
        data: 0,
        size_bytes: 0,
        mtime_s: defaults.mtime_s,
        mtime_ns: 0,
        directory,
        uid: defaults.uid,
        gid: defaults.gid,
        xattrs: 0,
        sparse: 0,
        mode: defaults.mode & 0o7777,
        kind: MemberKind::Node(NodeKind::Directory),
        is_linked: false,
    }
}

fn range(starts: &[u32], directory: u32) -> Range<usize> {
    let bound = |at: usize| starts[at] as usize;
    bound(directory as usize)..bound(directory as usize + 1)
}

/// The members of an archive, one for each path.
pub(super) struct Index {
    arena: Arena,
    directories: Directories,
    entries: Vec<Entry>,
    /// The entries from this number on, and the root if so, are directories without a member.
    first_made_up: usize,
    is_root_made_up: bool,
    root: Entry,
    /// Numbers of the entries, sorted by directory and name.
    order: Vec<u32>,
    starts: Vec<u32>,
    xattrs: Vec<Arc<[Xattr]>>,
    maps: Vec<SparseMap>,
}

impl Index {
    /// Whether an entry, or the root, is a directory that is no member of the archive.
    pub(super) fn is_made_up(&self, number: Option<u32>) -> bool {
        number.map_or(self.is_root_made_up, |number| {
            number as usize >= self.first_made_up
        })
    }

    pub(super) fn root(&self) -> &Entry {
        &self.root
    }

    pub(super) fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    pub(super) fn name(&self, entry: &Entry) -> &[u8] {
        self.arena.get(entry.name)
    }

    /// The string to which an entry's `data` refers.
    pub(super) fn target(&self, entry: &Entry) -> &[u8] {
        self.arena.get(Span::from_word(entry.data))
    }

    pub(super) fn xattrs(&self, entry: &Entry) -> &[Xattr] {
        let set = self.xattrs.get(entry.xattrs as usize);
        set.map_or(&[], |set| set)
    }

    pub(super) fn all_xattrs(&self) -> impl Iterator<Item = &Xattr> {
        self.xattrs.iter().flat_map(|set| set.iter())
    }

    /// The sparse map of a file; `None` if it has no holes.
    pub(super) fn map(&self, entry: &Entry) -> Option<&SparseMap> {
        (entry.sparse > 0).then(|| self.maps.get(entry.sparse as usize))?
    }

    /// The range in `order` of the entries in the root.
    pub(super) fn in_root(&self) -> Range<usize> {
        range(&self.starts, ROOT)
    }

    /// The range in `order` of the entries in a directory.
    pub(super) fn inside(&self, entry: &Entry) -> Range<usize> {
        let name = self.arena.get(entry.name);
        let number = self.directories.find(&self.arena, entry.directory, name);
        number.map_or(0..0, |number| range(&self.starts, number))
    }

    /// The number of the entry at an index in `order`.
    pub(super) fn at(&self, place: usize) -> Option<u32> {
        self.order.get(place).copied()
    }

    /// Whether there is nothing but the root.
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}
