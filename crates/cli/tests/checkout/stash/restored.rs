//! Untracked files that come back, with something in the way, with git in the twin.

use crate::support::{Pair, Repository};
use std::fs;

/// Both have an entry with the untracked files `paths` and a link, and nothing else.
fn with_untracked(paths: &[&str], label: &str) -> Pair {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("a", "first\n"), ("b", "first\n")], "first");
    let mut pair = Pair::of(&origin, label);
    pair.any_trees = true;
    pair.each("put aside", |repository| {
        for path in paths {
            repository.write(path, format!("{path}\n"));
        }
        repository.symlink("s", "a");
        repository.write("a", "mine\n");
        repository.git(&["add", "a"]);
        repository.git(&["stash", "-q", "-u"]);
    });
    pair
}

/// Git ends where it cannot make a directory, so that what it would have written afterwards is not in the
/// way of the next attempt.
#[test]
fn what_is_in_the_way_of_a_directory_ends_it() {
    type Change = fn(&Repository);
    let file = |repository: &Repository| repository.write("U", "mine\n");
    let changes: [(&str, Change); 9] = [
        ("a file", file),
        ("a link to a directory", |repository| {
            fs::create_dir(repository.path("real")).unwrap();
            repository.symlink("U", "real");
        }),
        ("a link to nothing", |repository| {
            repository.symlink("U", "nowhere");
        }),
        ("an ignored file", |repository| {
            repository.write(".git/info/exclude", "U\n");
            repository.write("U", "mine\n");
        }),
        ("deeper", |repository| repository.write("d/e", "mine\n")),
        ("files, too", |repository| {
            for path in ["A", "U", "s", "u"] {
                repository.write(path, "mine\n");
            }
        }),
        ("directories", |repository| {
            for path in ["U/1", "s/in", "u/in"] {
                fs::create_dir_all(repository.path(path)).unwrap();
            }
        }),
        ("a conflict", |repository| {
            repository.write("U", "mine\n");
            repository.commit_files(&[("a", "other\n")], "second");
        }),
        ("an edit", |repository| {
            repository.write("a", "edit\n");
            repository.write("U", "mine\n");
        }),
    ];
    for paths in [&["U/1", "U/2", "d/e/f", "u"][..], &["A", "U/1", "d/e/f"]] {
        for words in [
            &["pop"][..],
            &["apply"],
            &["pop", "--index"],
            &["branch", "new"],
        ] {
            for (what, change) in changes {
                let mut pair = with_untracked(paths, &format!("{paths:?} {what}"));
                pair.each(what, change);
                pair.both("stash", "", words, &[]);
                pair.both("stash", "", &["list"], &[]);
            }
        }
    }
}

#[test]
fn a_pop_is_tried_again_once_the_way_is_free() {
    let mut pair = with_untracked(&["U/1", "u"], "again");
    pair.each("in the way", |repository| repository.write("U", "mine\n"));
    assert_eq!(pair.both("stash", "", &["pop"], &[]).code, 1);
    pair.each("free", |repository| {
        repository.remove("U");
        repository.git(&["reset", "-q", "--hard"]);
    });
    assert_eq!(pair.both("stash", "", &["pop"], &[]).code, 0);
    assert!(pair.hedgerow.ask(&["stash", "list"]).is_empty());
}
