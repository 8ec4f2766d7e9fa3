//! What a checkout must not lose: it is refused exactly when git refuses it, in the same words,
//! and then nothing has been touched.

use crate::support::{Pair, Repository, RunHedgerow};

type Prepare = fn(&Repository);

/// `main` is checked out; `other` differs from it in every way that matters here.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    let r = &repository;
    r.write("a.txt", "one\n");
    r.write("keep", "kept\n");
    r.write("gone", "going\n");
    r.write("dir/x", "x\n");
    r.write("dir/y", "y\n");
    r.write("sub/deep/file", "deep\n");
    r.write("to-dir", "a file here\n");
    r.write("to-file/inner", "inner\n");
    r.write("to-file/deep/inner", "inner\n");
    r.write("mode", "mode\n");
    r.symlink("link", "a.txt");
    r.symlink("to-link", "keep");
    r.write(".gitignore", "*.ign\nignored/\n");
    r.commit("main");
    r.git(&["checkout", "-q", "-b", "other"]);
    for path in ["gone", "to-dir", "to-file", "sub", "to-link", "link"] {
        r.remove(path);
    }
    r.write("a.txt", "two\n");
    r.write("dir/x", "xx\n");
    r.write("to-dir/inner", "a directory there\n");
    r.write("to-dir/more", "more\n");
    r.write("to-file", "a file there\n");
    r.write("new.txt", "new\n");
    r.write("new.ign", "new, and ignored\n");
    r.write("new/one/n", "n\n");
    r.write("ignored/n", "n\n");
    r.symlink("link", "keep");
    r.write("to-link", "no link\n");
    r.git(&["update-index", "--chmod=+x", "mode"]);
    r.commit("other");
    r.git(&["checkout", "-q", "-f", "main"]);
    repository
}

/// Prepares both copies, then takes them to `other` and by force there and back.
fn compare(name: &str, prepare: Prepare) {
    compare_from(name, "", prepare);
}

/// All of them, so that one that fails does not hide the others.
fn compare_all(cases: &[(&str, Prepare)]) {
    let fails = |(name, prepare): &&(&str, Prepare)| {
        std::panic::catch_unwind(|| compare(name, *prepare)).is_err()
    };
    let failed: Vec<&str> = cases.iter().filter(fails).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "these cases failed: {failed:?}");
}

/// Where force is another matter: git removes a changed file outside of the sparse checkout that
/// it has just found in the tree, and says of others that it will not; hedgerow leaves them all.
fn compare_without_force(name: &str, prepare: Prepare) {
    let mut pair = Pair::of(&origin(), name);
    pair.each("prepare", prepare);
    refuse_or_do(&mut pair, "", &["other"]);
    refuse_or_do(&mut pair, "", &["main"]);
}

fn compare_from(name: &str, directory: &str, prepare: Prepare) {
    let mut pair = Pair::of(&origin(), name);
    pair.each("prepare", prepare);
    refuse_or_do(&mut pair, directory, &["other"]);
    refuse_or_do(&mut pair, directory, &["main"]);
    refuse_or_do(&mut pair, directory, &["-f", "other"]);
    refuse_or_do(&mut pair, "", &["-f", "main"]);
}

/// Both do the same; if they refuse, nothing has changed.
fn refuse_or_do(pair: &mut Pair, directory: &str, words: &[&str]) {
    if !pair.hedgerow.root.join(directory).is_dir() {
        return;
    }
    let state = |pair: &Pair| (pair.hedgerow.tree(), pair.hedgerow.metadata());
    let (before, index) = (state(pair), pair.hedgerow.index());
    let outcome = pair.checkout_in(directory, words, &[]);
    if outcome.code != 0 {
        assert!(
            before == state(pair),
            "{}: something was touched",
            pair.story()
        );
        assert_eq!(
            index,
            pair.hedgerow.index(),
            "{}: the index was touched",
            pair.story()
        );
    }
    pair.hedgerow.assert_no_lock(&pair.story());
}

