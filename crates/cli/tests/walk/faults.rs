//! What happens when the system fails: for every call of every kind, the rest is listed, and what
//! is not is named.

use crate::support::{found, parts, path_of, skip, walk, walk_with, Outcome};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EACCES: i32 = 13;
const ESTALE: i32 = 116;

/// A tree with a directory that is large enough to be shared by workers.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    fs::create_dir_all(path("a/b/c")).unwrap();
    fs::create_dir_all(path("large/sub")).unwrap();
    fs::create_dir(path("z")).unwrap();
    for name in ["f", "a/f", "a/b/g", "a/b/c/h", "large/sub/i", "z/j"] {
        fs::write(path(name), name).unwrap();
    }
    for number in 0..140 {
        fs::write(path(&format!("large/{number}")), "").unwrap();
    }
    std::os::unix::fs::symlink("a", path("l")).unwrap();
    root
}

/// Whether `path` or something above it is named.
fn is_named(outcome: &Outcome, path: &[u8]) -> bool {
    let path = String::from_utf8_lossy(path);
    let ends = path.match_indices('/').map(|(at, _)| at);
    let mut parts = ends.chain([path.len()]).map(|end| &path[..end]);
    let named = |part: &str| outcome.stderr.contains(&format!("'{part}'"));
    parts.any(named) || named(".")
}

/// Lets calls fail, and looks at what came of it. Returns how many such calls there are.
fn fail(root: &Path, fault: &str, words: &[&str], is_gone: bool) -> usize {
    let words = [words, &["-0"]].concat();
    let outcome = walk_with(root, &words, &[("HEDGEROW_TEST_FAULT", fault)]);
    let what = format!("{fault} {words:?}: {}", outcome.stderr);
    let with_stat = words.contains(&"--stat");
    let all = found(root);
    let listed = parts(&outcome.stdout, 0);
    let paths: BTreeSet<Vec<u8>> = if with_stat {
        listed.iter().map(|line| path_of(line)).collect()
    } else {
        listed.clone()
    };
    assert!(!with_stat || listed.is_subset(&all), "{what}");
    let expected: BTreeSet<Vec<u8>> = all.iter().map(|line| path_of(line)).collect();
    assert!(paths.is_subset(&expected), "{what}");
    let mut missing = expected.difference(&paths);
    if outcome.code == Some(2) {
        assert!(
            paths.is_empty() && outcome.stderr.contains("cannot open '.'"),
            "{what}"
        );
    } else if is_gone {
        let lines = outcome.stderr.lines();
        let others = lines.filter(|line| !line.starts_with("HEDGEROW") && !line.contains("'.'"));
        assert_eq!(others.count(), 0, "{what}: what is gone is no failure");
    } else {
        assert!(missing.all(|path| is_named(&outcome, path)), "{what}");
        let complained = outcome.stderr.contains("error:");
        assert_eq!(outcome.code, Some(if complained { 3 } else { 0 }), "{what}");
        let fails = fault.contains(":1-");
        assert!(!fails || paths != expected || complained, "{what}");
    }
    let (_, count) = outcome.stderr.split_once("saw ").expect(&what);
    count.split(' ').next().unwrap().parse().expect(&what)
}

fn fail_each(ops: &str, words: &[&str], step: usize) {
    let root = tree();
    for errno in [EACCES, EIO, ESTALE, ENOENT] {
        let is_gone = errno == ENOENT;
        let fail = |span: &str, jobs: &str| {
            let words = [words, &["-j", jobs]].concat();
            fail(
                root.path(),
                &format!("{ops}:{span}:{errno}"),
                &words,
                is_gone,
            )
        };
        let count = fail("1000000", "1");
        assert!(count > 0, "{ops} is never called");
        for number in (1..=count).step_by(step) {
            fail(&number.to_string(), ["1", "3", "8"][number % 3]);
        }
        for first in [2, count / 2, count] {
            fail(&format!("{first}-1000000"), ["8", "2"][first % 2]);
        }
        fail("1-1000000", "2");
    }
}

#[test]
fn a_failing_opening() {
    fail_each("open", &[], 1);
    fail_each("open", &["--sort"], 1);
    fail_each("open", &["--stat", "--sort"], 1);
}

#[test]
fn a_failing_listing() {
    fail_each("read", &["--stat"], 1);
    fail_each("read", &["--sort"], 1);
}

