//! Git's advice: git-config(1) under `advice.*`.

use crate::failure::Failure;
use crate::output::Output;
use hedgerow::checkout::Form;
use hedgerow::repository::{Error, Repository};

/// How to name the branch of one of several remotes; git prints it before the error.
pub fn about_remotes(repository: &Repository, form: Form, output: &Output) {
    let is_advised = repository.advises("checkoutAmbiguousRemoteBranchName");
    if !is_advised.unwrap_or(true) {
        return;
    }
    let command = match form {
        Form::Checkout => "checkout",
        Form::Switch => "switch",
    };
    output.advise(&format!(
        "\
If you meant to check out a remote tracking branch on, e.g. 'origin',
you can do so by fully qualifying the name with the --track option:

    git {command} --track origin/<name>

If you'd like to always have checkouts of an ambiguous <name> prefer
one remote, e.g. the 'origin' remote, consider setting
checkout.defaultRemote=origin in your config."
    ));
}

/// The failure, with git's advice about the error.
pub fn failure(repository: &Repository, error: Error) -> Failure {
    let advice = match &error {
        Error::NoBranch { .. } => Some((
            "suggestDetachingHead",
            "If you want to detach HEAD at the commit, try again with the --detach option.".into(),
        )),
        Error::BranchName { .. } => Some((
            "refSyntax",
            with_switch(
                repository,
                "refSyntax",
                "See 'git help check-ref-format'".into(),
            ),
        )),
        Error::MissingUpstream { .. } => Some((
            "setUpstreamFailure",
            with_switch(repository, "setUpstreamFailure", MISSING_UPSTREAM.into()),
        )),
        Error::AmbiguousTracking { tracking, remotes } => {
            let list: String = remotes.iter().map(|name| format!("  {name}\n")).collect();
            Some((
                "ambiguousFetchRefspec",
                format!(
                    "\
There are multiple remotes whose fetch refspecs map to the remote
tracking ref '{tracking}':
{list}
This is typically a configuration error.

To support setting up tracking branches, ensure that
different remotes' fetch refspecs map into different
tracking namespaces."
                ),
            ))
        }
        _ => None,
    };
    let is_advised = |key: &str| repository.advises(key).unwrap_or(true);
    let advice = advice.filter(|(key, _)| is_advised(key));
    Failure {
        advice: advice.map(|(_, text)| text),
        ..error.into()
    }
}

const MISSING_UPSTREAM: &str = "
If you are planning on basing your work on an upstream
branch that already exists at the remote, you may need to
run \"git fetch\" to retrieve it.

If you are planning to push out a new local branch that
will track its remote counterpart, you may want to use
\"git push -u\" to set the upstream config as you push.";

/// The text, and how to turn it off where nothing is configured.
pub fn with_switch(repository: &Repository, key: &str, text: String) -> String {
    let configured = repository.config().bool(&format!("advice.{key}"));
    if configured.is_ok_and(|configured| configured.is_some()) {
        text
    } else {
        format!("{text}\nDisable this message with \"git config set advice.{key} false\"")
    }
}
