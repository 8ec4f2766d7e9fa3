//! How a branch compares with its upstream and push branches, in git's words.

use bstr::BStr;
use hedgerow::numbers::noun_for;
use hedgerow::repository::Error;
use hedgerow::repository::{Comparison, Repository, Tracking};

/// The sentences about the branch with the full name `branch`; empty if it is compared with none.
/// Commits that were not `counted` are not mentioned.
pub fn words(
    repository: &Repository,
    branch: &BStr,
    upstream: Option<&Tracking>,
    counted: bool,
    warn: &mut dyn FnMut(String),
) -> Result<String, Error> {
    let mut words = String::new();
    let advises = repository.advises("statusHints")?;
    for comparison in repository.comparisons(branch, upstream, counted, warn)? {
        if !words.is_empty() && !comparison.is_gone {
            words.push('\n');
        }
        let name = repository.shorten_reference(comparison.with.as_ref());
        words += &sentence(&comparison, &name.to_string(), counted);
        if let Some(hint) = hint(&comparison, counted).filter(|_| advises) {
            words += &format!("  ({hint})\n");
        }
    }
    Ok(words)
}

fn sentence(comparison: &Comparison, name: &str, counted: bool) -> String {
    let plural = |count: usize| noun_for(count as u64, "commit");
    match (comparison.is_gone, comparison.ahead, comparison.behind) {
        (true, ..) => format!("Your branch is based on '{name}', but the upstream is gone.\n"),
        (_, 0, 0) => format!("Your branch is up to date with '{name}'.\n"),
        _ if !counted => format!("Your branch and '{name}' refer to different commits.\n"),
        (_, ahead, 0) => format!(
            "Your branch is ahead of '{name}' by {ahead} {}.\n",
            plural(ahead)
        ),
        (_, 0, behind) => format!(
            "Your branch is behind '{name}' by {behind} {}, and can be fast-forwarded.\n",
            plural(behind)
        ),
        (_, ahead, behind) => format!(
            "Your branch and '{name}' have diverged,\nand have {ahead} and {behind} different \
             commits each, respectively.\n"
        ),
    }
}

/// The advice for this state.
fn hint(comparison: &Comparison, counted: bool) -> Option<String> {
    let may_push = comparison.is_pushed_to;
    let pull = match &comparison.pulled_from {
        Some((remote, name)) => Some(format!("use \"git pull {remote} {name}\"")),
        None => comparison
            .is_upstream
            .then(|| "use \"git pull\"".to_owned()),
    };
    match (comparison.is_gone, comparison.ahead, comparison.behind) {
        (true, ..) => Some("use \"git branch --unset-upstream\" to fixup".into()),
        (_, 0, 0) => None,
        _ if !counted => may_push.then(|| "use \"git status --ahead-behind\" for details".into()),
        (_, _, 0) => may_push.then(|| "use \"git push\" to publish your local commits".into()),
        (_, 0, _) => pull.map(|pull| format!("{pull} to update your local branch")),
        _ if !comparison.is_upstream => None,
        _ => {
            pull.map(|pull| format!("{pull} if you want to integrate the remote branch with yours"))
        }
    }
}
