//! What the system does not answer is no change: it is asked again, or named, and the exit code
//! says so.

use crate::HEDGEROW;
use hedgerow_latencyfs::Mount;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run, Outcome};
use std::path::Path;
use std::process::Command;

/// A clean tree, every file of which has to be read.
fn stale(directories: usize, files: usize) -> Repository {
    let repository = Repository::init(&[]);
    for directory in 0..directories {
        for file in 0..files {
            repository.write(
                format!("{directory}/{file}"),
                format!("{directory} {file}\n"),
            );
        }
    }
    git(&repository.root, &["add", "-A"], b"");
    git(&repository.root, &["commit", "-q", "-m", "one"], b"");
    let touch = "find . -path ./.git -prune -o -type f -exec touch -d 2001-01-01 {} +";
    let touched = Command::new("sh")
        .args(["-c", touch])
        .current_dir(&repository.root)
        .status();
    assert!(touched.unwrap().success());
    repository
}

fn with_fault(repository: &Repository, words: &[&str], fault: &str) -> (Outcome, u64) {
    let mut command = HEDGEROW.command(&repository.root);
    command
        .args(words)
        .env("HEDGEROW_TEST_FAULT", fault)
        .env("GIT_OPTIONAL_LOCKS", "0");
    let mut outcome = run(command);
    outcome.assert_civil(fault);
    let told = outcome.stderr.clone();
    let (said, seen) = told.split_once("HEDGEROW_TEST_FAULT saw ").unwrap();
    outcome.stderr = said.to_owned();
    (outcome, seen.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn a_call_without_a_descriptor_is_made_again() {
    let repository = stale(3, 4);
    let words = ["status", "--short"];
    let (_, calls) = with_fault(&repository, &words, "open:0:24");
    for errno in [23, 24] {
        for first in (1..=calls).step_by(3) {
            let fault = format!("open:{first}-{}:{errno}", first + 2);
            let (outcome, _) = with_fault(&repository, &words, &fault);
            assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{fault}");
            assert!(outcome.stdout.is_empty(), "{fault} {outcome:?}");
        }
    }
}

#[test]
fn what_fails_is_named_and_is_no_change() {
    let repository = stale(2, 3);
    for (kinds, errno) in [
        ("open", 5),
        ("read", 5),
        ("stat", 116),
        // Then a listing does not tell what its entries are, either.
        ("kind+stat", 5),
        ("open+read+stat", 24),
    ] {
        for forms in [
            ["status", "--short", "-unormal"],
            ["status", "--short", "-uno"],
        ] {
            let (_, calls) = with_fault(&repository, &forms, &format!("{kinds}:0:{errno}"));
            for first in 1..=calls {
                for last in [first, 1_000_000] {
                    if errno == 24 && last != first && first % 16 != 0 {
                        // Each of these waits for a descriptor.
                        continue;
                    }
                    let fault = format!("{kinds}:{first}-{last}:{errno}");
                    let (outcome, _) = with_fault(&repository, &forms, &fault);
                    let lists = String::from_utf8_lossy(&outcome.stdout);
                    assert!(
                        lists.is_empty() || lists.starts_with("?? "),
                        "{fault} {outcome:?}"
                    );
                    match outcome.code {
                        0 => assert!(lists.is_empty(), "{fault} {outcome:?}"),
                        _ => assert!(outcome.stderr.contains(": "), "{fault} {outcome:?}"),
                    }
                }
            }
        }
    }
}

/// What git's plumbing cannot examine is named with the reason, and the rest is listed.
#[test]
fn one_file_that_fails_does_not_hide_the_others() {
    let repository = stale(2, 3);
    for (directory, file) in [(0, 1), (1, 2)] {
        repository.write(format!("{directory}/{file}"), "changed\n");
    }
    for words in [&["diff-files"][..], &["ls-files", "-m"]] {
        let (outcome, calls) = with_fault(&repository, words, "stat:0:5");
        let all = lines(&outcome);
        let mut named = 0;
        for number in 1..=calls {
            for (errno, reason) in [(5, "Input/output error"), (13, "Permission denied")] {
                let fault = format!("stat:{number}-{number}:{errno}");
                let (outcome, _) = with_fault(&repository, words, &fault);
                let file = (0..6).map(|at| format!("stat '{}/{}': {reason}", at / 3, at % 3));
                let Some(file) = file.into_iter().find(|it| outcome.stderr.contains(it)) else {
                    continue;
                };
                named += 1;
                let path = file.split('\'').nth(1).unwrap();
                let others = |list: &[String]| {
                    let others = list.iter().filter(|line| !line.ends_with(path));
                    others.cloned().collect::<Vec<_>>()
                };
                let found = lines(&outcome);
                assert_eq!(
                    others(&found),
                    others(&all),
                    "{words:?} {fault} {outcome:?}"
                );
            }
        }
        assert!(named >= 12, "{words:?}: {named}");
    }
}

/// A lock that cannot be removed keeps others out, but what was found is right.
#[test]
fn a_lock_that_stays_is_told_and_the_status_holds() {
    let repository = stale(1, 1);
    let chattr = |change| {
        let mut command = Command::new("chattr");
        command.args([change, ".git"]).current_dir(&repository.root);
        command.output().is_ok_and(|made| made.status.success())
    };
    if !chattr("+a") {
        return hedgerow_testkit::skip("no directory can be made append-only here");
    }
    let mut command = HEDGEROW.command(&repository.root);
    command.args(["status", "--short"]);
    command.env("GIT_OPTIONAL_LOCKS", "1");
    let outcome = run(command);
    assert!(chattr("-a"));
    let is_told = outcome.stderr.starts_with("warning: cannot remove '")
        && outcome
            .stderr
            .ends_with("/.git/index.lock': Operation not permitted\n");
    assert!(outcome.code == 0 && is_told, "{outcome:?}");
    assert!(outcome.stdout.is_empty(), "{outcome:?}");
}

fn lines(outcome: &Outcome) -> Vec<String> {
    let text = String::from_utf8_lossy(&outcome.stdout);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_branch_that_cannot_be_read_is_fatal() {
    let repository = stale(1, 1);
    std::fs::remove_file(repository.path(".git/refs/heads/main")).unwrap();
    // A link in a circle cannot be read even by root.
    std::os::unix::fs::symlink("main", repository.path(".git/refs/heads/loop")).unwrap();
    std::os::unix::fs::symlink("loop", repository.path(".git/refs/heads/main")).unwrap();
    let mut command = HEDGEROW.command(&repository.root);
    command.arg("status");
    let outcome = run(command);
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (128, &b""[..]),
        "{outcome:?}"
    );
    assert!(outcome.stderr.contains("refs/heads/main"), "{outcome:?}");
}

/// With few descriptors, soft and hard.
fn limited(directory: &Path, descriptors: usize, words: &str) -> Outcome {
    let mut command = HEDGEROW.command(directory);
    let line = format!(
        "ulimit -n {descriptors} && exec {} {words}",
        command.get_program().to_str().unwrap()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(directory);
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    shell.env_clear().envs(variables);
    command = shell;
    run(command)
}

#[test]
fn few_descriptors_are_enough_far_away() {
    let repository = stale(30, 10);
    let mut mount = match Mount::new(&repository.root, 1000) {
        Ok(mount) => mount,
        Err(reason) => return hedgerow_testkit::skip(&reason.to_string()),
    };
    for descriptors in [256, 64, 32] {
        let place = mount.path().to_owned();
        let there = |words: &str| limited(&place, descriptors, words);
        let expect = |words: &str| {
            let outcome = there(words);
            assert_eq!(
                (outcome.code, &*outcome.stderr),
                (0, ""),
                "{descriptors} {words}"
            );
            outcome.stdout
        };
        assert!(expect("-j64 status --short").is_empty(), "{descriptors}");
        let listed = expect("walk --exclude .git .");
        assert_eq!(
            listed.split(|byte| *byte == b'\n').count(),
            331,
            "{descriptors}"
        );
        for directory in 0..20 {
            std::fs::remove_dir_all(repository.path(directory.to_string())).unwrap();
        }
        mount.remount();
        expect("-j64 checkout -q -f");
        let changed = git(&repository.root, &["status", "--short"], b"");
        assert!(changed.is_empty(), "{descriptors}");
    }
}
