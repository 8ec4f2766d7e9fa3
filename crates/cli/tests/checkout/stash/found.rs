//! What random histories found about stashes, with git in the twin.

use crate::support::{run, Pair, Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::git_is_at_least;
use std::os::unix::fs::PermissionsExt;

fn origin() -> Repository {
    let repository = Repository::init(&[]);
    let files = ["top", "a/f", "b/f"].map(|path| (path, path));
    repository.commit_files(&files, "first");
    repository
}

#[test]
fn a_stash_keeps_files_below_a_link_that_leads_to_a_directory() {
    let origin = Repository::init(&[]);
    for path in ["d/x", "x/in", "top"] {
        origin.write(path, format!("{path}\n"));
    }
    origin.commit("first");
    let mut pair = Pair::of(&origin, "below a link");
    pair.each("a link above", |repository| {
        std::fs::remove_dir_all(repository.path("d")).unwrap();
        repository.symlink("d", ".");
        repository.write("top", "changed\n");
    });
    pair.both("stash", "", &["push"], &[]);
    let recorded = pair
        .hedgerow
        .ask(&["ls-tree", "-r", "--name-only", "stash"]);
    assert!(recorded.contains("d/x"), "{recorded}");
}

#[test]
fn nothing_staged_is_said_with_pathspecs_too() {
    for words in [
        &["push", "-S", "--", "top"][..],
        &["push", "-k", "-S", "-q", "--", "a"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("edit", |repository| {
            repository.write("top", "mine\n");
            repository.write("a/f", "mine\n");
        });
        pair.both("stash", "", words, &[]);
    }
}

#[test]
fn what_is_staged_stays_in_the_index_if_it_alone_is_put_aside() {
    let mut pair = Pair::of(&origin(), "kept");
    pair.any_trees = true;
    pair.each("stage", |repository| {
        repository.write("top", "mine\n");
        repository.write("new", "new\n");
        repository.remove("b/f");
        repository.git(&["add", "-A"]);
        repository.write("a/f", "unstaged\n");
    });
    pair.both("stash", "", &["push", "-k", "-S"], &[]);
}

#[test]
fn a_stash_does_not_replace_a_link_that_hides_files() {
    for target in ["../real", "nowhere", "top"] {
        let origin = Repository::init(&[]);
        origin.write("d/x", "x\n");
        origin.write("top", "top\n");
        origin.commit("first");
        let mut pair = Pair::of(&origin, target);
        pair.each("a link above", |repository| {
            std::fs::remove_dir_all(repository.path("d")).unwrap();
            repository.symlink("d", target);
        });
        pair.both("stash", "", &["push"], &[]);
        assert!(pair.hedgerow.ask(&["stash", "list"]).is_empty());
        assert!(pair.hedgerow.path("d").is_symlink());
    }
}

/// git refreshes the index before it looks for changes.
#[test]
fn files_whose_stat_data_alone_are_stale_are_not_written_anew() {
    let origin = origin();
    let long_ago =
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for words in [&["stash"][..], &["stash", "push", "--", "top"]] {
        let repository = origin.copy(&origin.root.with_extension(words.len().to_string()));
        let stale = std::fs::File::open(repository.path("a/f")).unwrap();
        stale.set_modified(long_ago).unwrap();
        repository.write("top", "changed\n");
        let outcome = repository.hedgerow(words);
        assert_eq!(outcome.code, 0, "{words:?}: {outcome:?}");
        let left = std::fs::metadata(repository.path("a/f")).unwrap();
        assert_eq!(left.modified().unwrap(), long_ago, "{words:?}");
        if words == ["stash"] {
            let stale = repository.git(&["diff-files", "--name-only"]);
            assert!(stale.is_empty(), "the index knows it");
        }
    }
}

/// With conflicts, git leaves the changes of other files in the index, and writes none of them outside
/// of a sparse checkout.
#[test]
fn conflicts_keep_other_changes_outside_of_a_sparse_checkout_in_the_index() {
    for (conflict, words) in [
        ("top", &["apply"][..]),
        ("top", &["pop", "--index"]),
        ("a/f", &["pop"]),
        ("none", &["apply"]),
    ] {
        let mut pair = Pair::of(&origin(), &format!("{conflict} {words:?}"));
        pair.is_dated = true;
        pair.any_trees = true;
        pair.each("a stash and a sparse checkout", |repository| {
            for path in ["top", "a/f", "b/f"] {
                repository.write(path, "stashed\n");
            }
            repository.git(&["stash", "-q"]);
            repository.commit_files(&[(conflict, "committed\n")], "second");
            repository.git(&["sparse-checkout", "set", "--no-cone", "/top"]);
        });
        pair.both("stash", "", words, &[]);
    }
}

/// git looks in the working tree for what is staged as removed, too, and not behind a link.
#[test]
fn what_is_staged_as_removed_is_not_looked_for_beyond_a_link() {
    for target in ["b", ".", "nowhere"] {
        for words in [
            &["push"][..],
            &["push", "-u"],
            &["push", "-a", "-k"],
            &["push", "--", "a", "top"],
            &["push", "-S"],
            &["push", "--", "top"],
        ] {
            let mut pair = Pair::of(&origin(), &format!("{target} {words:?}"));
            pair.any_trees = true;
            pair.each("a link above", |repository| {
                repository.remove("a");
                repository.symlink("a", target);
                repository.write("top", "mine\n");
                repository.git(&["add", "-A"]);
                repository.write("new", "new\n");
                // Where the link leads, a directory may be in the place.
                repository.write("f/below", "below\n");
            });
            pair.both("stash", "", words, &[]);
        }
    }
}

#[test]
fn creating_an_entry_refreshes_the_index() {
    for changed in [false, true] {
        let repository = origin();
        repository.git(&["read-tree", "HEAD"]);
        if changed {
            repository.write("top", "changed\n");
        }
        let outcome = repository.hedgerow(&["stash", "create"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let stale = repository.ask(&["diff-files", "--name-only"]);
        assert_eq!(stale, if changed { "top" } else { "" });
    }
}

#[test]
fn entries_can_be_named_by_time() {
    for (verb, time) in [
        ("pop", "now"),
        ("drop", "now"),
        ("drop", "yesterday"),
        ("drop", "nonsense"),
        ("pop", "1"),
    ] {
        let mut pair = Pair::of(&origin(), time);
        pair.any_trees = true;
        pair.each("two entries", |repository| {
            for text in ["one\n", "two\n"] {
                repository.write("top", text);
                repository.git(&["stash", "-q"]);
            }
        });
        pair.both("stash", "", &[verb, &format!("stash@{{{time}}}")], &[]);
    }
}

#[test]
fn files_that_are_only_to_be_added_keep_an_entry_in_the_stash() {
    for words in [&["pop"][..], &["apply", "--index"], &["pop", "-q"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("to be added later", |repository| {
            repository.write("top", "mine\n");
            repository.write("untracked", "untracked\n");
            repository.git(&["stash", "-q", "-u"]);
            for name in ["later", "later too"] {
                repository.write(name, "later\n");
            }
            repository.git(&["add", "-N", "later", "later too"]);
        });
        pair.both("stash", "", words, &[]);
    }
}

#[test]
fn a_hook_that_refuses_the_entry_ends_it() {
    for words in [&["push"][..], &["push", "-u", "-q"], &["push", "--", "top"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.any_trees = true;
        // They changed in 2.54.
        pair.any_words = true;
        pair.each("a hook", |repository| {
            repository.write("top", "mine\n");
            repository.write("new", "new\n");
            let hook = ".git/hooks/reference-transaction";
            repository.write(hook, "#!/bin/sh\ntest $1 != prepared\n");
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(repository.path(hook), executable).unwrap();
        });
        pair.both("stash", "", words, &[]);
    }
}

#[test]
fn the_merged_tree_is_logged_where_all_references_are() {
    for wanted in ["always", "true", "false"] {
        let mut pair = Pair::of(&origin(), wanted);
        pair.each("entries", |repository| {
            for text in ["one\n", "two\n"] {
                repository.write("top", text);
                repository.git(&["stash", "-q"]);
            }
            repository.git(&["config", "core.logAllRefUpdates", wanted]);
        });
        for _ in 0..2 {
            pair.both("stash", "", &["pop"], &[]);
            pair.each("again", |repository| {
                repository.git(&["checkout", "-q", "top"]);
            });
        }
        let log = |repository: &Repository| {
            let log = std::fs::read_to_string(repository.path(".git/logs/AUTO_MERGE"));
            log.ok().map(|text| text.lines().count())
        };
        assert_eq!(log(&pair.git), log(&pair.hedgerow), "{wanted}");
        assert_eq!(log(&pair.hedgerow).is_some(), wanted == "always");
    }
}

/// The index that is in use is not put aside, although no index has it.
#[test]
fn an_index_in_the_working_tree_stays() {
    let repository = origin();
    std::fs::copy(
        repository.path(".git/index"),
        repository.path("other-index"),
    )
    .unwrap();
    repository.write("top", "changed\n");
    repository.write("mine", "mine\n");
    let variables = [("GIT_INDEX_FILE", "other-index")];
    let outcome = repository.hedgerow_with(&["stash", "-u"], &variables);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(repository.path("other-index").exists());
    assert_eq!(repository.read("top"), b"top");
    let kept = repository.ask(&["ls-tree", "--name-only", "stash@{0}^3"]);
    assert_eq!(kept, "mine");
}

/// Git takes a patch back, and there is none for what it records as in HEAD.
#[test]
fn with_pathspecs_files_that_are_recorded_as_in_head_stay_as_they_are() {
    let origin = Repository::init(&[]);
    let files = [
        (".gitattributes", "*z filter=s\n"),
        ("d/z", "one\ntwo\n"),
        ("d/f", "f\n"),
        ("d/crlf", "one\ntwo\n"),
    ];
    origin.commit_files(&files, "first");
    for words in [
        &["push", "--", "d"][..],
        &["push", "-q", "-k", "--", "d"],
        &["push", "-u", "--", "d/z", "d/f", "d/crlf"],
        &["push"],
    ] {
        for is_added in [false, true] {
            let mut pair = Pair::of(&origin, &format!("{words:?} {is_added}"));
            pair.each("edit", |repository| {
                repository.git(&["config", "filter.s.clean", "sed /secret/d"]);
                repository.git(&["config", "core.autocrlf", "input"]);
                repository.git(&["config", "core.safecrlf", "false"]);
                repository.write("d/z", "one\nsecret\ntwo\n");
                repository.write("d/crlf", "one\r\ntwo\r\n");
                repository.write("d/f", "mine\n");
                if is_added {
                    repository.git(&["add", "d/z"]);
                }
            });
            pair.both("stash", "", words, &[]);
            let kept = std::fs::read(pair.hedgerow.path("d/z")).unwrap();
            let is_kept = kept == b"one\nsecret\ntwo\n";
            assert_eq!(is_kept, words.len() > 1 || is_added, "{words:?} {is_added}");
        }
    }
}

/// Files are written as HEAD has them, whatever attributes go with the entry. Where nothing outside of their
/// directory is put aside, git writes some by the attributes that it has just removed.
#[test]
fn with_pathspecs_attributes_that_go_count_no_longer() {
    let origin = Repository::init(&[]);
    let files = [
        ("a", "a\n"),
        ("d/q", "q\nq\n"),
        ("d/x", "x\nx\n"),
        ("z", "z\n"),
    ];
    origin.commit_files(&files, "first");
    for changed in [
        &["d/x"][..],
        &["d/x", "z"],
        &["a", "d/x"],
        &["d/q", "d/x"],
        &["a", "d/q", "d/x", "z"],
    ] {
        let mut pair = Pair::of(&origin, &format!("{changed:?}"));
        pair.each("edit", |repository| {
            repository.git(&["config", "core.safecrlf", "false"]);
            repository.write("d/.gitattributes", "* text eol=crlf\n");
            repository.git(&["add", "d/.gitattributes"]);
            for path in changed {
                repository.write(path, "mine\n");
            }
        });
        let words = ["stash", "push", "-q", "--", "."];
        if changed.iter().any(|path| !path.starts_with("d/")) {
            pair.both("stash", "", &words[1..], &[]);
        } else {
            pair.hedgerow.hedgerow(&words);
        }
        assert_eq!(pair.hedgerow.read("d/x"), b"x\nx\n", "{changed:?}");
        let status = pair.hedgerow.ask(&["status", "--porcelain"]);
        assert_eq!(status, "", "{changed:?}");
    }
}

const LITERAL: [(&str, &str); 1] = [("GIT_LITERAL_PATHSPECS", "1")];

#[test]
fn literal_pathspecs_of_the_user_hinder_no_stash() {
    for (words, is_staged) in [
        (&["push", "--", "a"][..], false),
        (&["push", "-k", "--", "a"], false),
        (&["push", "-S", "--", "top"], true),
        (&["push", "-S"], true),
        (&["push"], true),
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.any_trees = true;
        pair.each("edit", |repository| {
            std::fs::remove_dir_all(repository.path("a")).unwrap();
            if is_staged {
                repository.write("top", "mine\n");
                repository.git(&["add", "-A"]);
            }
        });
        let outcome = pair.both("stash", "", words, &LITERAL);
        assert_eq!(outcome.code, 0, "{words:?}");
        assert!(pair.hedgerow.path("a/f").exists(), "{words:?}");
    }
}

/// git takes its own `:/` for the name of a file here, and leaves all of this where it is.
#[test]
fn literal_pathspecs_of_the_user_leave_nothing_behind() {
    for directory in ["", "b"] {
        let repository = origin();
        repository.write("top", "mine\n");
        repository.git(&["add", "top"]);
        repository.write("a/f", "mine\n");
        repository.write("new/in/it", "new\n");
        let mut command = HEDGEROW.command(&repository.root.join(directory));
        command.args(["stash", "push", "-u", "-k"]).envs(LITERAL);
        assert_eq!(run(command).code, 0, "{directory}");
        assert_eq!(repository.ask(&["status", "-s"]), "M  top", "{directory}");
        assert!(!repository.path("new").exists(), "{directory}");
    }
}

#[test]
fn a_pathspec_without_a_match_is_shown_from_the_top() {
    for (directory, words) in [
        ("", &["./none"][..]),
        (
            "",
            &[
                "a/../none",
                ":(icase)./None",
                ":!x",
                "top/.",
                ":(prefix:0)x",
            ],
        ),
        ("a", &["./none", "../none", "../b/none", "../b//../a/./x*"]),
        (
            "a",
            &[":(icase)../Q/", ":/none", ":()x", ":x", ":(top)x", ":!x"],
        ),
        ("a", &[":(attr:k)q"]),
    ] {
        for environment in [&[][..], &LITERAL] {
            let mut pair = Pair::of(&origin(), &format!("{words:?}"));
            pair.any_words = true;
            pair.each("edit", |repository| repository.write("top", "mine\n"));
            let words = [&["push", "--"], words].concat();
            pair.both("stash", directory, &words, environment);
        }
    }
}

#[test]
fn a_stash_is_put_aside_where_the_old_head_cannot_be_remembered() {
    if !git_is_at_least(2, 55, "words about ORIG_HEAD") {
        return;
    }
    for words in [&["push"][..], &["push", "-S"], &["pop", "--index"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("edit", |repository| {
            repository.write("top", "mine\n");
            repository.git(&["add", "top"]);
            if words[0] == "pop" {
                repository.git(&["stash", "-q"]);
            }
            repository.write(".git/ORIG_HEAD.lock", "");
        });
        let outcome = pair.both("stash", "", words, &[]);
        assert_eq!(outcome.code, 0, "{words:?}");
    }
}

#[test]
fn what_cannot_be_put_aside_refreshes_the_index() {
    let origin = origin();
    let mut pair = Pair::of(&origin, "a circle of links");
    pair.any_trees = true;
    pair.each("a circle", |repository| {
        repository.git(&["rm", "-q", "-r", "--cached", "a"]);
        std::fs::remove_dir_all(repository.path("a")).unwrap();
        repository.symlink("a", "a");
        repository.write("top", "changed\n");
        repository.write("b/f", "b/f");
    });
    pair.both("stash", "", &["push"], &[]);
    for repository in [&pair.git, &pair.hedgerow] {
        assert_eq!(repository.ask(&["diff-files", "--name-only"]), "top");
    }
}