#[test]
fn local_changes() {
    let cases: &[(&str, Prepare)] = &[
        ("changed here and there", |r| r.write("a.txt", "mine\n")),
        ("changed here as there", |r| r.write("a.txt", "two\n")),
        ("changed here alone", |r| r.write("keep", "mine\n")),
        ("changed here, gone there", |r| r.write("gone", "mine\n")),
        ("removed here, changed there", |r| r.remove("a.txt")),
        ("removed here, gone there", |r| r.remove("gone")),
        ("removed here alone", |r| r.remove("keep")),
        ("several", |r| {
            for path in ["dir/x", "a.txt", "gone", "sub/deep/file"] {
                r.write(path, "mine\n");
            }
        }),
        ("of the same size at once", |r| r.write("a.txt", "own\n")),
        ("the mode alone", |r| set_mode(r, "a.txt", 0o755)),
        ("the mode, as there", |r| set_mode(r, "mode", 0o755)),
        ("a link instead", |r| {
            r.remove("a.txt");
            r.symlink("a.txt", "keep");
        }),
        ("a directory instead", |r| {
            r.remove("a.txt");
            r.write("a.txt/inside", "mine\n");
        }),
        ("an empty directory instead", |r| {
            r.remove("a.txt");
            std::fs::create_dir(r.path("a.txt")).unwrap();
        }),
        ("a directory instead of what stays", |r| {
            r.remove("keep");
            r.write("keep/inside", "mine\n");
        }),
        ("a file instead of a directory", |r| {
            r.remove("dir");
            r.write("dir", "mine\n");
        }),
        ("a file instead of a link", |r| {
            r.remove("link");
            r.write("link", "mine\n");
        }),
        ("another link", |r| {
            r.remove("link");
            r.symlink("link", "dir");
        }),
        ("below a directory that becomes a file", |r| {
            r.write("to-file/inner", "mine\n")
        }),
        ("in a file that becomes a directory", |r| {
            r.write("to-dir", "mine\n")
        }),
        ("in a link that becomes a file", |r| {
            r.remove("to-link");
            r.symlink("to-link", "a.txt");
        }),
    ];
    compare_all(cases);
}

#[test]
fn staged_changes() {
    let cases: &[(&str, Prepare)] = &[
        ("changed here and there", |r| stage(r, "a.txt", "mine\n")),
        ("changed here as there", |r| stage(r, "a.txt", "two\n")),
        ("changed as there, then again", |r| {
            stage(r, "a.txt", "two\n");
            r.write("a.txt", "mine\n");
        }),
        ("changed here alone", |r| stage(r, "keep", "mine\n")),
        ("changed and changed back", |r| {
            stage(r, "a.txt", "mine\n");
            r.write("a.txt", "one\n");
        }),
        ("removed here, changed there", |r| {
            drop(r.git(&["rm", "-q", "a.txt"]))
        }),
        ("removed here, gone there", |r| {
            drop(r.git(&["rm", "-q", "gone"]))
        }),
        ("removed here alone", |r| drop(r.git(&["rm", "-q", "keep"]))),
        ("removed from the index alone", |r| {
            drop(r.git(&["rm", "-q", "--cached", "gone"]))
        }),
        ("removed from the index, untracked files there", |r| {
            r.git(&["rm", "-q", "gone"]);
            r.write("gone/mine", "mine\n");
        }),
        ("removed from the index, ignored files there", |r| {
            r.git(&["rm", "-q", "gone"]);
            r.write("gone/mine.ign", "mine\n");
        }),
        ("removed from the index, the same there", |r| {
            r.git(&["rm", "-q", "--cached", "keep"]);
        }),
        ("added, other there", |r| stage(r, "new.txt", "mine\n")),
        ("added as there", |r| stage(r, "new.txt", "new\n")),
        ("added, not there", |r| stage(r, "mine.txt", "mine\n")),
        ("added below what becomes a file", |r| {
            stage(r, "to-file/mine", "mine\n")
        }),
        ("added above what is new there", |r| {
            stage(r, "new", "mine\n")
        }),
        ("added above, deeper", |r| stage(r, "new/one", "mine\n")),
        ("added below what is new there", |r| {
            stage(r, "new.txt/mine", "mine\n");
        }),
        ("the mode alone", |r| {
            drop(r.git(&["update-index", "--chmod=+x", "a.txt"]))
        }),
        ("the mode, as there", |r| {
            drop(r.git(&["update-index", "--chmod=+x", "mode"]))
        }),
        ("everything", |r| {
            drop(r.git(&["rm", "-q", "-r", "--cached", "."]))
        }),
        ("meant to be added", |r| {
            r.write("mine.txt", "mine\n");
            r.git(&["add", "-N", "mine.txt"]);
        }),
        ("meant to be added, new there", |r| {
            r.write("new.txt", "mine\n");
            r.git(&["add", "-N", "new.txt"]);
        }),
    ];
    compare_all(cases);
}

