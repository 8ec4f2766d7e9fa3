//! Untracked files: which are put aside, and bringing them back.

use crate::checkout::{first_blocking, is_there, remove_rows, write_rows, Done, Failure, Session};
use crate::clean;
use crate::index::{Builder, EntryStat, Flags, Index, Mode, Version};
use crate::repository::Repository;
use crate::status::{self, IgnoreSubmodules, IgnoredFiles, RenameWish, UntrackedFiles};
use crate::tree::Difference;
use crate::worktree::{check_path, name_rules};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{DirEntry, FileKind};
use hedgerow_tree::split_path;
use std::os::unix::ffi::OsStrExt;

/// Which files that are not tracked are put aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UntrackedWish {
    /// None.
    #[default]
    None,
    /// Untracked ones.
    Untracked,
    /// Ignored ones, too.
    All,
}

/// The untracked files that match the pathspecs, in order. Other repositories end in a slash. Git's
/// warnings about directories that may not be read are added to `warnings`.
///
/// # Errors
/// The file system gave no answer: what is there would be neither put aside nor named.
pub(super) fn list(
    repository: &Repository,
    wish: UntrackedWish,
    pathspecs: &[BString],
    execution: &Execution,
    warnings: &mut Vec<String>,
) -> Result<Vec<BString>> {
    if wish == UntrackedWish::None {
        return Ok(Vec::new());
    }
    let options = status::Options {
        untracked: UntrackedFiles::All,
        ignored: if wish == UntrackedWish::All {
            IgnoredFiles::Traditional
        } else {
            IgnoredFiles::No
        },
        ignore_submodules: Some(IgnoreSubmodules::All),
        renames: RenameWish::No,
        optional_locks: false,
        pathspecs: pathspecs.to_vec(),
        execution: execution.clone(),
    };
    let found = status::status(repository, &options)?;
    if !found.failures.is_empty() {
        return Err(Error::Setup {
            reason: found.failures.join("\n"),
        });
    }
    warnings.extend(found.warnings);
    let mut paths = found.untracked;
    paths.extend(found.ignored);
    // With `GIT_INDEX_FILE`, the index that this command holds may be one of them.
    let top = repository.require_work_tree()?;
    let index = repository.index_path().strip_prefix(top).ok();
    if let Some(index) = index.map(|index| index.as_os_str().as_bytes()) {
        paths.retain(|path| path.strip_suffix(b".lock").unwrap_or(path) != index);
    }
    paths.sort_unstable();
    // A tree with such a name could not be checked out again.
    let names = name_rules(repository);
    for path in &paths {
        check_path(path.as_bstr(), names)?;
    }
    Ok(paths)
}

/// An index of files, none of which has been looked at.
pub(super) fn index_of<'a>(
    repository: &Repository,
    files: impl Iterator<Item = (&'a BString, Mode, ObjectId)>,
) -> Result<Index> {
    let mut builder = Builder::new(repository.hash_kind(), Version::default());
    for (path, mode, id) in files {
        let (stat, flags) = (EntryStat::default(), Flags::default());
        builder.push(path.as_bstr(), id, mode, stat, flags)?;
    }
    Ok(builder.finish())
}

/// Removes the files of `files`, and the directories that become empty.
pub(super) fn remove(session: &Session<'_>, files: &Index, done: &mut Done) -> Result<()> {
    remove_rows(session, files, done)
}

/// The directories that git-clean(1) removes under `-d`: in them is nothing but untracked files.
pub(super) fn directories(session: &Session<'_>, wish: UntrackedWish) -> Result<Vec<BString>> {
    // Its path, because under `GIT_LITERAL_PATHSPECS` there is no magic.
    let top = session.repository.require_work_tree()?;
    let options = clean::Options {
        force: 1,
        dry_run: true,
        directories: true,
        ignored: if wish == UntrackedWish::All {
            clean::Ignored::Removed
        } else {
            clean::Ignored::Kept
        },
        pathspecs: vec![top.as_os_str().as_bytes().into()],
        execution: session.execution().clone(),
        ..clean::Options::default()
    };
    let found = clean::clean(session.repository, &options)?;
    let paths = found.items.into_iter().map(|item| item.path);
    let directories = paths.filter_map(|path| Some(path.strip_suffix(b"/")?.into()));
    Ok(directories.collect())
}

/// Removes directories and those below them as far as they are empty.
pub(super) fn remove_empty(session: &Session<'_>, directories: Vec<BString>, done: &mut Done) {
    for path in directories {
        if let Err(error) = remove_empty_below(session, &path) {
            let reason = error.to_string();
            done.failures.push(Failure { path, reason });
        }
    }
}

/// Not recursive, because paths can be as deep as the disk has room for.
fn remove_empty_below(session: &Session<'_>, directory: &BString) -> hedgerow_fs::Result<()> {
    let mut pending = vec![(directory.clone(), false)];
    while let Some((directory, is_searched)) = pending.pop() {
        if is_searched {
            let (parent, name) = split_path(&directory);
            if session.current_directory() == Some(directory.as_bstr()) {
                continue;
            }
            match session.root.open_dir(parent)?.remove_dir(name) {
                Err(error) if is_no_failure(&error) => {}
                outcome => outcome?,
            }
            continue;
        }
        let handle = match session.root.open_dir(&directory) {
            Err(error) if is_no_failure(&error) => continue,
            handle => handle?,
        };
        let entries = handle.list()?;
        let is_repository = |entry: &DirEntry| entry.name.eq_ignore_ascii_case(b".git");
        if entries.iter().any(is_repository) {
            continue;
        }
        pending.push((directory.clone(), true));
        for entry in entries {
            let kind = match entry.kind {
                Some(kind) => kind,
                None => handle.stat(&entry.name)?.kind,
            };
            if kind == FileKind::Directory {
                let below = [&directory, &b"/"[..], &entry.name].concat();
                pending.push((below.into(), false));
            }
        }
    }
    Ok(())
}

/// It is gone, with the files that were in it; or it is not empty, and stays.
fn is_no_failure(error: &hedgerow_fs::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
    )
}

/// Writes the files of the tree `tree` where there is nothing yet. Like git, ends before the first one
/// whose directory cannot be made. Returns what is in the way, in git's words; all of it is found before
/// the first file is written.
pub(super) fn restore(
    session: &Session<'_>,
    tree: ObjectId,
    done: &mut Done,
) -> Result<Vec<String>> {
    let repository = session.repository;
    let (names, engine) = (session.names(), session.engine());
    let files = Difference::between(repository, None, Some(tree), names, &engine)?;
    let mut in_the_way = Vec::new();
    let mut builder = Builder::new(repository.hash_kind(), Version::default());
    for change in files.changes() {
        let Some(side) = change.new else { continue };
        let path = files.path(change);
        if let Some(above) = first_blocking(&session.root, path)? {
            in_the_way.push(format!(
                "fatal: cannot create directory at '{above}': File exists"
            ));
            break;
        }
        if is_there(&session.root, path)? {
            in_the_way.push(format!("{path} already exists, no checkout"));
            continue;
        }
        let mode = Mode::from(side.kind);
        let (stat, flags) = (EntryStat::default(), Flags::default());
        builder.push(path, side.id, mode, stat, flags)?;
    }
    write_rows(session, builder.finish(), done)?;
    Ok(in_the_way)
}
