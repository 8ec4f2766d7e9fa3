//! Sparse checkouts, linked working trees, submodules, and resets from a directory below the root.

use super::matrix::origin;
use crate::support::{Pair, Repository};

const MODES: [&[&str]; 8] = [
    &["--hard", "first"],
    &["first"],
    &["--mixed"],
    &["--keep", "first"],
    &["--merge", "first"],
    &["--soft", "first"],
    &["first", "--", "d", "gone"],
    &["--hard"],
];

#[test]
fn sparse_checkouts() {
    let origin = origin();
    for (name, arrange) in [
        (
            "a cone",
            (|it| {
                it.git(&["sparse-checkout", "set", "--cone", "becomes-dir"]);
            }) as fn(&Repository),
        ),
        ("patterns", |it| {
            it.git(&[
                "sparse-checkout",
                "set",
                "--no-cone",
                "/*",
                "!/d/",
                "!/changed",
            ]);
        }),
        ("a cone and a file outside it", |it| {
            it.git(&["sparse-checkout", "set", "--cone", "becomes-dir"]);
            it.write("d/changed", "mine\n");
        }),
        ("a sparse index", |it| {
            it.git(&[
                "sparse-checkout",
                "set",
                "--cone",
                "--sparse-index",
                "becomes-dir",
            ]);
        }),
        ("an edit inside", |it| {
            it.git(&["sparse-checkout", "set", "--cone", "becomes-dir"]);
            it.write("becomes-dir/inner", "mine\n");
        }),
    ] {
        for words in MODES {
            let mut pair = Pair::of(&origin, name);
            pair.each(name, arrange);
            if name == "a sparse index" {
                // Git leaves the index sparse; here it is whole, which git reads as well.
                let git = pair.git.run(&[&["reset"], words].concat(), b"");
                let found = crate::support::RunHedgerow::hedgerow(
                    &pair.hedgerow,
                    &[&["reset"], words].concat(),
                );
                // Git may say that it makes the index whole.
                let said = |it: crate::support::Outcome| (it.code, it.stdout);
                assert_eq!(said(git), said(found), "{words:?}");
                let [expected, found] = [&pair.git, &pair.hedgerow]
                    .map(|it| (it.ask(&["ls-files", "-s", "-t"]), it.tree()));
                assert_eq!(expected, found, "{words:?}");
            } else {
                pair.both("reset", "", words, &[]);
            }
        }
    }
}

#[test]
fn the_users_directory_stays() {
    let origin = origin();
    for words in [
        &["--hard", "second"][..],
        &["--keep", "second"],
        &["--merge", "second"],
    ] {
        for directory in ["gone/deep", "becomes-file"] {
            let mut pair = Pair::of(&origin, "from below");
            pair.each("first is checked out", |it| {
                it.git(&["reset", "-q", "--hard", "first"]);
            });
            pair.both("reset", directory, words, &[]);
        }
    }
}

#[test]
fn submodules_stay() {
    let inner = Repository::init(&[]);
    inner.commit_files(&[("x", "x\n")], "inner");
    let origin = Repository::init(&[]);
    origin.commit_files(&[("a", "a\n")], "first");
    origin.git(&["tag", "first"]);
    let source = inner.root.to_str().unwrap();
    let allow = "protocol.file.allow=always";
    origin.git(&["-c", allow, "submodule", "--quiet", "add", source, "sub"]);
    origin.commit("second");
    for (name, arrange) in [
        ("clean", (|_| {}) as fn(&Repository)),
        ("another commit", |it| {
            it.git(&["-C", "sub", "commit", "-q", "--allow-empty", "-m", "more"]);
        }),
        ("an edit in it", |it| it.write("sub/x", "mine\n")),
    ] {
        for words in MODES {
            let mut pair = Pair::new(name, |root| {
                let root_text = root.to_str().unwrap().to_owned();
                let source = origin.root.to_str().unwrap();
                let words = ["-c", allow, "clone", "-q", "--recurse-submodules"];
                origin.git(&[&words[..], &[source, &root_text]].concat());
                let copy = Repository::at(root);
                copy.git(&["tag", "-f", "first", "HEAD^"]);
                copy
            });
            pair.each(name, arrange);
            let git = pair.git.run(&[&["reset"], words].concat(), b"");
            let reset = [&["reset"], words].concat();
            let found = crate::support::RunHedgerow::hedgerow(&pair.hedgerow, &reset);
            assert_eq!(git, found, "{name} {words:?}");
            let [expected, found] = [&pair.git, &pair.hedgerow].map(|it| {
                let status = it.ask(&["status", "--porcelain=v2"]);
                (status, it.ask(&["ls-files", "-s"]))
            });
            assert_eq!(expected, found, "{name} {words:?}");
        }
    }
}

#[test]
fn linked_working_trees_have_a_head_of_their_own() {
    let origin = origin();
    let mut pair = Pair::of(&origin, "linked");
    pair.each("a linked working tree", |it| {
        it.git(&["worktree", "add", "-q", "linked", "other"]);
    });
    pair.both("reset", "linked", &["--hard", "second"], &[]);
    pair.both("reset", "linked", &["first"], &[]);
    pair.both("reset", "linked", &["--keep", "second"], &[]);
}

/// Only the commit of a submodule counts here, and that is known without its working tree.
#[test]
fn a_submodule_whose_working_tree_is_said_to_be_elsewhere() {
    let origin = origin();
    let inner = Repository::at(origin.path("inner"));
    std::fs::create_dir(&inner.root).unwrap();
    inner.git(&["init", "-q"]);
    inner.commit_files(&[("f", "f\n")], "inner");
    origin.git(&["add", "inner"]);
    origin.git(&["commit", "-qm", "a submodule"]);
    let mut pair = Pair::of(&origin, "elsewhere");
    pair.each("no working tree", |repository| {
        let inner = repository
            .path("inner")
            .into_os_string()
            .into_string()
            .unwrap();
        repository.git(&["-C", &inner, "config", "core.worktree", "../../nowhere"]);
        repository.write("changed", "mine\n");
    });
    for words in [&["HEAD~1"][..], &["--hard", "HEAD~1"]] {
        pair.both("reset", "", words, &[]);
    }
}
