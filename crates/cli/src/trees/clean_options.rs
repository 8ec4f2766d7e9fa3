//! The options of `clean`: git-clean(1).

use crate::git_options::{GitOption, GitOptions};

pub const CLEAN: GitOptions = GitOptions {
    command: "clean",
    keeps_separator: false,
    options: &[
        GitOption::switch(Some(b'n'), "dry-run"),
        GitOption::switch(Some(b'f'), "force"),
        GitOption::switch(Some(b'i'), "interactive").refused("-i [<pathspec>...]"),
        GitOption::letter(b'd', "directories"),
        GitOption::switch(Some(b'e'), "exclude")
            .never_negated()
            .with_value(),
        GitOption::letter(b'x', "with-ignored"),
        GitOption::letter(b'X', "only-ignored"),
    ],
};
