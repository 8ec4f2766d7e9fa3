//! The options of `checkout`, `switch` and `restore`: git-checkout(1), git-switch(1),
//! git-restore(1).

use super::merge_options::conflict_style;
use super::recurse_submodules::RECURSE_SUBMODULES;
use crate::git_options::{GitOption, GitOptions};

/// `--guess`, also with `--no-`.
const GUESS: GitOption = GitOption::switch(None, "guess").or_not();
/// `--overlay`, also with `--no-`.
const OVERLAY: GitOption = GitOption::switch(None, "overlay").or_not();
const MERGE: GitOption = GitOption::switch(Some(b'm'), "merge").or_not();
const CONFLICT: GitOption =
    GitOption::switch(None, "conflict").with_checked_value(|name| conflict_style(name).map(drop));
const DETACH: GitOption = GitOption::switch(Some(b'd'), "detach");
const TRACK: GitOption = GitOption::switch(Some(b't'), "track")
    .with_optional_value()
    .or_not();
const FORCE: GitOption = GitOption::switch(Some(b'f'), "force");
const ORPHAN: GitOption = GitOption::switch(None, "orphan").with_value();
const OVERWRITE_IGNORE: GitOption = GitOption::switch(None, "overwrite-ignore")
    .by_default()
    .or_not();
const IGNORE_OTHER_WORKTREES: GitOption = GitOption::switch(None, "ignore-other-worktrees");
const OURS: GitOption = GitOption::switch(Some(b'2'), "ours").never_negated();
const THEIRS: GitOption = GitOption::switch(Some(b'3'), "theirs").never_negated();
const PATCH: GitOption = GitOption::switch(Some(b'p'), "patch").refused("--patch ...");
const UNIFIED: GitOption = GitOption::switch(Some(b'U'), "unified")
    .never_negated()
    .with_value()
    .refused("--patch --unified=<n>");
const INTER_HUNK_CONTEXT: GitOption = GitOption::switch(None, "inter-hunk-context")
    .never_negated()
    .with_value()
    .refused("--patch --inter-hunk-context=<n>");
const IGNORE_SKIP_WORKTREE_BITS: GitOption = GitOption::switch(None, "ignore-skip-worktree-bits");
const PATHSPEC_FROM_FILE: GitOption = GitOption::switch(None, "pathspec-from-file").with_value();
const PATHSPEC_FILE_NUL: GitOption = GitOption::switch(None, "pathspec-file-nul");

pub const CHECKOUT: GitOptions = GitOptions {
    command: "checkout",
    keeps_separator: true,
    options: &[
        GitOption::letter(b'b', "new-branch").with_value(),
        GitOption::letter(b'B', "reset-branch").with_value(),
        GitOption::letter(b'l', "log"),
        GUESS,
        OVERLAY,
        GitOption::switch(None, "auto-advance")
            .by_default()
            .negation_refused("--no-auto-advance --patch"),
        RECURSE_SUBMODULES,
        MERGE,
        CONFLICT,
        DETACH,
        TRACK,
        FORCE,
        ORPHAN,
        OVERWRITE_IGNORE,
        IGNORE_OTHER_WORKTREES,
        OURS,
        THEIRS,
        PATCH,
        UNIFIED,
        INTER_HUNK_CONTEXT,
        IGNORE_SKIP_WORKTREE_BITS,
        PATHSPEC_FROM_FILE,
        PATHSPEC_FILE_NUL,
    ],
};

pub const SWITCH: GitOptions = GitOptions {
    command: "switch",
    keeps_separator: false,
    options: &[
        GitOption::switch(Some(b'c'), "create").with_value(),
        GitOption::switch(Some(b'C'), "force-create").with_value(),
        GUESS,
        GitOption::switch(None, "discard-changes"),
        RECURSE_SUBMODULES,
        MERGE,
        CONFLICT,
        DETACH,
        TRACK,
        FORCE,
        ORPHAN,
        OVERWRITE_IGNORE,
        IGNORE_OTHER_WORKTREES,
    ],
};

pub const RESTORE: GitOptions = GitOptions {
    command: "restore",
    keeps_separator: false,
    options: &[
        GitOption::switch(Some(b's'), "source").with_value(),
        GitOption::switch(Some(b'S'), "staged").or_not(),
        GitOption::switch(Some(b'W'), "worktree").or_not(),
        GitOption::switch(None, "ignore-unmerged"),
        OVERLAY,
        RECURSE_SUBMODULES,
        MERGE,
        CONFLICT,
        OURS,
        THEIRS,
        PATCH,
        UNIFIED,
        INTER_HUNK_CONTEXT,
        IGNORE_SKIP_WORKTREE_BITS,
        PATHSPEC_FROM_FILE,
        PATHSPEC_FILE_NUL,
    ],
};
