//! `hedgerow merge`: git-merge(1) where the branch only has to be moved forward.

use super::messages::{rejected_by_merge, REJECTED_HINT, STASHED};
use super::run::{bytes, Run};
use super::writing::{rejected, Writing};
use crate::environment;
use crate::failure::{Failure, FATAL, REFUSED};
use crate::git_options::{GitOption, GitOptions};
use crate::global::{Color, Global};
use crate::output::Output;
use clap::Args;
use hedgerow::display::When;
use hedgerow::merge::{
    check_diffstat, diffstat, diffstat_colors, merge, merge_hindrance, DiffstatOptions,
    FastForward, FastForwarded, MergeHindrance, MergeOptions, MergeOutcome, MergeRequest,
    Unmergeable, Widths,
};
use hedgerow::repository::Repository;
use hedgerow::ObjectId;
use std::ffi::OsString;

pub const OPTIONS: GitOptions = GitOptions {
    command: "merge",
    keeps_separator: false,
    options: &[
        GitOption::letter(b'n', "no-stat"),
        GitOption::switch(None, "stat").or_not(),
        GitOption::switch(None, "summary").known_as("stat").or_not(),
        GitOption::switch(None, "compact-summary"),
        GitOption::switch(None, "ff").or_not(),
        GitOption::switch(None, "ff-only").never_negated(),
        GitOption::switch(Some(b'm'), "message").with_value(),
        GitOption::switch(None, "allow-unrelated-histories"),
        GitOption::switch(None, "overwrite-ignore")
            .by_default()
            .or_not(),
        GitOption::switch(None, "autostash").or_not(),
        // A merge that moves forward makes no commit, which these are about.
        GitOption::switch(None, "commit").by_default(),
        GitOption::switch(Some(b'e'), "edit").by_default(),
        GitOption::switch(None, "cleanup").with_value().by_default(),
        GitOption::switch(None, "log")
            .with_optional_value()
            .by_default(),
        GitOption::switch(None, "rerere-autoupdate").by_default(),
        GitOption::switch(Some(b'S'), "gpg-sign")
            .with_optional_value()
            .by_default(),
        GitOption::switch(None, "signoff").by_default(),
        GitOption::switch(None, "into-name")
            .with_value()
            .by_default(),
        GitOption::switch(None, "verify").by_default(),
        GitOption::switch(None, "squash").refused("--squash ..."),
        GitOption::switch(Some(b's'), "strategy")
            .with_value()
            .refused("--strategy=<strategy> ..."),
        GitOption::switch(Some(b'X'), "strategy-option")
            .with_value()
            .refused("--strategy-option=<option> ..."),
        GitOption::switch(Some(b'F'), "file")
            .with_value()
            .refused("--file=<file> ..."),
        GitOption::switch(None, "verify-signatures").refused("--verify-signatures ..."),
        GitOption::switch(None, "abort").refused("--abort"),
        GitOption::switch(None, "quit").refused("--quit"),
        GitOption::switch(None, "continue").refused("--continue"),
    ],
};

/// Fast-forward the branch to another commit
#[derive(Debug, Args)]
#[command(override_usage = "hedgerow merge [OPTIONS] [--ff-only] [COMMIT]...")]
pub struct Merge {
    /// Fast-forward; a merge that needs a commit is refused (default)
    #[arg(long, overrides_with_all = ["no_ff", "ff_only"])]
    pub ff: bool,
    /// Always create a merge commit (refused: use git)
    #[arg(long, overrides_with_all = ["ff", "ff_only"])]
    pub no_ff: bool,
    /// Only fast-forward; end as git does where that is impossible
    #[arg(long, overrides_with_all = ["ff", "no_ff"])]
    pub ff_only: bool,
    /// Show a diffstat (default; merge.stat)
    #[arg(long, overrides_with_all = ["no_stat", "compact_summary"])]
    pub stat: bool,
    /// Do not show a diffstat
    #[arg(short = 'n', long, overrides_with_all = ["stat", "compact_summary"])]
    pub no_stat: bool,
    /// Show created and deleted files and mode changes in the diffstat
    #[arg(long, overrides_with_all = ["stat", "no_stat"])]
    pub compact_summary: bool,
    /// Message of the merge commit (unused: none is created)
    #[arg(short, long, value_name = "MESSAGE")]
    pub message: Vec<OsString>,
    /// Merge unrelated histories (refused: use git)
    #[arg(long)]
    pub allow_unrelated_histories: bool,
    /// Refuse to overwrite ignored files
    #[arg(long)]
    pub no_overwrite_ignore: bool,
    /// Stash local changes first (refused: use git)
    #[arg(long)]
    pub autostash: bool,
    /// Do not stash local changes (merge.autostash)
    #[arg(long)]
    pub no_autostash: bool,
    #[command(flatten)]
    pub writing: Writing,
    /// Commit to merge [default: the upstream of the current branch]
    #[arg(value_name = "COMMIT")]
    pub words: Vec<OsString>,
}

