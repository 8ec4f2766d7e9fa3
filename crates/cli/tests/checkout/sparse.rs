//! What becomes of files outside of a sparse checkout when HEAD moves.

use crate::support::{run, Pair, Program, Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::git_is_at_least;
use std::time::{Duration, SystemTime};

/// Two commits, `first` and `second`; files outside of `a` differ in every way.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    for (path, content) in [
        ("top", "1\n"),
        ("a/f", "1\n"),
        ("b/same", "same\n"),
        ("b/f", "1\n"),
        ("b/gone", "1\n"),
        ("c/d/e", "1\n"),
    ] {
        repository.write(path, content);
    }
    repository.commit("first");
    repository.git(&["tag", "first"]);
    repository.write("a/f", "2\n");
    repository.write("b/f", "2\n");
    repository.write("b/new", "2\n");
    repository.remove("b/gone");
    repository.commit("second");
    repository.git(&["tag", "second"]);
    repository
}

const FORMS: [&[&str]; 3] = [
    &["set", "--cone", "--no-sparse-index", "a"],
    &["set", "--no-cone", "/a/", "/top"],
    &["set", "--cone", "--sparse-index", "a"],
];

/// Looks like another file at each of `paths`, with the content it has.
fn touch(repository: &Repository, paths: &[&str]) {
    for path in paths {
        let file = std::fs::File::options()
            .append(true)
            .open(repository.path(path));
        let then = SystemTime::now() - Duration::from_secs(1000);
        file.unwrap().set_modified(then).unwrap();
    }
}

fn each_form(test: impl Fn(&mut Pair, &[&str])) {
    let origin = origin();
    for words in FORMS {
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        test(&mut pair, words);
    }
}

fn sparsify(pair: &mut Pair, words: &[&str]) {
    pair.each("sparse", |repository| {
        let mut command = vec!["sparse-checkout"];
        command.extend(words);
        repository.git(&command);
    });
    // Git keeps a sparse index where it can. Here a whole one is written, which says the same: so
    // git has one from the start.
    let whole = ["sparse-checkout", "reapply", "--no-sparse-index"];
    pair.git.git(&whole);
    for repository in [&pair.git, &pair.hedgerow] {
        let file = repository.git_dir().join("config.worktree");
        let content = std::fs::read_to_string(&file).unwrap();
        let end = content.find("[index]").unwrap_or(content.len());
        std::fs::write(&file, content.split_at(end).0).unwrap();
    }
}

#[test]
fn force_removes_what_was_left_outside() {
    each_form(|pair, words| {
        pair.each("dirty outside", |repository| {
            repository.write("b/f", "mine\n");
            repository.write("b/same", "mine\n");
        });
        sparsify(pair, words);
        pair.checkout(&["-f", "first"]);
        pair.checkout(&["-f", "second"]);
    });
}

#[test]
fn a_file_that_came_back_outside_belongs_to_the_working_tree() {
    for force in [false, true] {
        each_form(|pair, words| {
            sparsify(pair, words);
            pair.each("files outside", |repository| {
                repository.write("b/f", "2\n");
                repository.write("b/same", "mine\n");
                repository.write("c/d/e", "1\n");
                touch(repository, &["b/f", "c/d/e"]);
            });
            if force {
                pair.checkout(&["-f", "first"])
            } else {
                pair.checkout(&["first"])
            };
            pair.checkout(&["-f", "second"]);
            pair.each("untracked outside", |repository| {
                repository.write("b/gone", "precious\n")
            });
            pair.checkout(&["-f", "first"]);
            pair.checkout(&["second"]);
        });
    }
}

/// Rules are not a cone unless that is said.
#[test]
fn rules_of_old_are_patterns() {
    let mut pair = Pair::of(&origin(), "without core.sparseCheckoutCone");
    pair.each("sparse as it was done by hand", |repository| {
        repository.git(&["config", "core.sparseCheckout", "true"]);
        repository.write(".git/info/sparse-checkout", "/*\n!/b/\n");
    });
    pair.checkout(&["first"]);
    pair.checkout(&["second"]);
    for words in [&["set", "c"][..], &["add", "b"], &["reapply"]] {
        pair.both("sparse-checkout", "", words, &[]);
    }
}

