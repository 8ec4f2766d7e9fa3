//! What was found in sparse checkouts: each mend has its own small test, with git in the twin.

use crate::support::{Pair, Program, Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::{git_is_at_least, run, run_with, snapshot};
use std::os::unix::fs::PermissionsExt;

fn origin() -> Repository {
    let repository = Repository::init(&[]);
    for path in ["top", "a/f", "b/f", "c/d/e"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    repository
}

/// The same lines for both on standard input.
fn both_with(pair: &Pair, words: &[&str], input: &[u8]) {
    let outcomes = [(Program::Git, &pair.git), (HEDGEROW, &pair.hedgerow)].map(|(program, it)| {
        let mut command = program.command(&it.root);
        command.arg("sparse-checkout").args(words);
        let outcome = run_with(command, input);
        (outcome.code, outcome.text())
    });
    assert_eq!(outcomes[0], outcomes[1], "{words:?}");
    pair.assert_same_state();
}

#[test]
fn words_beside_lines_of_an_input_are_checked_and_left_out() {
    for words in [
        &["set", "--stdin", "!b"][..],
        &["set", "--stdin", "b"],
        &["set", "--no-cone", "--stdin", "!b"],
        &["add", "--stdin", "/b"],
    ] {
        for input in [&b"c\n"[..], b"\"c\"d\n"] {
            let mut pair = Pair::of(&origin(), &format!("{words:?}"));
            pair.each("sparse", |repository| {
                repository.git(&["sparse-checkout", "set", "a"]);
            });
            both_with(&pair, words, input);
        }
    }
}

#[test]
fn subcommands_without_words_pass_over_them() {
    for words in [
        &["list", "x"][..],
        &["reapply", "x"],
        &["disable", "x"],
        &["init", "x", "y"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("sparse", |repository| {
            repository.git(&["sparse-checkout", "set", "a"]);
        });
        pair.both("sparse-checkout", "", words, &[]);
    }
}

#[test]
fn a_sparse_index_is_not_read_where_a_split_one_is_asked_for() {
    for words in [
        &["sparse-checkout", "reapply"][..],
        &["sparse-checkout", "set", "b"],
        &["sparse-checkout", "disable"],
        &["checkout", "-q", "-f", "HEAD"],
        &["checkout", "-q", "-b", "new"],
        &["switch", "--detach"],
        &["restore", "top"],
        &["reset", "-q", "--hard"],
        &["reset", "--soft", "HEAD"],
        &["read-tree", "-m", "-u", "HEAD"],
        &["stash"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("sparse, and then split", |repository| {
            repository.git(&["sparse-checkout", "set", "--sparse-index", "a"]);
            repository.git(&["config", "core.splitIndex", "true"]);
        });
        pair.both(words[0], "", &words[1..], &[]);
    }
}

/// Git does not say that the working tree was updated.
#[test]
fn the_hook_is_told_what_git_tells_it() {
    for words in [&["set", "a"][..], &["disable"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("a hook", |repository| {
            repository.git(&["sparse-checkout", "set", "b"]);
            let hook = ".git/hooks/post-index-change";
            repository.write(hook, "#!/bin/sh\necho \"$@\" >>.git/info/told\n");
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(repository.path(hook), executable).unwrap();
        });
        pair.both("sparse-checkout", "", words, &[]);
        let [by_git, by_us] = [&pair.git, &pair.hedgerow]
            .map(|repository| std::fs::read(repository.path(".git/info/told")).unwrap());
        assert_eq!(by_git, by_us, "{words:?}");
    }
}

/// Patterns without a cone may leave out what a directory would be: git does not put the file back where
/// an untracked directory took its place.
#[test]
fn a_directory_in_the_place_of_a_file_that_patterns_leave_out_stays() {
    for path in ["top", "c/d/e"] {
        for words in [
            &["reset", "--hard"][..],
            &["reset", "--merge"],
            &["checkout", "-f", "HEAD"],
            &["checkout", "HEAD"],
            &["checkout", "--", "."],
            &["stash"],
            &["read-tree", "--reset", "-u", "HEAD"],
            &["sparse-checkout", "reapply"],
            &["sparse-checkout", "disable"],
        ] {
            for patterns in [&["/*", "!/*/"][..], &["/*", "!e/", "!top/"], &["/*"]] {
                let mut pair = Pair::of(&origin(), &format!("{path} {patterns:?} {words:?}"));
                pair.each("a directory", |repository| {
                    let set = ["sparse-checkout", "set", "--no-cone"];
                    repository.git(&[&set[..], patterns].concat());
                    let _ = std::fs::remove_file(repository.path(path));
                    repository.write(format!("{path}/inner"), "precious\n");
                    repository.write("top2", "new\n");
                });
                pair.both(words[0], "", &words[1..], &[]);
            }
        }
    }
}

/// What is remembered of resolved conflicts stays.
#[test]
fn resolved_conflicts_are_remembered() {
    let origin = origin();
    origin.git(&["config", "advice.sparseIndexExpanded", "false"]);
    origin.git(&["checkout", "-q", "-b", "other"]);
    origin.commit_files(&[("top", "theirs\n")], "theirs");
    origin.git(&["checkout", "-q", "-"]);
    origin.commit_files(&[("top", "ours\n")], "ours");
    for is_sparse in [false, true] {
        for words in [
            &["sparse-checkout", "set", "--no-cone", "/top"][..],
            &["sparse-checkout", "set", "a"],
            &["sparse-checkout", "disable"],
            &["reset", "-q", "--", "a/f"],
            &["restore", "--staged", "a/f"],
        ] {
            let mut pair = Pair::of(&origin, &format!("{is_sparse} {words:?}"));
            pair.each("a resolved conflict", |repository| {
                let set = ["sparse-checkout", "set", "--cone", "--sparse-index", "a"];
                if is_sparse {
                    repository.git(&set);
                }
                let mut merge = Program::Git.command(&repository.root);
                merge.args(["merge", "-q", "other"]);
                assert_eq!(run(merge).code, 1);
                repository.write("top", "both\n");
                repository.git(&["add", "top"]);
            });
            pair.git.git(words);
            assert_eq!(pair.hedgerow.hedgerow(words).code, 0, "{words:?}");
            let [by_git, by_us] = [&pair.git, &pair.hedgerow]
                .map(|repository| repository.ask(&["ls-files", "--resolve-undo"]));
            assert_eq!(by_git, by_us, "{words:?}");
            assert!(!by_us.is_empty(), "{words:?}");
        }
    }
}

/// What was deleted outside of the sparse checkout has changed on the other side: its file is
/// there to be looked at.
#[test]
fn a_changed_file_that_was_deleted_outside_is_written() {
    for words in [&["--cone", "a"][..], &["--no-cone", "/a"]] {
        let repository = origin();
        repository.git(&["checkout", "-q", "-b", "other"]);
        repository.write("b/f", "changed\n");
        repository.commit("changed");
        repository.git(&["checkout", "-q", "main"]);
        let mut pair = Pair::of(&repository, &format!("{words:?}"));
        pair.each("stash a deletion", |repository| {
            repository.git(&[&["sparse-checkout", "set"], words].concat());
            repository.git(&["rm", "-q", "--cached", "--sparse", "b/f"]);
            repository.git(&["stash", "-q"]);
            repository.git(&["checkout", "-q", "other"]);
            assert!(!repository.path("b/f").exists());
        });
        pair.both("stash", "", &["pop"], &[]);
        assert_eq!(pair.hedgerow.read("b/f"), b"changed\n");
    }
}

/// git takes a directory without files for nothing.
#[test]
fn a_file_that_enters_replaces_directories_without_files() {
    for (place, is_replaced) in [
        ("", true),
        ("deep/er", true),
        ("deep/untracked", false),
        (".git/HEAD", false),
    ] {
        for word in ["set", "disable"] {
            let mut pair = Pair::of(&origin(), &format!("{word} {place}"));
            pair.each("a directory", |repository| {
                repository.git(&["update-index", "--skip-worktree", "top"]);
                repository.remove("top");
                if is_replaced {
                    std::fs::create_dir_all(repository.path("top").join(place)).unwrap();
                } else {
                    repository.write(format!("top/{place}"), "mine\n");
                }
            });
            if is_replaced {
                pair.both("sparse-checkout", "", &[word], &[]);
            } else {
                // git does not warn, and counts the file as deleted, too.
                let outcome = pair.hedgerow.hedgerow(&["sparse-checkout", word]);
                assert_eq!(outcome.code, 0, "{word} {place}");
            }
            let is_file = pair.hedgerow.path("top").is_file();
            assert_eq!(is_file, is_replaced, "{word} {place}");
        }
    }
}

/// Staged files below `g`, where `main` has a file.
fn staged_below_a_file(pair: &mut Pair) {
    pair.each("stage", |repository| {
        repository.git(&["checkout", "-q", "side"]);
        repository.write("g/x", "x\n");
        repository.write("g/y", "y\n");
        repository.git(&["add", "--sparse", "g"]);
    });
}

fn with_a_file_that_one_branch_has() -> Repository {
    let origin = origin();
    origin.git(&["branch", "side"]);
    origin.write("g", "g\n");
    origin.write("top", "main\n");
    origin.commit("second");
    origin
}

#[test]
fn what_is_staged_below_a_new_file_stays_in_a_sparse_checkout() {
    for pattern in ["/top", "/*", "!/g", "/g"] {
        for command in ["checkout", "switch", "merge"] {
            for edited in [None, Some("g/x"), Some("top")] {
                let label = format!("{pattern} {command} {edited:?}");
                let mut pair = Pair::of(&with_a_file_that_one_branch_has(), &label);
                staged_below_a_file(&mut pair);
                pair.each("sparse", |repository| {
                    let words = ["sparse-checkout", "set", "--no-cone", pattern];
                    repository.git(&words);
                    repository.git(&["add", "--sparse", "."]);
                    if let Some(path) = edited {
                        repository.write(path, "mine\n");
                    }
                });
                pair.both(command, "", &["main"], &[]);
            }
        }
    }
}

#[test]
fn what_is_staged_below_a_new_file_stays_where_no_file_is() {
    for command in ["checkout", "switch", "merge", "reset"] {
        for place in [None, Some("g"), Some("g/x")] {
            let label = format!("{command} {place:?}");
            let mut pair = Pair::of(&with_a_file_that_one_branch_has(), &label);
            staged_below_a_file(&mut pair);
            pair.each("no files", |repository| {
                std::fs::remove_dir_all(repository.path("g")).unwrap();
                if let Some(path) = place {
                    repository.write(path, "mine\n");
                }
            });
            let words: &[&str] = match command {
                "reset" => &["--keep", "main"],
                _ => &["main"],
            };
            let is_free = place.is_none();
            // With one of its files, git would drop the staged content of the other.
            if place == Some("g/x") {
                let ended = pair.hedgerow.hedgerow(&[&[command], words].concat());
                assert_ne!(ended.code, 0, "{label}");
            } else {
                let ended = pair.both(command, "", words, &[]);
                assert_eq!(ended.code == 0, is_free, "{label}");
            }
        }
    }
}

#[test]
fn the_places_of_new_files_are_looked_at_last_in_a_sparse_checkout() {
    let mut pair = Pair::of(&with_a_file_that_one_branch_has(), "both in the way");
    pair.each("both in the way", |repository| {
        repository.git(&["checkout", "-q", "side"]);
        repository.git(&["sparse-checkout", "set", "--no-cone", "/*"]);
        repository.write("g", "mine\n");
        repository.write("top", "staged\n");
        repository.git(&["add", "top"]);
    });
    let ended = pair.checkout(&["main"]);
    assert_eq!(ended.code, 1);
    // What git does then overwrites the file, although it says that it does not.
    let repository = &pair.hedgerow;
    repository.git(&["reset", "-q", "--hard"]);
    let ended = repository.hedgerow(&["checkout", "main"]);
    assert_eq!(ended.code, 1);
    assert_eq!(repository.read("g"), b"mine\n");
}

/// Git does not look into a directory of a sparse index that it replaces.
#[test]
fn what_the_source_lacks_goes_outside_of_the_cone() {
    if !git_is_at_least(2, 55, "directories of a sparse index are looked into") {
        return;
    }
    let origin = Repository::init(&[]);
    for path in ["a/f", "y/f", "y/q/g", "z/f"] {
        origin.write(path, "1\n");
    }
    origin.git(&["add", "."]);
    origin.commit("one");
    origin.git(&["branch", "source"]);
    for path in ["a/g", "x/n", "y/f", "z/g"] {
        origin.write(path, "2\n");
    }
    origin.git(&["rm", "-q", "y/q/g"]);
    origin.git(&["add", "."]);
    origin.commit("two");
    for line in [
        "restore -s source -SW .",
        "restore -s source -S .",
        "restore -s source -W .",
        "restore -s source -SW *f",
        "restore -s source -S --ignore-skip-worktree-bits .",
        "checkout --no-overlay source -- .",
        "checkout source -- .",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let mut pair = Pair::of(&origin, line);
        pair.each("a sparse index", |repository| {
            repository.git(&["config", "advice.sparseIndexExpanded", "false"]);
            repository.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "a"]);
        });
        // Git leaves the old trees of these directories in the cache of the index.
        pair.git.git(&words);
        assert_eq!(pair.hedgerow.hedgerow(&words).code, 0, "{line}");
        for question in [&["ls-files", "-t", "-s"][..], &["status", "--porcelain"]] {
            let [by_git, by_us] =
                [&pair.git, &pair.hedgerow].map(|repository| repository.ask(question));
            assert_eq!(by_git, by_us, "{line}");
        }
        let [by_git, by_us] = [&pair.git, &pair.hedgerow]
            .map(|repository| snapshot(&repository.root, &|path| path == b".git"));
        assert_eq!(by_git, by_us, "{line}");
    }
}

/// Patterns that are given are no comments, and keep their spaces, until they are read from the file.
#[test]
fn given_patterns_are_taken_as_they_are() {
    let origin = Repository::init(&[]);
    for path in ["#a", "d/#a", "b", "c "] {
        origin.write(path, "1\n");
    }
    origin.commit("one");
    let mut pair = Pair::of(&origin, "patterns like comments");
    pair.both(
        "sparse-checkout",
        "",
        &["set", "--no-cone", "#a", "c "],
        &[],
    );
    pair.both("sparse-checkout", "", &["add", "b"], &[]);
    pair.both("sparse-checkout", "", &["reapply"], &[]);
}
