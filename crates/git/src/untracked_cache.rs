//! The cache of untracked files in an index: when there is one, and for which searches it counts.
//! The status uses it (`status::quiet`) and fills it (`status::records`).
//!
//! git-update-index(1), "Untracked cache"; the format is in `index::extensions::untracked`.

use crate::config;
use crate::convert::Conversion;
use crate::index::{
    Entry, EntryStat, Index, Mode, OuterFile, UntrackedCache, UntrackedRecord, ALL_FILES, FOLDED,
};
use crate::repository::Repository;
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::Worktree;
use crate::Result;
use bstr::{BStr, BString};
use gix_hash::{Kind, ObjectId};
use hedgerow_engine::Execution;
use hedgerow_fs::{FileKind, ReadFile, SpoolFile};
use hedgerow_object::{hash_object, ObjectKind};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) const IGNORE_FILE: &[u8] = b".gitignore";
/// Git's words about a cache of another working tree or system.
const DISABLED: &str = "untracked cache is disabled on this system or location";
const PATTERNS_LIMIT_BYTES: u64 = 100 << 20;

/// The cache, taken out of the index for a search that it fits.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub cache: UntrackedCache,
    /// Whether it must be written although the search finds nothing new.
    pub is_changed: bool,
}

/// Adds an empty cache to `index`, or removes the one that it has, as `core.untrackedCache` asks
/// for. Returns whether that changed the index.
pub(crate) fn adjust(repository: &Repository, index: &mut Index) -> Result<bool> {
    match repository.settings().untracked_cache {
        config::UntrackedCache::Keep => Ok(false),
        config::UntrackedCache::Remove => Ok(index.untracked_cache_mut().take().is_some()),
        config::UntrackedCache::Write => {
            let Some(identity) = identity(repository) else {
                return Ok(false);
            };
            if index.untracked_cache().is_some_and(|it| has(it, &identity)) {
                return Ok(false);
            }
            let hash = index.hash();
            *index.untracked_cache_mut() = Some(empty(identity, configured(repository), hash));
            Ok(true)
        }
    }
}

/// Takes the cache out of `index` if it can be used for a search in the whole working tree with
/// these `flags`. Records that other patterns outside of the working tree were used for are
/// invalid afterwards. `warnings` get git's if the cache belongs to something else.
pub(crate) fn prepare(
    repository: &Repository,
    index: &mut Index,
    flags: u32,
    warnings: &mut Vec<String>,
) -> Option<Prepared> {
    let hash = index.hash();
    let known = index.untracked_cache()?;
    let is_unfit = repository.environment().no_untracked_cache
        || repository.settings().ignore_case
        || known.per_directory != IGNORE_FILE;
    if is_unfit {
        return None;
    }
    let identity = identity(repository)?;
    if !has(known, &identity) {
        warnings.push(DISABLED.to_owned());
        return None;
    }
    // With other flags, the records are of no use now, but may be for the next search.
    if known.flags != flags && known.flags == configured(repository) {
        return None;
    }
    let info = repository.common_dir().join("info/exclude");
    let user = repository.settings().excludes_file.as_deref();
    let outer = [outer_file(Some(&info), hash)?, outer_file(user, hash)?];
    let mut cache = index.untracked_cache_mut().take()?;
    let mut is_changed = cache.directories.is_empty();
    if cache.flags != flags {
        cache = empty(identity, flags, hash);
        is_changed = true;
    }
    for (known, now) in cache.outer.iter_mut().zip(outer) {
        if known.id != now.id {
            *known = now;
            cache.directories.clear();
        }
    }
    Some(Prepared { cache, is_changed })
}

/// The records of the directories of a working tree in which nothing is but the files of `index`; `None` if
/// there is no telling. `open` opens a file of the index as the working tree has it.
///
/// # Errors
/// If the attributes of the pattern files cannot be read.
pub(crate) fn clean_records(
    repository: &Repository,
    index: &Index,
    open: &dyn Fn(&BStr) -> Option<ReadFile>,
) -> Result<Option<Vec<UntrackedRecord>>> {
    let Some(ids) = clean_exclude_ids(repository, index, open)? else {
        return Ok(None);
    };
    let mut top = Directory::default();
    let mut last = None;
    for (path, entry) in index.iter() {
        if entry.flags.skip_worktree || !entry.mode.is_file() {
            continue;
        }
        let (above, name) = hedgerow_tree::split_path(path);
        // Most files are beside the one before.
        if last.replace(above) == Some(above) && name != IGNORE_FILE {
            continue;
        }
        let mut directory = &mut top;
        for part in above
            .split(|byte| *byte == b'/')
            .filter(|part| !part.is_empty())
        {
            directory = directory.children.entry(part).or_default();
        }
        if name == IGNORE_FILE {
            directory.exclude_id = ids.get(path).copied();
        }
    }
    let mut records = Vec::new();
    top.record(b"", &mut records);
    Ok(Some(records))
}

/// A cache without records, for a search as the configuration asks for it; `None` if it is not to be written,
/// or the pattern files outside of the working tree cannot be read.
pub(crate) fn without_records(repository: &Repository, hash: Kind) -> Option<UntrackedCache> {
    if repository.settings().untracked_cache == config::UntrackedCache::Remove {
        return None;
    }
    let mut cache = empty(identity(repository)?, configured(repository), hash);
    let info = repository.common_dir().join("info/exclude");
    let user = repository.settings().excludes_file.as_deref();
    cache.outer = [outer_file(Some(&info), hash)?, outer_file(user, hash)?];
    Some(cache)
}