/// What is shown of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stat {
    No,
    Whole,
    Compact,
}

pub fn run(command: &Merge, global: &Global, output: &Output) -> Result<u8, Failure> {
    let run = Run::start(&command.writing, global, output)?;
    let repository = &run.repository;
    let (fast_forward, stat) = settings(command, global, repository)?;
    hindered(repository, output)?;
    if stat != Stat::No {
        check_diffstat(repository)?;
    }
    let request = match MergeRequest::parse(repository, &bytes(&command.words))? {
        Ok(request) => request,
        Err(unmergeable) => return Ok(not_mergeable(&unmergeable, output)),
    };
    request.warnings.iter().for_each(|it| output.warn(it));
    let options = MergeOptions {
        fast_forward,
        unrelated: command.allow_unrelated_histories,
        keep_ignored: command.no_overwrite_ignore,
        message: !command.message.is_empty(),
        threshold: run.threshold(),
        execution: run.execution().clone(),
    };
    let outcome = run.metered(|| merge(repository, &request, &options))?;
    let code = match outcome {
        MergeOutcome::UpToDate(ended) => {
            told(global, output, b"Already up to date.\n");
            let failures = &ended.failures;
            failures.iter().for_each(|error| output.error(error));
            0
        }
        MergeOutcome::Done(done) => finish(*done, &run, stat, &options)?,
        MergeOutcome::Incomplete { between, done } => {
            if let (Some(old), new) = between {
                updating(repository, [old, new], global, output)?;
            }
            let code = run.told(&done);
            if between.0.is_some() {
                code
            } else {
                FATAL
            }
        }
        MergeOutcome::Rejected { between, rejects } => {
            updating(repository, between, global, output)?;
            let advises = repository.advises(REJECTED_HINT)?;
            rejected_by_merge(&rejects, advises, output);
            REFUSED
        }
        MergeOutcome::NotBorn(rejects) => {
            rejected(&rejects, output);
            return Err(Failure::fatal("read-tree failed"));
        }
        MergeOutcome::Impossible => {
            if repository.advises("diverging")? {
                output.advise(DIVERGING);
            }
            return Err(Failure::fatal("Not possible to fast-forward, aborting."));
        }
        MergeOutcome::NeedsCommit => return Err(needs_commit(command)),
    };
    run.statistics()?;
    Ok(code)
}

const DIVERGING: &str = "\
Diverging branches can't be fast-forwarded, you need to either:

\tgit merge --no-ff

or:

\tgit rebase

Disable this message with \"git config set advice.diverging false\"";

const UNMERGED: &str = "\
Fix them up in the work tree, and then use 'git add/rm <file>'
as appropriate to mark resolution and make a commit.";

/// What the options say, and else the configuration.
fn settings(
    command: &Merge,
    global: &Global,
    repository: &Repository,
) -> Result<(FastForward, Stat), Failure> {
    let config = repository.config();
    let head = repository.head()?;
    let branch = head.branch().map(hedgerow::checkout::short);
    let of_branch = branch.and_then(|it| config.string_in("branch", it.as_ref(), "mergeOptions"));
    if of_branch.is_some() {
        let reason = "branch.<name>.mergeOptions is not read here; nothing was touched";
        return Err(Failure::usage(reason));
    }
    for (key, is_given) in [("merge.verifySignatures", false), ("merge.autostash", true)] {
        let is_off = is_given && command.no_autostash;
        if !is_off && config.bool(key)? == Some(true) {
            let reason = format!("{key} is not supported here; nothing was touched");
            return Err(Failure::usage(reason));
        }
    }
    if command.autostash {
        let reason = "'hedgerow merge' has no option --autostash; nothing was touched";
        return Err(Failure::usage(reason));
    }
    let fast_forward = match command {
        Merge { ff: true, .. } => FastForward::Allowed,
        Merge { no_ff: true, .. } => FastForward::Never,
        Merge { ff_only: true, .. } => FastForward::Only,
        _ => FastForward::configured(repository),
    };
    let stat = match command {
        _ if global.quiet => Stat::No,
        Merge { stat: true, .. } => Stat::Whole,
        Merge { no_stat: true, .. } => Stat::No,
        Merge {
            compact_summary: true,
            ..
        } => Stat::Compact,
        _ => configured_stat(repository)?,
    };
    Ok((fast_forward, stat))
}

/// `merge.stat`, or `merge.diffstat`.
fn configured_stat(repository: &Repository) -> Result<Stat, Failure> {
    let config = repository.config();
    for key in ["merge.stat", "merge.diffstat"] {
        let Some(word) = config.string(key) else {
            continue;
        };
        return Ok(match hedgerow::repository::boolean(word.as_ref()) {
            Some(true) => Stat::Whole,
            Some(false) => Stat::No,
            None if word == "compact" => Stat::Compact,
            None => Stat::Whole,
        });
    }
    Ok(Stat::Whole)
}