#[test]
fn untracked_files() {
    let cases: &[(&str, Prepare)] = &[
        ("where a file is new", |r| r.write("new.txt", "mine\n")),
        ("the same as what is new", |r| r.write("new.txt", "new\n")),
        ("a link where a file is new", |r| {
            r.symlink("new.txt", "keep")
        }),
        ("a dangling link", |r| r.symlink("new.txt", "nowhere")),
        ("ignored, where a file is new", |r| {
            r.write("new.ign", "mine\n")
        }),
        ("ignored with its directory", |r| {
            r.write("ignored/n", "mine\n")
        }),
        ("ignored beside it", |r| r.write("ignored/mine", "mine\n")),
        ("ignored, a directory where a file is new", |r| {
            r.write("new.ign/mine", "mine\n")
        }),
        ("a directory where a file is new", |r| {
            r.write("new.txt/mine", "mine\n")
        }),
        ("an empty directory", |r| {
            std::fs::create_dir(r.path("new.txt")).unwrap()
        }),
        ("empty directories", |r| {
            std::fs::create_dir_all(r.path("new.txt/a/b")).unwrap()
        }),
        ("a directory of ignored files", |r| {
            r.write("new.txt/deep/mine.ign", "mine\n")
        }),
        ("ignored and other files", |r| {
            r.write("new.txt/deep/mine.ign", "mine\n");
            r.write("new.txt/mine", "mine\n");
        }),
        ("a file where a directory is new", |r| {
            r.write("new", "mine\n")
        }),
        ("an ignored one", |r| {
            r.write(".git/info/exclude", "/new\n");
            r.write("new", "mine\n");
        }),
        ("a file deeper where a directory is new", |r| {
            r.write("new/one", "mine\n")
        }),
        ("beside what is new", |r| r.write("new/one/mine", "mine\n")),
        ("a link where a directory is new", |r| {
            r.symlink("new", "dir")
        }),
        ("a link to outside", |r| {
            let outside = r.root.parent().unwrap().join("outside");
            let _ = std::fs::create_dir(&outside);
            r.symlink("new", "../outside");
        }),
    ];
    compare_all(cases);
}

#[test]
fn untracked_files_beside_others() {
    let cases: &[(&str, Prepare)] = &[
        ("in a directory that becomes a file", |r| {
            r.write("to-file/mine", "mine\n")
        }),
        ("ignored, in a directory that becomes a file", |r| {
            r.write("to-file/mine.ign", "mine\n");
        }),
        ("deeper there", |r| r.write("to-file/deep/mine", "mine\n")),
        ("in a directory that goes", |r| {
            r.write("sub/deep/mine", "mine\n")
        }),
        ("where a directory comes", |r| {
            r.remove("to-dir");
            r.write("to-dir/inner", "mine\n");
        }),
        ("a directory replaced by a link to a likeness", |r| {
            r.write("likeness/x", "x\n");
            r.write("likeness/y", "y\n");
            r.remove("dir");
            r.symlink("dir", "likeness");
        }),
        ("of the user's own ignore file", |r| {
            r.write(".git/info/exclude", "new.txt\n");
            r.write("new.txt", "mine\n");
        }),
        ("ignored and again not", |r| {
            r.write("new/.gitignore", "n\n");
            r.write("new/one/.gitignore", "!n\n");
            r.write("new/one/n", "mine\n");
        }),
    ];
    compare_all(cases);
}

