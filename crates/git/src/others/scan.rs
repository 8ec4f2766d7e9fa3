//! The pass over the working tree: each entry that the index does not name is given a treatment, or
//! becomes a directory to be recorded itself.

use super::{IgnoredPaths, Wish};
use crate::discover::OtherRepositories;
use crate::index::{Index, Mode};
use crate::status::exclusion::{Level, Rules, Tracked};
use crate::status::leading::missing;
use crate::status::remarks::{could_not_list, Warning};
use crate::status::rows::{children, Child};
use crate::status::FoldedPaths;
use crate::worktree::pathspecs::{Pathspecs, Reach};
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{is_absent, FileKind, Listing, OpenDirectory, Stat};
use hedgerow_walk::{Operation, Place, Plan, ScanError, Visitor, Wanted};
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How an entry is treated, the strongest last: a directory counts as the strongest in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Treatment {
    /// It does not count.
    #[default]
    None,
    /// It is searched, and its content counts as that of the directory above.
    Entered,
    /// It is ignored.
    Ignored,
    /// It is untracked.
    Untracked,
}

/// How a directory is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// As a part of the directory above.
    Enter,
    /// To find out what it counts as.
    Look,
    /// Not at all, unless it is another repository: it is already known what it counts as.
    Known(Treatment),
}

/// A directory as the scan found it.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Its path, with a slash at its end unless it is the root.
    pub path: BString,
    /// Whether it is another repository, which is not searched.
    pub is_repository: bool,
    /// The names of its entries, one after the other.
    pub names: Vec<u8>,
    pub entries: Vec<Entry>,
    /// The directories in it that have records of their own.
    pub inner: Vec<Inner>,
}

/// An entry of a directory that is treated as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub start: u32,
    pub len: u16,
    pub is_directory: bool,
    pub treatment: Treatment,
}

/// A directory in a directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inner {
    /// The number of its record, which is greater than that of the directory above.
    pub number: u32,
    pub search: Search,
    pub excluded: bool,
    /// Whether the pathspecs match something in it, not the directory itself.
    pub leads: bool,
}

/// Scans the working tree. Returns a record for each directory that was searched, by number, and
/// warnings about what could not be.
pub(super) fn scan(
    worktree: &Worktree<'_>,
    index: &Index,
    rules: &Rules<'_>,
    pathspecs: Option<&Pathspecs>,
    wish: Wish,
) -> Result<(Vec<Record>, Vec<Warning>)> {
    let repository = worktree.repository;
    let work_tree = repository.require_work_tree()?;
    let entries = index.entries();
    let ignore_case = worktree.settings().ignore_case;
    let scan = Scan {
        tracked: Tracked {
            index,
            objects: repository.shared_objects(),
            has_skipped: entries.iter().any(|entry| entry.flags.skip_worktree),
        },
        others: repository.other_repositories(),
        work_tree,
        rules,
        pathspecs,
        folded: ignore_case.then(|| FoldedPaths::of(index)),
        wish,
        numbers: AtomicU32::new(1),
        shared: Mutex::default(),
    };
    let root = OpenDirectory::open(work_tree)
        .map_err(|source| hedgerow_fs::Error::new("open", work_tree, source))?;
    let first = Directory {
        number: 0,
        rows: match pathspecs.filter(|_| wish.prunes_index) {
            Some(specs) => {
                let rows = specs.rows(index);
                rows.start as u32..rows.end as u32
            }
            None => 0..entries.len() as u32,
        },
        above: None,
        excluded: false,
        search: Search::Enter,
    };
    let options = hedgerow_walk::Options {
        engine: worktree.engine(),
        one_file_system: false,
    };
    let report = hedgerow_walk::scan(root, first, &scan, &options).map_err(Error::from)?;
    worktree.learn(&report);
    let count = scan.numbers.into_inner() as usize;
    let mut records = Vec::new();
    records.resize_with(count, Record::default);
    let shared = scan.shared.into_inner();
    let shared = shared.unwrap_or_else(PoisonError::into_inner);
    for (number, record) in shared.records {
        records[number as usize] = record;
    }
    Ok((records, shared.warnings))
}

