//! A command that hedgerow does not have: whose it is, or what it was perhaps meant to be.

use crate::arguments::Arguments;
use crate::failure::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::CommandFactory;

/// Git's commands that people type, as far as hedgerow has none of that name.
const OF_GIT: &str = "\
    add am apply bisect blame branch bundle cherry cherry-pick citool commit commit-tree \
    config count-objects describe diff diff-tree difftool for-each-ref format-patch fsck \
    gc grep gui hash-object init lfs log ls-remote ls-tree merge-base mergetool mv notes pull \
    push range-diff rebase reflog remote rerere rev-parse revert rm shortlog show show-branch \
    show-ref tag unpack-objects update-index update-ref upload-pack var write-tree";

/// Whether the error is about a command of hedgerow that does not exist, not one of a command's own.
pub fn is_command(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::InvalidSubcommand
        && name(error).is_some_and(|name| {
            // The commands of a command are named in its usage.
            let usage = match error.get(ContextKind::Usage) {
                Some(ContextValue::StyledStr(usage)) => usage.to_string(),
                _ => String::new(),
            };
            !name.is_empty() && usage.contains("hedgerow [OPTIONS]")
        })
}

/// The error with a hint: git's command, or one of hedgerow's that is spelled alike.
pub fn failure(error: &clap::Error) -> Failure {
    let name = name(error).unwrap_or_default();
    let known = Arguments::command();
    let visible = known
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    let alike = visible
        .map(|command| command.get_name())
        .min_by_key(|other| distance(other))
        .filter(|other| distance(other) <= 1 + name.len() / 4);
    let hint = match alike {
        _ if OF_GIT.split(' ').any(|it| it == name) => format!("use git: git {name}"),
        Some(alike) => format!("did you mean 'hedgerow {alike}'?"),
        None => "'hedgerow help' lists the commands".to_owned(),
    };
    Failure {
        hint: Some(hint),
        ..Failure::usage(format_args!("'{name}' is not a command of hedgerow"))
    }
}

fn name(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn told(line: &str) -> Option<(String, Option<String>)> {
        let error = Arguments::try_parse_from(line.split(' ')).unwrap_err();
        let failure = is_command(&error).then(|| failure(&error))?;
        Some((failure.message, failure.hint))
    }

    #[test]
    fn what_was_meant_is_told() {
        for (line, hint) in [
            ("hedgerow add .", "use git: git add"),
            ("hedgerow -q checkot x", "did you mean 'hedgerow checkout'?"),
            ("hedgerow stauts", "did you mean 'hedgerow status'?"),
            ("hedgerow frobnicate", "'hedgerow help' lists the commands"),
        ] {
            assert_eq!(told(line).unwrap().1.as_deref(), Some(hint), "{line}");
        }
        assert_eq!(told("hedgerow image lst"), None);
    }

    #[test]
    fn no_command_of_git_is_one_of_ours() {
        let known = Arguments::command();
        for name in OF_GIT.split(' ') {
            assert!(known.find_subcommand(name).is_none(), "{name}");
        }
    }
}
