//! Moves between commits, and what is refused: words, exit codes and what is left.

use super::scene::{assert_no_locks, state, unabsorb, Pair, Scene};
use crate::HEDGEROW;
use hedgerow_testkit::{run, Random, Repository};
use std::fs;

/// A change in the working tree.
type Change = fn(&Repository);

const TAGS: [&str; 8] = [
    "none", "add", "modify", "nested", "nested2", "two", "file", "dir",
];

/// Moves to a commit, with submodules.
const MOVES: [&[&str]; 8] = [
    &["checkout", "-q", "--recurse-submodules", "--detach"],
    &["-c", "submodule.recurse=true", "checkout", "-q", "--detach"],
    &["switch", "--detach", "--recurse-submodules=yes"],
    &["reset", "--keep", "--recurse-submodules"],
    &["reset", "--hard", "--recurse-submodules"],
    &["reset", "--merge", "--recurse-submodules"],
    &["checkout", "-q", "-f", "--recurse-submodules", "--detach"],
    &["read-tree", "-m", "-u", "--recurse-submodules", "HEAD"],
];

fn walk(format: &str, seed: u64, steps: usize) {
    let scene = Scene::new(format);
    let mut pair = scene.pair("add");
    let mut random = Random::new(seed);
    for _ in 0..steps {
        let words = [*random.pick(&MOVES), &[*random.pick(&TAGS)]].concat();
        let is_read_tree = words[0] == "read-tree";
        moved(&mut pair, &words);
        if is_read_tree && words.ends_with(&["dir"]) {
            // On the way back, git does not find a repository in the directory, and ends.
            pair = scene.pair("dir");
        } else if is_read_tree {
            moved(
                &mut pair,
                &["reset", "-q", "--hard", "--recurse-submodules"],
            );
        }
    }
}

/// `-c` is git's; hedgerow takes the same from a variable.
fn moved(pair: &mut Pair, words: &[&str]) {
    if let ["-c", _, rest @ ..] = words {
        pair.each("recurse", |it| {
            it.git(&["config", "submodule.recurse", "true"]);
        });
        pair.same(rest);
        pair.each("do not", |it| {
            it.git(&["config", "--unset", "submodule.recurse"]);
        });
    } else {
        pair.same(words);
    }
}

#[test]
fn submodules_move_along() {
    walk("sha1", 7, 45);
}

#[test]
fn submodules_move_along_with_longer_ids() {
    walk("sha256", 8, 20);
}

fn write(path: &'static str, text: &'static str) -> impl Fn(&Repository) {
    move |it| it.write(path, text)
}

#[test]
fn what_git_refuses_is_refused_in_its_words() {
    let scene = Scene::new("sha1");
    let edit = write("sub/file", "edit\n");
    for (tag, to) in [("add", "modify"), ("add", "none"), ("modify", "dir")] {
        for words in [
            &["checkout", "--recurse-submodules", to][..],
            &["checkout", "-q", "--recurse-submodules", to],
            &["reset", "--keep", "--recurse-submodules", to],
            &["reset", "--merge", "--recurse-submodules", to],
            &["read-tree", "-m", "-u", "--recurse-submodules", "HEAD", to],
            &[
                "read-tree",
                "-m",
                "-u",
                "-n",
                "--recurse-submodules",
                "HEAD",
                to,
            ],
        ] {
            let mut pair = scene.pair(tag);
            pair.each("edit", &edit);
            assert_ne!(pair.same(words).code, 0);
            pair.each("stage", |it| {
                it.git(&["-C", "sub", "add", "file"]);
            });
            assert_ne!(pair.same(words).code, 0);
        }
    }
    let mut pair = scene.pair("nested");
    pair.each("edit", write("sub/inner/in", "edit\n"));
    let refused = pair.same(&["checkout", "--recurse-submodules", "nested2"]);
    assert_eq!(refused.code, 1);
    pair.each("of two", |it| {
        it.git(&["checkout", "-q", "-f", "--recurse-submodules", "two"]);
        it.write("dir/two/two", "edit\n");
        it.write("sub/file", "edit\n");
    });
    let refused = pair.same(&["checkout", "--recurse-submodules", "none"]);
    assert!(refused.stderr.contains("\tdir/two\n\tsub\n"), "{refused:?}");
    let mut pair = scene.pair("modify");
    pair.each("another commit and an edit", |it| {
        it.git(&["-C", "sub", "checkout", "-q", "HEAD~"]);
        it.write("sub/file", "edit\n");
    });
    assert_eq!(
        pair.same(&["checkout", "--recurse-submodules", "nested"])
            .code,
        1
    );
    assert_eq!(
        pair.same(&["checkout", "--recurse-submodules", "none"])
            .code,
        1
    );
}

