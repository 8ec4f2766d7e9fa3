//! Git's messages after a checkout.

use crate::output::Output;
use bstr::{BStr, BString, ByteSlice};
use hedgerow::branches::Followed;
use hedgerow::checkout::{short, Autostash, Reason, Rejects, Start, Switched, Target};
use hedgerow::repository::Error;
use hedgerow::repository::{Head, Repository};

const DETACHED_ADVICE: &str = "\
You are in 'detached HEAD' state. You can look around, make experimental
changes and commit them, and you can discard any commits you make in this
state without impacting any branches by switching back to a branch.

If you want to create a new branch to retain commits you create, you may
do so (now or later) by using -c with the switch command. Example:

  git switch -c <new-branch-name>

Or undo this operation with:

  git switch -

Turn off this advice by setting config variable advice.detachedHead to false
";

/// Printed when a switch ends a merge with `--autostash`: the changes go to the stash.
pub const STASHED: &str = "\
Autostash exists; creating a new stash entry.
Your changes are safe in the stash.
You can run \"git stash pop\" or \"git stash drop\" at any time.";

/// Printed when local changes are back after a switch with `--merge`.
pub const APPLIED: &str = "Applied autostash.";

/// Printed when they are not: they conflict with what was switched to.
const NOT_APPLIED: &str = "\
Your local changes are stashed, however applying them
resulted in conflicts.  You can either resolve the conflicts
and then discard the stash with \"git stash drop\", or, if you
do not want to resolve them now, run \"git reset --hard\" and
apply the local changes later by running \"git stash pop\".";

/// What became of local changes that were put aside for a switch.
pub fn carried(autostash: &Autostash, output: &Output) {
    autostash.warnings.iter().for_each(|it| output.warn(it));
    for failure in &autostash.failures {
        output.error(failure);
    }
    match autostash.unstored {
        Some(commit) => output.error(format_args!(
            "cannot store {commit}, which has your local changes; put it into the stash by\n  git stash \
             store CHECKOUT_AUTOSTASH_HEAD"
        )),
        None if autostash.is_applied => output.error_line(APPLIED),
        None => output.error_line(NOT_APPLIED),
    }
}

/// What became of submodules: lines that are as git prints them.
pub fn said<'a>(lines: impl IntoIterator<Item = &'a String>, output: &Output) {
    lines.into_iter().for_each(|line| output.error_line(line));
}

/// The hint that tells what to do with the paths of [`rejected`] and [`rejected_by_merge`].
pub const REJECTED_HINT: &str = "commitBeforeMerge";

/// The paths that prevent a checkout, with what to do about them if the user `advises` so.
pub fn rejected(rejects: &Rejects, advises: bool, output: &Output) {
    said(rejects.said(), output);
    for (reason, paths) in rejects.by_reason() {
        let (before, after) = reason.words();
        let after = if advises { after } else { "" };
        let list: String = paths.iter().map(|path| format!("\t{path}\n")).collect();
        output.error(format_args!("{before}\n{list}{after}"));
    }
    output.error_line("Aborting");
}

/// The paths that prevent a merge, likewise.
pub fn rejected_by_merge(rejects: &Rejects, advises: bool, output: &Output) {
    for (reason, paths) in rejects.by_reason() {
        let (before, after) = match reason {
            Reason::WouldOverwrite | Reason::NotUpToDate => (
                "Your local changes to the following files would be overwritten by merge:",
                "Please commit your changes or stash them before you merge.",
            ),
            Reason::UntrackedOverwritten => (
                "The following untracked working tree files would be overwritten by merge:",
                "Please move or remove them before you merge.",
            ),
            Reason::UntrackedRemoved => (
                "The following untracked working tree files would be removed by merge:",
                "Please move or remove them before you merge.",
            ),
            Reason::DirectoryNotClean | Reason::CurrentDirectory | Reason::Submodule => {
                reason.words()
            }
        };
        let after = if advises { after } else { "" };
        let list: String = paths.iter().map(|path| format!("\t{path}\n")).collect();
        output.error(format_args!("{before}\n{list}{after}"));
    }
    output.error_line("Aborting");
}

