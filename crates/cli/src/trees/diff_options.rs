//! The options of `diff-files`, `diff-index` and `stash show`: git-diff-files(1),
//! git-diff-index(1), git-stash(1).

use crate::git_options::{GitOption, GitOptions};

/// How many options all have.
const COUNT: usize = 70;

pub const DIFF_FILES: GitOptions = GitOptions {
    command: "diff-files",
    keeps_separator: true,
    options: &joined::<6, { COUNT + 6 }>([
        // Git takes it, too, and lists files that are gone nevertheless.
        GitOption::letter(b'q', "silent").by_default(),
        GitOption::letter(b'u', "patch"),
        GitOption::letter(b'0', "unmerged"),
        GitOption::switch(Some(b'1'), "base").never_negated(),
        GitOption::switch(Some(b'2'), "ours").never_negated(),
        GitOption::switch(Some(b'3'), "theirs").never_negated(),
    ]),
};

pub const DIFF_INDEX: GitOptions = GitOptions {
    command: "diff-index",
    keeps_separator: true,
    options: &joined::<4, { COUNT + 4 }>([
        GitOption::letter(b'u', "patch"),
        GitOption::switch(None, "cached").never_negated(),
        GitOption::letter(b'm', "match-missing"),
        GitOption::switch(None, "merge-base").refused("--merge-base <commit>"),
    ]),
};

/// `stash show`, where `-u` is about untracked files.
pub const STASH_SHOW: GitOptions = GitOptions {
    command: "stash show",
    keeps_separator: false,
    options: &joined::<2, { COUNT + 2 }>([
        GitOption::switch(Some(b'u'), "include-untracked")
            .or_not()
            .taking_back(&["only-untracked"]),
        GitOption::switch(None, "only-untracked").never_negated(),
    ]),
};

/// The options of all commands that show differences.
const COMMON: [GitOption; COUNT] = [
    GitOption::switch(None, "quiet").never_negated(),
    GitOption::switch(None, "exit-code"),
    GitOption::switch(None, "name-only").never_negated(),
    GitOption::switch(None, "name-status").never_negated(),
    GitOption::switch(None, "raw").never_negated(),
    GitOption::letter(b'z', "null"),
    GitOption::letter(b'R', "reverse"),
    valued("diff-filter"),
    GitOption::switch(None, "abbrev")
        .with_optional_value()
        .or_not(),
    optional("ignore-submodules"),
    GitOption::switch(Some(b'p'), "patch").never_negated(),
    GitOption::switch(Some(b's'), "no-patch")
        .never_negated()
        .taking_back(&["name-only", "name-status"]),
    GitOption::switch(Some(b'U'), "unified")
        .never_negated()
        .with_optional_value(),
    optional("stat"),
    valued("stat-width"),
    valued("stat-name-width"),
    valued("stat-graph-width"),
    valued("stat-count").refused("--stat-count=<n>"),
    GitOption::switch(None, "compact-summary"),
    GitOption::switch(None, "numstat").never_negated(),
    GitOption::switch(None, "shortstat").never_negated(),
    GitOption::switch(None, "summary").never_negated(),
    GitOption::switch(None, "patch-with-stat").never_negated(),
    GitOption::switch(None, "patch-with-raw").never_negated(),
    GitOption::switch(Some(b'M'), "find-renames")
        .never_negated()
        .with_optional_value(),
    GitOption::switch(Some(b'C'), "find-copies")
        .never_negated()
        .with_optional_value(),
    GitOption::switch(None, "no-renames").never_negated(),
    GitOption::letter(b'l', "rename-limit").with_value(),
    GitOption::switch(None, "full-index"),
    GitOption::switch(Some(b'a'), "text"),
    valued("inter-hunk-context"),
    valued("src-prefix"),
    valued("dst-prefix"),
    GitOption::switch(None, "no-prefix").never_negated(),
    GitOption::switch(None, "default-prefix").never_negated(),
    GitOption::switch(None, "minimal"),
    GitOption::switch(None, "patience").refused("--patience"),
    GitOption::switch(None, "histogram").never_negated(),
    valued("diff-algorithm"),
    GitOption::switch(None, "indent-heuristic").or_not(),
    GitOption::switch(None, "no-color").never_negated(),
    GitOption::switch(None, "no-ext-diff")
        .never_negated()
        .by_default(),
    GitOption::switch(None, "no-textconv")
        .never_negated()
        .by_default(),
    GitOption::switch(None, "binary").refused("--binary"),
    GitOption::switch(None, "check").refused("--check"),
    optional("relative").refused("--relative"),
    GitOption::switch(None, "cc").refused("--cc"),
    GitOption::switch(Some(b'c'), "combined").refused("-c"),
    GitOption::switch(None, "find-copies-harder").refused("--find-copies-harder"),
    GitOption::switch(Some(b'B'), "break-rewrites")
        .with_optional_value()
        .refused("-B"),
    GitOption::switch(Some(b'D'), "irreversible-delete").refused("-D"),
    GitOption::switch(Some(b'S'), "pickaxe")
        .with_value()
        .refused("-S<string>"),
    GitOption::switch(Some(b'G'), "pickaxe-regex")
        .with_value()
        .refused("-G<regex>"),
    GitOption::switch(Some(b'O'), "order-file")
        .with_value()
        .refused("-O<file>"),
    GitOption::switch(Some(b'w'), "ignore-all-space").refused("-w"),
    GitOption::switch(Some(b'b'), "ignore-space-change").refused("-b"),
    GitOption::switch(None, "ignore-space-at-eol").refused("--ignore-space-at-eol"),
    GitOption::switch(None, "ignore-cr-at-eol").refused("--ignore-cr-at-eol"),
    GitOption::switch(None, "ignore-blank-lines").refused("--ignore-blank-lines"),
    GitOption::switch(Some(b'I'), "ignore-matching-lines")
        .with_value()
        .refused("-I<regex>"),
    GitOption::switch(Some(b'W'), "function-context").refused("-W"),
    optional("word-diff").refused("--word-diff"),
    optional("color-words").refused("--color-words"),
    optional("color-moved").refused("--color-moved"),
    optional("submodule").refused("--submodule"),
    optional("dirstat").refused("--dirstat"),
    GitOption::switch(None, "ext-diff")
        .never_negated()
        .refused("--ext-diff"),
    GitOption::switch(None, "textconv")
        .never_negated()
        .refused("--textconv"),
    valued("line-prefix").refused("--line-prefix=<prefix>"),
    valued("output").refused("--output=<file>"),
];

const fn valued(name: &'static str) -> GitOption {
    GitOption::switch(None, name).never_negated().with_value()
}

const fn optional(name: &'static str) -> GitOption {
    GitOption::switch(None, name)
        .never_negated()
        .with_optional_value()
}

/// A command's own options and those of all.
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