/// What is known about a directory before it is listed.
struct Directory {
    /// The number of its record.
    number: u32,
    /// The rows of the index below it; none if nothing in it is tracked.
    rows: Range<u32>,
    above: Option<Arc<Level>>,
    /// Whether it is ignored itself.
    excluded: bool,
    search: Search,
}

#[derive(Debug, Default)]
struct Shared {
    records: Vec<(u32, Record)>,
    warnings: Vec<Warning>,
}

struct Scan<'a> {
    tracked: Tracked<'a>,
    others: OtherRepositories<'a>,
    work_tree: &'a Path,
    rules: &'a Rules<'a>,
    /// All paths if `None`.
    pathspecs: Option<&'a Pathspecs>,
    /// The tracked paths with case folded, if the file system ignores case.
    folded: Option<FoldedPaths>,
    wish: Wish,
    /// The number of the next record.
    numbers: AtomicU32,
    shared: Mutex<Shared>,
}

/// What the index has at the path of an entry.
#[derive(Clone, Copy, Default)]
struct Named {
    is_file: bool,
    is_submodule: bool,
    is_directory: bool,
}

const GIT_DIR: &[u8] = b".git";

impl Visitor for Scan<'_> {
    type Directory = Directory;
    type Worker = Vec<u8>;
    type Error = Error;

    fn worker(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Patterns and repositories can only be found in a complete listing.
    fn wants_whole(&self, _: &Place<Directory>) -> bool {
        true
    }

    fn listed(
        &self,
        path: &mut Vec<u8>,
        place: &Place<Directory>,
        listing: &Listing,
        plan: &mut Plan<Directory>,
    ) -> Result<()> {
        let data = &place.data;
        let mut record = Record {
            path: directory_path(place.path()),
            ..Record::default()
        };
        let may_be_repository = data.rows.is_empty() && !place.path().is_empty();
        let mut names = listing.entries().iter().map(|entry| listing.name(entry));
        record.is_repository =
            may_be_repository && names.any(|name| name == GIT_DIR) && self.is_repository(place);
        if !record.is_repository && !matches!(data.search, Search::Known(_)) {
            self.entries(path, place, listing, &mut record, plan);
            record.sort();
        }
        self.lock().records.push((data.number, record));
        Ok(())
    }

    fn complete(&self, _: &mut Vec<u8>, _: &Place<Directory>) -> Result<()> {
        Ok(())
    }

    fn statted(
        &self,
        _: &mut Vec<u8>,
        _: &Place<Directory>,
        _: &Listing,
        _: &[(Wanted, io::Result<Stat>)],
    ) -> Result<()> {
        Ok(())
    }

    fn failed(
        &self,
        _: &mut Vec<u8>,
        place: &Place<Directory>,
        error: ScanError,
    ) -> Result<Option<Listing>> {
        let mut record = Record {
            path: directory_path(place.path()),
            ..Record::default()
        };
        if is_absent(&error.source) {
            self.lock().records.push((place.data.number, record));
            return Ok(None);
        }
        record.is_repository =
            !place.path().is_empty() && place.data.rows.is_empty() && self.is_repository(place);
        let is_searched = !matches!(place.data.search, Search::Known(_));
        let mut shared = self.lock();
        if is_searched && !record.is_repository {
            let shown: BString = match place.path() {
                b"" => ".".into(),
                _ => record.path.clone(),
            };
            let is_open = error.operation == Operation::List;
            let warning = could_not_list(shown, is_open, &error.source);
            shared.warnings.push(warning);
        }
        shared.records.push((place.data.number, record));
        Ok(None)
    }
}

