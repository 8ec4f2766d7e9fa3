//! `--trace`, `HEDGEROW_LOG`, and the number of workers that `-v` tells.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use hedgerow_testkit::{run, Outcome, Program, Repository};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// A repository of 300 files, none of them in the working tree.
fn empty_tree() -> Repository {
    let repository = Repository::init(&[]);
    for number in 0..300 {
        repository.write(format!("file-{number}"), format!("content {number}\n"));
    }
    repository.commit("one");
    repository.git(&["repack", "-adq"]);
    for number in 0..300 {
        std::fs::remove_file(repository.root.join(format!("file-{number}"))).unwrap();
    }
    repository
}

fn hedgerow(repository: &Repository, words: &[&str], level: Option<&str>) -> Outcome {
    let mut command = HEDGEROW.command(&repository.root);
    command.args(words);
    if let Some(level) = level {
        command.env("HEDGEROW_LOG", level);
    }
    run(command)
}

fn events(repository: &Repository, name: &str) -> Vec<Value> {
    serde_json::from_slice(&repository.read(name)).unwrap()
}

#[test]
fn a_trace_shows_what_each_worker_did() {
    let repository = empty_tree();
    let words = [
        "--trace=.git/trace",
        "-j4",
        "checkout",
        "-f",
        "--threshold=1",
    ];
    hedgerow(&repository, &words, None).ok("checkout");
    let events = events(&repository, ".git/trace");
    let spans: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    let count = |name: &str| spans.iter().filter(|span| span["name"] == name).count();
    for name in ["create", "write", "close", "write entry"] {
        assert_eq!(count(name), 300, "{name}");
    }
    // A commit and its tree are read, too.
    for name in ["read object", "inflate"] {
        assert!(count(name) >= 300, "{name}");
    }
    assert_eq!(count("command"), 1);
    let named = events.iter().filter(|event| event["name"] == "thread_name");
    let names: BTreeSet<&str> = named
        .map(|it| it["args"]["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains("main") && names.contains("files-1"),
        "{names:?}"
    );
    // Spans of a thread are nested or apart, as viewers require.
    let mut of_thread = BTreeMap::<u64, Vec<(f64, f64)>>::new();
    for span in &spans {
        let number = |key: &str| span[key].as_f64().unwrap();
        let (begin, end) = (number("ts"), number("ts") + number("dur"));
        of_thread
            .entry(span["tid"].as_u64().unwrap())
            .or_default()
            .push((begin, end));
    }
    for spans in of_thread.values_mut() {
        spans.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
        let mut open: Vec<f64> = Vec::new();
        for (begin, end) in spans {
            open.retain(|outer| *outer > *begin);
            assert!(open.iter().all(|outer| *end <= *outer + 0.01));
            open.push(*end);
        }
    }
}

#[test]
fn a_trace_of_a_failure_is_written_and_other_files_stay() {
    let repository = empty_tree();
    let failed = hedgerow(
        &repository,
        &["--trace=.git/trace", "checkout", "none"],
        None,
    );
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    assert!(!events(&repository, ".git/trace").is_empty());
    hedgerow(&repository, &["--trace=.git/trace", "status"], None).ok("replaced");
    repository.write("mine", "precious\n");
    let refused = hedgerow(&repository, &["--trace=mine", "checkout", "-f"], None);
    assert_eq!(refused.code, 128);
    assert!(refused
        .stderr
        .contains("'mine' does not hold a trace, and is left as it is"));
    assert_eq!(repository.read("mine"), b"precious\n");
    assert!(!repository.root.join("file-1").exists(), "nothing was done");
    let refused = hedgerow(&repository, &["--trace=x", "cat-file", "-t", "HEAD"], None);
    assert_eq!(refused.code, 129);
    assert!(refused
        .stderr
        .contains("'hedgerow cat-file' records no trace (--trace)"));
    let refused = hedgerow(&repository, &["--stats", "image", "info", "x"], None);
    let reason = "'hedgerow image info' records no statistics (--stats)";
    assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    // The file may be a word of its own, and is not the command.
    let words = ["--trace", ".git/trace", "walk", "--nosuch"];
    assert_eq!(hedgerow(&repository, &words, None).code, 2);
    let words = ["--trace", ".git/trace", "--stats=.git/stats", "status"];
    hedgerow(&repository, &words, None).ok("status");
    let stats: Value = serde_json::from_slice(&repository.read(".git/stats")).unwrap();
    assert_eq!(stats["command"], "status");
}

#[test]
fn the_log_says_what_was_decided() {
    let repository = empty_tree();
    repository.git(&["config", "checkout.workers", "3"]);
    let quiet = hedgerow(&repository, &["checkout", "-q", "-f"], Some("warn"));
    assert_eq!(quiet.stderr, "");
    let told = hedgerow(&repository, &["checkout", "-q", "-f"], Some("info")).stderr;
    assert!(
        told.contains(" s: workers: 3 (checkout.workers; 1 for fewer than 100 files)\n"),
        "{told}"
    );
    assert!(
        told.contains("info 0.") && !told.contains("debug "),
        "{told}"
    );
    assert!(told.contains(": repository '"), "{told}");
    let told = hedgerow(&repository, &["-j2", "status", "--json"], Some("debug")).stderr;
    assert!(told.contains("run 'status' starts: 2 workers"), "{told}");
    for line in told.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        assert_eq!(document["schema"], "hedgerow.message.v1");
    }
    let told = hedgerow(&repository, &["status", "-s"], Some("loud")).stderr;
    assert!(told.contains("HEDGEROW_LOG is 'loud', and not error, warn, info or debug"));
}

