//! A file system that remembers every change and every sync, and what a cut may leave of them.

use hedgerow_testkit::Random;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

type Inode = usize;
/// When something happened: the number of the change.
type Time = usize;

/// How much of what was not synced is ordered.
#[derive(Clone, Copy, Debug)]
pub enum Durability {
    /// Names change in one order; a sync makes all of them durable.
    Journal,
    /// Each directory changes in its own order; only its own sync makes that durable.
    Directories,
}

/// A change of one name in a directory: to an inode, or to nothing.
#[derive(Clone)]
struct NameChange {
    time: Time,
    name: Vec<u8>,
    inode: Option<Inode>,
}

enum DataChange {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

struct Data {
    /// What it had before anything was recorded; a file.
    original: Vec<u8>,
    mode: u32,
    changes: Vec<(Time, DataChange)>,
    /// When it was synced.
    syncs: Vec<Time>,
}

enum Content {
    File(Data),
    Link(PathBuf),
    Directory {
        /// What was there before anything was recorded.
        original: BTreeMap<Vec<u8>, Inode>,
        changes: Vec<NameChange>,
        syncs: Vec<Time>,
    },
}

pub struct Disk {
    inodes: Vec<Content>,
    clock: Time,
}

/// What is on the disk after a cut.
pub struct State {
    pub description: String,
    files: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, PartialEq, Eq)]
enum Entry {
    File(Vec<u8>, u32),
    Link(PathBuf),
    Directory,
}

const ROOT: Inode = 0;

impl Disk {
    /// The disk as it is now at `root`.
    pub fn of_tree(root: &Path) -> Disk {
        let mut disk = Disk {
            inodes: Vec::new(),
            clock: 0,
        };
        disk.add_original(root);
        disk
    }

    fn add_original(&mut self, path: &Path) -> Inode {
        let stat = std::fs::symlink_metadata(path).unwrap();
        let inode = self.inodes.len();
        if stat.is_symlink() {
            let target = std::fs::read_link(path).unwrap();
            self.inodes.push(Content::Link(target));
        } else if stat.is_dir() {
            self.inodes.push(directory());
            let mut names = BTreeMap::new();
            for entry in std::fs::read_dir(path).unwrap() {
                let name = entry.unwrap().file_name();
                let child = self.add_original(&path.join(&name));
                names.insert(name.into_encoded_bytes(), child);
            }
            let Content::Directory { original, .. } = &mut self.inodes[inode] else {
                unreachable!("it was made a directory")
            };
            *original = names;
        } else {
            let mut data = file();
            data.original = std::fs::read(path).unwrap();
            data.mode = stat.permissions().mode() & 0o777;
            self.inodes.push(Content::File(data));
        }
        inode
    }

