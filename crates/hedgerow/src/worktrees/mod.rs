//! The working trees of a repository: listing ([`Repository::worktrees`](crate::Repository)), adding
//! ([`add`]), moving, locking, pruning, repairing and removing them.
//!
//! All that can be refused is refused before anything is made. A working tree that is only half
//! made, because a step failed or was cancelled, is removed.
//!
//! ```no_run
//! use hedgerow::worktrees::{add, remove, AddOptions, NewBranchName, RemoveOptions};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = AddOptions {
//!     path: "../review".into(),
//!     commitish: Some("origin/main".into()),
//!     new_branch: Some(NewBranchName { name: "review".into(), force: false }),
//!     checkout: true,
//!     ..AddOptions::default()
//! };
//! match add(&repository, &options, &mut |notice| println!("{notice:?}")) {
//!     Ok(added) => println!("{} files", added.done.written),
//!     Err(failure) => eprintln!("{}", failure.error),
//! }
//! for tree in repository.worktrees()? {
//!     println!("{} {:?}", tree.path.display(), tree.head);
//! }
//! remove(&repository, "review".into(), &RemoveOptions::default())?;
//! # Ok(())
//! # }
//! ```

mod images;

pub use hedgerow_git::monitor::answer as monitor_answer;
pub use hedgerow_git::worktrees::{
    list_images, lock, prune, prune_images, relocate, remove, repair, unlock, unmount,
    unmount_revision, AddFailure, AddOptions, AddStage, Added, Attached, GivenPath, ImageCheck,
    ImageUse, MoveOptions, NewBranchName, Notice, Preparing, Pruned, RemoveOptions, Repair,
    WorkingTree, WorktreeHead,
};
pub use hedgerow_mounts::{ImageKind, ImageName, StoredImage};
pub use images::Images;

use bstr::{BStr, BString};
use hedgerow_engine::Execution;
use hedgerow_git::repository::Repository;
use hedgerow_git::Result;

/// Adds a working tree. `notice` is told what git tells, when it tells it. Where that is asked for and
/// possible, the working tree is mounted over an image of its commit.
///
/// # Errors
/// In git's words. All that can be refused is refused before anything is made. If making it fails
/// or is cancelled, what was made is removed, apart from a new branch.
pub fn add(
    repository: &Repository,
    options: &AddOptions,
    notice: &mut dyn FnMut(Notice<'_>),
) -> Result<Added, AddFailure> {
    hedgerow_git::worktrees::add_with_images(repository, options, Some(&Images), notice)
}

/// Mounts the working trees that `words` mean, after a restart of the machine or an [`unmount`];
/// without words, all that are not ordinary ones. `visit` is shown what became of each.
///
/// # Errors
/// If there is none, or if it is an ordinary one.
pub fn mount(
    repository: &Repository,
    words: &[BString],
    execution: &Execution,
    visit: &mut dyn FnMut(&WorkingTree, Result<Attached>),
) -> Result<()> {
    hedgerow_git::worktrees::mount(repository, words, &Images, execution, visit)
}

/// Mounts the files of `revision` on the directory `path`, without a working tree: read-only, or with
/// a layer for changes, which [`unmount_revision`] discards. Returns warnings of conversions.
///
/// # Errors
/// If the revision names no tree, if there is anything in the directory, or if it cannot be mounted.
pub fn mount_revision(
    repository: &Repository,
    revision: &BStr,
    path: &BStr,
    read_only: bool,
    execution: &Execution,
) -> Result<Vec<String>> {
    let images = &Images;
    hedgerow_git::worktrees::mount_revision(
        repository, revision, path, read_only, images, execution,
    )
}

/// Makes the images of `revisions` that are missing, so that nobody has to wait for them later, and
/// removes others that `hedgerow.imageStoreSize` has no room for. `visit` is shown each that was made,
/// and the warnings of making it.
///
/// # Errors
/// If a revision names no tree, before anything is made; if an image cannot be made; if it is
/// cancelled.
pub fn make_images(
    repository: &Repository,
    revisions: &[BString],
    execution: &Execution,
    visit: &mut dyn FnMut(Option<&StoredImage>, &[String]),
) -> Result<()> {
    hedgerow_git::worktrees::make_images(repository, revisions, &Images, execution, visit)
}

/// Compares every image of the repository's stores with a checkout of its tree; `visit` is shown the
/// result.
///
/// # Errors
/// If a store or an object cannot be read.
pub fn verify_images(
    repository: &Repository,
    execution: &Execution,
    visit: &mut dyn FnMut(&StoredImage, Result<ImageCheck>),
) -> Result<()> {
    hedgerow_git::worktrees::verify_images(repository, &Images, execution, visit)
}
