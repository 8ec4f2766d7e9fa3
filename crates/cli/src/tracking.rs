//! How a branch stands to the one it follows, in git's words.

use hedgerow_git::repository::{Repository, Tracking};
use hedgerow_git::Error;

/// The words. Commits that were not counted (`tracking_difference`) are not told.
pub fn words(repository: &Repository, tracking: &Tracking, counted: bool) -> Result<String, Error> {
    let name = repository.shorten_reference(tracking.upstream.tracking.as_ref());
    let plural = |count: usize| if count == 1 { "commit" } else { "commits" };
    let (text, hint) = match (tracking.is_gone, tracking.ahead, tracking.behind) {
        (true, ..) => (
            format!("Your branch is based on '{name}', but the upstream is gone.\n"),
            "  (use \"git branch --unset-upstream\" to fixup)\n",
        ),
        (_, 0, 0) => (format!("Your branch is up to date with '{name}'.\n"), ""),
        _ if !counted => (
            format!("Your branch and '{name}' refer to different commits.\n"),
            "  (use \"git status --ahead-behind\" for details)\n",
        ),
        (_, ahead, 0) => (
            format!(
                "Your branch is ahead of '{name}' by {ahead} {}.\n",
                plural(ahead)
            ),
            "  (use \"git push\" to publish your local commits)\n",
        ),
        (_, 0, behind) => (
            format!(
                "Your branch is behind '{name}' by {behind} {}, and can be fast-forwarded.\n",
                plural(behind)
            ),
            "  (use \"git pull\" to update your local branch)\n",
        ),
        (_, ahead, behind) => (
            format!(
                "Your branch and '{name}' have diverged,\nand have {ahead} and {behind} different \
                 commits each, respectively.\n"
            ),
            "  (use \"git pull\" if you want to integrate the remote branch with yours)\n",
        ),
    };
    Ok(match repository.advises("statusHints")? {
        true => text + hint,
        false => text,
    })
}
