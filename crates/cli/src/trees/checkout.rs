//! `hedgerow checkout`: determines the form of the command and runs it.

use super::branch_options::BranchOptions;
use super::merge_options::{MergeOptions, Merging};
use super::pathspec_file::PathspecFile;
use super::recurse_submodules::RecurseSubmodules;
use super::run::{bytes, Run, Switching};
use super::writing::Writing;
use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::walk::parse_shard;
use clap::Args;
use hedgerow::checkout::{
    Form, MergeSide, PathOptions, Request, RequestOptions, Share, StartKind, Unmerged,
};
use hedgerow::numbers::Shard;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Check out a branch, a commit, or paths of one, into the working tree
#[derive(Debug, Args)]
#[command(override_usage = "hedgerow checkout [OPTIONS] [REVISION]\n       \
    hedgerow checkout [OPTIONS] -b|-B|--orphan <BRANCH> [REVISION]\n       \
    hedgerow checkout [OPTIONS] [REVISION] [--] <PATHSPEC>...")]
pub struct Checkout {
    /// Create a branch at the revision and switch to it
    #[arg(short = 'b', long, value_name = "BRANCH")]
    pub new_branch: Option<OsString>,
    /// Like -b, but reset the branch if it exists
    #[arg(short = 'B', long, value_name = "BRANCH")]
    pub reset_branch: Option<OsString>,
    /// Create a reflog for the new branch
    #[arg(short = 'l', long)]
    pub log: bool,
    /// Overwrite local changes and untracked files; skip unmerged paths
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub merge: MergeOptions,
    #[command(flatten)]
    pub branch: BranchOptions,
    /// Keep paths that the revision does not have (default)
    #[arg(long)]
    pub overlay: bool,
    /// Remove matching paths that the revision does not have
    #[arg(long)]
    pub no_overlay: bool,
    /// Check out our version of unmerged paths
    #[arg(short = '2', long, overrides_with = "theirs")]
    pub ours: bool,
    /// Check out their version of unmerged paths
    #[arg(short = '3', long)]
    pub theirs: bool,
    /// Also write paths outside the sparse checkout
    #[arg(long)]
    pub ignore_skip_worktree_bits: bool,
    #[command(flatten)]
    pub file: PathspecFile,
    #[command(flatten)]
    pub recurse: RecurseSubmodules,
    #[command(flatten)]
    pub shared: Shared,
    #[command(flatten)]
    pub writing: Writing,
    /// A branch or a revision, then paths; -- separates them where they are ambiguous
    #[arg(value_name = "REVISION|PATHSPEC")]
    pub words: Vec<OsString>,
}

/// A checkout that several processes share.
#[derive(Debug, Default, Args)]
pub struct Shared {
    /// Write only the K-th of N shares of the files, into a tree without an index; auto asks Slurm,
    /// Open MPI or, as auto/N, Kubernetes
    #[arg(long, value_name = "K/N|auto", value_parser = parse_shard, requires = "no_index",
          conflicts_with = "finish")]
    pub shard: Option<Shard>,
    /// Touch neither index nor HEAD
    #[arg(long, requires = "shard")]
    pub no_index: bool,
    /// Check that all shares are complete, then write the index and HEAD
    #[arg(long)]
    pub finish: bool,
}

impl Shared {
    fn share(&self) -> Share {
        match self.shard {
            Some(shard) => Share::Of(shard),
            None if self.finish => Share::Finish,
            None => Share::All,
        }
    }
}

pub fn run(command: &Checkout, global: &Global, output: &Output) -> Result<u8, Failure> {
    let branch = command.branch.started([
        ("-b", StartKind::Create, &command.new_branch),
        ("-B", StartKind::Reset, &command.reset_branch),
    ])?;
    let merging = command.merge.wanted()?;
    let share = command.shared.share();
    if share != Share::All && (merging.is_some() || command.branch.orphan.is_some()) {
        return Err(Failure::usage(
            "a checkout in shares takes no --merge and no --orphan",
        ));
    }
    let recurse_submodules = command.recurse.wish()?;
    let run = Run::start(&command.writing, global, output)?;
    let side = side(command.ours, command.theirs);
    let options = RequestOptions {
        branch,
        log: command.log,
        force: command.force,
        merge: merging.is_some(),
        side,
        overlay: match (command.overlay, command.no_overlay) {
            (false, false) => None,
            (overlay, _) => Some(overlay),
        },
        pathspecs: run.listed(&command.file)?,
        only_branch: only_creates_a_branch(command),
        ..command.branch.request(Form::Checkout)
    };
    let words = bytes(&command.words);
    let request = command.branch.parsed(&run, &words, &options)?;
    let code = match request {
        Request::Switch(target) => run.switch(
            &target,
            Switching {
                discard_changes: command.force,
                overwrite_untracked: command.force,
                keep_ignored: command.branch.no_overwrite_ignore,
                detach: command.branch.detach,
                recurse_submodules,
                merging,
                share,
            },
        ),
        Request::Paths(_) if share != Share::All => {
            return Err(Failure::usage(
                "a checkout in shares is of a whole revision",
            ));
        }
        Request::Paths(paths) => run.paths(
            PathOptions {
                pathspecs: paths.pathspecs,
                tree: paths.tree,
                overlay: !command.no_overlay,
                unmerged: unmerged(side, merging, command.force),
                beyond_sparse: command.ignore_skip_worktree_bits,
                recurse_submodules,
                ..PathOptions::default()
            },
            // Git does not count what a list alone names.
            paths.without_separator && !words.is_empty(),
        ),
    }?;
    run.statistics()?;
    Ok(code)
}

/// The side of a merge that the options name.
pub fn side(ours: bool, theirs: bool) -> Option<MergeSide> {
    match (ours, theirs) {
        (true, _) => Some(MergeSide::Ours),
        (_, true) => Some(MergeSide::Theirs),
        _ => None,
    }
}

/// What happens to unmerged paths.
pub fn unmerged(side: Option<MergeSide>, merging: Option<Merging>, leave_out: bool) -> Unmerged {
    match (side, merging) {
        (Some(side), _) => Unmerged::Take(side),
        (None, Some(Merging { style })) => Unmerged::Merge(style),
        (None, None) if leave_out => Unmerged::LeaveOut,
        (None, None) => Unmerged::Refuse,
    }
}

/// Whether the command is `checkout -b BRANCH`, with no other option of git: then git does not look
/// at the working tree.
fn only_creates_a_branch(command: &Checkout) -> bool {
    let words = environment::words();
    let [before @ .., option, _] = words.as_slice() else {
        return false;
    };
    // Nor do options that git does not have change that.
    let is_own = |word: &OsString| {
        let own = [&b"-j"[..], b"--jobs", b"--threshold", b"--json", b"--stats"];
        let word = word.as_bytes();
        !word.starts_with(b"-") || own.iter().any(|own| word.starts_with(own))
    };
    let after_name = before.iter().rev().take_while(|word| *word != "checkout");
    option == "-b" && command.words.is_empty() && after_name.into_iter().all(is_own)
}
