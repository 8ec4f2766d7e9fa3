//! A command that hedgerow does not have: whose it is, or what it was perhaps meant to be.

use crate::arguments::Arguments;
use crate::failure::Failure;
use clap::error::{ContextKind, ContextValue};
use clap::CommandFactory;

/// Git's commands that people type, as far as hedgerow has none of that name.
const OF_GIT: &str = "\
    add am apply bisect blame branch bundle cherry cherry-pick citool commit commit-tree \
    config count-objects describe diff diff-tree difftool for-each-ref format-patch fsck \
    gc grep gui hash-object init lfs log ls-remote ls-tree merge-base mergetool mv notes pull \
    push range-diff rebase reflog remote rerere rev-parse revert rm shortlog show show-branch \
    show-ref tag unpack-objects update-index update-ref upload-pack var write-tree";

/// Whether the error is about a command of hedgerow that does not exist, not one of a command's own.
/// `command` is the first word that is no option.
pub fn is_command(error: &clap::Error, command: Option<&str>) -> bool {
    let is_first = name(error).is_some_and(|name| !name.is_empty() && command == Some(name));
    is_first && command.is_some_and(|name| Arguments::command().find_subcommand(name).is_none())
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
        let mut words = line.split(' ').skip(1);
        let command = words.find(|word| !word.starts_with('-'));
        let failure = is_command(&error, command).then(|| failure(&error))?;
        Some((failure.message, failure.hint))
    }

    #[test]
    fn what_was_meant_is_told() {
        for (line, hint) in [
            ("hedgerow add .", "use git: git add"),
            ("hedgerow -q checkot x", "did you mean 'hedgerow checkout'?"),
            (
                "hedgerow --json bisct",
                "'hedgerow help' lists the commands",
            ),
            ("hedgerow stauts", "did you mean 'hedgerow status'?"),
            ("hedgerow frobnicate", "'hedgerow help' lists the commands"),
        ] {
            assert_eq!(told(line).unwrap().1.as_deref(), Some(hint), "{line}");
        }
        assert_eq!(told("hedgerow image lst"), None);
        assert_eq!(told("hedgerow image image"), None);
    }

    #[test]
    fn no_command_of_git_is_one_of_ours() {
        let known = Arguments::command();
        for name in OF_GIT.split(' ') {
            assert!(known.find_subcommand(name).is_none(), "{name}");
        }
    }
}