#[test]
fn an_unmerged_index() {
    let conflict: Prepare = |r| {
        r.write("a.txt", "three\n");
        r.git(&["commit", "-q", "-am", "three"]);
        let mut merge = crate::support::Program::Git.command(&r.root);
        merge.args(["merge", "-q", "other"]);
        assert_eq!(crate::support::run(merge).code, 1);
    };
    compare("while merging", conflict);
    let mut pair = Pair::of(&origin(), "paths in conflict");
    pair.each("conflict", conflict);
    for words in [
        &["--", "a.txt"][..],
        &["--", "."],
        &["keep"],
        &["-f", "--", "a.txt", "keep"],
        &["other", "--", "a.txt"],
        &["main"],
        &["-f"],
    ] {
        pair.checkout(words);
    }
}

#[test]
fn states_of_a_branch() {
    let cases: &[(&str, Prepare)] = &[
        ("a merge that is not committed", |r| {
            let head = r.ask(&["rev-parse", "other"]);
            r.write(".git/MERGE_HEAD", format!("{head}\n"));
            r.write(".git/MERGE_MSG", "merge\n");
        }),
        ("a cherry-pick", |r| {
            let head = r.ask(&["rev-parse", "other"]);
            r.write(".git/CHERRY_PICK_HEAD", format!("{head}\n"));
        }),
        ("a revert", |r| {
            let head = r.ask(&["rev-parse", "other"]);
            r.write(".git/REVERT_HEAD", format!("{head}\n"));
        }),
        ("advice declined", |r| {
            r.git(&["config", "advice.detachedHead", "false"]);
            r.git(&["checkout", "-q", "--detach", "other"]);
        }),
        ("commits left behind", |r| {
            r.git(&["checkout", "-q", "--detach", "other"]);
            for number in 0..6 {
                let message = format!("number {number}");
                r.git(&["commit", "-q", "--allow-empty", "-m", &message]);
            }
        }),
        ("one commit left behind", |r| {
            r.git(&["checkout", "-q", "--detach", "other"]);
            r.git(&["commit", "-q", "--allow-empty", "-m", "alone"]);
        }),
        ("a branch to follow", |r| {
            r.git(&["config", "branch.other.remote", "."]);
            r.git(&["config", "branch.other.merge", "refs/heads/main"]);
            r.git(&["config", "branch.main.remote", "."]);
            r.git(&["config", "branch.main.merge", "refs/heads/gone"]);
        }),
        ("a lock", |r| {
            r.write(".git/index.lock", "");
            r.remove(".git/index.lock");
        }),
    ];
    compare_all(cases);
}

/// Editors look for these words.
#[test]
fn a_locked_index_is_told_in_git_s_words() {
    let repository = origin();
    repository.write(".git/index.lock", "");
    for words in [&["checkout", "-q", "-f", "HEAD"][..], &["reset", "--hard"]] {
        let outcome = repository.hedgerow(words);
        let said = outcome
            .stderr
            .replace(repository.root.to_str().unwrap(), "");
        let expected =
            "fatal: Unable to create '/.git/index.lock': File exists.\n\nAnother git process \
                        seems to be running in this repository, or the lock file may be stale\n";
        assert_eq!((outcome.code, said.as_str()), (128, expected));
    }
}

#[test]
fn flagged_entries() {
    let cases: &[(&str, Prepare)] = &[
        ("assumed unchanged, changed, other there", |r| {
            r.git(&["update-index", "--assume-unchanged", "a.txt"]);
            r.write("a.txt", "mine\n");
        }),
        ("assumed unchanged, changed, the same there", |r| {
            r.git(&["update-index", "--assume-unchanged", "keep"]);
            // Of another size: else it matters whether a second went by.
            r.write("keep", "mine, and longer\n");
        }),
        ("assumed unchanged, removed", |r| {
            r.git(&["update-index", "--assume-unchanged", "a.txt", "gone"]);
            r.remove("a.txt");
            r.remove("gone");
        }),
        ("skipped, absent", |r| {
            r.git(&["update-index", "--skip-worktree", "a.txt", "keep", "gone"]);
            for path in ["a.txt", "keep", "gone"] {
                r.remove(path);
            }
        }),
        ("skipped, present", |r| {
            r.git(&["update-index", "--skip-worktree", "a.txt", "keep", "gone"]);
        }),
        ("skipped, present and changed", |r| {
            r.git(&["update-index", "--skip-worktree", "a.txt", "keep", "gone"]);
            r.write("a.txt", "mine\n");
            r.write("keep", "mine\n");
        }),
    ];
    compare_all(cases);
}

