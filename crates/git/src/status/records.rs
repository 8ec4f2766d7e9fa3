//! New records for the untracked cache: what a scan notes on its way, and how they become the cache
//! that is written with the index.
//!
//! A reader believes a record as long as the directory looks as recorded. So a directory that
//! changed in the second in which the scan began or later is recorded with a time that no directory
//! has, and is listed again; else a change in the same second would stay hidden. The record of a
//! directory of which something could not be read is not valid, whatever a monitor says.

use super::exclusion::UsedPatterns;
use super::scan::Scanned;
use super::untracked::Folder;
use crate::convert::{Conversion, Converter};
use crate::index::{joined, EntryStat, Index, Stage, UntrackedCache, UntrackedRecord};
use crate::untracked_cache::{pattern_id, IGNORE_FILE};
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::state::State;
use crate::worktree::Worktree;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::Stat;
use hedgerow_object::{hash_object, ObjectKind};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// What a scan notes for the untracked cache.
#[derive(Debug, Default)]
pub(super) struct Notes {
    listed: Vec<ListedDirectory>,
    /// Untracked files and repositories, the latter with a slash.
    untracked: Vec<BString>,
    /// The records of directories that were not looked at.
    kept: Vec<Range<usize>>,
    /// Directories that could not be listed.
    failed: Vec<BString>,
}

/// A directory that was listed.
#[derive(Debug)]
struct ListedDirectory {
    path: BString,
    /// Its stat data from after it was listed.
    stat: EntryStat,
    /// If it is untracked: then it is enough to know whether there is anything in it.
    folder: Option<Arc<Folder>>,
    patterns: PatternIds,
}

/// Which patterns a directory has.
#[derive(Clone, Copy, Debug)]
enum PatternIds {
    None,
    /// Those of a file: the id of its content, and the one that git records for it.
    InFile {
        content: ObjectId,
        recorded: ObjectId,
    },
    InIndex(ObjectId),
    Unreadable,
}

impl Notes {
    /// The directory `path` was listed; it is in `folder` if it is not tracked.
    pub(super) fn listed(
        &mut self,
        path: &BStr,
        stat: &Stat,
        folder: Option<Arc<Folder>>,
        patterns: UsedPatterns<'_>,
        hash: Kind,
    ) {
        let id = |content: &[u8]| hash_object(hash, ObjectKind::Blob, content);
        let ids = |content: &[u8]| {
            Some(PatternIds::InFile {
                content: id(content)?,
                recorded: pattern_id(content, hash)?,
            })
        };
        let patterns = match patterns {
            UsedPatterns::None => PatternIds::None,
            UsedPatterns::Unreadable => PatternIds::Unreadable,
            UsedPatterns::InFile(content) => ids(content).unwrap_or(PatternIds::Unreadable),
            UsedPatterns::InIndex(content) => {
                id(content).map_or(PatternIds::Unreadable, PatternIds::InIndex)
            }
        };
        self.listed.push(ListedDirectory {
            path: path.into(),
            stat: stat.into(),
            folder,
            patterns,
        });
    }

    /// The untracked file or repository `path` was found.
    pub(super) fn found(&mut self, path: &BStr) {
        self.untracked.push(path.into());
    }

    /// The directory with these records, and what is below it, is as they say.
    pub(super) fn kept(&mut self, records: Range<usize>) {
        self.kept.push(records);
    }

    /// The directory `path` could not be listed.
    pub(super) fn failed(&mut self, path: &BStr) {
        self.failed.push(path.into());
    }

    /// Whether any directory was listed.
    pub(super) fn has_news(&self) -> bool {
        !self.listed.is_empty() || !self.failed.is_empty()
    }

    /// Whether nothing was noted.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_news() && self.untracked.is_empty() && self.kept.is_empty()
    }

    /// Takes over the notes of another worker.
    pub(super) fn append(&mut self, other: &mut Notes) {
        self.listed.append(&mut other.listed);
        self.untracked.append(&mut other.untracked);
        self.kept.append(&mut other.kept);
        self.failed.append(&mut other.failed);
    }
}