#[test]
fn verbose_commands_tell_their_workers_and_why() {
    let repository = empty_tree();
    let told = |words: &[&str]| hedgerow(&repository, words, None).stderr;
    assert!(told(&["-v", "-j5", "walk"]).contains("workers: 5 (--jobs)\n"));
    let words = ["-v", "-j5000", "walk"];
    assert!(told(&words).contains("workers: 1024, the maximum, in place of 5000 (--jobs)\n"));
    assert!(told(&["-v", "walk"]).starts_with("workers: up to 64, chosen by measuring, for "));
    let words = ["-v", "checkout", "-f", "--workers=2"];
    assert!(told(&words).contains("workers: 2 (--workers; 1 for fewer than 100 files)\n"));
    repository.git(&["config", "checkout.workers", "4"]);
    assert!(told(&["-v", "reset", "--hard"]).contains("workers: 4 (checkout.workers; "));
    assert!(!told(&["checkout", "-f"]).contains("workers:"));
    let index = std::fs::read_dir(repository.root.join(".git/objects/pack")).unwrap();
    let index = index.map(|entry| entry.unwrap().path());
    let index = index.filter(|path| path.extension().is_some_and(|it| it == "idx"));
    let index = index.last().unwrap().to_str().unwrap().to_owned();
    for words in [
        &["-v", "rev-list", "--count", "HEAD"][..],
        &["-v", "verify-pack", &index],
        &["-v", "multi-pack-index", "write"],
        &["-v", "multi-pack-index", "write", "--bitmap"],
    ] {
        let told = told(words);
        assert_eq!(told.matches("workers: ").count(), 1, "{words:?}: {told}");
    }
    // `archive -v` is git's own option: it lists the entries, and nothing else.
    let listed = told(&["-v", "archive", "-o", ".git/archive.tar", "HEAD"]);
    assert!(listed.starts_with("file-0\nfile-1\n"), "{listed}");
    assert!(!listed.contains("workers"), "{listed}");
}

#[test]
fn progress_off_a_terminal_has_a_last_line_however_short_the_run() {
    let repository = empty_tree();
    for (words, expected) in [
        (
            &["--progress", "checkout", "-f"][..],
            "Updating files: 100% (300/300), ",
        ),
        (
            &["--progress", "image", "create", "git:HEAD", ".git/image"],
            "Packing: 100% (301/301), ",
        ),
        (
            &["--progress", "image", "verify", ".git/image"],
            "Checking: 301 entries, ",
        ),
        (&["--progress", "walk", "--summary"], "Listing: "),
        (&["--progress", "status"], "Comparing files: 300 files, "),
        (
            &["--progress", "archive", "-o", ".git/archive", "HEAD"],
            "Archiving: 300 entries, ",
        ),
    ] {
        let told = hedgerow(&repository, words, None).stderr;
        let line = told.lines().find(|line| line.starts_with(expected));
        let line = line.unwrap_or_else(|| panic!("{words:?}: {told}"));
        let unit = ["entries/s, done in ", "files/s, done in "];
        assert!(unit.iter().any(|unit| line.contains(unit)), "{line}");
    }
    let told = hedgerow(&repository, &["--json", "--progress", "status"], None);
    assert_eq!(told.stderr, "", "all of it is JSON");
    let told = hedgerow(&repository, &["--progress", "restore", "."], None).stderr;
    assert!(told.contains("Updating files: 0 files, done in "), "{told}");
    repository.git(&["checkout", "-q", "-f"]);
    let told = hedgerow(&repository, &["checkout", "-q", "-f", "--progress"], None);
    assert_eq!(told.stderr, "");
}