#[test]
fn a_directory_in_the_place_of_a_file_outside_stays() {
    each_form(|pair, words| {
        sparsify(pair, words);
        pair.each("a directory", |repository| {
            repository.write("b/f/precious", "mine\n")
        });
        pair.checkout(&["-f", "first"]);
    });
}

#[test]
fn paths_that_came_back_outside_are_checked_out() {
    each_form(|pair, words| {
        sparsify(pair, words);
        pair.each("files outside", |repository| {
            repository.write("b/f", "mine\n");
            repository.write("c/d/e", "1\n");
        });
        pair.checkout(&["--", "b"]);
        pair.checkout(&["first", "--", "c"]);
        pair.checkout(&["--", "b/same"]);
    });
}

#[test]
fn files_that_are_expected_outside_are_left_alone() {
    each_form(|pair, words| {
        pair.each("expected", |repository| {
            let key = "sparse.expectFilesOutsideOfPatterns";
            repository.git(&["config", key, "true"]);
        });
        sparsify(pair, words);
        pair.each("files outside", |repository| {
            repository.write("b/f", "mine\n");
        });
        pair.checkout(&["first"]);
        pair.checkout(&["-f", "second"]);
    });
}

#[test]
fn a_conflict_outside_is_written_by_force() {
    each_form(|pair, words| {
        sparsify(pair, words);
        pair.each("conflict", |repository| {
            let id = repository.ask(&["rev-parse", "HEAD:top"]);
            let lines: String = (0..4)
                .map(|stage| match stage {
                    0 => format!("0 {} 0\tb/f\n", "0".repeat(40)),
                    stage => format!("100644 {id} {stage}\tb/f\n"),
                })
                .collect();
            repository.git_with(&["update-index", "--index-info"], lines.as_bytes());
        });
        pair.checkout(&["-f", "first"]);
        pair.checkout(&["-f", "second"]);
    });
}

/// What is staged outside the cone has no tree yet when the index is collapsed. Git reads the whole
/// index again, and its fsck asks for the trees.
#[test]
fn trees_of_a_collapsed_index_are_written() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("in/file", "one\n"), ("out/file", "two\n")], "one");
    repository.write("in/more", "three\n");
    repository.write("out/more", "four\n");
    repository.git(&["add", "-A"]);
    let words = ["sparse-checkout", "init", "--cone", "--sparse-index"];
    assert_eq!(repository.hedgerow(&words).code, 0);
    let fsck = repository.run(&["fsck", "--no-dangling", "--no-progress"], b"");
    let told = String::from_utf8_lossy(&fsck.stdout);
    assert_eq!((fsck.code, &*told), (0, ""), "{fsck:?}");
    let listed = repository.ask(&["ls-files", "--sparse"]);
    assert_eq!(listed, "in/\nout/");
}

/// Untracked files took the place of a file, in a directory outside: where git merges one tree, it
/// does not look into them.
#[test]
fn directories_in_the_place_of_files_outside_are_changes() {
    for words in [
        &["reset", "--merge", "second"][..],
        &["reset", "--keep", "second"],
        &["read-tree", "-m", "-u", "second"],
        &["read-tree", "-m", "-u", "HEAD", "second"],
    ] {
        let origin = Repository::init(&[]);
        origin.commit_files(&[("out/f", "file\n"), ("top", "top\n")], "first");
        origin.remove("out/f");
        origin.commit_files(&[("out/f/below", "below\n")], "second");
        origin.git(&["tag", "second"]);
        origin.git(&["checkout", "-q", "HEAD~1"]);
        let mut pair = Pair::of(&origin, &format!("{words:?}"));
        pair.each("a directory", |repository| {
            repository.remove("out/f");
            repository.write("out/f/mine", "untracked\n");
            repository.git(&["config", "core.sparseCheckout", "true"]);
            repository.git(&["config", "core.sparseCheckoutCone", "true"]);
            repository.write(".git/info/sparse-checkout", "/*\n!/*/\n");
        });
        pair.both(words[0], "", &words[1..], &[]);
    }
}

