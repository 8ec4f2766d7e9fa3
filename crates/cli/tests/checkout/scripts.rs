//! What git's own test scripts found: each mend has its own small test, with git in the twin.

use crate::support::{Pair, Repository};

fn origin() -> Repository {
    let repository = Repository::init(&["-b", "main"]);
    for path in ["one", "two", "d/three"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    repository.write("two", "changed\n");
    repository.commit("second");
    repository
}

/// Git warns, and goes on without a working tree.
#[test]
fn a_bare_repository_with_a_working_tree_has_none() {
    let mut pair = Pair::of(&origin(), "bare");
    pair.each("settings", |it| {
        it.git(&["config", "core.worktree", ".."]);
        it.git(&["config", "core.bare", "true"]);
    });
    for (words, code) in [
        (&["rev-list", "--count", "HEAD"][..], 0),
        (&["cat-file", "-t", "HEAD"], 0),
        (&["ls-files"], 0),
        (&["reset", "--soft", "HEAD"], 0),
        (&["reset"], 128),
        (&["status"], 128),
        (&["checkout", "main"], 128),
        (&["clean", "-n"], 128),
        (&["stash"], 128),
        (&["merge", "--ff-only", "main"], 128),
    ] {
        assert_eq!(pair.both(words[0], "", &words[1..], &[]).code, code);
    }
}
