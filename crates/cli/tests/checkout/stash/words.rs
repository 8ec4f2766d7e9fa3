//! What is said and refused, word for word.

use crate::support::{Pair, Repository};
use std::fs;

fn dirty() -> Repository {
    let repository = Repository::init(&[]);
    repository.git(&["config", "user.name", "A"]);
    repository.git(&["config", "user.email", "a@example.com"]);
    fs::write(repository.root.join("a"), "1\n2\n3\n").unwrap();
    fs::write(repository.root.join("b"), "b\n").unwrap();
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "first"]);
    fs::write(repository.root.join("a"), "1\n2\nthree\n").unwrap();
    repository
}

/// The reference is the newest entry even where its log is empty.
#[test]
fn an_empty_log_hinders_nobody() {
    for words in ["drop", "pop", "apply"] {
        let mut pair = Pair::of(&dirty(), words);
        pair.each("the log is empty", |repository| {
            repository.git(&["stash", "-q"]);
            repository.write(".git/logs/refs/stash", "");
        });
        pair.both("stash", "", &[words], &[]);
    }
}

#[test]
fn what_was_staged_is_taken_out_of_index_and_log() {
    let mut pair = Pair::of(&dirty(), "staged");
    pair.each("staged", |repository| {
        repository.git(&["add", "a"]);
        repository.write("b", "unstaged\n");
    });
    pair.both("stash", "", &["push", "-S"], &[]);
    let log = |repository: &Repository| repository.ask(&["log", "-g", "--format=%gs", "HEAD"]);
    assert_eq!(log(&pair.git), log(&pair.hedgerow));
}

#[test]
fn words_and_refusals_are_those_of_git() {
    for (label, steps) in [
        (
            "nothing there",
            &[&["pop"][..], &["apply"], &["drop"], &["list"], &["clear"]][..],
        ),
        (
            "push and pop",
            &[&["push", "-m", "a message"], &["list"], &["pop"]],
        ),
        (
            "numbers",
            &[&["push"], &["apply", "0"], &["drop", "5"], &["drop", "0"]],
        ),
        (
            "no entry",
            &[
                &["push"],
                &["pop", "HEAD"],
                &["apply", "nothing"],
                &["drop", "a", "b"],
            ],
        ),
        (
            "pathspec",
            &[&["push", "--", "nothing"], &["push", "--", "a"], &["pop"]],
        ),
        ("staged", &[&["push", "--staged"], &["push", "-S", "-u"]]),
        (
            "would overwrite",
            &[&["push", "-k"], &["apply"], &["apply"], &["list"]],
        ),
        (
            "unknown",
            &[&["nonsense"], &["push", "-k", "a"], &["-k", "a"]],
        ),
        ("nothing left", &[&["push"], &["push"], &["push", "-q"]]),
        ("clear", &[&["push"], &["clear"], &["list"]]),
        ("clear words", &[&["clear", "x"]]),
        ("create", &[&["create"], &["create", "my", "message"]]),
        (
            "store",
            &[&["store"], &["store", "nothing"], &["store", "HEAD"]],
        ),
        ("branch", &[&["push"], &["branch"], &["branch", "topic"]]),
        ("save", &[&["save", "some", "words"], &["list"]]),
    ] {
        let mut pair = Pair::of(&dirty(), label);
        for words in steps {
            pair.both("stash", "", words, &[]);
        }
    }
}

/// A reference that was packed is deleted from there too.
#[test]
fn entries_whose_reference_is_packed_are_dropped() {
    for verb in ["drop", "pop", "clear"] {
        for more in [false, true] {
            let mut pair = Pair::of(&dirty(), &format!("{verb}, several: {more}"));
            if more {
                pair.both("stash", "", &["push", "-k"], &[]);
            }
            pair.both("stash", "", &["push"], &[]);
            pair.each("pack-refs", |repository| {
                repository.git(&["tag", "-m", "peeled", "tag"]);
                repository.git(&["pack-refs", "--all"]);
            });
            pair.both("stash", "", &[verb], &[]);
            pair.both("stash", "", &["list"], &[]);
            pair.both("stash", "", &[verb], &[]);
            pair.both("stash", "", &["list"], &[]);
        }
    }
}
