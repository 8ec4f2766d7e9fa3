//! Removes untracked files: git-clean(1).
//!
//! [`clean`] finds what is to be removed (`others`), decides as git does what of it is removed as
//! a whole, and removes it in parallel. It never follows a symbolic link, and a repository in the
//! working tree is kept unless it is asked for.

mod choice;

use crate::discover::OtherRepositories;
use crate::display::Columns;
use crate::others::{others, retain_others, IgnoredPaths, Wish};
use crate::repository::Repository;
use crate::status::exclusion::Rules;
use crate::status::remarks::{could_not_list, Warning};
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::{check_paths, Worktree};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::Listing;
use hedgerow_walk::Patterns;
use hedgerow_writer::{remove_trees, RemovalEvent, RemovedTree, TreeRemoval, Unlisted};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The options of a cleaning.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How often force was asked for. It is needed unless `clean.requireForce` says otherwise; twice
    /// removes repositories, too.
    pub force: u8,
    /// Nothing is removed: only what would be is found out.
    pub dry_run: bool,
    /// Untracked directories are removed, too. They are as well if there are pathspecs.
    pub directories: bool,
    /// What becomes of ignored files.
    pub ignored: Ignored,
    /// Patterns of files to keep, besides those that are ignored.
    pub excludes: Vec<BString>,
    /// Only paths that match these pathspecs, relative to the user's current directory; all paths
    /// in that directory if empty.
    pub pathspecs: Vec<BString>,
    /// The absolute path of a directory that is kept even if it becomes empty.
    pub current_directory: Option<PathBuf>,
    /// How to run.
    pub execution: Execution,
}

/// What becomes of ignored files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// They are kept.
    #[default]
    Kept,
    /// They are removed, too.
    Removed,
    /// Only they are removed.
    Only,
}

/// The result of a cleaning.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// The untracked paths that were handled, in git's order.
    pub items: Vec<CleanedItem>,
    /// What could not be examined, in git's words.
    pub warnings: Vec<String>,
    /// Where the file system gave no answer: what is there was not looked for.
    pub failures: Vec<String>,
    /// It was cancelled: what is not among the items was not removed, or only in part.
    pub interrupted: bool,
}

/// An untracked path that was to be removed.
#[derive(Debug)]
pub struct CleanedItem {
    /// The path from the top of the working tree; a directory has a slash at its end.
    pub path: BString,
    /// Nothing of it is left.
    pub is_gone: bool,
    /// What happened in it if something is left, in git's order.
    pub events: Vec<CleanEvent>,
}

/// What happened to a path of which, or of whose directory, something is left. Paths start at the
/// top of the working tree and have no slash at their ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleanEvent {
    /// It was removed, with all that was in it.
    Removed(BString),
    /// It is another repository, and was kept.
    Repository(BString),
    /// It could not be removed, and why.
    Failed(BString, String),
    /// It could not be examined, and why.
    Unknown(BString, String),
    /// It is empty and was kept: the user's current directory.
    CurrentDirectory(BString),
}

/// Removes the untracked files of the working tree of `repository`.
///
/// # Errors
/// Force is needed and was not given, or the search failed; then nothing was removed. What could not
/// be removed is told in the result.
pub fn clean(repository: &Repository, options: &Options) -> Result<Cleaned> {
    let work_tree = repository.require_work_tree()?;
    // Nothing is shown in columns, but git refuses what it does not understand before it removes anything.
    Columns::of(repository.config(), "clean")?;
    let requires_force = repository.config().bool("clean.requireForce")? != Some(false);
    if requires_force && options.force == 0 && !options.dry_run {
        let reason = "clean.requireForce is true and -f not given: refusing to clean";
        return Err(Error::Setup {
            reason: reason.into(),
        });
    }
    let worktree = Worktree::open(repository, &options.execution, "clean")?;
    let (paths, mut warnings) = find(&worktree, options)?;
    let removal = Removals {
        paths: &paths,
        work_tree,
        repositories: (options.force < 2).then(|| repository.other_repositories()),
        current_directory: current_directory(work_tree, options),
        is_dry_run: options.dry_run,
    };
    let removed = remove_trees(work_tree, &removal, &worktree.engine())
        .map_err(|source| hedgerow_fs::Error::new("open", work_tree, source))?;
    let interrupted = match removed.ended {
        Ok(_) => false,
        Err(hedgerow_writer::Error::Cancelled) => true,
        Err(hedgerow_writer::Error::Panicked(reason)) => return Err(Error::Internal { reason }),
    };
    if !looks_inside(options) {
        warnings.extend(removed.unlisted.into_iter().map(warning_of));
        warnings.sort_unstable();
    }
    let (failures, warnings) = Warning::parted(warnings);
    let items = paths.iter().zip(removed.trees);
    let item = |(path, tree): (&BString, Option<RemovedTree>)| {
        let tree = tree?;
        let events = tree.events.into_iter();
        Some(CleanedItem {
            path: path.clone(),
            is_gone: tree.is_gone,
            events: events.map(|event| event_of(event, path)).collect(),
        })
    };
    Ok(Cleaned {
        items: items.filter_map(item).collect(),
        warnings,
        failures,
        interrupted,
    })
}

