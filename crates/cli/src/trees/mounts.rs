//! Mounted trees: `worktree mount|unmount`, `mount`, `unmount` and `image-store`.

use super::run::bytes;
use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use bstr::ByteSlice;
use clap::{Args, Subcommand};
use hedgerow::repository::Error;
use hedgerow::worktrees::{self, Attached, ImageCheck, StoredImage, WorkingTree};
use hedgerow::{Execution, Repository};
use std::ffi::OsString;
use std::fmt::Display;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

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
    /// Mount them read-only; else with a layer for changes: if it is lost, 'mount' brings them back
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
    /// The directory; of a mount that was lost, this is to be run in its repository
    #[arg(value_name = "PATH")]
    pub path: OsString,
}

/// Make, list, remove and check the images that working trees are mounted over
#[derive(Debug, Args)]
pub struct ImageStore {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the images: name, size in bytes, kind, 'mounted', or 'needed' by what is not mounted now
    List,
    /// Make the images of commits ahead of time, and list those that were missing
    Make {
        /// Commits or trees
        #[arg(value_name = "REVISION", default_value = "HEAD")]
        revisions: Vec<OsString>,
    },
    /// Remove images that no working tree is on, down to hedgerow.imageStoreSize
    Prune {
        /// Remove all of them
        #[arg(long)]
        all: bool,
        /// Only list what would be removed
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Compare every image with a checkout of its tree; needs root
    Verify,
}

pub fn run_mount(command: &Mount, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let [revision, path] = [&command.revision, &command.path].map(|it| it.as_bytes().as_bstr());
    let (read_only, run) = (command.read_only, &execution);
    let warnings = worktrees::mount_revision(&repository, revision, path, read_only, run)?;
    warnings.iter().for_each(|warning| output.warn(warning));
    Ok(0)
}

pub fn run_unmount(command: &Unmount, global: &Global) -> Result<u8, Failure> {
    let (environment, path) = (environment::of_git(global)?, command.path.as_bytes());
    worktrees::unmount_revision(&environment, path.as_bstr(), command.force)?;
    Ok(0)
}

pub fn run_store(command: &ImageStore, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let mut code = 0;
    let line = |it: &dyn Display| output.data(format!("{it}\n").as_bytes());
    match &command.action {
        Action::List => worktrees::list_images(&repository)?
            .iter()
            .for_each(|it| line(it)),
        Action::Make { revisions } => {
            let mut tell = |image: Option<&StoredImage>, warnings: &[String]| {
                warnings.iter().for_each(|warning| output.warn(warning));
                image.iter().for_each(|image| line(image));
            };
            worktrees::make_images(&repository, &bytes(revisions), &execution, &mut tell)?;
        }
        Action::Prune { all, dry_run } => {
            let removed = worktrees::prune_images(&repository, *all, *dry_run)?;
            removed.iter().for_each(|it| line(it));
        }
        Action::Verify => {
            let mut tell = |image: &StoredImage, check: Result<ImageCheck, Error>| match check {
                Ok(check) if !check.is_bad() => line(&format_args!("{} {check}", image.name)),
                Ok(check) => {
                    code = PARTIAL;
                    output.error(format_args!("image {} {check}", image.name));
                }
                Err(error) => {
                    code = PARTIAL;
                    output.error(error);
                }
            };
            worktrees::verify_images(&repository, &execution, &mut tell)?;
        }
    }
    Ok(code)
}

impl Chosen {
    /// Mounts the working trees if it is said how to run, else unmounts them. `here` is the current
    /// one, or the place of it.
    pub fn run(
        &self,
        repository: &Repository,
        here: Option<PathBuf>,
        mounts: Option<&Execution>,
        global: &Global,
        output: &Output,
    ) -> Result<u8, Failure> {
        let mut words = bytes(&self.worktrees);
        if words.is_empty() && !self.all {
            let top = here.ok_or_else(|| Failure::fatal("name a working tree, or use --all"))?;
            words.push(top.into_os_string().into_vec().into());
        }
        let mut code = 0;
        let mut tell = |tree: &WorkingTree, result: Result<Attached, Error>| match result {
            Ok(now) if now == Attached::Already || global.quiet => {}
            Ok(now) => output.say(format_args!("{now} '{}'", tree.path.display())),
            Err(error) => {
                code = FATAL;
                output.error(error);
            }
        };
        match mounts {
            Some(execution) => worktrees::mount(repository, &words, execution, &mut tell)?,
            None => worktrees::unmount(repository, &words, &mut tell)?,
        }
        Ok(code)
    }
}
