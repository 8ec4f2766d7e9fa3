//! The options of the subcommands of `sparse-checkout`: git-sparse-checkout(1).

use crate::git_options::{GitOption, GitOptions};

/// The options of the subcommand `name`, if there is one.
pub fn options(name: &[u8]) -> Option<&'static GitOptions> {
    SUBCOMMANDS
        .iter()
        .find(|(known, _)| known.as_bytes() == name)
        .map(|(_, options)| options)
}

const CONE: GitOption = GitOption::switch(None, "cone").or_not();
const SPARSE_INDEX: GitOption = GitOption::switch(None, "sparse-index").or_not();
const SKIP_CHECKS: GitOption = GitOption::switch(None, "skip-checks").never_negated();
const STDIN: GitOption = GitOption::switch(None, "stdin");

const fn of(command: &'static str, options: &'static [GitOption]) -> GitOptions {
    GitOptions {
        command,
        keeps_separator: false,
        options,
    }
}

const SUBCOMMANDS: [(&str, GitOptions); 8] = [
    ("init", of("sparse-checkout init", &[CONE, SPARSE_INDEX])),
    ("list", of("sparse-checkout list", &[])),
    (
        "set",
        of(
            "sparse-checkout set",
            &[CONE, SPARSE_INDEX, SKIP_CHECKS, STDIN.never_negated()],
        ),
    ),
    ("add", of("sparse-checkout add", &[SKIP_CHECKS, STDIN])),
    (
        "reapply",
        of("sparse-checkout reapply", &[CONE, SPARSE_INDEX]),
    ),
    ("disable", of("sparse-checkout disable", &[])),
    (
        "clean",
        of(
            "sparse-checkout clean",
            &[
                GitOption::switch(Some(b'n'), "dry-run"),
                GitOption::switch(Some(b'f'), "force"),
            ],
        ),
    ),
    (
        "check-rules",
        of(
            "sparse-checkout check-rules",
            &[
                GitOption::letter(b'z', "null"),
                CONE,
                GitOption::switch(None, "rules-file").with_value(),
            ],
        ),
    ),
];