/// The paths to remove, in git's order, and warnings.
fn find(worktree: &Worktree<'_>, options: &Options) -> Result<(Vec<BString>, Vec<Warning>)> {
    let repository = worktree.repository;
    let index = worktree.read_index()?.index;
    check_paths(&index, worktree.names())?;
    let rules = match options.ignored {
        Ignored::Removed => Rules::none(worktree),
        Ignored::Kept | Ignored::Only => Rules::standard(worktree)?,
    };
    let excludes = options.excludes.iter().map(|pattern| pattern.as_slice());
    let rules = Rules {
        command_line: Patterns::of(excludes).ignoring_case(rules.ignore_case),
        ..rules
    };
    let pathspecs = Pathspecs::here(repository, &options.pathspecs)?;
    // Whoever names paths means what is in them.
    let directories = options.directories || !options.pathspecs.is_empty();
    let wish = wish(options, directories);
    let mut found = others(worktree, &index, &rules, pathspecs.as_ref(), wish)?;
    let mut paths = choice::without_kept(std::mem::take(&mut found.paths), &found.ignored);
    paths.retain(|path| directories || !path.ends_with(b"/"));
    retain_others(&index, &mut paths);
    Ok((paths, found.warnings))
}

/// Which untracked paths are searched.
///
/// To remove a directory as a whole, the ignored files in it must be known, even those that are to
/// be kept.
fn wish(options: &Options, directories: bool) -> Wish {
    let searches_all = directories && options.ignored != Ignored::Only && looks_inside(options);
    Wish {
        folds: true,
        skips_repositories: options.force < 2,
        ignored: match options.ignored {
            Ignored::Only => IgnoredPaths::Alone,
            Ignored::Kept if searches_all => IgnoredPaths::ApartIfMatching,
            Ignored::Removed if searches_all => IgnoredPaths::Apart,
            Ignored::Kept | Ignored::Removed => IgnoredPaths::Hidden,
        },
        keeps_contents: searches_all,
        ..Wish::default()
    }
}

/// Whether an untracked directory may hold a path that is kept. Otherwise it is listed once, when it
/// is removed.
fn looks_inside(options: &Options) -> bool {
    options.ignored != Ignored::Removed
        || !options.excludes.is_empty()
        || !options.pathspecs.is_empty()
}

/// The warning about a directory that could not be listed, as a search for it tells it.
fn warning_of(unlisted: Unlisted) -> Warning {
    let mut path = BString::from(unlisted.path);
    path.push(b'/');
    could_not_list(path, unlisted.is_open, &unlisted.error)
}

/// The user's directory relative to the working tree, if it is below it.
fn current_directory(work_tree: &Path, options: &Options) -> Option<BString> {
    let directory = options.current_directory.as_ref()?;
    let directory = hedgerow_fs::real_path(directory).ok()?;
    let work_tree = hedgerow_fs::real_path(work_tree).ok()?;
    let below = directory.strip_prefix(work_tree).ok()?;
    let below = BString::from(below.as_os_str().as_bytes());
    (!below.is_empty()).then_some(below)
}

fn event_of(event: RemovalEvent, item: &BString) -> CleanEvent {
    use hedgerow_fs::reason;
    match event {
        RemovalEvent::Removed(path) => CleanEvent::Removed(path.into()),
        RemovalEvent::Kept(path) => CleanEvent::Repository(path.into()),
        RemovalEvent::Failed(path, error) => CleanEvent::Failed(path.into(), reason(&error)),
        RemovalEvent::Unknown(path, error) => CleanEvent::Unknown(path.into(), reason(&error)),
        RemovalEvent::CurrentDirectory => CleanEvent::CurrentDirectory(without_slash(item).into()),
    }
}

/// What [`remove_trees`] is given.
struct Removals<'a> {
    paths: &'a [BString],
    work_tree: &'a Path,
    /// The repositories to keep, unless they are removed.
    repositories: Option<OtherRepositories<'a>>,
    current_directory: Option<BString>,
    is_dry_run: bool,
}

impl TreeRemoval for Removals<'_> {
    fn count(&self) -> usize {
        self.paths.len()
    }

    fn path(&self, number: usize) -> &[u8] {
        without_slash(&self.paths[number])
    }

    fn is_directory(&self, number: usize) -> bool {
        self.paths[number].ends_with(b"/")
    }

    /// Whether it is a repository that is not to be removed.
    fn keeps(&self, path: &[u8], listing: Option<&Listing>) -> bool {
        let Some(repositories) = &self.repositories else {
            return false;
        };
        let may_be = listing.is_none_or(|listing| {
            let mut names = listing.entries().iter().map(|entry| listing.name(entry));
            names.any(|name| name.eq_ignore_ascii_case(b".git"))
        });
        let directory = || self.work_tree.join(OsStr::from_bytes(path));
        may_be && repositories.is_top(&directory().join(".git"))
    }

    fn current_directory(&self) -> Option<&[u8]> {
        self.current_directory.as_ref().map(|path| path.as_slice())
    }

    fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }
}

fn without_slash(path: &BString) -> &BStr {
    path.strip_suffix(b"/").unwrap_or(path).as_bstr()
}
