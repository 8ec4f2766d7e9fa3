//! `checkout --merge`, `switch --merge` and `restore --merge` beside git.

use crate::stash::merges::{change, origin, CASES};
use crate::support::{Outcome, Pair, Repository, RunHedgerow};
use hedgerow_testkit::git_is_at_least;
use std::fs;
use std::time::SystemTime;

/// Since 2.55 git puts local changes aside for a switch; before, it merged in place.
fn git_stashes() -> bool {
    git_is_at_least(2, 55, "checkout --merge")
}

/// A repository in which the branch `side` has one change of [`origin`]; `main` is checked out.
fn two_branches(of_side: &[&str]) -> Repository {
    let repository = origin();
    repository.git(&["branch", "-M", "main"]);
    repository.git(&["checkout", "-q", "-b", "side"]);
    change(&repository, of_side);
    repository.git(&["commit", "-q", "-m", "side"]);
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["reset", "-q", "--hard"]);
    repository
}

#[test]
fn local_changes_are_merged_with_the_branch() {
    if !git_stashes() {
        return;
    }
    for (label, local, of_side) in CASES {
        for (number, style) in ["merge", "diff3", "zdiff3"].into_iter().enumerate() {
            let repository = two_branches(of_side);
            let mut pair = Pair::of(&repository, &format!("{label}, {style}"));
            pair.any_trees = true;
            pair.each("local changes", |repository| {
                change(repository, local);
                // Git loses untracked files in the place of tracked ones: see below. And it switches
                // away from staged changes in a directory that becomes a file.
                let is_in_place = [
                    "file for a dir",
                    "directory for a",
                    "same rename",
                    "onto",
                    "to one",
                    "two renames",
                    "in the old place",
                ]
                .iter()
                .any(|it| label.contains(it));
                let is_lost = label.contains("file in place of changes");
                if is_lost || number == 1 && !is_in_place {
                    repository.git(&["reset", "-q"]);
                }
            });
            let conflict = format!("--conflict={style}");
            match number {
                0 => pair.checkout(&["-m", "side"]),
                1 => pair.both("switch", "", &["-m", &conflict, "side"], &[]),
                _ => pair.checkout(&[&conflict, "--detach", "side"]),
            };
            pair.both("stash", "", &["list"], &[]);
        }
    }
}

#[test]
fn conflicts_are_made_again() {
    for (label, theirs, ours) in CASES {
        let repository = two_branches(theirs);
        change(&repository, ours);
        repository.git(&["commit", "-q", "-m", "ours"]);
        let mut pair = Pair::of(&repository, label);
        pair.any_words = true;
        pair.any_trees = true;
        pair.each("merge", |repository| {
            repository.run(&["merge", "-q", "side"], b"");
        });
        for words in [
            &["-m", "--", "."][..],
            &["--conflict=diff3", "."],
            &["-m", "f"],
            &["--conflict=zdiff3", "--", "f", "z"],
        ] {
            pair.each("edit", |repository| {
                for path in ["f", "z", "new"] {
                    let file = repository.root.join(path);
                    if file.symlink_metadata().is_ok_and(|it| it.is_file()) {
                        fs::write(file, "edited\n").unwrap();
                    }
                }
            });
            pair.checkout(words);
        }
        pair.both("restore", "", &["--merge", "."], &[]);
        pair.both("restore", "", &["--ignore-unmerged", "."], &[]);
        // What was resolved is in conflict again.
        pair.each("add", |repository| {
            repository.run(&["add", "-A"], b"");
        });
        pair.both("restore", "", &["--conflict=merge", "--", "f"], &[]);
        pair.checkout(&["--merge", "."]);
        pair.both("ls-files", "", &["-s", "--resolve-undo"], &[]);
    }
}

