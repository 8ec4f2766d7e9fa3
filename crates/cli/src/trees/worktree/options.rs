//! The options of the subcommands of `worktree`: git-worktree(1).

use super::expiry;
use crate::git_options::{GitOption, GitOptions};

/// The options of the subcommand `name`, if there is one.
pub fn options(name: &[u8]) -> Option<&'static GitOptions> {
    SUBCOMMANDS
        .iter()
        .find(|(known, _)| known.as_bytes() == name)
        .map(|(_, options)| options)
}

const RELATIVE_PATHS: GitOption = GitOption::switch(None, "relative-paths").or_not();
const FORCE: GitOption = GitOption::switch(Some(b'f'), "force");
const REASON: GitOption = GitOption::switch(None, "reason").with_value();
const EXPIRE: GitOption =
    GitOption::switch(None, "expire").with_checked_value(|date| Ok(expiry(Some(date)).map(drop)?));

const fn of(command: &'static str, options: &'static [GitOption]) -> GitOptions {
    GitOptions {
        command,
        keeps_separator: false,
        options,
    }
}

const SUBCOMMANDS: [(&str, GitOptions); 8] = [
    (
        "add",
        of(
            "worktree add",
            &[
                FORCE,
                GitOption::letter(b'b', "new-branch").with_value(),
                GitOption::letter(b'B', "reset-branch").with_value(),
                GitOption::switch(None, "orphan"),
                GitOption::switch(Some(b'd'), "detach"),
                GitOption::switch(None, "checkout").by_default().or_not(),
                GitOption::switch(None, "lock"),
                GitOption::switch(None, "mount").or_not(),
                REASON,
                GitOption::switch(None, "track").or_not(),
                GitOption::switch(None, "guess-remote").or_not(),
                RELATIVE_PATHS,
            ],
        ),
    ),
    (
        "list",
        of(
            "worktree list",
            &[
                GitOption::switch(None, "porcelain"),
                EXPIRE,
                GitOption::letter(b'z', "null"),
            ],
        ),
    ),
    ("lock", of("worktree lock", &[REASON])),
    ("move", of("worktree move", &[FORCE, RELATIVE_PATHS])),
    (
        "prune",
        of(
            "worktree prune",
            &[GitOption::switch(Some(b'n'), "dry-run"), EXPIRE],
        ),
    ),
    ("remove", of("worktree remove", &[FORCE])),
    ("repair", of("worktree repair", &[RELATIVE_PATHS])),
    ("unlock", of("worktree unlock", &[])),
];