impl Scan<'_> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_repository(&self, place: &Place<Directory>) -> bool {
        let directory = self.work_tree.join(OsStr::from_bytes(place.path()));
        self.others.is_other_top(&directory.join(".git"))
    }

    /// Treats all entries of a directory that is searched.
    fn entries(
        &self,
        path: &mut Vec<u8>,
        place: &Place<Directory>,
        listing: &Listing,
        record: &mut Record,
        plan: &mut Plan<Directory>,
    ) {
        let data = &place.data;
        if let (Some(specs), Search::Enter) = (self.pathspecs, data.search) {
            let warning = missing(specs.leading(), place.path(), listing);
            self.lock().warnings.extend(warning);
        }
        let tracked = Tracked {
            has_skipped: self.tracked.has_skipped && !data.rows.is_empty(),
            ..self.tracked
        };
        let source = self.rules.source(place.path(), listing, &tracked);
        let level = Level::new(data.above.clone(), place.path(), source, true);
        let level = Arc::new(level.known(data.excluded));
        let mut names = Vec::new();
        let prefix = record.path.len();
        children(self.tracked.index, data.rows.clone(), prefix, &mut names);
        for entry in 0..listing.len() as u32 {
            let name = listing.name_of(entry);
            if self.is_git_dir(name) {
                continue;
            }
            path.clear();
            place.append_path_of(name, path);
            let first = names.partition_point(|child| child.name < name);
            let same = names[first..].iter().take_while(|child| child.name == name);
            let same = &names[first..first + same.count()];
            let named = self.named(same, path.as_bstr());
            let kind = listing.entries()[entry as usize].kind;
            let treated = self.treat(path.as_bstr(), kind, named, &level);
            match treated {
                Treated::Whole(Treatment::None) => {}
                Treated::Whole(treatment) => {
                    let is_directory = kind == Some(FileKind::Directory);
                    record.push(name, is_directory, treatment);
                }
                Treated::Directory(inner) => {
                    let rows = same.iter().find(|child| child.is_directory);
                    let number = self.numbers.fetch_add(1, Ordering::Relaxed);
                    record.inner.push(Inner { number, ..inner });
                    let data = Directory {
                        number,
                        rows: rows.map_or(0..0, |child| child.rows.clone()),
                        above: Some(level.clone()),
                        excluded: inner.excluded,
                        search: inner.search,
                    };
                    plan.descend(entry, data);
                }
            }
        }
    }

    /// What the index has at `path`; `same` are its children of that name.
    fn named(&self, same: &[Child<'_>], path: &BStr) -> Named {
        let entries = self.tracked.index.entries();
        let mut named = Named::default();
        for child in same {
            if child.is_directory {
                named.is_directory = true;
                continue;
            }
            named.is_file = true;
            let rows = child.rows.start as usize..child.rows.end as usize;
            named.is_submodule |= entries[rows].iter().any(|row| row.mode == Mode::Gitlink);
        }
        if let Some(folded) = &self.folded {
            named.is_file |= folded.is_tracked(path, false);
            named.is_submodule |= folded.is_tracked(path, true);
            named.is_directory |= folded.has_directory(path);
        }
        named
    }

    /// How the entry `path` is treated.
    fn treat(&self, path: &BStr, kind: Option<FileKind>, named: Named, level: &Level) -> Treated {
        let nothing = Treated::Whole(Treatment::None);
        let wish = self.wish;
        if self.pathspecs.is_some_and(|specs| !specs.look_at(path)) {
            return nothing;
        }
        let is_directory = kind == Some(FileKind::Directory);
        let is_named = named.is_file || named.is_directory;
        if !is_directory && named.is_file || is_directory && wish.only_killed && !is_named {
            return nothing;
        }
        let excluded = level.excludes(path, is_directory, self.rules);
        if excluded && wish.ignored == IgnoredPaths::Hidden {
            return Treated::Whole(Treatment::Ignored);
        }
        let whole = if excluded {
            Treatment::Ignored
        } else {
            Treatment::Untracked
        };
        match kind {
            Some(FileKind::Directory) => self.treat_directory(path, named, excluded, whole),
            Some(FileKind::File | FileKind::Symlink) => {
                let specs = self.pathspecs;
                if specs.is_none_or(|specs| specs.fits(path, Mode::File)) {
                    Treated::Whole(whole)
                } else {
                    nothing
                }
            }
            _ => nothing,
        }
    }

    fn treat_directory(
        &self,
        path: &BStr,
        named: Named,
        excluded: bool,
        whole: Treatment,
    ) -> Treated {
        let wish = self.wish;
        let searched = |search, leads| {
            Treated::Directory(Inner {
                number: 0,
                search,
                excluded,
                leads,
            })
        };
        if named.is_submodule {
            return Treated::Whole(Treatment::None);
        }
        if named.is_directory {
            return searched(Search::Enter, false);
        }
        let reach = match self.pathspecs {
            Some(specs) if !excluded => {
                let path: BString = bstr::concat([path, BStr::new("/")]).into();
                specs.untracked_directory(path.as_bstr())
            }
            _ => Reach::Matches,
        };
        let leads = match reach {
            Reach::Outside => return Treated::Whole(Treatment::None),
            Reach::Leads => true,
            Reach::Matches => false,
        };
        // What it counts as is known without a search; only repositories may be skipped.
        let known = || {
            if wish.skips_repositories {
                searched(Search::Known(whole), false)
            } else {
                Treated::Whole(whole)
            }
        };
        if !wish.folds || leads {
            return searched(Search::Enter, leads);
        }
        if excluded && (!wish.hides_empty || wish.ignored == IgnoredPaths::ApartIfMatching) {
            return known();
        }
        if !excluded && wish.ignored == IgnoredPaths::Hidden && !wish.hides_empty {
            return known();
        }
        searched(Search::Look, false)
    }

    fn is_git_dir(&self, name: &[u8]) -> bool {
        if self.rules.ignore_case {
            name.eq_ignore_ascii_case(GIT_DIR)
        } else {
            name == GIT_DIR
        }
    }
}