/// Reports the previous and the new HEAD. Returns the state of the branch relative to its upstream,
/// which git prints to standard output.
pub fn switched(
    repository: &Repository,
    target: &Target,
    switched: &Switched,
    force_detach: bool,
    output: &Output,
) -> Result<String, Error> {
    if let Head::Detached { id } = &switched.old {
        if !id.is_null() && Some(*id) != target.commit {
            left_detached(repository, id, target.commit.as_ref(), output)?;
        }
    }
    if target.head_stays {
        let branch = switched.old.branch();
        return branch.map_or(Ok(String::new()), |branch| {
            tracking(repository, branch, output)
        });
    }
    let Some(branch) = &target.branch else {
        let Some(commit) = &target.commit else {
            return Ok(String::new());
        };
        let was_branch = switched.old.branch().is_some();
        if was_branch && !force_detach && repository.advises("detachedHead")? {
            output.say(detached(&target.name.to_string()));
        }
        describe(repository, "HEAD is now at", commit, output)?;
        return Ok(String::new());
    };
    if let Some(Start::At(start)) = &target.start {
        start.warnings.iter().for_each(|it| output.warn(it));
    }
    let name = short(branch.as_bstr());
    let is_unborn = target.commit.is_none() && switched.old.commit().is_none();
    let is_same =
        switched.old.branch() == Some(branch.as_bstr()) && !(is_unborn && target.start.is_some());
    output.say(match &target.start {
        Some(Start::At(start)) if is_same && start.forced => format!("Reset branch '{name}'"),
        _ if is_same => format!("Already on '{name}'"),
        Some(Start::At(start)) if start.exists => {
            format!("Switched to and reset branch '{name}'")
        }
        Some(_) => format!("Switched to a new branch '{name}'"),
        None => format!("Switched to branch '{name}'"),
    });
    let set_up = match &target.start {
        Some(Start::At(start)) => {
            let follows_it = |followed| follows(start.short(), followed);
            start.follows.as_ref().map_or_else(String::new, follows_it)
        }
        _ => String::new(),
    };
    if is_unborn {
        return Ok(set_up);
    }
    Ok(set_up + &tracking(repository, branch.as_bstr(), output)?)
}

/// What git prints to standard output when the branch with the short name `branch` follows another
/// one from now on.
pub fn follows(branch: &BStr, followed: &Followed) -> String {
    let names = followed.shown();
    match names.as_slice() {
        [only] => {
            let how = if followed.rebase { " by rebasing" } else { "" };
            format!("branch '{branch}' set up to track '{only}'{how}.\n")
        }
        names => {
            let lines: String = names.iter().map(|name| format!("  {name}\n")).collect();
            format!("branch '{branch}' set up to track:\n{lines}")
        }
    }
}

fn tracking(repository: &Repository, branch: &BStr, output: &Output) -> Result<String, Error> {
    let upstream = repository.tracking_status(branch)?;
    let mut warn = |warning| output.warn(warning);
    crate::tracking::words(repository, branch, upstream.as_ref(), true, &mut warn)
}

fn describe(
    repository: &Repository,
    words: &str,
    id: &hedgerow::ObjectId,
    output: &Output,
) -> Result<(), Error> {
    let subject = repository.subject(&repository.commit(id)?);
    let id = repository.dotted_short_id(id)?;
    output.say(format_args!("{words} {id} {subject}"));
    Ok(())
}

/// Reports the commit that a detached HEAD leaves, with a warning if no branch reaches it.
fn left_detached(
    repository: &Repository,
    old: &hedgerow::ObjectId,
    new: Option<&hedgerow::ObjectId>,
    output: &Output,
) -> Result<(), Error> {
    let orphans = repository.orphaned_commits(old, new.map(|id| id.as_ref()))?;
    if orphans.count == 0 {
        return describe(repository, "Previous HEAD position was", old, output);
    }
    let mut list = String::new();
    for (id, subject) in &orphans.first {
        list.push_str(&format!("  {} {subject}\n", repository.short_id(id)?));
    }
    if orphans.count > orphans.first.len() {
        list.push_str(&format!(
            " ... and {} more.\n",
            orphans.count - orphans.first.len()
        ));
    }
    let commits = if orphans.count == 1 {
        "commit"
    } else {
        "commits"
    };
    output.say(format_args!(
        "Warning: you are leaving {} {commits} behind, not connected to\nany of your \
         branches:\n\n{list}",
        orphans.count
    ));
    if repository.advises("detachedHead")? {
        let these = if orphans.count == 1 { "it" } else { "them" };
        output.say(format_args!(
            "If you want to keep {these} by creating a new branch, this may be a good time\nto do \
             so with:\n\n git branch <new-branch-name> {}\n",
            repository.short_id(old)?
        ));
    }
    Ok(())
}

/// A pathspec or a name that matches nothing.
pub fn unknown(word: &BStr) -> String {
    format!("pathspec '{word}' did not match any file(s) known to git")
}

/// Paths that cannot exist together on this file system.
pub fn collided(paths: &[BString]) -> String {
    let list: String = paths.iter().map(|path| format!("  '{path}'\n")).collect();
    format!(
        "the following paths have collided (e.g. case-sensitive paths\non a case-insensitive \
         filesystem) and only one from the same\ncolliding group is in the working tree:\n\n{list}"
    )
}

/// The note that no branch is checked out, with git's advice.
pub fn detached(name: &str) -> String {
    format!("Note: switching to '{name}'.\n\n{DETACHED_ADVICE}")
}