    /// What `path`, relative to the root, names now.
    pub fn find(&self, path: &Path) -> Option<Inode> {
        let mut inode = ROOT;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return None;
            };
            let names = self.names_at(inode, self.clock);
            inode = *names.get(name.as_encoded_bytes())?;
        }
        Some(inode)
    }

    /// A file without a name.
    pub fn new_file(&mut self) -> Inode {
        self.inodes.push(Content::File(file()));
        self.inodes.len() - 1
    }

    pub fn new_link(&mut self, target: &Path) -> Inode {
        self.inodes.push(Content::Link(target.to_owned()));
        self.inodes.len() - 1
    }

    pub fn new_directory(&mut self) -> Inode {
        self.inodes.push(directory());
        self.inodes.len() - 1
    }

    /// Gives names to inodes, or takes them away, all at once.
    pub fn name(&mut self, changes: &[(&Path, Option<Inode>)]) {
        self.clock += 1;
        for (path, inode) in changes {
            let parent = self.find(path.parent().unwrap()).expect("its directory");
            let name = path.file_name().unwrap().as_encoded_bytes().to_vec();
            let change = NameChange {
                time: self.clock,
                name,
                inode: *inode,
            };
            let Content::Directory { changes, .. } = &mut self.inodes[parent] else {
                panic!("{path:?} is below a file")
            };
            changes.push(change);
        }
    }

    pub fn write(&mut self, inode: Inode, offset: usize, bytes: Vec<u8>) {
        self.change(inode, DataChange::Write { offset, bytes });
    }

    pub fn set_length(&mut self, inode: Inode, bytes: usize) {
        self.change(inode, DataChange::Length(bytes));
    }

    fn change(&mut self, inode: Inode, change: DataChange) {
        self.clock += 1;
        let Content::File(data) = &mut self.inodes[inode] else {
            panic!("only files have data")
        };
        data.changes.push((self.clock, change));
    }

    pub fn sync(&mut self, inode: Inode) {
        self.clock += 1;
        match &mut self.inodes[inode] {
            Content::File(data) => data.syncs.push(self.clock),
            Content::Directory { syncs, .. } => syncs.push(self.clock),
            Content::Link(_) => {}
        }
    }

    /// How long a file is now, in bytes.
    pub fn length(&self, inode: Inode) -> usize {
        match &self.inodes[inode] {
            Content::File(data) => data.content(data.changes.len(), false).len(),
            _ => 0,
        }
    }

    /// One of the states that a cut at some time may leave, drawn.
    pub fn cut(&self, durability: Durability, random: &mut Random) -> State {
        let now = random.below(self.clock + 1);
        let whole = random.chance(30);
        let names = match durability {
            Durability::Journal => self.cut_journal(now, whole, random),
            Durability::Directories => self.cut_directories(now, whole, random),
        };
        let mut files = BTreeMap::new();
        let fate = random.below(4);
        self.collect(ROOT, Path::new(""), &names, &mut |inode, path| {
            let entry = match &self.inodes[inode] {
                Content::Directory { .. } => Entry::Directory,
                Content::Link(target) => Entry::Link(target.clone()),
                Content::File(data) => Entry::File(data.cut(now, fate, random), data.mode),
            };
            files.insert(path.to_owned(), entry);
        });
        State {
            description: format!(
                "{durability:?}, cut at {now} of {}, data {fate}",
                self.clock
            ),
            files,
        }
    }

    /// Up to when the names of each directory are durable: one time for all.
    fn cut_journal(&self, now: Time, whole: bool, random: &mut Random) -> Vec<Time> {
        let all = self.inodes.iter().flat_map(|content| match content {
            Content::File(Data { syncs, .. }) | Content::Directory { syncs, .. } => &syncs[..],
            Content::Link(_) => &[],
        });
        let synced = all.copied().filter(|time| *time <= now).max();
        let floor = synced.unwrap_or_default();
        let until = if whole {
            now
        } else {
            floor + random.below(now - floor + 1)
        };
        vec![until; self.inodes.len()]
    }

    /// Up to when the names of each directory are durable: each has a time of its own.
    fn cut_directories(&self, now: Time, whole: bool, random: &mut Random) -> Vec<Time> {
        let mut until: Vec<Time> = Vec::new();
        for content in &self.inodes {
            let Content::Directory { syncs, .. } = content else {
                until.push(now);
                continue;
            };
            let floor = syncs.iter().copied().filter(|time| *time <= now).max();
            let floor = floor.unwrap_or_default();
            until.push(match random.below(3) {
                _ if whole => now,
                0 => floor,
                1 => now,
                _ => floor + random.below(now - floor + 1),
            });
        }
        self.keep_renames_whole(&mut until, now);
        until
    }

    /// A rename from one directory to another has happened in both or in neither.
    fn keep_renames_whole(&self, until: &mut [Time], now: Time) {
        let mut places: BTreeMap<Time, Vec<Inode>> = BTreeMap::new();
        for (inode, content) in self.inodes.iter().enumerate() {
            if let Content::Directory { changes, .. } = content {
                for change in changes.iter().filter(|change| change.time <= now) {
                    places.entry(change.time).or_default().push(inode);
                }
            }
        }
        loop {
            let before = until.to_vec();
            for (time, inodes) in places.iter().filter(|(_, inodes)| inodes.len() > 1) {
                if inodes.iter().any(|inode| until[*inode] >= *time) {
                    for inode in inodes {
                        until[*inode] = until[*inode].max(*time);
                    }
                }
            }
            if before == until {
                return;
            }
        }
    }

    fn names_at(&self, inode: Inode, until: Time) -> BTreeMap<Vec<u8>, Inode> {
        let Content::Directory {
            original, changes, ..
        } = &self.inodes[inode]
        else {
            return BTreeMap::new();
        };
        let mut names = original.clone();
        for change in changes.iter().filter(|change| change.time <= until) {
            match change.inode {
                Some(inode) => names.insert(change.name.clone(), inode),
                None => names.remove(&change.name),
            };
        }
        names
    }

    fn collect(
        &self,
        directory: Inode,
        path: &Path,
        until: &[Time],
        found: &mut dyn FnMut(Inode, &Path),
    ) {
        for (name, inode) in self.names_at(directory, until[directory]) {
            let name = String::from_utf8(name).expect("names here are text");
            let path = path.join(name);
            found(inode, &path);
            self.collect(inode, &path, until, found);
        }
    }

    /// Holds the record against what is really there: nothing was missed.
    pub fn assert_equals(&self, root: &Path, what: &str) {
        let mut recorded = BTreeMap::new();
        let until = vec![self.clock; self.inodes.len()];
        self.collect(ROOT, Path::new(""), &until, &mut |inode, path| {
            let entry = match &self.inodes[inode] {
                Content::Directory { .. } => Entry::Directory,
                Content::Link(target) => Entry::Link(target.clone()),
                Content::File(data) => Entry::File(data.content(data.changes.len(), false), 0),
            };
            recorded.insert(path.to_owned(), entry);
        });
        let real = Disk::of_tree(root);
        let until = vec![0; real.inodes.len()];
        let mut count = 0;
        real.collect(ROOT, Path::new(""), &until, &mut |inode, path| {
            let entry = match &real.inodes[inode] {
                Content::Directory { .. } => Entry::Directory,
                Content::Link(target) => Entry::Link(target.clone()),
                Content::File(data) => Entry::File(data.original.clone(), 0),
            };
            count += 1;
            assert!(
                recorded.get(path) == Some(&entry),
                "{what}: {path:?} was not recorded"
            );
        });
        assert_eq!(
            count,
            recorded.len(),
            "{what}: files too many were recorded"
        );
    }
}

