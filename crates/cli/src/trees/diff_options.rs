//! The options of `diff-files` and `diff-index`: git-diff-files(1), git-diff-index(1).

use crate::git_options::{GitOption, GitOptions};

pub const DIFF_FILES: GitOptions = GitOptions {
    command: "diff-files",
    keeps_separator: true,
    options: &joined::<4, 29>([
        GitOption::letter(b'q', "silent").refused("-q"),
        GitOption::switch(Some(b'0'), "base").refused("--base"),
        GitOption::switch(Some(b'2'), "ours").refused("--ours"),
        GitOption::switch(Some(b'3'), "theirs").refused("--theirs"),
    ]),
};

pub const DIFF_INDEX: GitOptions = GitOptions {
    command: "diff-index",
    keeps_separator: true,
    options: &joined::<3, 28>([
        GitOption::switch(None, "cached").never_negated(),
        GitOption::letter(b'm', "match-missing"),
        GitOption::switch(None, "merge-base").refused("--merge-base <commit>"),
    ]),
};

/// The options of both.
const COMMON: [GitOption; 25] = [
    GitOption::switch(None, "quiet").never_negated(),
    GitOption::switch(None, "exit-code"),
    GitOption::switch(None, "name-only").never_negated(),
    GitOption::switch(None, "name-status").never_negated(),
    GitOption::switch(None, "raw").never_negated(),
    GitOption::letter(b'z', "null"),
    GitOption::letter(b'R', "reverse"),
    GitOption::switch(None, "diff-filter")
        .never_negated()
        .with_value(),
    GitOption::switch(None, "abbrev")
        .with_optional_value()
        .or_not(),
    GitOption::switch(None, "ignore-submodules")
        .never_negated()
        .with_optional_value(),
    GitOption::switch(Some(b'p'), "patch").refused("-p"),
    GitOption::switch(Some(b'u'), "unified").refused("-p"),
    GitOption::switch(None, "stat")
        .with_optional_value()
        .refused("--stat"),
    GitOption::switch(None, "numstat").refused("--numstat"),
    GitOption::switch(None, "shortstat").refused("--shortstat"),
    GitOption::switch(None, "summary").refused("--summary"),
    GitOption::switch(None, "check").refused("--check"),
    GitOption::switch(None, "relative")
        .with_optional_value()
        .refused("--relative"),
    GitOption::switch(None, "cc").refused("--cc"),
    GitOption::switch(Some(b'c'), "combined").refused("-c"),
    GitOption::switch(Some(b'M'), "find-renames")
        .with_optional_value()
        .refused("-M"),
    GitOption::switch(Some(b'C'), "find-copies")
        .with_optional_value()
        .refused("-C"),
    GitOption::switch(Some(b'B'), "break-rewrites")
        .with_optional_value()
        .refused("-B"),
    GitOption::switch(Some(b'S'), "pickaxe")
        .with_value()
        .refused("-S<string>"),
    GitOption::switch(Some(b'G'), "pickaxe-regex")
        .with_value()
        .refused("-G<regex>"),
];

/// A command's own options and those of both.
const fn joined<const OWN: usize, const ALL: usize>(own: [GitOption; OWN]) -> [GitOption; ALL] {
    assert!(OWN + COMMON.len() == ALL, "each option has a place");
    let mut all = [COMMON[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < OWN { own[at] } else { COMMON[at - OWN] };
        at += 1;
    }
    all
}
