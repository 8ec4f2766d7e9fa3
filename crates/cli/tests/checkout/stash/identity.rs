//! Who makes entries, and whom git refuses, with git in the twin.

use crate::support::{run, Pair, Program, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::git_is_at_least;

/// A way to be named: settings, and variables.
type Identity = (
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

/// Those that git refuses to write into a commit.
const REFUSED: [Identity; 8] = [
    (
        &[
            ("user.useConfigOnly", "true"),
            ("user.name", ""),
            ("user.email", ""),
        ],
        &[],
    ),
    (&[("user.name", ""), ("user.email", "e")], &[]),
    (&[("author.name", ""), ("user.email", "e")], &[]),
    (
        &[("committer.name", ""), ("user.email", "e")],
        &[("GIT_AUTHOR_NAME", "n")],
    ),
    (&[("user.name", ",;"), ("user.email", "e")], &[]),
    (&[("user.name", "n")], &[("GIT_AUTHOR_NAME", "")]),
    (&[("user.name", "n")], &[("GIT_COMMITTER_NAME", " ")]),
    (&[], &[("GIT_AUTHOR_DATE", "never")]),
];

/// Those for which git takes names of its own, the account, or what is there of a name.
const ACCEPTED: [Identity; 12] = [
    (&[], &[]),
    (&[("user.useConfigOnly", "true")], &[]),
    (&[("user.name", "n")], &[]),
    (&[("user.useConfigOnly", "true"), ("user.email", "e")], &[]),
    (&[("user.name", "n")], &[("EMAIL", "m@m")]),
    (&[("author.name", "A"), ("author.email", "ae")], &[]),
    (&[("committer.name", "C"), ("user.email", "e")], &[]),
    (&[("author.name", ""), ("user.name", "n")], &[]),
    (&[("user.name", " .n, "), ("user.email", "")], &[]),
    (&[("user.name", "n")], &[("GIT_COMMITTER_EMAIL", "")]),
    (&[("user.email", "e")], &[("GIT_AUTHOR_EMAIL", "")]),
    (&[], &[("GIT_COMMITTER_NAME", "CN")]),
];

/// A repository with a branch that differs, an entry, its commit as a tag, and edits.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("a", "first\n"), ("b", "first\n")], "first");
    repository.git(&["branch", "old"]);
    repository.commit_files(&[("a", "second\n")], "second");
    repository.write("b", "stashed\n");
    repository.git(&["stash", "-q"]);
    repository.git(&["tag", "entry", "stash"]);
    repository.write("b", "mine\n");
    repository.git(&["add", "b"]);
    repository
}

/// Runs both as somebody, after `before`; they must say and do the same. Returns the exit code.
fn both((settings, variables): Identity, before: &[&str], words: &[&str]) -> i32 {
    let label = format!("{settings:?} {variables:?}");
    let mut pair = Pair::of(&origin(), &label);
    pair.any_trees = true;
    pair.each(&format!("{before:?}"), |repository| {
        if !before.is_empty() {
            repository.git(before);
        }
        for (key, value) in settings {
            repository.git(&["config", key, value]);
        }
    });
    let said = |program: Program, repository: &Repository| {
        let mut command = program.command(&repository.root);
        command.args(words);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env_remove(format!("GIT_{role}_NAME"));
            command.env_remove(format!("GIT_{role}_EMAIL"));
        }
        command.envs(variables.iter().copied());
        let outcome = run(command);
        let stdout = String::from_utf8_lossy(&outcome.stdout).into_owned();
        (outcome.code, stdout, outcome.stderr)
    };
    let expected = said(Program::Git, &pair.git);
    let found = said(HEDGEROW, &pair.hedgerow);
    assert_eq!(
        expected, found,
        "{label}, {words:?}: first git, then hedgerow"
    );
    pair.assert_same_state();
    found.0
}

#[test]
fn nobody_makes_no_entry() {
    for identity in REFUSED {
        for words in [
            &["stash"][..],
            &["stash", "create"],
            &["stash", "push", "-u", "--", "b"],
            &["stash", "push", "-S"],
        ] {
            assert_eq!(both(identity, &[], words), 128, "{identity:?} {words:?}");
        }
    }
}

#[test]
fn somebody_makes_entries_under_the_names_that_git_takes() {
    for identity in ACCEPTED {
        for words in [
            &["stash"][..],
            &["stash", "push", "-q", "--", "b"],
            &["stash", "push", "-S"],
            &["stash", "store", "entry"],
        ] {
            // Else the entry is the newest one already.
            let before = ["stash", "drop", "-q"];
            let is_stored = words.contains(&"store");
            let before = if is_stored { &before[..] } else { &[] };
            assert_eq!(both(identity, before, words), 0, "{identity:?} {words:?}");
        }
    }
}

/// Only commits need somebody: the logs of references name the account if nobody is there.
#[test]
fn logs_name_whomever_there_is() {
    let refused = REFUSED.iter().filter(|(_, variables)| {
        let mut names = variables.iter().map(|(name, _)| *name);
        !names.any(|name| name.ends_with("DATE"))
    });
    for identity in refused.chain(&ACCEPTED) {
        let clean = &["reset", "-q", "--hard"][..];
        for (before, words) in [
            (&[][..], &["switch", "-q", "-c", "new"][..]),
            (&[], &["reset", "-q", "--hard", "old"]),
            (
                &["checkout", "-q", "old"],
                &["merge", "-q", "--ff-only", "main"],
            ),
            (clean, &["stash", "branch", "new"]),
            (clean, &["stash", "pop", "-q"]),
        ] {
            assert_eq!(both(*identity, before, words), 0, "{identity:?} {words:?}");
        }
    }
}

/// Changes that are merged into another branch are in an entry meanwhile.
#[test]
fn nobody_carries_changes_to_another_branch() {
    if !git_is_at_least(2, 55, "switch --merge") {
        return;
    }
    for identity in REFUSED {
        let words = ["checkout", "-q", "-m", "old"];
        assert_eq!(both(identity, &[], &words), 0, "{identity:?}");
        let in_the_way = ["rm", "-q", "a"];
        assert_eq!(both(identity, &in_the_way, &words), 128, "{identity:?}");
    }
}