#[test]
fn what_is_forced_overwrites_as_with_git() {
    let scene = Scene::new("sha1");
    for words in [
        &["checkout", "-f", "--recurse-submodules", "modify"][..],
        &["checkout", "-f", "--recurse-submodules", "none"],
        &["checkout", "-f", "--recurse-submodules"],
        &["reset", "--hard", "--recurse-submodules", "nested2"],
        &["reset", "--hard", "--recurse-submodules", "file"],
        &["reset", "--hard", "--recurse-submodules", "dir"],
        &[
            "read-tree",
            "--reset",
            "-u",
            "--recurse-submodules",
            "modify",
        ],
        &["restore", "--recurse-submodules", "sub"],
        &[
            "restore",
            "--recurse-submodules",
            "--source=modify",
            "-SW",
            "sub",
        ],
        &["restore", "--recurse-submodules", "--source=modify", "sub"],
        &["checkout", "--recurse-submodules", "."],
    ] {
        let mut pair = scene.pair("nested");
        pair.each("edits", |it| {
            it.write("sub/file", "edit\n");
            it.git(&["-C", "sub", "add", "file"]);
            it.write("sub/keep", "edit\n");
            it.write("sub/inner/in", "edit\n");
            it.git(&["-C", "sub", "checkout", "-q", "-b", "mine"]);
        });
        assert_eq!(pair.same(words).code, 0, "{words:?}");
    }
}

#[test]
fn the_places_of_submodules_are_made_and_left_as_by_git() {
    let scene = Scene::new("sha1");
    let cases: [(&str, Change, &[&str]); 12] = [
        (
            "none",
            |it| fs::create_dir(it.path("sub")).unwrap(),
            &["checkout", "add"],
        ),
        ("none", |it| it.write("sub", "u\n"), &["checkout", "add"]),
        (
            "none",
            |it| it.write("sub/u", "u\n"),
            &["checkout", "-q", "add"],
        ),
        ("add", |it| it.remove("sub"), &["checkout", "modify"]),
        ("add", |it| it.remove("sub"), &["checkout", "-f", "modify"]),
        ("add", |it| it.remove("sub/.git"), &["checkout", "modify"]),
        (
            "add",
            |it| it.write("sub/.git", "gitdir: no/where\n"),
            &["reset", "--hard", "modify"],
        ),
        ("add", |it| it.write("sub/u", "u\n"), &["checkout", "none"]),
        (
            "add",
            |it| it.write("sub/u", "u\n"),
            &["reset", "--hard", "dir"],
        ),
        ("clash", |_| (), &["checkout", "add"]),
        (
            "modify",
            |it| it.write("sub/x.o", "u\n"),
            &["checkout", "file"],
        ),
        (
            "nested",
            |it| {
                it.git(&["config", "submodule.sub.active", "false"]);
            },
            &["checkout", "none"],
        ),
    ];
    for (tag, change, words) in cases {
        let mut pair = scene.pair(tag);
        pair.each("change", change);
        let words = [&words[..1], &["--recurse-submodules"], &words[1..]].concat();
        pair.same(&words);
    }
}

#[test]
fn git_directories_are_absorbed() {
    let scene = Scene::new("sha1");
    for (tag, words) in [
        ("add", &["checkout", "none"][..]),
        ("add", &["checkout", "modify"]),
        ("add", &["reset", "--hard", "dir"]),
        ("nested", &["checkout", "none"]),
        ("nested", &["checkout", "-q", "nested2"]),
    ] {
        let mut pair = scene.pair(tag);
        pair.each("unabsorbed", unabsorb);
        let words = [&words[..1], &["--recurse-submodules"], &words[1..]].concat();
        let said = pair.same(&words).stderr;
        assert!(said.contains("Migrating git directory of 'sub'"), "{said}");
    }
}

