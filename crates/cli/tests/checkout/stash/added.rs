//! `stash push` with pathspecs, with git in the twin: git adds what they match first, and leaves the
//! working tree alone if that fails.

use crate::support::{Pair, Repository, RunHedgerow};
use hedgerow_testkit::git_is_at_least;

fn put_aside(words: &[&str], make: impl Fn(&Repository), change: impl Fn(&Repository)) {
    let origin = Repository::init(&[]);
    make(&origin);
    // With this, git does not tell how to turn advice off, in words that change.
    for key in ["addEmbeddedRepo", "addIgnoredFile", "updateSparsePath"] {
        origin.git(&["config", &format!("advice.{key}"), "true"]);
    }
    origin.commit("first");
    let mut pair = Pair::of(&origin, &format!("{words:?}"));
    pair.any_trees = true;
    pair.each("change", change);
    pair.both("stash", "", &[&["push"], words].concat(), &[]);
}

#[test]
fn a_pathspec_that_matches_nothing_leaves_all() {
    for words in [
        &["-u", "--", "u", "nomatch"][..],
        &["-u", "--", "nomatch", "f"],
        &["-q", "-u", "--", "nomatch", "f"],
        &["-a", "--", "f", "s/no"],
        &["-u", "--", "ign", "f"],
        &["-ku", "--", "ign", "u"],
        &["-a", "--", "ign", "f"],
        &["-u", "--", "u", "all/in/it", "all"],
        &["-u", "--", ".", "ign"],
        &["-u", "--", "i*", "f"],
        &["-u", "--", ":(icase)Q", "f"],
        &["-u", "--", ":^ign"],
        &["-u", "--", ".", ":^nomatch"],
        &["-u", "--", "s/", "f"],
        &["-u", "--", "empty", "f"],
        &["--", ":^nomatch", "nomatch"],
        &["--", ":/nomatch"],
        &["--", ":/!f", "nomatch"],
    ] {
        let make = |repository: &Repository| {
            repository.write("f", "f\n");
            repository.write(".gitignore", "ign\nall/\n");
        };
        put_aside(words, make, |repository| {
            for path in ["f", "u", "s/in", "ign", "all/in/it"] {
                repository.write(path, "mine\n");
            }
            std::fs::create_dir(repository.path("empty")).unwrap();
        });
    }
}

#[test]
fn what_is_outside_of_a_sparse_checkout_stays() {
    for words in [
        &["--", "d"][..],
        &["--", "d", "t"],
        &["--", "d/x", "t"],
        &["--", "d/y", "t"],
        &["--", ":(glob)d/*", "t"],
        &["--", "."],
        &["-u", "--", "d", "t"],
        &["-u", "--", "."],
    ] {
        for staged in [false, true] {
            let make = |repository: &Repository| {
                for path in ["d/x", "d/y", "e/e", "t"] {
                    repository.write(path, "first\n");
                }
            };
            put_aside(words, make, |repository| {
                repository.git(&["sparse-checkout", "set", "e"]);
                for path in ["d/x", "t", "d/new"] {
                    repository.write(path, "mine\n");
                }
                if staged {
                    repository.git(&["add", "--sparse", "d/x"]);
                }
            });
        }
    }
}

#[test]
fn a_file_that_is_there_again_is_in_the_way() {
    for words in [
        &["--", ":^t"][..],
        &["-u", "--", ":^t"],
        &["-k", "--", ":^t"],
    ] {
        let make = |repository: &Repository| {
            for path in ["i", "o", "t"] {
                repository.write(path, "first\n");
            }
        };
        put_aside(words, make, |repository| {
            repository.git(&["rm", "-q", "i"]);
            for path in ["i", "o", "t"] {
                repository.write(path, "mine\n");
            }
        });
    }
}

#[test]
fn files_to_be_added_later_are_refused_wherever_they_are() {
    for words in [&["--", "q"][..], &[], &["--", "."]] {
        for gone in [false, true] {
            let make = |repository: &Repository| repository.write("k", "k\n");
            put_aside(words, make, |repository| {
                repository.remove("k");
                repository.write("q", "q\n");
                repository.git(&["add", "-A"]);
                repository.write("k/f", "precious\n");
                repository.git(&["add", "-N", "k/f"]);
                if gone {
                    std::fs::remove_file(repository.path("k/f")).unwrap();
                }
            });
        }
    }
}

#[test]
fn what_is_as_in_head_again_gives_no_patch() {
    for words in [
        &["--", "f"][..],
        &["-k", "--", "f"],
        &["-u", "--", "g"],
        &["-u", "--", "."],
    ] {
        let make = |repository: &Repository| {
            repository.write("f", "f\n");
            repository.write("g", "g\n");
        };
        put_aside(words, make, |repository| {
            repository.write("f", "mine\n");
            repository.git(&["add", "f"]);
            repository.write("f", "f\n");
            repository.git(&["rm", "-q", "--cached", "g"]);
        });
    }
}

#[test]
fn a_pathspec_that_cannot_be_parsed_is_fatal() {
    for spec in ["", ":(foo)x", "../outside"] {
        let make = |repository: &Repository| repository.write("f", "f\n");
        let change = |repository: &Repository| repository.write("f", "mine\n");
        put_aside(&["--", spec], make, change);
    }
}

/// Git cleans first, and resets only if that succeeded.
#[test]
fn an_untracked_file_that_cannot_be_removed_leaves_other_changes() {
    let origin = Repository::init(&[]);
    origin.write("f", "f\n");
    origin.commit("first");
    origin.write("f", "mine\n");
    origin.write("d/untracked", "untracked\n");
    let failed = (1..20).find_map(|number| {
        let copy = origin.copy(&origin.root.with_extension(number.to_string()));
        let fault = [("HEDGEROW_TEST_FAULT", &*format!("remove:{number}:13"))];
        let outcome = copy.hedgerow_with(&["stash", "push", "-u"], &fault);
        let is_meant = outcome.stderr.contains("'d/untracked'");
        is_meant.then_some((copy, outcome))
    });
    let (copy, outcome) = failed.expect("the file is removed");
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert_eq!(std::fs::read(copy.path("f")).unwrap(), b"mine\n");
    assert!(copy.ask(&["stash", "list"]).contains("WIP"));
}

/// Git adds a repository that is no submodule, and takes it out of the index again: no entry has it.
#[test]
fn an_embedded_repository_stays() {
    for words in [
        &["-u", "--", "."][..],
        &["-u", "--", ":/"],
        &["-u", "-k", "--", "."],
        &["-a", "-k", "--", "."],
        &["-u", "-k", "--", "d/n", "o"],
    ] {
        for (with_edit, with_commit) in [(false, true), (true, true), (true, false)] {
            if !with_commit && !git_is_at_least(2, 55, "the refusal of a repository without commit")
            {
                continue;
            }
            let make = |repository: &Repository| {
                repository.write("i", "first\n");
                repository.write("o", "first\n");
            };
            put_aside(words, make, |repository| {
                embed(repository, "d/n", true);
                embed(repository, "e", with_commit);
                if with_edit {
                    repository.write("o", "mine\n");
                    repository.write("u", "untracked\n");
                }
            });
        }
    }
}

fn embed(outer: &Repository, path: &str, with_commit: bool) {
    outer.git(&["init", "-q", "-b", "main", path]);
    if with_commit {
        let embedded = Repository::at(outer.path(path));
        embedded.commit_files(&[("f", "inner\n")], "inner");
        // It has the stat data of this twin.
        embedded.remove(".git/index");
    }
}
