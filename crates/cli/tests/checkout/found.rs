//! What random histories found: each mend has its own small test, with git in the twin.

use crate::support::{run, temporary, Pair, Program, Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::isolated;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::time::{Duration, SystemTime};

fn origin() -> Repository {
    let repository = Repository::init(&[]);
    for path in ["top", "a/f", "b/f", "c/d/e"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    repository.git(&["tag", "first"]);
    repository.remove("b/f");
    repository.write("c/d/e", "changed\n");
    repository.commit("second");
    repository.git(&["tag", "second"]);
    repository.git(&["checkout", "-q", "first"]);
    repository
}

/// A link took the place of a directory, and leads to one that has a directory of the same name as
/// the file below. Git does not record that file as deleted.
#[test]
fn directories_of_files_that_are_not_there_go_with_their_entries() {
    for words in [&["checkout", "second"][..], &["checkout", "-f", "second"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("sparse", |repository| {
            repository.git(&["sparse-checkout", "set", "--cone", "a"]);
            std::fs::create_dir_all(repository.path("b")).unwrap();
        });
        pair.both(words[0], "", &words[1..], &[]);
    }
}

#[test]
fn directories_of_removed_files_go_when_they_leave_the_sparse_checkout() {
    let empty = |repository: &Repository| std::fs::remove_file(repository.path("c/d/e")).unwrap();
    let mut pair = Pair::of(&origin(), "set");
    pair.each("an empty directory", empty);
    let cone: [&[&str]; 1] = [&["set", "--cone", "a"]];
    pair.both("sparse-checkout", "", cone[0], &[]);
    for words in [&["-f", "second"][..], &["second"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("sparse", |repository| {
            repository.git(&["sparse-checkout", "set", "--cone", "a"]);
            repository.write("c/d/e", "c/d/e\n");
            repository.git(&["update-index", "--refresh"]);
            empty(repository);
        });
        pair.both("checkout", "", words, &[]);
    }
}

/// A link took the place of a directory above, and leads nowhere; or a file did.
#[test]
fn what_is_below_links_and_files_leaves_the_sparse_checkout_as_in_git() {
    for is_link in [true, false] {
        for words in [&["set", "--cone", "a"][..], &["disable"]] {
            let mut pair = Pair::of(&origin(), &format!("{words:?} {is_link}"));
            pair.each("in the way", |repository| {
                if words == ["disable"] {
                    repository.git(&["sparse-checkout", "set", "--cone", "a"]);
                } else {
                    std::fs::remove_dir_all(repository.path("c/d")).unwrap();
                }
                std::fs::create_dir_all(repository.path("c")).unwrap();
                if is_link {
                    repository.symlink("c/d", "nowhere");
                } else {
                    repository.write("c/d", "mine\n");
                }
            });
            pair.both("sparse-checkout", "", words, &[]);
        }
    }
}

#[test]
fn each_command_has_its_words_for_files_that_stay_outside() {
    for words in [
        &["reset", "--merge"][..],
        &["reset", "-q", "--merge"],
        &["reset", "--keep", "second"],
        &["read-tree", "-m", "-u", "HEAD", "second"],
        &["checkout", "-q", "-m", "HEAD"],
        &["switch", "-m", "--detach", "second"],
        &["switch", "--detach", "second"],
        &["merge", "--ff-only", "--no-stat", "second"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("sparse", |repository| {
            repository.git(&["sparse-checkout", "set", "--cone", "c"]);
            repository.write("a/f", "mine\n");
        });
        pair.both(words[0], "", &words[1..], &[]);
    }
}

/// What is found unchanged is not read again: the index has its stat data afterwards.
#[test]
fn commands_refresh_the_index_as_git_does() {
    for words in [
        &["stash", "push"][..],
        &["stash", "push", "-u"],
        &["checkout", "-q", "-b", "new"],
        &["checkout", "-b", "new"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.is_dated = true;
        pair.each_edited("touch", |pair, repository| {
            pair.edit(repository, b"top", b"top\n");
        });
        pair.both(words[0], "", &words[1..], &[]);
        pair.assert_fresh();
    }
}

#[test]
fn a_tree_is_no_start_of_a_working_tree() {
    let mut pair = Pair::of(&origin(), "a tree");
    for words in [
        &["add", "w", "HEAD^{tree}"][..],
        &["add", "-q", "-b", "new", "w", "HEAD^{tree}"],
        &["add", "--detach", "w", "HEAD^{tree}"],
        &["add", "w", "HEAD:top"],
        &["add", "w", "nothing"],
    ] {
        pair.both("worktree", "", words, &[]);
    }
}

#[test]
fn a_moved_submodule_is_not_what_the_index_has() {
    let module = Repository::init(&[]);
    module.commit_files(&[("file", "one\n")], "one");
    module.commit_files(&[("file", "two\n")], "two");
    let origin = origin();
    let url = module.root.to_str().unwrap();
    let allow = ["-c", "protocol.file.allow=always"];
    origin.git(
        &[
            &allow[..],
            &["submodule", "--quiet", "add", url, "submodule"],
        ]
        .concat(),
    );
    origin.git(&["commit", "-qm", "with a submodule"]);
    for words in [
        &["-a"][..],
        &["-a", "-q"],
        &["-a", "-f"],
        &["-a", "-n", "-u"],
    ] {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.both("checkout-index", "", words, &[]);
        pair.each("move", |repository| {
            repository.git(&["-C", "submodule", "checkout", "-q", "HEAD~1"]);
        });
        pair.both("checkout-index", "", words, &[]);
    }
}

/// `clean -d` is what git takes untracked files with.
#[test]
fn empty_directories_go_with_what_is_untracked() {
    for words in [
        &["push", "-u"][..],
        &["push", "-k", "-a"],
        &["push", "-u", "--", "top"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("directories", |repository| {
            repository.write("top", "mine\n");
            repository.write("new/file", "new\n");
            std::fs::create_dir_all(repository.path("empty/in")).unwrap();
            std::fs::create_dir_all(repository.path("a/empty")).unwrap();
        });
        pair.both("stash", "", words, &[]);
    }
}

/// A file in the index, a directory with an untracked file in the working tree, and a directory in the
/// new tree.
fn directory_for_file(is_staged: bool) -> Pair {
    let origin = origin();
    origin.git(&["checkout", "-q", "first"]);
    if is_staged {
        origin.write("x", "staged\n");
    } else {
        origin.remove("b/f");
        std::fs::remove_dir(origin.path("b")).ok();
        origin.write("b", "a file\n");
        origin.git(&["add", "-A"]);
        origin.commit("a file");
    }
    origin.git(&["add", "-A"]);
    let mut pair = Pair::of(&origin, &format!("a directory for a file, {is_staged}"));
    pair.each("a directory", |repository| {
        let file = if is_staged { "x" } else { "b" };
        repository.remove(file);
        repository.write(format!("{file}/precious"), "precious\n");
    });
    pair
}

#[test]
fn untracked_files_in_the_place_of_a_file_prevent_that_it_goes() {
    for is_staged in [false, true] {
        for words in [
            &["switch", "--discard-changes", "--detach", "first"][..],
            &["reset", "--merge", "first"],
            &["read-tree", "-m", "-u", "first"],
        ] {
            let mut pair = directory_for_file(is_staged);
            let outcome = pair.both(words[0], "", &words[1..], &[]);
            assert_eq!(outcome.code, 128, "{}", outcome.stderr);
        }
    }
}

/// What stands in the way of the directory is told before paths that come later in the alphabet.
#[test]
fn files_that_become_directories_are_refused_in_their_place() {
    let origin = Repository::init(&[]);
    origin.write("c", "a file\n");
    origin.write("top", "top\n");
    origin.commit("first");
    origin.remove("c");
    origin.write("c/in", "in\n");
    origin.write("star", "star\n");
    origin.commit("second");
    origin.git(&["tag", "second"]);
    origin.git(&["checkout", "-q", "HEAD~1"]);
    for words in [
        &["read-tree", "-m", "-u", "second"][..],
        &["reset", "--merge", "second"],
    ] {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.each("in the way", |repository| {
            repository.remove("c");
            repository.symlink("c", "nowhere");
            repository.write("star", "mine\n");
        });
        pair.both(words[0], "", &words[1..], &[]);
    }
}

#[test]
fn a_file_to_be_added_later_is_a_change() {
    let origin = origin();
    for path in ["d/empty", "d/other"] {
        origin.write(path, "");
    }
    origin.commit("a directory");
    origin.git(&["tag", "directory"]);
    origin.git(&["rm", "-q", "-r", "d"]);
    origin.write("d", "a file\n");
    origin.commit("a file");
    origin.git(&["tag", "file"]);
    origin.git(&["checkout", "-q", "directory"]);
    let mut pair = Pair::of(&origin, "intent to add");
    pair.each("intent", |repository| {
        repository.git(&["rm", "-q", "-r", "--cached", "d"]);
        repository.git(&["add", "-N", "d"]);
    });
    pair.checkout(&["file"]);
    pair.both("reset", "", &["--keep", "file"], &[]);
}

/// Below a link to nowhere there is nothing to lose; the link itself is untracked.
#[test]
fn the_link_above_is_in_the_way_and_not_what_it_hides() {
    let origin = Repository::init(&[]);
    origin.write("d/f", "a file\n");
    origin.write("d/g", "a file\n");
    origin.commit("first");
    origin.remove("d/f");
    origin.write("d/f/in", "in\n");
    origin.commit("second");
    origin.git(&["tag", "second"]);
    origin.git(&["checkout", "-q", "HEAD~1"]);
    for target in ["nowhere", "."] {
        for words in [
            &["reset", "--keep", "second"][..],
            &["checkout", "second"],
            &["read-tree", "-m", "-u", "HEAD", "second"],
        ] {
            let mut pair = Pair::of(&origin, &format!("{target} {words:?}"));
            pair.each("a link above", |repository| {
                std::fs::remove_dir_all(repository.path("d")).unwrap();
                repository.symlink("d", target);
            });
            pair.both(words[0], "", &words[1..], &[]);
        }
    }
}

/// A submodule whose place a file or a link took: it is recorded, unless nothing else changed.
#[test]
fn a_stash_has_the_file_in_the_place_of_a_submodule() {
    for (is_link, edits) in [(false, false), (false, true), (true, true)] {
        let repository = with_submodule();
        std::fs::remove_dir_all(repository.path("sub")).unwrap();
        if is_link {
            repository.symlink("sub", "precious\n");
        } else {
            repository.write("sub", "precious\n");
        }
        if edits {
            repository.write("top", "changed\n");
        }
        let outcome = repository.hedgerow(&["stash", "push"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        if edits {
            assert_eq!(repository.ask(&["cat-file", "-p", "stash:sub"]), "precious");
        } else {
            let kept = std::fs::read_to_string(repository.path("sub")).unwrap();
            assert_eq!(kept, "precious\n");
        }
    }
}

/// What is staged where the new tree has a submodule is in no commit. Git keeps it beside the
/// submodule; here the switch is refused.
#[test]
fn what_is_staged_in_the_place_of_a_submodule_stays() {
    for words in [
        &["switch", "-q", "with"][..],
        &["checkout", "-q", "-m", "with"],
        &["merge", "-q", "--ff-only", "with"],
        &["reset", "-q", "--keep", "with"],
        &["read-tree", "-m", "-u", "HEAD", "with"],
    ] {
        for path in ["sub/f", "sub/d/f"] {
            let repository = with_submodule();
            repository.git(&["checkout", "-q", "without"]);
            let _ = std::fs::remove_dir_all(repository.path("sub"));
            repository.write(path, "precious\n");
            repository.git(&["add", path]);
            let outcome = repository.hedgerow(words);
            if outcome.stderr.contains("Your local changes are stashed") {
                let kept = repository.ask(&["cat-file", "-p", &format!("stash:{path}")]);
                assert_eq!(kept, "precious", "{words:?}");
                continue;
            }
            assert_ne!(outcome.code, 0, "{words:?}: {outcome:?}");
            let kept = std::fs::read_to_string(repository.path(path)).unwrap();
            assert_eq!(kept, "precious\n", "{words:?}");
            assert_eq!(repository.ask(&["ls-files", "sub"]), path, "{words:?}");
        }
    }
}

/// Whether a file is changed cannot be said if the filter that it needs fails: as in git, that is an
/// error, and nothing is touched.
#[test]
fn a_required_filter_that_fails_is_told() {
    let origin = Repository::init(&[]);
    origin.write(".gitattributes", "file filter=bad\n");
    origin.write("file", "x\n");
    origin.commit("first");
    for words in [
        &["status", "-s"][..],
        &["diff-files"],
        &["diff-index", "HEAD"],
        &["ls-files", "-m"],
        &["checkout", "HEAD"],
    ] {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.each("a filter that fails", |repository| {
            // A file that is newer than the index may be changed whatever its times say.
            let file = std::fs::File::open(repository.path("file")).unwrap();
            let later = SystemTime::now() + Duration::from_secs(3600);
            file.set_modified(later).unwrap();
            repository.git(&["update-index", "-q", "--refresh"]);
            repository.git(&["config", "filter.bad.required", "true"]);
            repository.git(&["config", "filter.bad.clean", "false"]);
        });
        let [theirs, ours] = [&pair.git, &pair.hedgerow].map(|it| it.tree());
        let mut command = hedgerow_testkit::Program::Git.command(&pair.git.root);
        let expected = hedgerow_testkit::run({
            command.args(words);
            command
        });
        let outcome = pair.hedgerow.hedgerow(words);
        assert_eq!(outcome.code, expected.code, "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains("bad"), "{words:?}: {outcome:?}");
        assert!([theirs, ours] == [&pair.git, &pair.hedgerow].map(|it| it.tree()));
    }
}

/// Git cannot use an index that is both split and sparse: it stays split, and full.
#[test]
fn a_split_index_does_not_become_sparse() {
    let origin = origin();
    origin.git(&["config", "core.splitIndex", "true"]);
    for words in [
        &["set", "--sparse-index", "a"][..],
        &["init", "--sparse-index"],
    ] {
        let pair = Pair::of(&origin, &format!("{words:?}"));
        // The names of shared indexes say when a file was changed, so the twins differ.
        pair.git.git(&[&["sparse-checkout"], words].concat());
        let outcome = pair
            .hedgerow
            .hedgerow(&[&["sparse-checkout"], words].concat());
        assert_eq!(outcome.code, 0, "{words:?}: {outcome:?}");
        for question in [
            &["status", "--porcelain"][..],
            &["ls-files", "--sparse", "-t"],
        ] {
            let [theirs, ours] = [&pair.git, &pair.hedgerow].map(|it| it.ask(question));
            assert_eq!(ours, theirs, "{words:?}: {question:?}");
        }
    }
}

/// What a sparse checkout writes is as open as `core.sharedRepository` says.
#[test]
fn rules_are_shared() {
    let origin = origin();
    origin.git(&["config", "core.sharedRepository", "group"]);
    let pair = Pair::of(&origin, "shared");
    pair.git.git(&["sparse-checkout", "set", "a"]);
    let outcome = pair.hedgerow.hedgerow(&["sparse-checkout", "set", "a"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for name in [".git/config.worktree", ".git/info/sparse-checkout"] {
        let mode = |repository: &Repository| {
            let metadata = std::fs::metadata(repository.path(name)).unwrap();
            metadata.permissions().mode()
        };
        assert_eq!(mode(&pair.hedgerow), mode(&pair.git), "{name}");
    }
}

/// A list with one empty line has a pathspec, which is refused, and is not the wish for everything.
#[test]
fn an_empty_line_is_no_missing_list() {
    let origin = origin();
    origin.git(&["branch", "other"]);
    for (name, words) in [
        ("checkout", &["-f", "other"][..]),
        ("reset", &[]),
        ("restore", &[]),
        ("stash", &["push"]),
    ] {
        let mut pair = Pair::of(&origin, name);
        pair.any_words = true;
        pair.each("an edit", |repository| {
            repository.write("top", "mine\n");
            repository.git(&["add", "top"]);
            repository.write(".git/list", "\n");
        });
        let words = [words, &["--pathspec-from-file=.git/list"]].concat();
        let outcome = pair.both(name, "", &words, &[]);
        assert_eq!(outcome.code, 128, "{name}: {outcome:?}");
        assert_eq!(pair.hedgerow.read("top"), b"mine\n", "{name}");
    }
}

/// A value that git refuses is refused although a good one follows, and nothing is touched.
#[test]
fn every_value_is_looked_at() {
    for (name, words) in [
        (
            "checkout",
            &["--conflict=x", "--conflict=merge", "--", "top"][..],
        ),
        ("switch", &["--conflict=x", "--conflict=merge", "other"]),
        ("checkout-index", &["--stage=4", "--stage=2", "-a", "-f"]),
        ("worktree", &["prune", "--expire=bogus", "--expire=now"]),
    ] {
        let origin = origin();
        origin.git(&["branch", "other"]);
        let mut pair = Pair::of(&origin, &format!("{name} {words:?}"));
        pair.any_words = true;
        pair.each("an edit", |repository| repository.write("top", "mine\n"));
        let outcome = pair.both(name, "", words, &[]);
        assert_ne!(outcome.code, 0, "{name} {words:?}");
        assert_eq!(pair.hedgerow.read("top"), b"mine\n");
    }
}

/// A repository with the branch `without`, and `with`, checked out, which has a submodule `sub`.
fn with_submodule() -> Repository {
    let repository = Repository::init(&[]);
    repository.write("top", "top\n");
    repository.commit("first");
    repository.git(&["branch", "without"]);
    let inner = Repository::init(&[]);
    inner.write("x", "x\n");
    inner.commit("inner");
    let status = std::process::Command::new("cp")
        .arg("-a")
        .args([&inner.root, &repository.path("sub")])
        .status();
    assert!(status.unwrap().success());
    repository.git(&["add", "sub"]);
    repository.commit("second");
    repository.git(&["branch", "with"]);
    repository
}

/// Git leaves alone what it was told to, by force too, and a directory in its place.
#[test]
fn force_leaves_a_directory_in_the_place_of_a_file_that_is_skipped() {
    for words in [
        &["checkout", "-f", "second"][..],
        &["reset", "--hard", "second"],
        &["read-tree", "--reset", "-u", "second"],
    ] {
        for bit in ["--skip-worktree", "--assume-unchanged"] {
            let mut pair = Pair::of(&origin(), &format!("{words:?} {bit}"));
            pair.each("a directory", |repository| {
                repository.git(&["update-index", bit, "b/f"]);
                repository.remove("b/f");
                repository.write("b/f/mine", "untracked\n");
            });
            pair.both(words[0], "", &words[1..], &[]);
        }
    }
}

/// A link took the place of a directory, and leads to one that has the same names.
#[test]
fn files_that_a_link_above_leads_to_are_not_listed_as_deleted() {
    for target in [".", "nowhere", "top"] {
        let origin = Repository::init(&[]);
        origin.commit_files(
            &[
                ("d/x", "d/x\n"),
                ("d/y", "d/y\n"),
                ("x/in", "x/in\n"),
                ("top", "top\n"),
            ],
            "first",
        );
        let mut pair = Pair::of(&origin, target);
        pair.each("a link above", |repository| {
            std::fs::remove_dir_all(repository.path("d")).unwrap();
            repository.symlink("d", target);
        });
        pair.both("ls-files", "", &["-d", "-m", "-o", "-t"], &[]);
        pair.both("ls-files", "", &["-d"], &[]);
    }
}

/// The new tree has a directory in the place of a file in conflict, which goes whatever it holds.
#[test]
fn a_file_in_conflict_makes_room_for_a_directory() {
    let origin = Repository::init(&["-b", "main"]);
    origin.commit_files(&[("A", "a\n"), ("A-b", "b\n"), ("x", "x\n")], "one");
    origin.git(&["tag", "one"]);
    origin.git(&["rm", "-q", "A"]);
    origin.commit_files(&[("A/f", "f\n")], "two");
    origin.git(&["tag", "two"]);
    origin.git(&["checkout", "-q", "one"]);
    let entry = |stage: usize, revision: &str| {
        let id = origin.ask(&["rev-parse", revision]);
        format!("100644 {} {stage}\tA\n", id.trim())
    };
    for stages in [&[1, 2][..], &[1], &[2, 3], &[1, 2, 3]] {
        for other in ["one:A", "two:A/f"] {
            for file in ["a\n", "mine\n", ""] {
                for words in [&["--merge", "two"][..], &["--hard", "two"]] {
                    let mut pair = Pair::of(&origin, &format!("{stages:?} {other} {file}"));
                    pair.each("a conflict", |repository| {
                        let mut lines = format!("0 {}\tA\n", "0".repeat(40));
                        for (at, stage) in stages.iter().enumerate() {
                            lines += &entry(*stage, if at == 0 { "one:A" } else { other });
                        }
                        repository.git_with(&["update-index", "--index-info"], lines.as_bytes());
                        repository.remove("A");
                        if !file.is_empty() {
                            repository.write("A", file);
                        }
                    });
                    assert_eq!(pair.both("reset", "", words, &[]).code, 0);
                }
            }
        }
    }
}

/// Git compares a directory of a sparse index as a whole: of what differs in it, it lists trees.
#[test]
fn lists_have_trees_where_the_index_has_directories() {
    let origin = Repository::init(&["-b", "main"]);
    for path in [
        "in/f",
        "out/f",
        "out/s/f",
        "out/s/t/f",
        "gone/f",
        "same/s/f",
        "m/n/o/f",
        "top",
    ] {
        origin.write(path, format!("{path}\n"));
    }
    origin.write("out/kind", "a file\n");
    origin.write("out/kind-b", "between\n");
    origin.commit("one");
    origin.git(&["tag", "one"]);
    for path in [
        "in/f", "out/f", "out/s/f", "new/f", "new/n/f", "m/n/o/f", "z",
    ] {
        origin.write(path, "changed\n");
    }
    origin.remove("gone/f");
    origin.remove("out/kind");
    origin.write("out/kind/f", "a directory\n");
    origin.commit("two");
    origin.git(&["tag", "two"]);
    origin.git(&["mv", "out/s", "m/n/moved"]);
    origin.commit("three");
    origin.git(&["tag", "three"]);
    let ways: [&[&str]; 12] = [
        &["--cached"],
        &["--cached", "--name-status"],
        &["--cached", "--name-only", "-z"],
        &["--cached", "--quiet"],
        &["--cached", "--raw", "--abbrev=9", "-R"],
        &["--cached", "--name-status", "--diff-filter=A"],
        &["--cached", "--name-status", "-M"],
        &["--cached", "--stat", "--raw"],
        &["--cached", "--summary"],
        &["--cached", "-p"],
        &["--name-status"],
        &["-m", "--raw"],
    ];
    for (at, against) in [
        ("two", "one"),
        ("three", "two"),
        ("three", "one"),
        ("two", "two"),
    ] {
        let mut pair = Pair::of(&origin, &format!("{at} {against}"));
        pair.each("sparse", |it| {
            it.git(&["checkout", "-q", at]);
            it.git(&["config", "advice.sparseIndexExpanded", "false"]);
            it.git(&[
                "sparse-checkout",
                "set",
                "--cone",
                "--sparse-index",
                "in",
                "m/x",
            ]);
        });
        for way in ways {
            pair.both("diff-index", "", &[way, &[against]].concat(), &[]);
        }
        // Pathspecs that match a whole directory, or none.
        for spec in ["out", "out/", "in", "new/", "top", ":!out", ".", "z*"] {
            let words = ["--cached", "--name-status", against, "--", spec];
            pair.both("diff-index", "", &words, &[]);
        }
        // A directory that is there is no longer one entry.
        pair.each("present", |it| it.write("out/f", "mine\n"));
        for way in ways {
            pair.both("diff-index", "", &[way, &[against]].concat(), &[]);
        }
    }
    // Git finds nothing inside of a directory that is one entry; here, what is asked for is listed.
    let sparse = ["sparse-checkout", "set", "--cone", "--sparse-index", "in"];
    origin.git(&sparse);
    let words = [
        "diff-index",
        "--cached",
        "--name-status",
        "one",
        "--",
        "out/s",
    ];
    let expected = "D\tout/s/f\nD\tout/s/t/f\n";
    assert_eq!(origin.hedgerow(&words).stdout, expected.as_bytes());
}

/// The index with other ids in its cache tree, and no checksum.
fn forge(repository: &Repository, ids: &[(&str, &str)]) {
    let path = repository.path(".git/index");
    let mut content = std::fs::read(&path).unwrap();
    let start = content.windows(4).position(|it| it == b"TREE").unwrap();
    let bytes = |name: &str| -> Vec<u8> {
        let id = repository.ask(&["rev-parse", name]);
        let digits = (0..id.len()).step_by(2);
        digits
            .map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap())
            .collect()
    };
    for (real, forged) in ids {
        let (real, forged) = (bytes(real), bytes(forged));
        let mut ids = content[start..].windows(20);
        let at = start + ids.position(|id| id == real).unwrap();
        content[at..at + 20].copy_from_slice(&forged);
    }
    let end = content.len() - 20;
    content[end..].fill(0);
    std::fs::write(&path, content).unwrap();
}

/// Git believes of a cache tree that a directory is the wanted one, but not that the top is.
#[test]
fn a_wrong_root_of_the_cache_tree_is_not_believed() {
    let origin = Repository::init(&["-b", "main"]);
    let files = ["top", "d/f", "d/e/f", "d/e/g", "g/f"];
    for (number, name) in [(1, "one"), (2, "two")] {
        for path in files {
            origin.write(path, format!("{path} {number}\n"));
        }
        origin.commit(name);
        origin.git(&["tag", name]);
    }
    // As in one, but for a file that is as in two.
    origin.git(&["checkout", "-q", "one"]);
    origin.write("d/e/f", "d/e/f 2\n");
    origin.commit("mixed");
    origin.git(&["tag", "mixed"]);
    origin.git(&["checkout", "-q", "main"]);
    let root: &[(&str, &str)] = &[("one^{tree}", "two^{tree}")];
    let other: &[(&str, &str)] = &[("one^{tree}", "mixed^{tree}")];
    let inside: &[(&str, &str)] = &[
        ("one^{tree}", "mixed^{tree}"),
        ("one:d", "mixed:d"),
        ("one:d/e", "mixed:d/e"),
    ];
    for ids in [root, other, inside] {
        for words in [
            &["reset", "--hard", "two"][..],
            &["reset", "--mixed", "two"],
            &["reset", "--merge", "two"],
            &["checkout", "-f", "main"],
            &["read-tree", "--reset", "-u", "two"],
            &["diff-index", "--cached", "--name-status", "two"],
            &["status", "--short"],
        ] {
            let mut pair = Pair::of(&origin, &format!("{ids:?}"));
            pair.each("forged", |it| {
                it.git(&["read-tree", "-u", "--reset", "one"]);
                forge(it, ids);
            });
            pair.both(words[0], "", &words[1..], &[]);
            pair.both("diff-index", "", &["--cached", "HEAD"], &[]);
        }
    }
    // Nothing differs but the root, which is right afterwards.
    forge(&origin, &[("two^{tree}", "one^{tree}")]);
    assert_eq!(origin.hedgerow(&["reset", "--hard"]).code, 0);
    assert_eq!(
        origin.ask(&["write-tree"]),
        origin.ask(&["rev-parse", "two^{tree}"])
    );
}

/// A link that leads in circles is in the place of a directory.
#[test]
fn a_link_that_leads_in_circles_is_replaced_as_any() {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("d/f", "one\n"), ("top", "one\n")], "one");
    origin.commit_files(&[("d/f", "two\n")], "two");
    for words in [
        &["checkout", "-f", "HEAD"][..],
        &["checkout", "-f", "HEAD~1"],
        &["checkout", "HEAD"],
        &["checkout", "HEAD~1"],
        &["reset", "--hard", "HEAD~1"],
        &["reset", "--merge", "HEAD~1"],
        &["reset", "--keep", "HEAD~1"],
        &["restore", "."],
        &["checkout", "--", "d"],
    ] {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.each("a loop", |repository| {
            repository.remove("d");
            repository.symlink("d", "d");
            repository.write("top", "mine\n");
        });
        pair.both(words[0], "", &words[1..], &[]);
    }
}

/// A working tree that is named and not there: what needs it is refused, and all else goes on.
#[test]
fn a_named_working_tree_that_is_no_directory() {
    let origin = origin();
    for place in ["missing", "top"] {
        for words in [
            &["reset", "-q"][..],
            &["reset", "--soft", "second"],
            &["reset", "--", "top"],
            &["switch", "-c", "new"],
            &["merge", "--ff-only", "first"],
            &["ls-files"],
            &["diff-index", "--cached", "second"],
            &["diff-index", "second"],
            &["diff-files"],
        ] {
            let mut pair = Pair::of(&origin, &format!("{place} {words:?}"));
            let environment = [("GIT_DIR", ".git"), ("GIT_WORK_TREE", place)];
            pair.both(words[0], "", &words[1..], &environment);
        }
    }
    // Without one, the index can be compared.
    let mut pair = Pair::of(&origin, "in the Git directory");
    for words in [&["--cached", "second"][..], &["-p", "--cached", "second"]] {
        pair.both("diff-index", ".git", words, &[]);
    }
}

/// What no tree can record is refused, and stays.
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_put_aside() {
    for words in [
        &["-q"][..],
        &["-k"],
        &["-u"],
        &["create"],
        &["push", "--", "top"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("a pipe", |repository| {
            repository.write("a/f", "mine\n");
            repository.remove("top");
            let mut made = isolated("mkfifo");
            made.arg(repository.path("top"));
            run(made).ok("a pipe");
        });
        for (program, repository) in [(Program::Git, &pair.git), (HEDGEROW, &pair.hedgerow)] {
            let mut command = program.command(&repository.root);
            command.arg("stash").args(words);
            let told = run(command);
            assert_eq!(told.code, 1, "{words:?}: {}", told.stderr);
            assert!(
                told.stderr.contains("top: unsupported file type"),
                "{words:?}"
            );
            let kind = std::fs::symlink_metadata(repository.path("top")).unwrap();
            assert!(kind.file_type().is_fifo(), "{words:?}");
            assert_eq!(repository.ask(&["stash", "list"]), "", "{words:?}");
        }
    }
}

#[test]
fn untracked_files_have_no_mode_where_it_is_not_trusted() {
    let mut pair = Pair::of(&origin(), "core.fileMode");
    pair.each("an executable", |repository| {
        repository.git(&["config", "core.fileMode", "false"]);
        repository.write("new", "new\n");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(repository.path("new"), executable).unwrap();
    });
    pair.both("stash", "", &["-u"], &[]);
    let [by_git, by_us] =
        [&pair.git, &pair.hedgerow].map(|repository| repository.ask(&["ls-tree", "-r", "stash^3"]));
    assert_eq!(by_git, by_us);
}

/// The last of options that exclude each other counts, as does a protected wildcard, and a file of
/// patterns is read whatever is listed.
#[test]
fn words_of_listings() {
    let origin = origin();
    let mut pair = Pair::of(&origin, "listings");
    pair.each("an edit", |repository| {
        repository.write("top", "mine\n");
        repository.git(&["stash", "-q"]);
        repository.write("top", "mine, too\n");
    });
    for words in [
        &["ls-files", "-X", "missing"][..],
        &["ls-files", "-X", "top", "-c"],
        &["ls-files", "-X", "top", "-o"],
        &["diff-files", "-2", "-0"],
        &["diff-files", "-0", "-3"],
        &["diff-files", r"\*"],
        &["diff-files", "*"],
        &["diff-files", "--", r"\*"],
        &["diff-index", "HEAD", r"\*"],
        &["diff-index", "HEAD", ":!top"],
        &["diff-index", "HEAD", ":!missing"],
        &["stash", "show", "-U0", "-s"],
        &["stash", "show", "-s", "-U0"],
    ] {
        pair.both(words[0], "", &words[1..], &[]);
    }
    pair.each("a directory", |repository| {
        std::fs::create_dir(repository.path(".gitmodules")).unwrap();
    });
    let told = pair.hedgerow.hedgerow(&["submodule", "update"]);
    assert_eq!(told.code, 0);
    assert!(told.stderr.ends_with(".gitmodules': Is a directory\n"));
}

/// Deeper trees than `core.maxTreeDepth` are refused, and nothing is touched. Git says the same with
/// various exit codes, and `restore` removes files then.
#[test]
fn deeper_trees_than_allowed_are_refused() {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("top", "top\n")], "base");
    origin.commit_files(&[("1/2/3/f", "three\n")], "three");
    origin.git(&["tag", "three"]);
    origin.commit_files(&[("1/2/3/4/f", "four\n")], "deep");
    origin.git(&["tag", "deep"]);
    origin.git(&["checkout", "-q", "--detach", "HEAD~2"]);
    origin.git(&["config", "core.maxTreeDepth", "3"]);
    for words in [
        &["checkout", "deep"][..],
        &["checkout", "-f", "deep"],
        &["switch", "--detach", "deep"],
        &["reset", "--hard", "deep"],
        &["reset", "deep"],
        &["restore", "--source", "deep", "."],
        &["read-tree", "-m", "-u", "HEAD", "deep"],
        &["merge", "--ff-only", "deep"],
        &["worktree", "add", "new", "deep"],
        &["diff-index", "--cached", "deep"],
        &["archive", "deep"],
    ] {
        let told = origin.hedgerow(words);
        assert_eq!(told.code, 128, "{words:?}");
        let reason = "exceeded maximum allowed tree depth";
        assert!(told.stderr.contains(reason), "{words:?}: {}", told.stderr);
        assert_eq!(origin.ask(&["status", "--porcelain"]), "", "{words:?}");
    }
    assert_eq!(origin.hedgerow(&["checkout", "-q", "three"]).code, 0);
    assert!(origin.path("1/2/3/f").exists());
}

/// A file that changed in the second in which the index was written, and kept its size: an index that is
/// written later must not make it look as it was.
#[test]
fn an_edit_in_the_second_of_the_index_stays_in_sight() {
    let origin = Repository::init(&[]);
    let files = [("a", "1\n"), ("b", "1\n"), ("c", "1\n")];
    origin.commit_files(&files, "one");
    origin.git(&["tag", "one"]);
    origin.commit_files(&[("c", "2\n")], "two");
    // The times of inodes cannot be set.
    origin.git(&["config", "core.trustCtime", "false"]);
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let date = |repository: &Repository, path: &str, milliseconds: u64| {
        let file = std::fs::File::options()
            .append(true)
            .open(repository.path(path));
        let time = second + Duration::from_millis(milliseconds);
        file.unwrap().set_modified(time).unwrap();
    };
    for words in [
        &["restore", "--staged", "a"][..],
        &["restore", "--source=one", "--staged", "c"],
        &["restore", "a"],
        &["reset", "-q", "--", "a"],
        &["reset", "-q"],
        &["stash", "create"],
        &["stash", "push", "-q", "--", "a"],
        &["stash", "push", "-q", "-k", "--", "a"],
        &["checkout-index", "-u", "-f", "a"],
        &["checkout", "-q", "--", "a"],
        &["checkout", "-q", "one"],
        &["read-tree", "-m", "HEAD"],
        &["sparse-checkout", "set", "--no-cone", "/*"],
        &["status"],
    ] {
        let home = temporary();
        let repository = origin.copy(&home.path().join("copy"));
        date(&repository, "b", 500);
        repository.git(&["update-index", "-q", "--refresh"]);
        repository.write("a", "mine\n");
        std::fs::write(repository.path("b"), "9\n").unwrap();
        date(&repository, "b", 700);
        date(&repository, ".git/index", 900);
        let told = repository.hedgerow(words);
        assert_eq!(told.code, 0, "{words:?}: {}", told.stderr);
        let status = repository.ask(&["status", "--porcelain"]);
        assert!(status.contains("M b"), "{words:?}: {status}");
    }
}
