//! The options of `ls-files`: git-ls-files(1).

use crate::git_options::{GitOption, GitOptions};

pub const LS_FILES: GitOptions = GitOptions {
    command: "ls-files",
    keeps_separator: false,
    options: &[
        GitOption::letter(b'z', "null"),
        GitOption::letter(b't', "tags"),
        GitOption::letter(b'v', "mark-assumed"),
        GitOption::letter(b'f', "mark-monitored"),
        GitOption::switch(Some(b'c'), "cached"),
        GitOption::switch(Some(b'd'), "deleted"),
        GitOption::switch(Some(b'm'), "modified"),
        GitOption::switch(Some(b'o'), "others"),
        GitOption::switch(Some(b'i'), "ignored"),
        GitOption::switch(Some(b's'), "stage"),
        GitOption::switch(Some(b'k'), "killed"),
        GitOption::switch(None, "directory"),
        GitOption::switch(None, "eol"),
        GitOption::switch(None, "empty-directory")
            .by_default()
            .or_not(),
        GitOption::switch(Some(b'u'), "unmerged"),
        GitOption::switch(None, "resolve-undo"),
        GitOption::switch(Some(b'x'), "exclude")
            .never_negated()
            .with_value(),
        GitOption::switch(Some(b'X'), "exclude-from")
            .never_negated()
            .with_value(),
        GitOption::switch(None, "exclude-per-directory").with_value(),
        GitOption::switch(None, "exclude-standard").never_negated(),
        GitOption::switch(None, "full-name").never_negated(),
        GitOption::switch(None, "recurse-submodules").refused("--recurse-submodules"),
        GitOption::switch(None, "error-unmatch"),
        GitOption::switch(None, "with-tree")
            .with_value()
            .refused("--with-tree=<tree-ish>"),
        GitOption::switch(None, "abbrev").with_optional_value(),
        GitOption::switch(None, "debug").refused("--debug"),
        GitOption::switch(None, "deduplicate"),
        GitOption::switch(None, "sparse"),
        GitOption::switch(None, "format")
            .never_negated()
            .with_value(),
    ],
};