#[test]
fn a_failing_question() {
    fail_each("stat", &["--stat"], 7);
    fail_each("stat", &["--stat", "--sort"], 7);
    fail_each("stat", &["--stat", "-x"], 31);
}

#[test]
fn everything_fails_now_and_then() {
    fail_each("open+read+stat", &["--stat", "-x"], 11);
    fail_each("open+read+stat", &["--stat", "-x", "--sort"], 11);
    // Without a kind, an entry is asked for its state.
    fail_each("kind+stat", &[], 17);
    fail_each("kind+stat", &["--sort"], 17);
}

#[test]
fn a_tree_that_is_deleted_meanwhile() {
    let names = |root: &Path| -> BTreeSet<Vec<u8>> {
        found(root).iter().map(|line| path_of(line)).collect()
    };
    for round in 0..6 {
        let root = tempfile::tempdir().unwrap();
        for number in 0..300 {
            let directory = root.path().join(format!("{}/{number}", number % 7));
            fs::create_dir_all(&directory).unwrap();
            for file in 0..5 {
                fs::write(directory.join(file.to_string()), "x").unwrap();
            }
        }
        let all = names(root.path());
        let words = [&["-0", "--stat", "-j", "8"][..], &["--sort"][..round % 2]].concat();
        let seed = (round + 1).to_string();
        let delay = [("HEDGEROW_TEST_DELAY", seed.as_str())];
        let outcome = std::thread::scope(|threads| {
            let walked = threads.spawn(|| walk_with(root.path(), &words, &delay));
            for number in (0..7).rev() {
                fs::remove_dir_all(root.path().join(number.to_string())).unwrap();
            }
            walked.join().unwrap()
        });
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        let listed = parts(&outcome.stdout, 0);
        let listed: BTreeSet<Vec<u8>> = listed.iter().map(|line| path_of(line)).collect();
        assert!(listed.is_subset(&all));
    }
}

/// Runs the binary as somebody who may not read everything.
fn as_nobody(root: &Path, words: &[&str]) -> Option<Outcome> {
    let is_root = fs::read("/etc/shadow").is_ok();
    if !is_root {
        return Some(walk(root, words));
    }
    // The binary may be where nobody else can reach it. Copied by another program: what this one
    // has open for writing, a child of another test may have too, and it could not be run.
    let binary = root.parent()?.join("hedgerow");
    let mut copy = Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_hedgerow")).arg(&binary);
    assert!(copy.status().unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command
        .arg(&binary)
        .arg("walk")
        .args(words)
        .current_dir(root);
    let usable = Command::new("setpriv").arg("--version").output().is_ok();
    usable.then(|| crate::support::run(&mut command))
}

#[test]
fn a_directory_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode));
    mode(place.path(), 0o755).unwrap();
    let root = place.path().join("root");
    for name in ["open/sub", "closed/sub", "only-listed/sub"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("open/file"), "x").unwrap();
    mode(&root.join("closed"), 0o000).unwrap();
    mode(&root.join("only-listed"), 0o444).unwrap();
    let plain = [
        "closed",
        "only-listed",
        "only-listed/sub",
        "open",
        "open/file",
        "open/sub",
    ];
    let stat = ["closed", "only-listed", "open", "open/file", "open/sub"];
    for words in [&[][..], &["--sort"], &["--stat"], &["--stat", "--sort"]] {
        let Some(outcome) = as_nobody(&root, words) else {
            return skip("root reads everything, and setpriv(1) is not here");
        };
        let lines = parts(&outcome.stdout, b'\n');
        let with_stat = words.contains(&"--stat");
        let path = |line: &Vec<u8>| {
            if with_stat {
                path_of(line)
            } else {
                line.clone()
            }
        };
        let listed: BTreeSet<Vec<u8>> = lines.iter().map(path).collect();
        let expected = if with_stat { &stat[..] } else { &plain };
        let expected = expected.iter().map(|path| path.as_bytes().to_vec());
        assert_eq!(listed, expected.collect(), "{words:?}");
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        let words = "error: cannot open 'closed': Permission denied\n";
        assert!(outcome.stderr.contains(words), "{outcome:?}");
        assert!(
            outcome.stderr.contains("'only-listed/sub': Permission"),
            "{outcome:?}"
        );
    }
    for name in ["closed", "only-listed"] {
        mode(&root.join(name), 0o755).unwrap();
    }
}