#[test]
fn sparse_checkouts() {
    let cases: &[(&str, Prepare)] = &[
        ("a cone", |r| {
            r.git(&["sparse-checkout", "set", "--cone", "dir"]);
        }),
        ("a cone of nothing", |r| {
            drop(r.git(&["sparse-checkout", "set", "--cone"]))
        }),
        ("a deep cone", |r| {
            r.git(&[
                "sparse-checkout",
                "set",
                "--cone",
                "sub/deep",
                "new/one",
                "to-file",
            ]);
        }),
        ("patterns", |r| {
            r.git(&[
                "sparse-checkout",
                "set",
                "--no-cone",
                "*.txt",
                "!new.txt",
                "/dir/",
            ]);
        }),
        ("a cone, local changes", |r| {
            r.git(&["sparse-checkout", "set", "--cone", "dir"]);
            r.write("dir/x", "mine\n");
        }),
        ("a changed cone that was not applied", |r| {
            r.git(&["sparse-checkout", "set", "--cone", "dir", "sub"]);
            r.write(".git/info/sparse-checkout", "/*\n!/*/\n/dir/\n");
        }),
        ("a wider cone that was not applied", |r| {
            r.git(&["sparse-checkout", "set", "--cone", "dir"]);
            r.write(".git/info/sparse-checkout", "/*\n!/*/\n/dir/\n/sub/\n");
        }),
    ];
    compare_all(cases);
    compare_without_force("a cone, a file outside of it", |r| {
        r.git(&["sparse-checkout", "set", "--cone", "dir"]);
        r.write("sub/deep/file", "mine\n");
    });
    compare_without_force("a cone, a file outside of it that comes", |r| {
        r.git(&["sparse-checkout", "set", "--cone", "dir"]);
        r.write("new/one/n", "mine\n");
    });
    compare_without_force("a changed cone, local changes", |r| {
        r.git(&["sparse-checkout", "set", "--cone", "dir", "sub"]);
        r.write("sub/deep/file", "mine\n");
        r.write(".git/info/sparse-checkout", "/*\n!/*/\n/dir/\n");
    });
}

#[test]
fn the_directory_where_the_user_is() {
    let nothing: Prepare = |_| {};
    compare_from("it becomes a file", "to-file", nothing);
    compare_from("it becomes a file, deeper", "to-file/deep", nothing);
    compare_from("it is emptied", "sub/deep", nothing);
    compare_from("it stays", "dir", nothing);
    compare_from("it stays, local changes", "dir", |r| {
        r.write("dir/x", "mine\n")
    });
    compare_from("untracked where a file is new", "new.txt", |r| {
        std::fs::create_dir(r.path("new.txt")).unwrap();
    });
    let mut pair = Pair::of(&origin(), "paths from below");
    pair.each("change", |r| {
        r.write("dir/x", "mine\n");
        r.write("dir/y", "mine\n");
        r.write("a.txt", "mine\n");
    });
    for words in [
        &["--", "x"][..],
        &["--", "a.txt"],
        &["x", "nothing"],
        &["--", "../a.txt"],
        &["--", "../.."],
        &["other", "--", "."],
        &["other", "--", ":/"],
        &["."],
        &["other", ":(glob)*"],
        &["main", "--", "..", ":!y"],
        &["main", "--", ":^/dir"],
    ] {
        pair.checkout_in("dir", words, &[]);
    }
}