/// A file is in the place of a submodule that leaves the sparse checkout: it stays, and git says that
/// it cannot remove the directory.
#[test]
fn a_file_in_the_place_of_a_submodule_outside_stays() {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("out/f", "file\n"), ("top", "top\n")], "first");
    let head = origin.ask(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{head},out/module");
    origin.git(&["update-index", "--add", "--cacheinfo", &entry]);
    origin.git(&["commit", "-qm", "with a submodule"]);
    for is_file in [true, false] {
        let mut pair = Pair::of(&origin, &format!("a file: {is_file}"));
        pair.each("in the place", |repository| {
            let _ = std::fs::remove_dir(repository.path("out/module"));
            if is_file {
                repository.write("out/module", "mine\n");
            } else {
                repository.write("out/module/mine", "mine\n");
            }
        });
        pair.both("sparse-checkout", "", &["set", "--cone"], &[]);
        assert!(pair.hedgerow.path("out/module").exists());
    }
}

/// What is outside of a new cone goes, even if it is the user's current directory.
#[test]
fn the_current_directory_goes_if_it_is_outside() {
    let origin = Repository::init(&[]);
    let paths = ["top", "out/f", "out/deep/f", "other/f"];
    origin.commit_files(&paths.map(|path| (path, path)), "first");
    for directory in ["out", "out/deep"] {
        let mut pair = Pair::of(&origin, directory);
        pair.each("ignored files", |repository| {
            repository.write(".git/info/exclude", "*.o\n");
            for path in ["out/x.o", "out/deep/x.o", "other/x.o"] {
                repository.write(path, "");
            }
        });
        pair.both("sparse-checkout", directory, &["set", "--cone"], &[]);
        assert!(!pair.hedgerow.path("out").exists());
    }
}

/// To patterns, a submodule is a directory: git tries to remove it. A cone has it as it has a file.
#[test]
fn a_submodule_is_a_directory_to_patterns() {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("in/f", "file\n"), ("top", "top\n")], "first");
    let head = origin.ask(&["rev-parse", "HEAD"]);
    for path in ["module", "in/module"] {
        let entry = format!("160000,{head},{path}");
        origin.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }
    origin.git(&["commit", "-qm", "with submodules"]);
    origin.git(&["tag", "second"]);
    for (patterns, is_cone) in [
        ("/*\n!/*/\n/in/\n", false),
        ("/*\n!/*/\n/in/\n", true),
        ("/*\n!/*/\n/in/\n!/in/*/\n", false),
        ("/*\n!/*/\n/in/\n!/in/*/\n", true),
        ("module/\n", false),
        ("*\n!module/\n", false),
        ("*\n!module\n", false),
    ] {
        for words in [
            &["switch", "--detach", "second"][..],
            &["reset", "--hard", "-q"],
            &["read-tree", "-m", "-u", "HEAD"],
            &["sparse-checkout", "reapply"],
            &["reset", "-q", "HEAD~1"],
        ] {
            let mut pair = Pair::of(&origin, &format!("{patterns:?} {is_cone} {words:?}"));
            pair.each("sparse", |repository| {
                repository.write("module/mine", "mine\n");
                repository.git(&["config", "core.sparseCheckout", "true"]);
                let is_cone = if is_cone { "true" } else { "false" };
                repository.git(&["config", "core.sparseCheckoutCone", is_cone]);
                repository.write(".git/info/sparse-checkout", patterns);
            });
            pair.both(words[0], "", &words[1..], &[]);
        }
    }
}

