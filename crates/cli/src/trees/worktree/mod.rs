//! `hedgerow worktree`, as git-worktree(1).

mod add;
mod list;
mod options;

pub use options::options;

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::trees::mounts::Chosen;
use bstr::BString;
use clap::{Args, Subcommand};
use hedgerow::repository::{Error, Expiry};
use hedgerow::worktrees::{
    lock, monitor_answer, prune, relocate, remove, repair, unlock, MoveOptions, RemoveOptions,
};
use hedgerow::Repository;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Add, list, move and remove working trees of a repository
#[derive(Debug, Args)]
pub struct Worktree {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Create a working tree and check out a commit in it
    Add(add::Add),
    /// List the working trees
    List(list::List),
    /// Prevent a working tree from being pruned, moved or removed
    Lock {
        /// Why it is locked
        #[arg(long, value_name = "TEXT", default_value = "")]
        #[arg(hide_default_value = true)]
        reason: OsString,
        /// Path of the working tree, or its last components
        #[arg(value_name = "WORKTREE")]
        worktree: OsString,
    },
    /// Mount working trees that were added with --mount
    Mount(Chosen),
    /// Tell git what changed in a mounted working tree: its core.fsmonitor
    Monitor {
        /// Version of git's protocol: 2
        protocol: OsString,
        /// Token of the answer since which changes are asked for
        token: OsString,
    },
    /// Move a working tree
    Move(Move),
    /// Remove the data of deleted working trees
    Prune(Prune),
    /// Remove a working tree
    Remove(Remove),
    /// Repair the links between working trees and their repository
    Repair(Repair),
    /// Unlock a working tree
    Unlock {
        /// Path of the working tree, or its last components
        #[arg(value_name = "WORKTREE")]
        worktree: OsString,
    },
    /// Unmount working trees; their changes are kept
    Unmount(Chosen),
}

#[derive(Debug, Args)]
pub struct Move {
    /// Move over a missing working tree; twice: although it is locked
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub force: u8,
    #[command(flatten)]
    pub links: Links,
    /// Path of the working tree, or its last components
    #[arg(value_name = "WORKTREE")]
    pub worktree: OsString,
    /// Where it is moved; if that is a directory, into it
    #[arg(value_name = "NEW-PATH")]
    pub to: OsString,
}

#[derive(Debug, Args)]
pub struct Prune {
    /// Only list what would be removed
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Only working trees unused since TIME
    #[arg(long, value_name = "TIME")]
    pub expire: Option<OsString>,
}

#[derive(Debug, Args)]
pub struct Remove {
    /// Remove it even if it has changes; twice: even if it is locked
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub force: u8,
    /// Path of the working tree, or its last components
    #[arg(value_name = "WORKTREE")]
    pub worktree: OsString,
}

#[derive(Debug, Args)]
pub struct Repair {
    #[command(flatten)]
    pub links: Links,
    /// Working trees that were moved by other means
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// How working trees and their repository name each other.
#[derive(Debug, Args)]
pub struct Links {
    /// Link by relative paths, regardless of worktree.useRelativePaths
    #[arg(long, overrides_with = "no_relative_paths")]
    pub relative_paths: bool,
    /// Link by absolute paths
    #[arg(long)]
    pub no_relative_paths: bool,
}

impl Links {
    fn wish(&self) -> Option<bool> {
        wish(self.relative_paths, self.no_relative_paths)
    }
}

pub fn run(command: &Worktree, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let (repository, here) = Repository::discover_unmounted(&environment::of_git(global)?)?;
    match &command.action {
        Action::Add(command) => return add::run(command, &repository, execution, global, output),
        Action::List(command) => list::run(command, &repository, global, output)?,
        Action::Lock { worktree, reason } => {
            let (tree, reason) = (bytes(worktree), bytes(reason));
            lock(&repository, tree.as_ref(), reason.as_ref())?;
        }
        Action::Unlock { worktree } => unlock(&repository, bytes(worktree).as_ref())?,
        Action::Move(command) => {
            let options = MoveOptions {
                force: command.force,
                relative_paths: command.links.wish(),
            };
            let (from, to) = (bytes(&command.worktree), bytes(&command.to));
            relocate(&repository, from.as_ref(), to.as_ref(), &options)?;
        }
        Action::Prune(command) => {
            let is_told = command.dry_run || global.verbose > 0;
            let expiry = expiry(command.expire.as_deref())?;
            prune(&repository, expiry, command.dry_run, &mut |pruned| {
                if let Some(upper) = &pruned.kept {
                    output.warn(format_args!(
                        "worktrees/{} stays: changes are in '{}'; 'hedgerow worktree mount' brings them \
                         back, 'hedgerow worktree remove --force' deletes them",
                        pruned.id,
                        upper.display()
                    ));
                } else if is_told {
                    let (id, reason) = (&pruned.id, &pruned.reason);
                    output.error_line(format_args!("Removing worktrees/{id}: {reason}"));
                }
            })?;
        }
        Action::Remove(command) => {
            let options = RemoveOptions {
                force: command.force,
                execution,
            };
            let failures = remove(&repository, bytes(&command.worktree).as_ref(), &options)?;
            failures.iter().for_each(|failure| output.error(failure));
            return Ok(if failures.is_empty() { 0 } else { REFUSED });
        }
        Action::Repair(command) => return run_repair(command, &repository, output),
        Action::Monitor { protocol, token } => {
            let answer = monitor_answer(&repository, protocol.as_bytes(), token.as_bytes())?;
            output.data(answer.as_deref().unwrap_or_default());
            return Ok(u8::from(answer.is_none()));
        }
        Action::Mount(it) => return it.run(&repository, here, Some(&execution), global, output),
        Action::Unmount(it) => return it.run(&repository, here, None, global, output),
    }
    Ok(0)
}

fn run_repair(command: &Repair, repository: &Repository, output: &Output) -> Result<u8, Failure> {
    let paths: Vec<BString> = command.paths.iter().map(|path| bytes(path)).collect();
    let mut code = 0;
    let wish = command.links.wish();
    repair(repository, &paths, wish, &mut |found| {
        let line = format!("{}: {}", found.reason, found.path);
        if found.is_error {
            code = REFUSED;
            output.error(line);
        } else {
            output.error_line(format_args!("repair: {line}"));
        }
    })?;
    Ok(code)
}

/// The value of `--expire`; by default, everything has expired.
fn expiry(text: Option<&OsStr>) -> Result<Expiry, Error> {
    let Some(text) = text else {
        return Ok(Expiry::Now);
    };
    let text = bytes(text);
    Expiry::parse(text.as_ref()).ok_or_else(|| Error::Setup {
        reason: format!("malformed expiration date '{text}'"),
    })
}

fn bytes(word: &OsStr) -> BString {
    word.as_bytes().into()
}

/// What two contradicting switches say, if one is given.
fn wish(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}