#[test]
fn words_that_contradict_each_other_are_refused_like_git_does() {
    let repository = two_branches(&["w f 1 a"]);
    let mut pair = Pair::of(&repository, "words");
    pair.each("edit", |repository| {
        fs::write(repository.root.join("f"), "edited\n").unwrap();
    });
    for words in [
        &["-m", "-f", "side"][..],
        &["-m", "-f", "--", "f"],
        &["-m", "--ours", "--", "f"],
        &["-m", "--ours", "-f", "f"],
        &["--conflict=diff3", "--theirs", "--", "f"],
        &["-m", "side", "--", "f"],
        &["--conflict=merge", "HEAD", "f"],
        &["--conflict=nonsense", "side"],
        &["-m", "--no-merge", "side"],
        &["--conflict=diff3", "--no-merge", "side"],
        &["--conflict=diff3", "--no-conflict", "side"],
        &["-m", "--", "nowhere"],
        &["-m", "--", "f"],
        &["-m"],
        &["-m", "HEAD"],
        &["-m", "nonsense"],
    ] {
        pair.checkout(words);
    }
    for words in [
        &["-m", "--discard-changes", "side"][..],
        &["-m", "-f", "side"],
        &["-m"],
        &["--conflict", "side"],
        &["--conflict=nonsense", "side"],
        &["-m", "HEAD"],
    ] {
        pair.both("switch", "", words, &[]);
    }
    for words in [
        &["-m", "--staged", "f"][..],
        &["--conflict=diff3", "-SW", "f"],
        &["-m", "--source=HEAD", "f"],
        &["-m", "--ours", "f"],
        &["-m", "--ignore-unmerged", "f"],
        &["-m"],
        &["-m", "f"],
        &["--conflict=nonsense", "f"],
    ] {
        pair.both("restore", "", words, &[]);
    }
}

fn lines(outcome: &Outcome) -> (i32, String, String) {
    let stdout = String::from_utf8_lossy(&outcome.stdout).into_owned();
    (outcome.code, stdout, outcome.stderr.clone())
}

/// Git would record the conflict.
#[test]
fn that_a_conflict_is_not_recorded_is_said() {
    let repository = two_branches(&["w f 1 a"]);
    for is_enabled in [false, true] {
        repository.git(&["config", "rerere.enabled", &is_enabled.to_string()]);
        change(&repository, &["w f 1 b"]);
        for words in [&["checkout", "-m", "side"][..], &["stash", "apply"]] {
            let outcome = repository.hedgerow(words);
            let is_said = outcome.stderr.contains("run 'git rerere'");
            assert_eq!(is_said, is_enabled, "{words:?}: {outcome:?}");
            repository.git(&["reset", "-q", "--hard"]);
        }
        repository.git(&["rerere", "clear"]);
        repository.git(&["checkout", "-q", "main"]);
    }
}