/// The ids that git records for the pattern files of `index`, none of which has changed: that of its
/// entry, or, if the file may be converted, that of its content. `None` if one cannot be read.
fn clean_exclude_ids<'i>(
    repository: &Repository,
    index: &'i Index,
    open: &dyn Fn(&BStr) -> Option<ReadFile>,
) -> Result<Option<BTreeMap<&'i BStr, ObjectId>>> {
    let is_pattern_file = |(path, entry): &(&BStr, &Entry)| {
        // Git does not follow a link to patterns.
        let is_file = entry.mode.is_file() && entry.mode != Mode::Symlink;
        let is_there = is_file && !entry.flags.skip_worktree;
        is_there && hedgerow_tree::split_path(path).1 == IGNORE_FILE
    };
    let files: Vec<(&BStr, &Entry)> = index.iter().filter(is_pattern_file).collect();
    if files.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let worktree = Worktree::open(repository, &Execution::default(), "worktree")?;
    let directories = directories_above(files.iter().map(|(path, _)| *path));
    let from_index = Direction::CheckOut {
        is_removed: &|_| true,
    };
    let (converter, _) = worktree.converter(index, &directories, &from_index)?;
    let id = |(path, entry): (&'i BStr, &Entry)| {
        if converter.conversion(path) == Conversion::Plain {
            return Some((path, entry.id));
        }
        let mut content = Vec::new();
        let file = open(path)?;
        file.read_to_end(&mut content, PATTERNS_LIMIT_BYTES).ok()?;
        Some((path, pattern_id(&content, index.hash())?))
    };
    Ok(files.into_iter().map(id).collect())
}

/// A directory with nothing but files of an index.
#[derive(Default)]
struct Directory<'i> {
    children: BTreeMap<&'i [u8], Directory<'i>>,
    exclude_id: Option<ObjectId>,
}

impl Directory<'_> {
    /// Adds its record and those below. Their stat data are of no time, so that they count only where a
    /// monitor says that nothing changed.
    fn record(&self, name: &[u8], records: &mut Vec<UntrackedRecord>) {
        records.push(UntrackedRecord {
            name: name.into(),
            children: self.children.len(),
            stat: Some(EntryStat::default()),
            exclude_id: self.exclude_id,
            ..UntrackedRecord::default()
        });
        let children = self.children.iter();
        children.for_each(|(name, child)| child.record(name, records));
    }
}

/// Whether an index is written only because records of its cache are new.
pub(crate) fn is_worth_writing(repository: &Repository) -> bool {
    let forced = repository.environment().force_untracked_cache;
    let is_configured = || repository.settings().untracked_cache == config::UntrackedCache::Write;
    forced.unwrap_or_else(is_configured)
}

/// The second that it is now on the file system of `repository`; `None` if that cannot be told.
pub(crate) fn moment_s(repository: &Repository) -> Option<i64> {
    let file = SpoolFile::create(repository.git_dir()).ok()?;
    let stat = file.into_read_file().stat().ok()?;
    Some(stat.mtime.seconds)
}

/// The object id that git records for a pattern file with the content `content`: git reads it with
/// a line end behind it.
pub(crate) fn pattern_id(content: &[u8], hash: Kind) -> Option<ObjectId> {
    let end: &[u8] = if content.is_empty() { b"" } else { b"\n" };
    hash_object(hash, ObjectKind::Blob, &[content, end].concat())
}

fn empty(identity: BString, flags: u32, hash: Kind) -> UntrackedCache {
    let missing = OuterFile {
        stat: EntryStat::default(),
        id: hash.null(),
    };
    UntrackedCache {
        identity,
        flags,
        outer: [missing.clone(), missing],
        per_directory: IGNORE_FILE.into(),
        directories: Vec::new(),
    }
}

/// The working tree and the system, as git names them; with the NUL behind it.
fn identity(repository: &Repository) -> Option<BString> {
    let top = repository.work_tree()?.as_os_str().as_bytes();
    Some([b"Location ", top, b", system Linux\0"].concat().into())
}

/// Whether the first text of the cache's identity, the only one that counts, is `identity`.
fn has(cache: &UntrackedCache, identity: &BString) -> bool {
    cache.identity.starts_with(identity)
}

/// The flags of a search as the configuration asks for it.
fn configured(repository: &Repository) -> u32 {
    let mode = repository.config().string("status.showUntrackedFiles");
    match mode {
        Some(mode) if mode == "all" => ALL_FILES,
        _ => FOLDED,
    }
}

/// A pattern file outside of the working tree; `None` if it cannot be read.
fn outer_file(path: Option<&Path>, hash: Kind) -> Option<OuterFile> {
    let missing = OuterFile {
        stat: EntryStat::default(),
        id: hash.null(),
    };
    let Some(path) = path else {
        return Some(missing);
    };
    match hedgerow_fs::stat(path).ok()? {
        None => return Some(missing),
        Some(stat) if stat.kind == FileKind::File => {}
        Some(_) => return None,
    }
    let file = ReadFile::open(path).ok()?;
    let stat = file.stat().ok()?;
    let mut content = Vec::new();
    file.read_to_end(&mut content, PATTERNS_LIMIT_BYTES).ok()?;
    Some(OuterFile {
        stat: (&stat).into(),
        id: pattern_id(&content, hash)?,
    })
}