/// Refuses to merge into what is not concluded.
fn hindered(repository: &Repository, output: &Output) -> Result<(), Failure> {
    let advises = repository.advises("resolveConflict")?;
    let (what, name) = match merge_hindrance(repository)? {
        None => return Ok(()),
        Some(MergeHindrance::Unmerged) => {
            output.error("Merging is not possible because you have unmerged files.");
            if advises {
                output.advise(UNMERGED);
            }
            return Err(Failure::fatal("Exiting because of an unresolved conflict."));
        }
        Some(MergeHindrance::Merge) => ("merge", "MERGE_HEAD"),
        Some(MergeHindrance::CherryPick) => ("cherry-pick", "CHERRY_PICK_HEAD"),
    };
    let advice = if advises {
        "\nPlease, commit your changes before you merge."
    } else {
        ""
    };
    Err(Failure::fatal(format_args!(
        "You have not concluded your {what} ({name} exists).{advice}"
    )))
}

fn not_mergeable(unmergeable: &Unmergeable, output: &Output) -> u8 {
    if let Some(error) = &unmergeable.error {
        output.error(error);
    }
    let name = &unmergeable.name;
    output.error_line(format_args!("merge: {name} - not something we can merge"));
    let suggestions = &unmergeable.suggestions;
    if !suggestions.is_empty() {
        let these = if suggestions.len() == 1 {
            "this"
        } else {
            "one of these"
        };
        let list: String = suggestions.iter().map(|it| format!("\n\t{it}")).collect();
        output.error_line(format_args!("\nDid you mean {these}?{list}"));
    }
    REFUSED
}

fn needs_commit(command: &Merge) -> Failure {
    let words = command.words.iter().map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    Failure {
        hint: Some(format!("use git: git merge {}", words.join(" "))),
        ..Failure::fatal(
            "hedgerow only moves a branch forward, and this merge needs a commit; nothing was \
             touched",
        )
    }
}

/// What git prints to standard output.
fn told(global: &Global, output: &Output, text: &[u8]) {
    if !global.quiet {
        output.data(text);
    }
}

fn updating(
    repository: &Repository,
    [old, new]: [ObjectId; 2],
    global: &Global,
    output: &Output,
) -> Result<(), Failure> {
    let (old, new) = (repository.short_id(&old)?, repository.short_id(&new)?);
    told(
        global,
        output,
        format!("Updating {old}..{new}\n").as_bytes(),
    );
    Ok(())
}

fn finish(
    mut merged: FastForwarded,
    run: &Run<'_>,
    stat: Stat,
    options: &MergeOptions,
) -> Result<u8, Failure> {
    let (repository, global, output) = (&run.repository, run.global, run.output);
    let head_failure = merged.head_failure.take();
    let Some(old) = merged.old else {
        let code = run.told(&merged.done);
        return head_failure.map_or(Ok(code), |error| Err(error.into()));
    };
    updating(repository, [old, merged.new], global, output)?;
    let code = run.told(&merged.done);
    told(
        global,
        output,
        if options.message {
            b"Fast-forward (no commit created; -m option ignored)\n"
        } else {
            b"Fast-forward\n"
        },
    );
    if let Some(error) = head_failure {
        return Err(error.into());
    }
    if stat != Stat::No {
        let width = environment::output_width();
        let options = DiffstatOptions {
            compact: stat == Stat::Compact,
            widths: Widths::of(repository.config(), width)?,
            colors: colors(repository, global)?,
            execution: options.execution.with_own_progress(),
        };
        let trees = [
            repository.commit(&old)?.tree,
            repository.commit(&merged.new)?.tree,
        ];
        output.data(&diffstat(repository, trees[0], trees[1], &options)?);
    }
    if merged.ended.stashed {
        output.error_line(STASHED);
    }
    let failures = &merged.ended.failures;
    failures.iter().for_each(|error| output.error(error));
    Ok(code)
}

/// The colors of the diffstat, if it has any: `color.diff`.
fn colors(repository: &Repository, global: &Global) -> Result<Option<[String; 2]>, Failure> {
    let config = repository.config();
    let mut when = None;
    for key in ["color.diff", "diff.color", "color.ui"] {
        when = when.or(When::of_key(config, key)?);
    }
    let is_colored = match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let paged = config.bool("color.pager")?.unwrap_or(true);
            let takes_colors = environment::output_takes_colors(paged);
            when.unwrap_or(When::Auto).applies(takes_colors)
        }
    };
    Ok(if is_colored {
        Some(diffstat_colors(config)?)
    } else {
        None
    })
}