/// This holds beside any git.
#[test]
fn an_edit_in_the_way_is_carried_along_or_stashed() {
    let repository = two_branches(&["w f 1 a", "w z 2 a"]);
    let text = fs::read_to_string(repository.root.join("f")).unwrap();
    fs::write(repository.root.join("f"), text.replace("\n8\n", "\nb\n")).unwrap();
    let outcome = repository.hedgerow(&["checkout", "-m", "side"]);
    let local = "The following paths have local changes:\nM\tf\n";
    let said = "Applied autostash.\nSwitched to branch 'side'\n";
    assert_eq!(lines(&outcome), (0, local.into(), said.into()));
    let merged = fs::read_to_string(repository.root.join("f")).unwrap();
    assert!(
        merged.contains("\na\n2\n") && merged.contains("\nb\n9\n"),
        "{merged}"
    );
    assert_eq!(repository.ask(&["stash", "list"]), "");
    repository.git(&["checkout", "-q", "-f", "main"]);
    fs::write(repository.root.join("z"), "mine\n").unwrap();
    let outcome = repository.hedgerow(&["switch", "-m", "side"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("resulted in conflicts"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        repository.ask(&["stash", "list"]),
        "stash@{0}: autostash while switching to 'side'"
    );
    assert_eq!(repository.ask(&["show", "stash@{0}:z"]), "mine");
    assert_eq!(
        repository.ask(&["diff", "--name-only", "--diff-filter=U"]),
        "z"
    );
    let held = repository.git_dir().join("CHECKOUT_AUTOSTASH_HEAD");
    assert!(!held.exists(), "the changes are in the stash");
}

#[test]
fn changes_that_cannot_be_stashed_are_named() {
    let repository = two_branches(&["w f 1 a", "w z 2 a"]);
    fs::write(repository.root.join("z"), "mine\n").unwrap();
    fs::write(repository.git_dir().join("refs/stash.lock"), "").unwrap();
    let outcome = repository.hedgerow(&["checkout", "-m", "side"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let commit = repository.ask(&["rev-parse", "CHECKOUT_AUTOSTASH_HEAD"]);
    let expected = format!("error: cannot store {commit}, which has your local changes");
    assert!(outcome.stderr.contains(&expected), "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("are stashed"),
        "{}",
        outcome.stderr
    );
    assert_eq!(repository.ask(&["show", &format!("{commit}:z")]), "mine");
}

/// Git puts tracked files aside, and lets untracked ones in their place go.
#[test]
fn untracked_files_in_the_place_of_tracked_ones_are_not_lost() {
    for (gone, place) in [("dir", "dir"), ("f", "f/x")] {
        let repository = two_branches(&["w f 1 a", "w dir/g 1 a"]);
        let gone = repository.root.join(gone);
        if gone.is_dir() {
            fs::remove_dir_all(gone).unwrap();
        } else {
            fs::remove_file(gone).unwrap();
        }
        let place = repository.root.join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, "precious\n").unwrap();
        let before = repository.index();
        let outcome = repository.hedgerow(&["checkout", "-m", "side"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("untracked"), "{}", outcome.stderr);
        assert_eq!(fs::read(&place).unwrap(), b"precious\n");
        assert_eq!(repository.ask(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(repository.index(), before);
        assert_eq!(repository.ask(&["stash", "list"]), "");
    }
}

/// A repository with edits that a switch to `side` has to merge, each with words of its own.
fn edited() -> Repository {
    let repository = two_branches(&["w f 1 a", "w z 2 a", "w dir/g 1 a"]);
    for (path, line, word) in EDITS {
        let file = repository.root.join(path);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let text = text.replace(&format!("\n{line}\n"), &format!("\n{word}\n"));
        fs::write(
            &file,
            if text.contains(word) {
                text
            } else {
                format!("{word}\n")
            },
        )
        .unwrap();
    }
    repository.git(&["add", "new"]);
    repository
}

/// Files, lines of theirs, and what these become: the first conflicts, the second does not.
const EDITS: [(&str, &str, &str); 4] = [
    ("f", "1", "precious-f"),
    ("z", "8", "precious-z"),
    ("dir/h", "4", "precious-h"),
    ("new", "", "precious-new"),
];

/// Each edit is in its file, in the stash, or in the commit that is named meanwhile.
fn assert_edits_are_kept(repository: &Repository, what: &str) {
    for (path, _, word) in EDITS {
        let has = |text: &[u8]| String::from_utf8_lossy(text).contains(word);
        let is_in_place = fs::read(repository.root.join(path)).is_ok_and(|text| has(&text));
        let is_named = ["refs/stash", "CHECKOUT_AUTOSTASH_HEAD"]
            .iter()
            .any(|name| {
                let shown = repository.run(&["show", &format!("{name}:{path}")], b"");
                has(&shown.stdout)
            });
        assert!(
            is_in_place || is_named,
            "{what}: the edit of '{path}' is lost"
        );
    }
}

#[test]
fn no_failing_call_loses_an_edit() {
    let origin = edited();
    let home = crate::support::temporary();
    let mut number_of_copy = 0;
    let mut fail = |fault: &str| -> usize {
        number_of_copy += 1;
        let copy = origin.copy(&home.path().join(number_of_copy.to_string()));
        let words = ["checkout", "-j2", "--threshold=0", "-m", "side"];
        let outcome = copy.hedgerow_with(&words, &[("HEDGEROW_TEST_FAULT", fault)]);
        let what = format!("{fault}: {outcome:?}");
        copy.assert_no_lock(&what);
        assert_edits_are_kept(&copy, &what);
        fs::remove_dir_all(&copy.root).unwrap();
        let (_, count) = outcome.stderr.rsplit_once("saw ").expect(&what);
        count.split(' ').next().unwrap().parse().expect(&what)
    };
    for (ops, errno) in [
        ("create", 28),
        ("write", 28),
        ("rename", 5),
        ("close", 28),
        ("remove", 5),
        ("create+write+mkdir+close", 28),
    ] {
        let count = fail(&format!("{ops}:1000000:{errno}"));
        assert!(count > 3, "{ops} is called {count} times");
        let step = count.div_ceil(24);
        for number in (1..=count).step_by(step) {
            fail(&format!("{ops}:{number}:{errno}"));
            // A disk that fills up stays full.
            fail(&format!("{ops}:{number}-1000000:{errno}"));
        }
    }
}

#[test]
fn no_kill_loses_an_edit() {
    let origin = edited();
    let home = crate::support::temporary();
    let start = |copy: &Repository| {
        let mut command = crate::HEDGEROW.command(&copy.root);
        command.args(["switch", "-j2", "--threshold=0", "-m", "side"]);
        command.stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    let whole = origin.copy(&home.path().join("whole"));
    let begun = std::time::Instant::now();
    start(&whole).wait().unwrap();
    let takes = begun.elapsed();
    let mut moments_with_changes_aside = 0;
    for moment in 0..40_u32 {
        let copy = origin.copy(&home.path().join(moment.to_string()));
        let mut child = start(&copy);
        std::thread::sleep(takes * moment / 36);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_edits_are_kept(&copy, &format!("killed after {moment}/36"));
        let held = copy.git_dir().join("CHECKOUT_AUTOSTASH_HEAD");
        if held.exists() {
            moments_with_changes_aside += 1;
            // They are in the way of the next switch, until they are in the stash.
            for name in ["index", "HEAD", "CHECKOUT_AUTOSTASH_HEAD", "refs/stash"] {
                fs::remove_file(copy.git_dir().join(format!("{name}.lock"))).ok();
            }
            copy.git(&["stash", "store", "CHECKOUT_AUTOSTASH_HEAD"]);
            copy.git(&["update-ref", "-d", "CHECKOUT_AUTOSTASH_HEAD"]);
            copy.git(&["reset", "-q", "--hard"]);
            let popped = copy.run(&["stash", "apply"], b"");
            assert!([0, 1].contains(&popped.code), "{popped:?}");
        }
    }
    println!("{moments_with_changes_aside} of 40 kills came while the changes were put aside");
}

#[test]
fn programs_merge_what_they_are_asked_to() {
    for status in [0, 1, 128] {
        let repository = two_branches(&["w f 1 a", "w dir/g 1 a"]);
        let attributes = repository.root.join(".git/info/attributes");
        fs::write(
            attributes,
            "f merge=own\ndir/g merge=own conflict-marker-size=9\n",
        )
        .unwrap();
        let driver = "cat %O %B >>%A; echo 100%% %L %P %S %X %Y %Z >>%A";
        let driver = format!("{driver}; test -f %A; exit {status}");
        repository.git(&["config", "merge.own.driver", &driver]);
        let edit = |repository: &Repository| change(repository, &["w f 1 b", "w dir/g 8 b"]);
        let label = format!("exit {status}");
        let mut pair = Pair::of(&repository, &label);
        pair.each("edit", edit);
        pair.both("stash", "", &["push", "-q"], &[]);
        pair.each("switch", |repository| {
            repository.git(&["checkout", "-q", "side"]);
        });
        pair.both("stash", "", &["pop"], &[]);
        pair.checkout(&["-m", "f"]);
        pair.both("restore", "", &["--conflict=diff3", "."], &[]);
        if git_stashes() {
            let mut pair = Pair::of(&repository, &label);
            pair.each("edit", edit);
            pair.checkout(&["-m", "side"]);
        }
    }
    // A program that fails is no conflict: nothing is touched.
    let repository = two_branches(&["w f 1 a"]);
    fs::write(
        repository.root.join(".git/info/attributes"),
        "f merge=own\n",
    )
    .unwrap();
    repository.git(&["config", "merge.own.driver", "exit 129"]);
    change(&repository, &["w f 1 b"]);
    repository.git(&["stash", "push", "-q"]);
    repository.git(&["checkout", "-q", "side"]);
    let before = repository.tree();
    let outcome = repository.hedgerow(&["stash", "apply"]);
    assert!(outcome.code != 0, "{outcome:?}");
    assert!(
        outcome.stderr.contains("failed to execute internal merge"),
        "{outcome:?}"
    );
    assert!(repository.tree() == before);
    repository.git(&["checkout", "-q", "main"]);
    change(&repository, &["w f 1 b"]);
    // The switch is done when the program runs, and the changes are in the stash.
    let outcome = repository.hedgerow(&["checkout", "-m", "side"]);
    assert!(outcome.stderr.contains("failed to execute"), "{outcome:?}");
    assert_eq!(
        repository.ask(&["rev-list", "-g", "--count", "refs/stash"]),
        "2"
    );
    assert!(repository.tree() == before);
}

/// Git lets new files follow the directory, or suggests it.
#[test]
fn files_added_to_a_renamed_directory_are_refused() {
    for (local, of_side) in [
        (&["c dir/new x"][..], &["mv dir moved"][..]),
        (&["mv dir moved"], &["c dir/new x", "w dir/g 1 a"]),
        (
            &["c dir/sub/new x", "w f 1 b"],
            &["mv dir moved", "w f 1 a"],
        ),
    ] {
        let repository = two_branches(of_side);
        change(&repository, local);
        change(&repository, &["w z 1 local"]);
        repository.git(&["stash", "push", "-q"]);
        repository.git(&["checkout", "-q", "side"]);
        let clean = repository.tree();
        let outcome = repository.hedgerow(&["stash", "pop"]);
        assert!(outcome.code != 0, "{outcome:?}");
        assert!(
            outcome.stderr.contains("the other side renamed"),
            "{outcome:?}"
        );
        assert!(repository.tree() == clean);
        // Beside it, and where git does not look for renamed directories, files are merged.
        repository.git(&["config", "merge.directoryRenames", "false"]);
        let outcome = repository.hedgerow(&["stash", "apply", "-q"]);
        assert!(!outcome.stderr.contains("renamed"), "{outcome:?}");
    }
    // Nothing was renamed: the directory went, or stays in part.
    for (local, of_side) in [
        (&["c dir/new x"][..], &["rm dir"][..]),
        (&["c dir/new x"], &["mv dir/sub moved"]),
        (&["c dir/new x"], &["mv dir/g moved/g"]),
    ] {
        let mut pair = Pair::of(&two_branches(of_side), &format!("{local:?} {of_side:?}"));
        pair.each("edit", |repository| change(repository, local));
        pair.both("stash", "", &["push", "-q"], &[]);
        pair.each("switch", |repository| {
            repository.git(&["checkout", "-q", "side"]);
        });
        pair.both("stash", "", &["pop"], &[]);
    }
}

/// git looks for what was staged in the index of the branch that is left, and gives up.
#[test]
fn what_was_staged_is_staged_again_where_that_is_wanted() {
    let repository = two_branches(&["w f 8 b"]);
    repository.git(&["config", "stash.index", "true"]);
    let pair = Pair::of(&repository, "stash.index");
    let place = &pair.hedgerow;
    change(place, &["w f 1 a", "c new 1"]);
    place.write("z", "not staged\n");
    let outcome = place.hedgerow(&["switch", "-m", "side"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let status = place.ask(&["status", "--porcelain"]);
    assert_eq!(status, "M  f\nA  new\n M z");
    assert_eq!(place.ask(&["stash", "list"]), "");
    let file = String::from_utf8(place.read("f")).unwrap();
    assert!(file.contains("\na\n") && file.contains("\nb\n"), "{file}");
}

/// A file whose stat data alone are stale is not written anew: what a filter strips from it is
/// nowhere else.
#[test]
fn what_a_filter_strips_stays_in_a_file_that_is_not_changed() {
    let repository = Repository::init(&[]);
    repository.git(&["config", "filter.strip.clean", "grep -v OUTPUT"]);
    repository.git(&["config", "filter.strip.smudge", "cat"]);
    repository.write(".gitattributes", "notebook filter=strip\n");
    repository.write("notebook", "code\n");
    repository.write("f", "1\n");
    repository.commit("first");
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.write("f", "side\n");
    repository.commit("side");
    repository.git(&["checkout", "-q", "main"]);
    let mut pair = Pair::of(&repository, "stale");
    pair.each("edit", |repository| {
        repository.write("notebook", "code\nOUTPUT\n");
        repository.git(&["add", "notebook"]);
        let file = fs::File::open(repository.path("notebook")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        repository.write("f", "local\n");
    });
    if git_stashes() {
        pair.checkout(&["-m", "side"]);
    } else {
        let outcome = pair.hedgerow.hedgerow(&["checkout", "-m", "side"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
    assert_eq!(pair.hedgerow.read("notebook"), b"code\nOUTPUT\n");
}

/// What files hold that the user has told git not to look at is put nowhere aside: they stay, unless the
/// branches differ in them.
#[test]
fn files_that_are_left_alone_stay_in_a_switch_that_merges() {
    let origin = Repository::init(&[]);
    for path in ["conflict", "kept", "gone", "clean"] {
        origin.write(path, "1\n");
    }
    origin.commit("first");
    origin.git(&["checkout", "-q", "-b", "side"]);
    origin.write("conflict", "side\n");
    origin.commit("side");
    origin.git(&["checkout", "-q", "main"]);
    let mut pair = Pair::of(&origin, "files that are left alone");
    pair.any_trees = true;
    pair.each("local changes", |repository| {
        repository.git(&["update-index", "--assume-unchanged", "kept", "gone"]);
        repository.write("kept", "mine\n");
        repository.remove("gone");
        repository.write("conflict", "local\n");
    });
    if git_stashes() {
        pair.checkout(&["-m", "side"]);
        pair.assert_same_state();
    } else {
        let mut command = crate::HEDGEROW.command(&pair.hedgerow.root);
        command.args(["checkout", "-m", "side"]);
        assert_eq!(command.output().unwrap().status.code(), Some(0));
    }
    let kept = fs::read(pair.hedgerow.path("kept")).unwrap();
    assert_eq!(kept, b"mine\n");
    assert!(!pair.hedgerow.path("gone").exists());
}