enum Treated {
    /// Without a look at its content.
    Whole(Treatment),
    /// A directory that gets a record of its own; the number is given later.
    Directory(Inner),
}

impl Record {
    fn push(&mut self, name: &[u8], is_directory: bool, treatment: Treatment) {
        // A listing holds no more names and no longer ones.
        self.entries.push(Entry {
            start: self.names.len() as u32,
            len: name.len() as u16,
            is_directory,
            treatment,
        });
        self.names.extend_from_slice(name);
    }

    /// Sorts the entries as their paths are sorted.
    fn sort(&mut self) {
        let names = &self.names;
        let key = |entry: &Entry| {
            let start = entry.start as usize;
            &names[start..start + usize::from(entry.len)]
        };
        let slash = |entry: &Entry| entry.is_directory.then_some(&b'/');
        self.entries.sort_unstable_by(|a, b| {
            let (a_name, b_name) = (key(a), key(b));
            let common = a_name.len().min(b_name.len());
            a_name[..common].cmp(&b_name[..common]).then_with(|| {
                let rest = a_name[common..].iter().chain(slash(a));
                rest.cmp(b_name[common..].iter().chain(slash(b)))
            })
        });
    }

    /// The path of an entry, with a slash at its end if it is a directory.
    pub(super) fn path_of(&self, entry: &Entry) -> BString {
        let start = entry.start as usize;
        let name = &self.names[start..start + usize::from(entry.len)];
        let slash: &[u8] = if entry.is_directory { b"/" } else { b"" };
        bstr::concat([&self.path, name, slash]).into()
    }
}

fn directory_path(path: &[u8]) -> BString {
    let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
    bstr::concat([path, slash]).into()
}