#[test]
fn the_option_is_read_as_by_git() {
    let scene = Scene::new("sha1");
    let mut pair = scene.pair("none");
    for words in [
        &["checkout", "--recurse-submodules=no", "add"][..],
        &["checkout", "--recurse-submodules=bogus", "modify"],
        &[
            "checkout",
            "--recurse-submodules",
            "--no-recurse-submodules",
            "none",
        ],
        &[
            "checkout",
            "--no-recurse-submodules",
            "--recurse-submodules=1",
            "add",
        ],
        &["reset", "--recurse-submodules", "modify"],
        &["reset", "--soft", "--recurse-submodules", "add"],
        &["stash", "push"],
    ] {
        pair.same(words);
    }
}

/// Git overwrites all of these.
#[test]
fn changes_that_git_loses_are_kept() {
    let scene = Scene::new("sha1");
    let cases: [(&str, &str, &str); 7] = [
        ("add", "sub/file", "file"),
        ("add", "sub/u", "file"),
        ("add", "sub/inner", "nested"),
        ("nested", "sub/inner/in", "add"),
        ("nested", "sub/inner/in", "none"),
        ("nested", "sub/inner/in", "file"),
        ("none", "sub/file", "add"),
    ];
    for (tag, path, to) in cases {
        let copy = scene.copy(tag);
        copy.write(path, "edit\n");
        let before = state(&copy);
        let outcome = copy_says(&copy, &["checkout", "--recurse-submodules", to]);
        assert_eq!(outcome.code, 1, "{tag} {path} {to}: {outcome:?}");
        assert!(outcome.stderr.contains("sub"), "{outcome:?}");
        assert_eq!(before, state(&copy), "{tag} {path} {to}");
        assert_no_locks(&copy, to);
    }
    // What both commits have stays changed.
    let copy = scene.copy("add");
    copy.write("sub/keep", "edit\n");
    let outcome = copy_says(&copy, &["checkout", "--recurse-submodules", "modify"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(copy.read("sub/keep"), b"edit\n");
    assert_eq!(copy.read("sub/file"), b"two\n");
    // So do changes in submodules when those of files are merged.
    let copy = scene.copy("add");
    copy.write("sub/keep", "edit\n");
    copy.write("base", "mine\n");
    copy.git(&["config", "submodule.recurse", "true"]);
    let outcome = copy_says(&copy, &["checkout", "-m", "modify"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(copy.read("sub/keep"), b"edit\n");
    assert_eq!(copy.read("base"), b"mine\n");
}

/// Its repository is asked all the same, and it stays where it is if nothing is in the way.
#[test]
fn submodules_that_the_index_no_longer_has_are_tried() {
    let scene = Scene::new("sha1");
    let moves: [&[&str]; 6] = [
        &["checkout", "-q", "--recurse-submodules", "none"],
        &["checkout", "-q", "--recurse-submodules", "modify"],
        &["reset", "--merge", "--recurse-submodules"],
        &["reset", "--keep", "--recurse-submodules", "none"],
        &[
            "read-tree",
            "-m",
            "-u",
            "--recurse-submodules",
            "HEAD",
            "none",
        ],
        &["reset", "--hard", "--recurse-submodules", "modify"],
    ];
    for words in moves {
        for edited in [None, Some("sub/file"), Some("sub/new")] {
            let mut pair = scene.pair("add");
            pair.each("out of the index", |it| {
                it.git(&["rm", "-q", "--cached", "sub"]);
                if let Some(path) = edited {
                    it.write(path, "edit\n");
                }
            });
            pair.same(words);
        }
    }
}

/// Git finds no repository there.
#[test]
fn what_is_forced_keeps_changes_of_a_submodule_new_to_the_index_and_not_connected() {
    let scene = Scene::new("sha1");
    for (words, is_refused) in [
        (
            &["checkout", "-f", "--recurse-submodules", "modify"][..],
            true,
        ),
        (&["reset", "--hard", "--recurse-submodules", "modify"], true),
        // Its files need not change.
        (&["reset", "--hard", "--recurse-submodules"], false),
    ] {
        let copy = scene.copy("add");
        copy.git(&["rm", "-q", "--cached", "sub"]);
        fs::remove_file(copy.root.join("sub/.git")).unwrap();
        copy.write("sub/file", "edit\n");
        let outcome = copy_says(&copy, words);
        assert_eq!(outcome.code != 0, is_refused, "{words:?}");
        assert_eq!(outcome.stderr.contains("sub/file"), is_refused);
        assert_eq!(copy.read("sub/file"), b"edit\n");
    }
}

fn copy_says(copy: &Repository, words: &[&str]) -> hedgerow_testkit::Outcome {
    let mut command = crate::HEDGEROW.command(&copy.root);
    command.args(words);
    hedgerow_testkit::run(command)
}

/// Whatever would fail in the last submodule is found before the first is touched.
#[test]
fn nothing_is_touched_if_one_submodule_cannot_move() {
    let scene = Scene::new("sha1");
    let cases: [(&str, Change); 7] = [
        ("modified", |it| it.write("dir/two/two", "edit\n")),
        ("not cloned", |it| {
            it.remove("dir/two");
            fs::remove_dir_all(it.path(".git/modules/a")).unwrap();
        }),
        ("locked", |it| it.write(".git/modules/a/2/index.lock", "")),
        ("its HEAD", |it| it.write(".git/modules/sub/HEAD.lock", "")),
        ("its settings", |it| {
            it.write(".git/modules/a/2/config.lock", "")
        }),
        ("nested and modified", |it| {
            it.write("sub/inner/in", "edit\n")
        }),
        ("nested and locked", |it| {
            it.write(".git/modules/sub/modules/inner/index.lock", "");
        }),
    ];
    for (what, change) in cases {
        let copy = scene.copy("two");
        change(&copy);
        let before = state(&copy);
        let to = match what {
            "not cloned" => "two",
            "its HEAD" => "modify",
            _ => "none",
        };
        let words = match to {
            "two" => ["reset", "--hard", "--recurse-submodules", "two"],
            _ => ["checkout", "-q", "--recurse-submodules", to],
        };
        let outcome = copy_says(&copy, &words);
        assert_ne!(outcome.code, 0, "{what}: {outcome:?}");
        assert_eq!(before, state(&copy), "{what}");
        copy.assert_no_lock(what);
    }
}

/// One submodule goes from its old place and comes to a new one, and another comes to the directory
/// above the old place: two tasks have one Git directory.
#[test]
fn submodules_change_places() {
    let scene = Scene::new("sha1");
    for _ in 0..6 {
        let copy = scene.copy("two");
        let id = |path: &str| copy.ask(&["rev-parse", &format!(":{path}")]);
        let made = |words: &[&str], input: &str| {
            let id = hedgerow_testkit::git(&copy.root, words, input.as_bytes());
            String::from_utf8(id).unwrap().trim().to_owned()
        };
        let modules = "[submodule \"sub\"]\n\tpath = dir\n[submodule \"a/2\"]\n\tpath = q\n";
        let entries = [
            format!(
                "100644 blob {}\t.gitmodules\n",
                made(&["hash-object", "-w", "--stdin"], modules)
            ),
            format!("160000 commit {}\tdir\n", id("sub")),
            format!("160000 commit {}\tq\n", id("dir/two")),
        ];
        let tree = made(&["mktree", "--missing"], &entries.concat());
        let commit = copy.ask(&["commit-tree", "-m", "moved", "-p", "HEAD", &tree]);
        let mut command = HEDGEROW.command(&copy.root);
        command.args(["checkout", "-q", "--recurse-submodules", commit.trim()]);
        let outcome = run(command);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!(copy.ask(&["status", "--porcelain"]), "");
        assert!(copy.path("q/two").exists() && copy.path("dir/file").exists());
    }
}

/// Commands that put `target` into the place of the submodule.
fn replacing(target: &str) -> [Vec<&str>; 3] {
    [
        vec!["checkout", "-q", "--recurse-submodules", target],
        vec!["reset", "--keep", "--recurse-submodules", target],
        vec![
            "read-tree",
            "-m",
            "-u",
            "--recurse-submodules",
            "HEAD",
            target,
        ],
    ]
}

/// Twins with a file at `path` that only the submodule ignores.
fn with_ignored(scene: &Scene, path: &str) -> Pair {
    let mut pair = scene.pair("add");
    pair.each("ignored by the submodule", |it| {
        it.write(".git/modules/sub/info/exclude", "f\n");
        it.write(path, "mine\n");
    });
    pair
}

/// The rules of the repository around it decide, and those in the directory.
#[test]
fn what_only_a_submodule_ignores_is_not_overwritten_by_a_directory_that_comes_into_its_place() {
    let scene = Scene::new("sha1");
    for words in replacing("dir") {
        let mut pair = with_ignored(&scene, "sub/f");
        let outcome = pair.same(&words);
        assert_ne!(outcome.code, 0, "{}", pair.story);
        let path = pair.our.root.join("sub/f");
        assert_eq!(fs::read(path).unwrap(), b"mine\n", "{}", pair.story);
    }
    let copy = scene.copy("add");
    copy.write("sub/.gitignore", "f\n");
    copy.write("sub/f", "mine\n");
    let mut command = HEDGEROW.command(&copy.root);
    command.args(["checkout", "-q", "--recurse-submodules", "dir"]);
    run(command).ok("ignored in the directory itself");
    assert_eq!(fs::read(copy.path("sub/f")).unwrap(), b"of the top\n");
}

/// Git removes the whole directory for a file; this, only what is ignored.
#[test]
fn a_file_comes_into_the_place_of_a_submodule_with_nothing_but_what_is_ignored() {
    let scene = Scene::new("sha1");
    for words in replacing("file") {
        for path in ["sub/f", "sub/f/deep"] {
            let mut pair = with_ignored(&scene, path);
            let outcome = pair.same(&words);
            assert_eq!(outcome.code, 0, "{}", pair.story);
        }
        let mut pair = scene.pair("add");
        pair.each("not ignored", |it| it.write("sub/f", "mine\n"));
        let (_, outcome) = pair.start(&words);
        assert_ne!(outcome.code, 0, "{}", pair.story);
        let path = pair.our.root.join("sub/f");
        assert_eq!(fs::read(path).unwrap(), b"mine\n", "{}", pair.story);
    }
    let copy = scene.copy("add");
    copy.write(".git/modules/sub/info/exclude", "f\n");
    copy.write("sub/f", "mine\n");
    let mut command = HEDGEROW.command(&copy.root);
    command.args([
        "checkout",
        "--no-overwrite-ignore",
        "--recurse-submodules",
        "file",
    ]);
    assert_ne!(run(command).code, 0);
    assert_eq!(fs::read(copy.path("sub/f")).unwrap(), b"mine\n");
}

#[test]
fn submodules_stay_where_only_the_index_changes() {
    let scene = Scene::new("sha1");
    for words in [
        &["read-tree", "-m", "--recurse-submodules", "modify"][..],
        &["read-tree", "--reset", "--recurse-submodules", "modify"],
        &["read-tree", "--reset", "--recurse-submodules"],
        &["read-tree", "-m", "--recurse-submodules", "none"],
        &["read-tree", "-m", "--recurse-submodules", "HEAD", "modify"],
        &["read-tree", "-m", "--recurse-submodules", "HEAD", "none"],
        &["read-tree", "-m", "--recurse-submodules", "HEAD", "dir"],
        &["read-tree", "--recurse-submodules", "modify"],
    ] {
        for edited in [None, Some("sub/file"), Some("sub/new")] {
            let mut pair = scene.pair("add");
            pair.each("only the index", |it| {
                if let Some(path) = edited {
                    it.write(path, "edit\n");
                }
            });
            pair.same(words);
        }
    }
}

#[test]
fn what_went_with_the_connection_comes_back() {
    let scene = Scene::new("sha1");
    for words in [
        &["checkout", "-q", "--recurse-submodules", "modify"][..],
        &["switch", "-q", "--detach", "--recurse-submodules", "modify"],
        &["reset", "--keep", "--recurse-submodules", "modify"],
    ] {
        let mut pair = scene.pair("add");
        pair.each("only an untracked file is left", |it| {
            fs::remove_dir_all(it.path("sub")).unwrap();
            it.write("sub/kept", "mine\n");
        });
        pair.same(words);
    }
}
