//! What attackers found: each was wrong once.

use crate::support::{run, set_fraction, Pair, Program, Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::git;
use std::path::Path;

/// A file at the top and one in a directory, committed.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.write("top", "1\n");
    repository.write("dir/file", "2\n");
    repository.commit("one");
    repository.git(&["branch", "other"]);
    repository
}

fn inside(repository: &Repository, inner: &str, words: &[&str]) {
    git(&repository.root.join(inner), words, &[]);
}

/// A repository in the place of a file has a history, even if all its files are ignored.
#[test]
fn a_nested_repository_is_not_overwritten() {
    let origin = origin();
    origin.write("a", "3\n");
    origin.commit("two");
    for words in [
        &["checkout", "main"][..],
        &["switch", "main"],
        &["checkout", "-b", "new", "main"],
        &["reset", "--keep", "main"],
        &["reset", "--merge", "main"],
        &["read-tree", "-m", "-u", "HEAD", "main"],
    ] {
        let mut pair = Pair::of(&origin, "a nested repository");
        pair.any_words = true;
        pair.each("nest", |repository| {
            repository.git(&["checkout", "-q", "other"]);
            repository.git(&["init", "-q", "a"]);
            repository.write("a/precious", "precious\n");
            inside(repository, "a", &["add", "precious"]);
            inside(repository, "a", &["commit", "-q", "-m", "precious"]);
            // It has stat data, which differ.
            repository.remove("a/.git/index");
            repository.write("a/.gitignore", "*\n");
        });
        let outcome = pair.both(words[0], "", &words[1..], &[]);
        assert_ne!(outcome.code, 0, "{words:?}");
        assert!(pair.hedgerow.path("a/.git/HEAD").exists(), "{words:?}");
    }
}

/// An unset variable of a script must not name the working tree that it runs in.
#[test]
fn an_empty_word_names_no_working_tree() {
    let origin = origin();
    let place = hedgerow_testkit::temporary();
    let linked = place.path().join("linked");
    origin.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        linked.to_str().unwrap(),
    ]);
    std::fs::write(linked.join("mine"), "mine\n").unwrap();
    let directory = linked.to_str().unwrap();
    for words in [
        &["remove", "-f", ""][..],
        &["remove", ""],
        &["lock", ""],
        &["move", "", "x"],
    ] {
        let outcome = origin.hedgerow(&[&["-C", directory, "worktree"], words].concat());
        assert_eq!(outcome.code, 128, "{words:?}: {outcome:?}");
        assert!(
            outcome.stderr.contains("'' is not a working tree"),
            "{outcome:?}"
        );
    }
    assert!(Path::new(directory).join("mine").exists());
}

