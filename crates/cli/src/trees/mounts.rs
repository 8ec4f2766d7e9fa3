//! Mounted trees: `worktree mount|unmount`, `mount`, `unmount` and `image-store`.

use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL, REFUSED};
use crate::global::Global;
use crate::output::Output;
use bstr::BString;
use clap::{Args, Subcommand};
use hedgerow::repository::Error;
use hedgerow::worktrees::{self, Attached, ImageCheck, StoredImage, WorkingTree};
use hedgerow::{Execution, Repository};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Which mounted working trees are meant.
#[derive(Debug, Args)]
pub struct Chosen {
    /// All that were added with --mount
    #[arg(long, conflicts_with = "worktrees")]
    pub all: bool,
    /// Paths of working trees, or their last components [default: the current one]
    #[arg(value_name = "WORKTREE")]
    pub worktrees: Vec<OsString>,
}

/// Mount the files of a commit on a directory, without a working tree
#[derive(Debug, Args)]
pub struct Mount {
    /// Mount them read-only; else there is a layer for changes, which 'unmount' discards
    #[arg(long)]
    pub read_only: bool,
    /// A commit or a tree
    #[arg(value_name = "REVISION")]
    pub revision: OsString,
    /// An empty directory; it is made if it is missing
    #[arg(value_name = "PATH")]
    pub path: OsString,
}

/// Remove a mount that 'hedgerow mount' made
#[derive(Debug, Args)]
pub struct Unmount {
    /// Discard changes
    #[arg(short, long)]
    pub force: bool,
    /// The directory
    #[arg(value_name = "PATH")]
    pub path: OsString,
}

/// List, remove and check the images that working trees are mounted over
#[derive(Debug, Args)]
pub struct ImageStore {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the images: name, size in bytes, kind, whether they are in use
    List,
    /// Remove images that no working tree is on, down to hedgerow.imageStoreSize
    Prune {
        /// Remove all of them
        #[arg(long)]
        all: bool,
        /// Only list what would be removed
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Compare every image with a checkout of its tree
    Verify,
}

pub fn run_mount(command: &Mount, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let (revision, path) = (bytes(&command.revision), bytes(&command.path));
    let read_only = command.read_only;
    let warnings = worktrees::mount_revision(
        &repository,
        revision.as_ref(),
        path.as_ref(),
        read_only,
        &execution,
    )?;
    warnings.iter().for_each(|warning| output.warn(warning));
    Ok(0)
}

pub fn run_unmount(command: &Unmount, global: &Global) -> Result<u8, Failure> {
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let path = bytes(&command.path);
    worktrees::unmount_revision(&repository, path.as_ref(), command.force)?;
    Ok(0)
}

pub fn run_store(command: &ImageStore, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let line = |image: &StoredImage, note: &str| {
        let (name, kind) = (&image.name, image.kind.name());
        output.data(format!("{name} {} {kind}{note}\n", image.bytes).as_bytes());
    };
    match &command.action {
        Action::List => {
            for found in worktrees::list_images(&repository)? {
                let note = match (found.is_mounted, found.is_needed) {
                    (true, _) => " mounted",
                    (_, true) => " needed",
                    _ => "",
                };
                line(&found.image, note);
            }
        }
        Action::Prune { all, dry_run } => {
            let removed = worktrees::prune_images(&repository, *all, *dry_run)?;
            removed.iter().for_each(|image| line(image, ""));
        }
        Action::Verify => return verify(&repository, &execution, output),
    }
    Ok(0)
}

fn verify(repository: &Repository, execution: &Execution, output: &Output) -> Result<u8, Failure> {
    let mut code = 0;
    worktrees::verify_images(repository, execution, &mut |image, check| {
        let name = &image.name;
        match check {
            Ok(ImageCheck::Sound) => output.data(format!("{name} ok\n").as_bytes()),
            Ok(ImageCheck::NotComparable) => {
                output.data(format!("{name} has other settings or no tree here\n").as_bytes());
            }
            Ok(ImageCheck::Differs(paths)) => {
                code = REFUSED;
                let differs = |path| output.error(format_args!("{name}: '{path}' differs"));
                paths.iter().for_each(differs);
            }
            Err(error) => {
                code = FATAL;
                output.error(error);
            }
        }
    })?;
    Ok(code)
}

/// Mounts working trees. The current directory may be in the place of one.
pub fn mount_chosen(chosen: &Chosen, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let (repository, here) = discover(global)?;
    let mut code = 0;
    let mut tell = |tree: &WorkingTree, mounted: Result<Attached, Error>| match mounted {
        Ok(Attached::Now) => output.say(format_args!("mounted '{}'", tree.path.display())),
        Ok(Attached::Already) => {}
        Err(error) => {
            code = FATAL;
            output.error(error);
        }
    };
    if chosen.all {
        worktrees::mount_all(&repository, &execution, &mut tell)?;
        return Ok(code);
    }
    for word in words(chosen, here)? {
        worktrees::mount(&repository, word.as_ref(), &execution, &mut tell)?;
    }
    Ok(code)
}

/// Unmounts working trees.
pub fn unmount_chosen(chosen: &Chosen, global: &Global, output: &Output) -> Result<u8, Failure> {
    let (repository, here) = discover(global)?;
    let mut code = 0;
    let mut tell = |tree: &WorkingTree, unmounted: Result<(), Error>| match unmounted {
        Ok(()) => output.say(format_args!("unmounted '{}'", tree.path.display())),
        Err(error) => {
            code = FATAL;
            output.error(error);
        }
    };
    if chosen.all {
        worktrees::unmount(&repository, None, &mut tell)?;
        return Ok(code);
    }
    for word in words(chosen, here)? {
        worktrees::unmount(&repository, Some(word.as_ref()), &mut tell)?;
    }
    Ok(code)
}

/// The repository, and the working tree that the current directory is in the place of.
fn discover(global: &Global) -> Result<(Repository, Option<BString>), Failure> {
    let environment = environment::of_git(global)?;
    let (repository, top) = Repository::discover_unmounted(&environment)?;
    Ok((repository, top.map(|top| bytes(top.as_os_str()))))
}

fn words(chosen: &Chosen, here: Option<BString>) -> Result<Vec<BString>, Failure> {
    let words: Vec<BString> = chosen.worktrees.iter().map(|word| bytes(word)).collect();
    let words = if words.is_empty() {
        here.into_iter().collect()
    } else {
        words
    };
    if words.is_empty() {
        return Err(Failure::fatal("name a working tree, or use --all"));
    }
    Ok(words)
}

fn bytes(word: &OsStr) -> BString {
    word.as_bytes().into()
}