impl Data {
    /// The content after the first `count` changes; those after are zeros if `padded`, up to the
    /// length that the file then had.
    fn content(&self, count: usize, padded: bool) -> Vec<u8> {
        let mut content = self.original.clone();
        for (number, (_, change)) in self.changes.iter().enumerate() {
            let is_lost = number >= count;
            if is_lost && !padded {
                break;
            }
            match change {
                DataChange::Length(bytes) => content.resize(*bytes, 0),
                DataChange::Write { offset, bytes } => {
                    let end = offset + bytes.len();
                    content.resize(content.len().max(end), 0);
                    if !is_lost {
                        content[*offset..end].copy_from_slice(bytes);
                    }
                }
            }
        }
        content
    }

    /// What a cut at `now` leaves: all, only what was synced, a part, or zeros for the rest.
    fn cut(&self, now: Time, fate: usize, random: &mut Random) -> Vec<u8> {
        let last = self.syncs.iter().copied().filter(|time| *time <= now).max();
        let until = |time: Time| {
            self.changes
                .iter()
                .take_while(|(at, _)| *at <= time)
                .count()
        };
        let (floor, most) = (until(last.unwrap_or_default()), until(now));
        match fate {
            0 => self.content(most, false),
            1 => self.content(floor, false),
            2 => self.content(floor + random.below(most - floor + 1), false),
            _ => {
                let reached = Data {
                    original: self.original.clone(),
                    mode: self.mode,
                    changes: Vec::new(),
                    syncs: Vec::new(),
                };
                let length = self.content(most, false).len();
                let mut content = if floor == 0 {
                    reached.original
                } else {
                    self.content(floor, false)
                };
                content.resize(length, 0);
                content
            }
        }
    }
}

impl State {
    /// Makes `root` what the state says, leaving files alone that are so already.
    pub fn write(&self, root: &Path) {
        let there = Disk::of_tree(root);
        let until = vec![0; there.inodes.len()];
        let mut present = BTreeMap::new();
        there.collect(ROOT, Path::new(""), &until, &mut |inode, path| {
            let entry = match &there.inodes[inode] {
                Content::Directory { .. } => Entry::Directory,
                Content::Link(target) => Entry::Link(target.clone()),
                Content::File(data) => Entry::File(data.original.clone(), data.mode),
            };
            present.insert(path.to_owned(), entry);
        });
        // What is in a directory comes after it.
        for (path, entry) in present.iter().rev() {
            if self.files.get(path) != Some(entry) {
                let path = root.join(path);
                let _ = match entry {
                    Entry::Directory => std::fs::remove_dir(path),
                    _ => std::fs::remove_file(path),
                };
            }
        }
        for (path, entry) in &self.files {
            if present.get(path) == Some(entry) {
                continue;
            }
            let path = root.join(path);
            match entry {
                Entry::Directory => std::fs::create_dir(path).unwrap(),
                Entry::Link(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                Entry::File(content, mode) => {
                    std::fs::write(&path, content).unwrap();
                    let mode = std::fs::Permissions::from_mode(*mode);
                    std::fs::set_permissions(path, mode).unwrap();
                }
            }
        }
    }
}

fn directory() -> Content {
    Content::Directory {
        original: BTreeMap::new(),
        changes: Vec::new(),
        syncs: Vec::new(),
    }
}

fn file() -> Data {
    Data {
        original: Vec::new(),
        mode: 0o644,
        changes: Vec::new(),
        syncs: Vec::new(),
    }
}
