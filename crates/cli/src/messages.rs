//! Git's messages after a checkout.

use crate::output::Output;
use bstr::{BStr, BString, ByteSlice};
use hedgerow::checkout::{short, Reason, Rejects, Switched, Target};
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

/// The paths that prevent a checkout.
pub fn rejected(rejects: &Rejects, output: &Output) {
    for (reason, paths) in rejects.by_reason() {
        let (before, after) = reason.words();
        let list: String = paths.iter().map(|path| format!("\t{path}\n")).collect();
        output.error(format_args!("{before}\n{list}{after}"));
    }
    output.error_line("Aborting");
}

/// The path that prevents a forced checkout: git names only the first.
pub fn rejected_by_force(rejects: &Rejects, output: &Output) {
    for (reason, paths) in rejects.by_reason().iter().take(1) {
        let path = paths
            .first()
            .map(|path| path.to_string())
            .unwrap_or_default();
        output.error(match reason {
            Reason::CurrentDirectory => {
                format!("Refusing to remove '{path}' since it is the current working directory.")
            }
            _ => format!("Entry '{path}' not uptodate. Cannot merge."),
        });
    }
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
    let Some(commit) = target.commit else {
        return Ok(String::new());
    };
    if let Head::Detached { id } = &switched.old {
        if *id != commit {
            left_detached(repository, id, &commit, output)?;
        }
    }
    if target.head_stays {
        let branch = switched.old.branch();
        return branch.map_or(Ok(String::new()), |branch| {
            tracking(repository, branch, output)
        });
    }
    let Some(branch) = &target.branch else {
        let was_branch = switched.old.branch().is_some();
        if was_branch && !force_detach && repository.advises("detachedHead")? {
            output.say(format_args!(
                "Note: switching to '{}'.\n\n{DETACHED_ADVICE}",
                target.name
            ));
        }
        describe(repository, "HEAD is now at", &commit, output)?;
        return Ok(String::new());
    };
    if switched.old.branch() == Some(branch.as_bstr()) {
        output.say(format_args!("Already on '{}'", short(branch.as_bstr())));
    } else if target.from_remote.is_some() {
        output.say(format_args!(
            "Switched to a new branch '{}'",
            short(branch.as_bstr())
        ));
    } else {
        output.say(format_args!(
            "Switched to branch '{}'",
            short(branch.as_bstr())
        ));
    }
    let text = tracking(repository, branch.as_bstr(), output)?;
    Ok(match &target.from_remote {
        Some(upstream) => format!(
            "branch '{}' set up to track '{}'.\n{text}",
            short(branch.as_bstr()),
            short_tracking(upstream.tracking.as_bstr())
        ),
        None => text,
    })
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
    let subject = repository.commit(id)?.subject();
    let wish = crate::environment::variable("GIT_PRINT_SHA1_ELLIPSIS");
    let ellipsis = if wish.is_some_and(|wish| wish.eq_ignore_ascii_case("yes")) {
        "..."
    } else {
        ""
    };
    let id = repository.short_id(id)?;
    output.say(format_args!("{words} {id}{ellipsis} {subject}"));
    Ok(())
}

/// Reports the commit that a detached HEAD leaves, with a warning if no branch reaches it.
fn left_detached(
    repository: &Repository,
    old: &hedgerow::ObjectId,
    new: &hedgerow::ObjectId,
    output: &Output,
) -> Result<(), Error> {
    let orphans = repository.orphaned_commits(old, Some(new))?;
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

fn short_tracking(name: &BStr) -> &BStr {
    let rest = name
        .strip_prefix(b"refs/remotes/")
        .or_else(|| name.strip_prefix(b"refs/heads/"));
    rest.map_or(name, |rest| rest.as_bstr())
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