/// What leaves a sparse checkout and becomes a file, or a submodule, meanwhile is removed as that.
#[test]
fn a_submodule_that_becomes_a_file_outside_is_removed_as_a_file() {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("out/x", "file\n"), ("in/f", "file\n")], "first");
    let head = origin.ask(&["rev-parse", "HEAD"]);
    origin.git(&["tag", "file"]);
    let entry = format!("160000,{head},out/x");
    origin.git(&["update-index", "--cacheinfo", &entry]);
    origin.git(&["commit", "-qm", "with a submodule"]);
    origin.git(&["tag", "module"]);
    for (from, to) in [("module", "file"), ("file", "module")] {
        for there in ["file", "link", "empty directory", "directory", "nothing"] {
            for words in [
                &["checkout", "-q", "-f"][..],
                &["reset", "-q", "--hard"],
                &["read-tree", "--reset", "-u"],
            ] {
                let words = [words, &[to]].concat();
                let mut pair = Pair::of(&origin, &format!("{from} {there} {words:?}"));
                pair.each("in the place", |repository| {
                    repository.git(&["reset", "-q", from]);
                    repository.remove("out");
                    match there {
                        "file" => repository.write("out/x", "mine\n"),
                        "link" => repository.symlink("out/x", "y"),
                        "directory" => repository.write("out/x/mine", "mine\n"),
                        "nothing" => {}
                        _ => std::fs::create_dir_all(repository.path("out/x")).unwrap(),
                    }
                    repository.git(&["config", "core.sparseCheckout", "true"]);
                    repository.git(&["config", "core.sparseCheckoutCone", "false"]);
                    repository.write(".git/info/sparse-checkout", "/in\n");
                });
                pair.both(words[0], "", &words[1..], &[]);
            }
        }
    }
}

/// A directory that a sparse index has in place of its files stays outside the cone when the index takes
/// another tree, with all that this has there and has not.
#[test]
fn directories_of_a_sparse_index_are_restored_as_one() {
    if !git_is_at_least(2, 55, "directories of a sparse index are restored as one") {
        return;
    }
    let origin = origin();
    for from in ["first", "second"] {
        let to = if from == "first" { "second" } else { "first" };
        for words in [
            &["restore", "--staged", "."][..],
            &["restore", "-s", to, "--staged", "."],
            &["restore", "-s", to, "-SW", "."],
            &["restore", "-s", to, "."],
            &["restore", "-s", to, "-SW", "b"],
            &["restore", "-s", to, "-S", "a"],
            &["checkout", "--no-overlay", to, "--", "."],
        ] {
            for is_there in [false, true] {
                let mut pair = Pair::of(&origin, "restored");
                pair.each("sparse", |it| {
                    it.git(&["checkout", "-q", from]);
                    it.git(&["config", "advice.sparseIndexExpanded", "false"]);
                    it.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "a"]);
                    if words.len() == 3 {
                        it.git(&["reset", "-q", "--soft", to]);
                    }
                    if is_there {
                        it.write("b/f", "mine\n");
                    }
                });
                let after = |program: Program, it: &Repository| {
                    let mut command = program.command(&it.root);
                    command.args(words);
                    let outcome = run(command);
                    let entries = it.ask(&["ls-files", "-s"]);
                    let flags = it.ask(&["ls-files", "-v"]);
                    let status = it.ask(&["status", "--porcelain"]);
                    (
                        outcome.code,
                        outcome.stdout,
                        entries,
                        flags,
                        status,
                        it.tree(),
                    )
                };
                let expected = after(Program::Git, &pair.git);
                let found = after(HEDGEROW, &pair.hedgerow);
                assert_eq!(found, expected, "{from} {words:?} {is_there}");
                // The trees that the index knows are those of its entries; git keeps the old one of such a
                // directory.
                let known = pair.hedgerow.ask(&["write-tree"]);
                pair.hedgerow.git(&["read-tree", "--empty"]);
                let lines = found.2.as_bytes();
                pair.hedgerow
                    .git_with(&["update-index", "--index-info"], lines);
                assert_eq!(
                    known,
                    pair.hedgerow.ask(&["write-tree"]),
                    "{from} {words:?} {is_there}"
                );
            }
        }
    }
}