/// A directory that gets a record, or several with those below it.
enum Node<'n> {
    Listed(&'n ListedDirectory),
    Kept(Range<usize>),
}

/// The records of the cache `old` after a scan that began in the second `moment_s`.
pub(super) fn renewed(
    worktree: &Worktree<'_>,
    index: &Index,
    old: &UntrackedCache,
    scanned: &Scanned,
    moment_s: i64,
) -> Result<Vec<UntrackedRecord>> {
    let notes = &scanned.notes;
    let paths = old.paths();
    let failed: HashSet<&BString> = notes.failed.iter().collect();
    let holds_failed: HashSet<&BStr> = notes
        .failed
        .iter()
        .map(|path| split(path.as_bstr()).0)
        .collect();
    let kept = notes.kept.iter().map(|records| {
        let path = paths[records.start].as_bstr();
        (path, Node::Kept(records.clone()))
    });
    // A record says what is in a directory, or that there is nothing.
    let is_cut = |it: &ListedDirectory| it.folder.as_ref().is_some_and(|it| it.is_cut_short());
    let listed = notes.listed.iter();
    let listed = listed.filter(|it| !failed.contains(&it.path) && !is_cut(it));
    let listed = listed.map(|it| (it.path.as_bstr(), Node::Listed(it)));
    let mut nodes: Vec<(&BStr, Node<'_>)> = kept.chain(listed).collect();
    nodes.sort_by(|a, b| in_preorder(a.0, b.0));
    let mut names = names(notes, &scanned.folders);
    let ids = ExcludeIds::of(worktree, index, scanned)?;
    let mut records: Vec<UntrackedRecord> = Vec::with_capacity(nodes.len());
    // The records of the directories that lead to the last one.
    let mut above: Vec<(&BStr, usize)> = Vec::new();
    for (path, node) in nodes {
        let (parent, name) = split(path);
        while above.last().is_some_and(|(path, _)| *path != parent) {
            above.pop();
        }
        match above.last() {
            Some((_, row)) => records[*row].children += 1,
            None if path.is_empty() => {}
            // The directory above has no record, so this one cannot have one.
            None => continue,
        }
        match node {
            Node::Kept(rows) => records.extend_from_slice(&old.directories[rows]),
            Node::Listed(listed) => {
                let check_only = listed.folder.is_some();
                let mut record = UntrackedRecord {
                    name: name.into(),
                    children: 0,
                    untracked: untracked_in(names.remove(path), check_only),
                    stat: Some(listed.stat),
                    check_only,
                    exclude_id: ids.of_directory(listed),
                };
                let is_unread = matches!(listed.patterns, PatternIds::Unreadable);
                let is_wrong = is_unread || holds_failed.contains(path);
                if !is_wrong && i64::from(listed.stat.mtime_s) >= moment_s {
                    record.doubt();
                }
                let row = records.len();
                records.push(record);
                if is_wrong {
                    let above = above.iter().map(|(_, row)| *row);
                    forget_from(&mut records, above.chain([row]));
                }
                above.push((path, row));
            }
        }
    }
    Ok(records)
}

/// Forgets the last of `rows`, which lead to it from the top, and, if that is an untracked directory,
/// the one above: there it is listed as untracked, and git, which finds no valid record of it, would
/// list what is in it besides.
fn forget_from(records: &mut [UntrackedRecord], rows: impl DoubleEndedIterator<Item = usize>) {
    for row in rows.rev() {
        let is_untracked = records[row].check_only;
        records[row].forget();
        if !is_untracked {
            break;
        }
    }
}

/// The names of the untracked paths right in each directory, a slash at the end of directories.
fn names<'n>(notes: &'n Notes, folders: &'n [Arc<Folder>]) -> Names<'n> {
    let mut names: Names<'n> = HashMap::new();
    for path in &notes.untracked {
        let bare = path.strip_suffix(b"/").unwrap_or(path).as_bstr();
        let (parent, name) = split(bare);
        let is_directory = bare.len() < path.len();
        names.entry(parent).or_default().push((is_directory, name));
    }
    for path in folders.iter().filter_map(|folder| folder.shown()) {
        let (parent, name) = split(path);
        names.entry(parent).or_default().push((true, name));
    }
    names
}

/// For each directory, whether a path in it is a directory, and its name.
type Names<'n> = HashMap<&'n BStr, Vec<(bool, &'n BStr)>>;

/// The names as a record has them. If it is only looked whether there are any, one is enough: a
/// file, if there is one, since its removal shows in the directory itself.
fn untracked_in(names: Option<Vec<(bool, &BStr)>>, check_only: bool) -> Vec<u8> {
    let mut names = names.unwrap_or_default();
    if check_only {
        names.sort_unstable();
        names.truncate(1);
    } else {
        names.sort_unstable_by_key(|(_, name)| *name);
    }
    names.dedup();
    let mut out = Vec::new();
    for (is_directory, name) in names {
        out.extend_from_slice(name);
        out.extend_from_slice(if is_directory { b"/\0" } else { b"\0" });
    }
    out
}

/// The ids of pattern files as git records them: an unchanged tracked file has that of its entry.
struct ExcludeIds<'n> {
    index: &'n Index,
    states: &'n [State],
    /// How files are converted; not asked for if no pattern file looks like its entry.
    converter: Option<Converter>,
}

impl<'n> ExcludeIds<'n> {
    fn of(worktree: &Worktree<'_>, index: &'n Index, scanned: &'n Scanned) -> Result<Self> {
        let mut ids = ExcludeIds {
            index,
            states: &scanned.states,
            converter: None,
        };
        let listed = scanned.notes.listed.iter();
        let like_entries: Vec<BString> = listed.filter_map(|it| ids.like_entry(it)).collect();
        if !like_entries.is_empty() {
            let directories = directories_above(like_entries.iter().map(|path| path.as_bstr()));
            let direction = Direction::CheckIn {
                listed: Some(&scanned.attributes),
                is_gone: &|_| false,
            };
            ids.converter = Some(worktree.converter(index, &directories, &direction)?.0);
        }
        Ok(ids)
    }

    /// The path of the pattern file if the index has it as it is.
    fn like_entry(&self, listed: &ListedDirectory) -> Option<BString> {
        let PatternIds::InFile { content, .. } = listed.patterns else {
            return None;
        };
        let path = joined(listed.path.as_bstr(), IGNORE_FILE.as_bstr());
        let row = self.index.find(path.as_bstr(), Stage::Merged).ok()?;
        let is_same = self.index.entries()[row].id == content;
        (is_same && self.states[row] == State::Clean).then_some(path)
    }

    fn of_directory(&self, listed: &ListedDirectory) -> Option<ObjectId> {
        match listed.patterns {
            PatternIds::None | PatternIds::Unreadable => None,
            PatternIds::InIndex(id) => Some(id),
            PatternIds::InFile { content, recorded } => {
                let path = self.like_entry(listed);
                let is_plain = path
                    .zip(self.converter.as_ref())
                    .is_some_and(|(path, it)| it.conversion(path.as_bstr()) == Conversion::Plain);
                Some(if is_plain { content } else { recorded })
            }
        }
    }
}

/// The directory above `path` and the name in it; both are empty for the top.
fn split(path: &BStr) -> (&BStr, &BStr) {
    match path.rfind_byte(b'/') {
        Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
        None => (b"".as_bstr(), path),
    }
}

/// A directory comes before what is in it, and with all of that before the next one.
fn in_preorder(a: &BStr, b: &BStr) -> Ordering {
    if a.is_empty() || b.is_empty() {
        return a.len().cmp(&b.len());
    }
    a.split_str("/").cmp(b.split_str("/"))
}