#[test]
fn submodules() {
    let module: Prepare = |r| {
        r.git(&["init", "-q", "module"]);
        let module = Repository::at(r.path("module"));
        module.write("inside", "inside\n");
        module.commit("inside");
        r.commit("with a module");
    };
    fn with(r: &Repository, module: Prepare) {
        r.git(&["checkout", "-q", "-f", "main"]);
        module(r);
    }
    let origin = origin();
    with(&origin, module);
    let cases: &[(&str, Prepare)] = &[
        ("populated", |_| {}),
        ("unpopulated", |r| {
            r.remove("module");
            std::fs::create_dir(r.path("module")).unwrap();
        }),
        ("absent", |r| r.remove("module")),
        ("a file instead", |r| {
            r.remove("module");
            r.write("module", "mine\n");
        }),
    ];
    for (name, prepare) in cases {
        let mut pair = Pair::of(&origin, name);
        pair.each("prepare", prepare);
        for words in [
            &["other"][..],
            &["main"],
            &["-f", "other"],
            &["-f", "main"],
            &["module"],
        ] {
            refuse_or_do(&mut pair, "", words);
        }
    }
    origin.git(&["checkout", "-q", "-f", "other"]);
    origin.remove("module");
    origin.write("module", "a file\n");
    origin.commit("a file instead of the module");
    origin.git(&["checkout", "-q", "-f", "main"]);
    for (name, prepare) in cases {
        let mut pair = Pair::of(&origin, &format!("{name}, becomes a file"));
        pair.each("prepare", prepare);
        for words in [&["other"][..], &["main"], &["-f", "other"], &["-f", "main"]] {
            refuse_or_do(&mut pair, "", words);
        }
    }
}

#[test]
fn branches_of_other_working_trees() {
    let mut pair = Pair::of(&origin(), "linked working trees");
    pair.each("add one", |r| {
        r.git(&["worktree", "add", "-q", "linked", "other"]);
        r.git(&["branch", "third", "other"]);
    });
    refuse_or_do(&mut pair, "", &["other"]);
    refuse_or_do(&mut pair, "", &["--detach", "other"]);
    refuse_or_do(&mut pair, "linked", &["main~0"]);
    refuse_or_do(&mut pair, "linked", &["third"]);
    refuse_or_do(&mut pair, "", &["third"]);
    refuse_or_do(&mut pair, "", &["other"]);
}

#[test]
fn places_named_by_the_environment() {
    let mut pair = Pair::of(&origin(), "variables");
    pair.each("elsewhere", |r| {
        std::fs::create_dir(r.path("elsewhere")).unwrap();
        r.write(".git/info/exclude", "/elsewhere\n");
    });
    let elsewhere = [("GIT_DIR", "../.git"), ("GIT_WORK_TREE", ".")];
    pair.checkout_in("elsewhere", &["-f", "other"], &elsewhere);
    pair.checkout_in("elsewhere", &["-f", "main"], &elsewhere);
    let index = [("GIT_INDEX_FILE", ".git/second-index")];
    pair.checkout_in("", &["other"], &index);
    pair.checkout_in("", &["-f", "other"], &index);
    pair.checkout_in("", &["-f", "main"], &[("GIT_DIR", ".git")]);
    pair.checkout_in(
        "dir",
        &["other", "--", "x"],
        &[("GIT_DIR", "../.git"), ("GIT_WORK_TREE", "..")],
    );
}

#[test]
fn words_that_name_nothing() {
    let mut pair = Pair::of(&origin(), "words");
    for words in [
        &["nothing"][..],
        &["nothing", "--"],
        &["--detach", "nothing"],
        &["other", "nothing"],
        &["other", "--", "nothing"],
        &["--", "nothing", "keep", "nor this"],
        &["a.txt"],
        &["a.txt", "keep"],
        &["main", "a.txt"],
        &["other:a.txt"],
        &["HEAD^{tree}", "--", "a.txt"],
        &["HEAD^{tree}"],
        &["other^{commit}"],
        &["@"],
        &["HEAD"],
        &["@{-1}"],
        &["-"],
        &["HEAD~5"],
        &["--", ""],
        &["other", "main", "--", "a.txt"],
        &["main"],
    ] {
        refuse_or_do(&mut pair, "", words);
    }
}

fn stage(repository: &Repository, path: &str, content: &str) {
    repository.write(path, content);
    repository.git(&["add", "-f", path]);
}

fn set_mode(repository: &Repository, path: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(repository.path(path), permissions).unwrap();
}