/// A cone whose only rule is `/*` has everything.
#[test]
fn a_cone_may_have_everything() {
    let mut pair = Pair::of(&origin(), "a full cone");
    pair.each("rules", |repository| {
        repository.git(&["sparse-checkout", "set", "--cone"]);
        repository.write(".git/info/sparse-checkout", "/*\n");
    });
    pair.both("sparse-checkout", "", &["reapply"], &[]);
    assert!(pair.hedgerow.path("dir/file").exists());
    pair.hedgerow.write("dir/mine", "mine\n");
    let outcome = pair.hedgerow.hedgerow(&["sparse-checkout", "clean", "-f"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(pair.hedgerow.path("dir/mine").exists());
}

#[test]
fn contradicting_options_of_clean_remove_nothing() {
    let mut pair = Pair::of(&origin(), "clean -x -X");
    pair.each("ignored", |repository| {
        repository.git(&["config", "clean.requireForce", "false"]);
        repository.write("keep.o", "keep\n");
        repository.write(".git/info/exclude", "*.o\n");
    });
    let outcome = pair.both("clean", "", &["-x", "-X"], &[]);
    assert_eq!(outcome.code, 128);
    assert!(pair.hedgerow.path("keep.o").exists());
}

/// A conflict at a path that the tree has as a directory stops the command like any other.
#[test]
fn a_conflict_above_a_directory_of_the_tree_is_a_conflict() {
    let origin = origin();
    origin.remove("dir/file");
    origin.write("a/x", "5\n");
    origin.commit("two");
    let mut pair = Pair::of(&origin, "a conflict above a directory");
    pair.each("conflict", |repository| {
        repository.git(&["checkout", "-q", "other"]);
        let id = repository.git_with(&["hash-object", "-w", "--stdin"], b"3\n");
        let id = String::from_utf8(id).unwrap();
        let id = id.trim();
        let lines = format!("100644 {id} 2\ta\n100644 {id} 3\ta\n");
        repository.git_with(&["update-index", "--index-info"], lines.as_bytes());
        repository.write("top", "mine\n");
    });
    let words = ["--source", "main", "--staged", "--worktree", "."];
    let outcome = pair.both("restore", "", &words, &[]);
    assert_eq!(outcome.code, 1);
    assert_eq!(std::fs::read(pair.hedgerow.path("top")).unwrap(), b"mine\n");
}

#[test]
fn a_working_tree_moves_from_within_and_is_repaired_only_by_right_words() {
    let origin = origin();
    let place = hedgerow_testkit::temporary();
    let [old, new] = ["old", "new"].map(|name| place.path().join(name));
    origin.git(&["worktree", "add", "-q", "--detach", old.to_str().unwrap()]);
    let words = [
        "-C",
        old.to_str().unwrap(),
        "worktree",
        "move",
        "../old",
        "../new",
    ];
    let outcome = origin.hedgerow(&words);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let listed = origin.ask(&["worktree", "list", "--porcelain"]);
    assert!(listed.contains(new.to_str().unwrap()), "{listed}");
    std::fs::write(new.join(".git"), "junk").unwrap();
    let nowhere = place.path().join("nowhere/x");
    let outcome = origin.hedgerow(&["worktree", "repair", nowhere.to_str().unwrap()]);
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert_eq!(std::fs::read(new.join(".git")).unwrap(), b"junk");
}

/// A branch may be another name of one. It stays so, and what it names is made or moved.
#[test]
fn branches_that_are_symbolic_lead_to_what_they_name() {
    let origin = Repository::init(&[]);
    for content in ["1", "2", "3"] {
        origin.write("f", content);
        origin.commit(content);
    }
    origin.git(&["branch", "before", "HEAD~1"]);
    origin.git(&["symbolic-ref", "refs/heads/same", "refs/heads/before"]);
    origin.git(&["symbolic-ref", "refs/heads/new", "refs/heads/not/there"]);
    for words in [
        &["-q", "-B", "same", "HEAD~2"][..],
        &["-q", "-b", "new"],
        &["-q", "-b", "same"],
    ] {
        let mut pair = Pair::of(&origin, "symbolic branches");
        pair.both("checkout", "", words, &[]);
        let list = [
            "for-each-ref",
            "--format=%(refname) %(objectname) %(symref)",
        ];
        assert_eq!(pair.git.git(&list), pair.hedgerow.git(&list), "{words:?}");
        for name in ["same", "new", "before", "not/there"] {
            let log = ["reflog", "show", &format!("refs/heads/{name}"), "--"];
            let (expected, found) = (pair.git.run(&log, b""), pair.hedgerow.run(&log, b""));
            assert_eq!(expected, found, "{words:?}: {name}");
        }
    }
}

/// Where a log began anew, as after a branch was renamed, the reference itself tells its value.
#[test]
fn logs_with_gaps_mean_what_they_mean_to_git() {
    let origin = Repository::init(&["-b", "main"]);
    for content in ["1", "2", "3"] {
        origin.write("f", content);
        origin.commit(content);
    }
    origin.git(&["branch", "-m", "main", "other"]);
    origin.write("f", "4");
    origin.commit("4");
    origin.git(&["branch", "short"]);
    origin.git(&["reflog", "delete", "other@{0}"]);
    for revision in [
        "HEAD@{0}",
        "HEAD@{1}",
        "HEAD@{2}",
        "HEAD@{3}",
        "HEAD@{4}",
        "other@{0}",
        "other@{1}",
        "other@{now}",
        "short@{0}",
        "short@{1}",
    ] {
        let pair = Pair::of(&origin, "gaps");
        let words = ["-q", "--detach", revision];
        let outcome = |program: Program, place: &Repository| {
            let mut command = program.command(&place.root);
            command.arg("checkout").args(words);
            let code = run(command).code;
            (code, place.git(&["rev-parse", "HEAD"]))
        };
        let expected = outcome(Program::Git, &pair.git);
        assert_eq!(expected, outcome(HEDGEROW, &pair.hedgerow), "{revision}");
    }
}

/// In a sparse checkout, git keeps a new file below a path that becomes a file.
#[test]
fn a_new_file_in_the_place_of_another_is_kept_in_a_sparse_checkout() {
    let origin = Repository::init(&["-b", "main"]);
    origin.write("a", "1");
    origin.write("dir/a", "1");
    origin.commit("one");
    origin.git(&["checkout", "-q", "-b", "side"]);
    origin.write("dir/sub", "a file");
    origin.commit("two");
    origin.git(&["checkout", "-q", "main"]);
    for words in [
        &["checkout", "-q", "side"][..],
        &["switch", "-q", "side"],
        &["merge", "side"],
        &["reset", "--keep", "side"],
    ] {
        let mut pair = Pair::of(&origin, "sparse");
        pair.each("stage", |repository| {
            repository.git(&["sparse-checkout", "set", "dir"]);
            repository.write("dir/sub/c", "precious");
            repository.git(&["add", "."]);
        });
        pair.both(words[0], "", &words[1..], &[]);
        assert_eq!(pair.hedgerow.read("dir/sub/c"), b"precious", "{words:?}");
        if words[0] != "reset" {
            let staged = pair.hedgerow.ask(&["show", ":dir/sub/c"]);
            assert_eq!(staged, "precious", "{words:?}");
        }
    }
}

/// Files to be added later stay in the index where the commit has a file above them.
#[test]
fn what_is_to_be_added_later_stays_below_a_file() {
    let origin = Repository::init(&[]);
    for (path, content) in [("f", "1"), ("g", "2"), ("e/x", "3")] {
        origin.write(path, content);
    }
    origin.commit("one");
    for words in [&["-N", "--", "."][..], &["-N", "--", "f", "e"], &["-N"]] {
        let mut pair = Pair::of(&origin, "intent to add");
        pair.each("files and directories change places", |repository| {
            repository.git(&["rm", "-q", "f", "e/x"]);
            for (path, content) in [("f/a", "4"), ("f/b", "5"), ("e", "6")] {
                repository.write(path, content);
            }
            repository.git(&["add", "."]);
        });
        pair.both("reset", "", words, &[]);
    }
}

/// Without an index, what is at the place of a file of both commits counts as staged for deletion.
#[test]
fn ignored_files_stay_where_there_is_no_index() {
    let origin = origin();
    origin.write("new", "new\n");
    origin.commit("two");
    origin.git(&["checkout", "-q", "other"]);
    for words in [
        &["merge", "--ff-only", "main"][..],
        &["reset", "--keep", "main"],
        &["reset", "--keep"],
        &["reset", "--merge", "main"],
    ] {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.any_words = true;
        pair.each("no index", |repository| {
            repository.write(".git/info/exclude", "top\n");
            repository.write("top", "precious\n");
            repository.remove(".git/index");
        });
        pair.both(words[0], "", &words[1..], &[]);
        assert_eq!(pair.hedgerow.read("top"), b"precious\n", "{words:?}");
    }
}

/// The file that is to come needs the place of the directory.
#[test]
fn a_conflict_stays_below_a_file_that_is_to_come() {
    let origin = origin();
    origin.write("d/t", "1\n");
    origin.commit("add");
    origin.git(&["checkout", "-q", "-b", "side"]);
    origin.write("d/t", "2\n");
    origin.commit("side");
    origin.git(&["checkout", "-q", "main"]);
    origin.git(&["rm", "-q", "d/t"]);
    origin.commit("remove");
    origin.git(&["checkout", "-q", "-b", "file"]);
    origin.write("d", "a file\n");
    origin.commit("file");
    origin.git(&["checkout", "-q", "main"]);
    let mut pair = Pair::of(&origin, "a conflict");
    pair.any_words = true;
    pair.each("merge", |repository| {
        assert_eq!(repository.run(&["merge", "-q", "side"], b"").code, 1);
        repository.write("d/t", "precious\n");
    });
    let outcome = pair.both("reset", "", &["--merge", "file"], &[]);
    assert_eq!(outcome.code, 128);
    assert_eq!(pair.hedgerow.read("d/t"), b"precious\n");
}

/// What was staged would be nowhere: the file has something else.
#[test]
fn what_is_staged_of_files_left_alone_is_not_reset() {
    let origin = origin();
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        for words in [&["--keep"][..], &["--keep", "other"]] {
            let mut pair = Pair::of(&origin, flag);
            pair.any_words = true;
            pair.each("stage", |repository| {
                repository.write("top", "staged\n");
                repository.git(&["add", "top"]);
                repository.git(&["update-index", flag, "top"]);
                repository.write("top", "in the working tree\n");
            });
            assert_eq!(pair.both("reset", "", words, &[]).code, 128, "{flag}");
        }
    }
}

/// Git keeps both, beside what it does not write; hedgerow refuses.
#[test]
fn a_reset_to_one_of_several_trees_keeps_what_is_staged_below_a_file() {
    let reset = ["read-tree", "--reset", "-u", "HEAD", "file"];
    let to_file = || {
        let repository = origin();
        repository.write("top", "changed\n");
        repository.git(&["rm", "-q", "-r", "dir"]);
        repository.write("dir", "a file\n");
        repository.commit("file");
        repository.git(&["branch", "file"]);
        repository.git(&["checkout", "-q", "other"]);
        repository
    };
    let repository = to_file();
    repository.write("dir/new", "precious\n");
    repository.git(&["add", "dir/new"]);
    let outcome = repository.hedgerow(&reset);
    assert_eq!(outcome.code, 128, "{}", outcome.stderr);
    assert_eq!(repository.read("dir/new"), b"precious\n");
    let repository = to_file();
    repository.git(&["init", "-q", "dir/sub"]);
    repository.write("dir/sub/precious", "precious\n");
    inside(&repository, "dir/sub", &["add", "."]);
    inside(&repository, "dir/sub", &["commit", "-q", "-m", "precious"]);
    repository.git(&["add", "dir/sub"]);
    let outcome = repository.hedgerow(&reset);
    assert_eq!(outcome.code, 128, "{}", outcome.stderr);
    assert!(repository.path("dir/sub/.git/HEAD").exists());
}

/// They were there before the move, and are what the move keeps.
#[test]
fn changed_files_outside_stay_in_a_reset_to_one_of_several_trees() {
    let mut pair = Pair::of(&origin(), "outside");
    pair.each("sparse", |repository| {
        repository.git(&["sparse-checkout", "set", "--no-cone", "/top"]);
        repository.write("dir/file", "precious\n");
        repository.run(&["update-index", "-q", "--refresh"], b"");
    });
    pair.both("read-tree", "", &["--reset", "-u", "HEAD", "other"], &[]);
    assert_eq!(pair.hedgerow.read("dir/file"), b"precious\n");
}

/// Git writes no such index, but crashes; and crashes again whenever it reads one.
#[test]
fn no_sparse_index_is_written_that_git_cannot_read() {
    let repository = origin();
    repository.write("dir/intended", "1\n");
    repository.git(&["add", "-N", "dir/intended"]);
    let before = repository.read(".git/config");
    for words in [&["set", "--sparse-index"][..], &["init", "--sparse-index"]] {
        let outcome = repository.hedgerow(&[&["sparse-checkout"], words].concat());
        assert_eq!(outcome.code, 128, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("dir/intended"));
    }
    assert_eq!(repository.read(".git/config"), before);
    repository.git(&["status"]);
}

/// A tree with such names could not be checked out again.
#[test]
fn untracked_files_that_no_tree_may_have_prevent_a_stash() {
    for name in [".GIT/x", "dir/git~1"] {
        let repository = origin();
        repository.write(name, "precious\n");
        repository.write("untracked", "precious\n");
        for words in [&["stash", "-u"][..], &["stash", "push", "-a", "--", "."]] {
            let outcome = repository.hedgerow(words);
            assert_ne!(outcome.code, 0);
            assert!(outcome.stderr.contains(name), "{}", outcome.stderr);
            assert_eq!(repository.read(name), b"precious\n");
            assert_eq!(repository.read("untracked"), b"precious\n");
        }
    }
}

/// A reference with a slash in its name leaves an empty directory where a log is to be. One that is not
/// empty is in the way, and `stash` says so even if only its log lacks a line.
#[test]
fn directories_in_the_place_of_logs_go_if_they_are_empty() {
    for (path, is_fine) in [
        ("logs/HEAD/x/", true),
        ("logs/refs/heads/main/", true),
        ("logs/HEAD/file", false),
    ] {
        for words in [
            &["stash", "push", "-S"][..],
            &["stash"],
            &["reset", "--hard"],
            &["switch", "--detach"],
        ] {
            let mut pair = Pair::of(&origin(), &format!("{path} {words:?}"));
            pair.any_words = true;
            pair.each("in the way", |repository| {
                repository.write("top", "staged\n");
                repository.git(&["add", "top"]);
                let place = repository.path(".git").join(path);
                let log = path.trim_end_matches("/x/").trim_end_matches("/file");
                std::fs::remove_file(repository.path(".git").join(log.trim_end_matches('/')))
                    .unwrap();
                if path.ends_with('/') {
                    std::fs::create_dir_all(place).unwrap();
                } else {
                    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                    std::fs::write(place, "").unwrap();
                }
            });
            if is_fine {
                assert_eq!(pair.both(words[0], "", &words[1..], &[]).code, 0);
            } else {
                let outcome = pair.hedgerow.hedgerow(words);
                assert_ne!(outcome.code, 0, "{path} {words:?}");
                assert!(outcome.stderr.contains("logs/HEAD"), "{outcome:?}");
            }
        }
    }
}

/// Git was told not to look at the file: no entry gets what it has, and none may take its place.
#[test]
fn a_partial_stash_keeps_what_files_left_alone_have() {
    let origin = origin();
    for (flag, path) in [
        ("--assume-unchanged", "top"),
        ("--assume-unchanged", "new"),
        ("--skip-worktree", "top"),
    ] {
        for words in [
            &["push", "--", "top", "new"][..],
            &["push", "-k", "--", "top", "new"],
            &["push", "-u", "--", "."],
            &["push", "--staged"],
            &["push", "--staged", "--", "top"],
        ] {
            let mut pair = Pair::of(&origin, flag);
            pair.each("stage", |repository| {
                repository.write("new", "staged\n");
                repository.write("top", "staged\n");
                repository.git(&["add", "new", "top"]);
                repository.git(&["update-index", flag, path]);
                repository.write(path, "staged\nprecious\n");
            });
            let outcome = pair.hedgerow.hedgerow(&[&["stash"], words].concat());
            assert_eq!(outcome.code, 1, "{flag} {path} {words:?} {outcome:?}");
            assert_eq!(pair.hedgerow.read(path), b"staged\nprecious\n");
            let by_git = pair.git.run(&[&["stash"], words].concat(), b"");
            assert_eq!(by_git.code, 1);
            let listed = ["ls-files", "-s", "-v"];
            assert_eq!(pair.hedgerow.ask(&listed), pair.git.ask(&listed));
        }
    }
}

/// The pathspec matches a file of HEAD below what is a file now, and not that file.
#[test]
fn a_partial_stash_keeps_a_file_in_the_place_of_a_directory() {
    for words in [
        &["push", "-u", "--", "dir/file"][..],
        &["push", "-u", "--", "untracked", "dir/file"],
        &["push", "-a", "--", "dir/file"],
        &["push", "-k", "--", "dir/file"],
    ] {
        let repository = origin();
        repository.git(&["rm", "-q", "-r", "dir"]);
        repository.write("dir", "staged\n");
        repository.git(&["add", "dir"]);
        repository.write("dir", "staged\nprecious\n");
        repository.write("untracked/file", "");
        let outcome = repository.hedgerow(&[&["stash"], words].concat());
        assert_eq!(outcome.code, 1, "{outcome:?}");
        assert_eq!(repository.read("dir"), b"staged\nprecious\n");
        assert_eq!(repository.ask(&["ls-files", "dir"]), "dir");
    }
}

/// The file is only in the index, and what comes from the tree is in the place of its directory. A move to
/// another commit keeps the entry, as git's does (`sparse_found`); where trees are read into the index, git
/// keeps it, too, and hedgerow refuses.
#[test]
fn what_is_only_staged_is_not_dropped_for_a_file_of_the_tree() {
    for (is_there, words) in [
        (false, &["read-tree", "-m", "-u", "HEAD", "other"][..]),
        (false, &["read-tree", "--reset", "-u", "HEAD", "other"]),
        (false, &["read-tree", "-m", "HEAD", "other"]),
        (true, &["read-tree", "-m", "HEAD", "other"]),
        (true, &["read-tree", "-m", "-i", "HEAD", "other"]),
        (true, &["read-tree", "--reset", "HEAD", "other"]),
        (true, &["read-tree", "--reset", "-i", "HEAD", "other"]),
    ] {
        let repository = origin();
        repository.git(&["checkout", "-q", "other"]);
        repository.write("p", "2\n");
        repository.commit("two");
        repository.git(&["checkout", "-q", "main"]);
        repository.write("p/q/r", "precious\n");
        repository.git(&["add", "p"]);
        repository.write("p/q/r", "edited since\n");
        if !is_there {
            repository.remove("p");
        }
        let before = repository.ask(&["ls-files", "-s"]);
        let outcome = repository.hedgerow(words);
        assert_ne!(outcome.code, 0, "{words:?} {outcome:?}");
        assert!(outcome.stderr.contains("p/q/r"), "{words:?} {outcome:?}");
        assert_eq!(repository.ask(&["ls-files", "-s"]), before, "{words:?}");
        assert_eq!(repository.path("p/q/r").exists(), is_there, "{words:?}");
    }
}

#[test]
fn a_reset_of_two_trees_makes_a_directory_in_the_place_of_a_staged_file() {
    let origin = origin();
    origin.write("p/q", "2\n");
    origin.write("top", "2\n");
    origin.commit("two");
    let mut pair = Pair::of(&origin, "a staged file");
    pair.each("stage", |repository| {
        repository.git(&["checkout", "-q", "other"]);
        repository.write("p", "staged\n");
        repository.git(&["add", "p"]);
    });
    let words = ["--reset", "-u", "HEAD", "main"];
    let outcome = pair.both("read-tree", "", &words, &[]);
    assert_eq!(outcome.code, 0);
}

#[test]
fn a_reset_of_paths_keeps_what_is_in_conflict_beside_them() {
    let origin = origin();
    for path in ["dir/", "dir/file"] {
        let mut pair = Pair::of(&origin, path);
        pair.each("conflict", |repository| {
            repository.git(&["rm", "-r", "-q", "--cached", "dir"]);
            repository.remove("dir");
            let blob = repository.ask(&["rev-parse", "HEAD:top"]);
            let line = format!("100644 {blob} 3\tdir\n");
            let added = repository.run(&["update-index", "--index-info"], line.as_bytes());
            assert_eq!(added.code, 0);
            repository.write("dir", "mine\n");
        });
        pair.both("reset", "", &["-q", "HEAD", "--", path], &[]);
        assert!(pair.hedgerow.ask(&["ls-files", "-u"]).contains("3\tdir"));
    }
}

#[test]
fn no_stash_is_deleted_beside_references_that_cannot_be_read() {
    for word in ["clear", "drop"] {
        let repository = origin();
        repository.git(&["pack-refs", "--all"]);
        repository.write("top", "stashed\n");
        repository.git(&["stash", "-q"]);
        let stash = repository.ask(&["rev-parse", "stash"]);
        let packed = repository.path(".git/packed-refs");
        let content = std::fs::read_to_string(&packed).unwrap();
        std::fs::write(&packed, format!("{content}garbage\n")).unwrap();
        let outcome = repository.hedgerow(&["stash", word]);
        assert_ne!(outcome.code, 0, "{outcome:?}");
        std::fs::write(&packed, content).unwrap();
        assert_eq!(repository.ask(&["rev-parse", "stash"]), stash, "{word}");
        assert_eq!(repository.ask(&["stash", "list"]).lines().count(), 1);
    }
}

/// Files of the Git directory that are links, as `git-new-workdir` makes them, are written where they lead to.
#[test]
fn links_in_the_git_directory_stay() {
    let cases: [(&str, &[&str]); 8] = [
        ("index", &["status"]),
        ("index", &["switch", "other"]),
        ("index", &["reset", "--hard", "other"]),
        ("index", &["restore", "-s", "other", "-S", "-W", "."]),
        ("index", &["read-tree", "-m", "-u", "HEAD", "other"]),
        ("config", &["sparse-checkout", "set", "dir"]),
        ("config", &["checkout", "-b", "new", "--track", "other"]),
        (
            "info/sparse-checkout",
            &["sparse-checkout", "add", "nothing"],
        ),
    ];
    for (name, words) in cases {
        let origin = origin();
        origin.write("top", "3\n");
        origin.commit("two");
        if name == "info/sparse-checkout" {
            origin.git(&["sparse-checkout", "set", "dir"]);
        }
        let pair = Pair::of(&origin, name);
        let link = format!(".git/{name}");
        let found = [(Program::Git, &pair.git), (HEDGEROW, &pair.hedgerow)].map(|it| {
            let (program, repository) = it;
            std::fs::rename(repository.path(&link), repository.path(".git/real")).unwrap();
            let target = if name.contains('/') {
                "../real"
            } else {
                "real"
            };
            std::os::unix::fs::symlink(target, repository.path(&link)).unwrap();
            if words == ["status"] {
                // The index is written although nothing has changed.
                set_fraction(repository.path("top"), 7);
            }
            let mut command = program.command(&repository.root);
            let answer = command.args(words).output().unwrap();
            assert_eq!(answer.status.code(), Some(0), "{words:?}");
            assert!(repository.path(&link).is_symlink(), "{words:?}");
            let real = repository.path(".git/real");
            let real = (name != "index").then(|| std::fs::read(real).unwrap());
            let asked = [
                &["ls-files", "-s", "-t"][..],
                &["status", "--porcelain"],
                &["log", "-1", "--format=%s %d"],
            ];
            (real, asked.map(|words| repository.ask(words)))
        });
        assert_eq!(found[0], found[1], "{words:?}");
    }
}

/// git reads the style of conflicts before it looks at what these commands are to do.
#[test]
fn an_unknown_style_of_conflicts_stops_what_could_merge() {
    for words in [
        &["checkout", "-b", "new"][..],
        &["checkout", "other"],
        &["checkout", "--conflict=merge", "other"],
        &["checkout", "--", "top"],
        &["switch", "other"],
        &["switch", "-c", "new"],
        &["restore", "top"],
        &["stash", "apply"],
        &["stash", "pop"],
        &["stash", "push"],
        &["stash", "list"],
        &["reset", "--hard", "other"],
    ] {
        for setting in ["nonsense\n", "\n conflictStyle = diff3\n"] {
            let mut pair = Pair::of(&origin(), &format!("{words:?} {setting}"));
            pair.any_words = true;
            pair.each("an unknown style", |repository| {
                repository.write("dir/file", "stashed\n");
                repository.git(&["stash", "-q"]);
                repository.write("top", "mine\n");
                let config = repository.ask(&["config", "--list", "--local"]);
                assert!(!config.contains("conflictstyle"), "{config}");
                let path = repository.path(".git/config");
                let config = std::fs::read_to_string(&path).unwrap();
                let style = format!("{config}[merge]\n conflictStyle = {setting}");
                std::fs::write(path, style).unwrap();
            });
            let outcome = pair.both(words[0], "", &words[1..], &[]);
            let may = matches!(words, ["reset", ..] | ["stash", "push" | "list"]);
            assert_eq!(outcome.code, if may { 0 } else { 128 }, "{words:?}");
            if !may {
                let word = "given for 'merge.conflictstyle'";
                assert!(outcome.stderr.contains(word), "{words:?} {outcome:?}");
            }
        }
    }
}

#[test]
fn what_is_ignored_in_a_submodule_must_be_a_word_that_git_knows() {
    let origin = origin();
    origin.git(&["init", "-q", "inner"]);
    inside(
        &origin,
        "inner",
        &["commit", "-q", "--allow-empty", "-m", "inner"],
    );
    origin.write(
        ".gitmodules",
        "[submodule \"s\"]\n\tpath = inner\n\turl = ./inner\n",
    );
    origin.commit("a submodule");
    for (words, code) in [
        (&["status"][..], 128),
        (&["status", "-s"], 128),
        (&["status", "--ignore-submodules"], 0),
        (&["diff-files"], 128),
        (&["checkout", "-b", "new"], 0),
        (&["checkout", "-q", "other"], 0),
    ] {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.each("a word", |repository| {
            repository.git(&["config", "submodule.s.ignore", "nonsense"]);
        });
        let outcomes = [Program::Git, HEDGEROW].map(|program| {
            let root = match program {
                Program::Git => &pair.git.root,
                _ => &pair.hedgerow.root,
            };
            let mut command = program.command(root);
            command.args(words);
            let outcome = run(command);
            (outcome.code, outcome.stderr)
        });
        assert_eq!(outcomes[0], outcomes[1], "{words:?}");
        assert_eq!(outcomes[1].0, code, "{words:?}");
    }
}
