//! `checkout --merge`, `switch --merge` and `restore --merge` beside git.

use crate::stash::merges::{change, origin, CASES};
use crate::support::{Outcome, Pair, Repository, RunHedgerow};
use hedgerow_testkit::git_is_at_least;
use std::fs;

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
                let is_in_place = ["file for a dir", "directory for a", "same rename"]
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
