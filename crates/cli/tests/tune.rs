//! `hedgerow tune`: what it measures, what it sets, and that it leaves nothing behind.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use hedgerow_latencyfs::Mount;
use hedgerow_testkit::{git_text, Program};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

fn tune(directory: &Path, words: &[&str]) -> Command {
    let mut command = HEDGEROW.command(directory);
    command.arg("tune").args(words);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn document(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "hedgerow.tune.v1");
    document
}

/// A repository without commits.
fn repository() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    git_text(directory.path(), &["init", "-q"]);
    directory
}

fn config_of(repository: &Path) -> PathBuf {
    repository.join(".git/config")
}

/// What is in a directory, `.git` aside.
fn left_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != ".git").collect()
}

/// A mount over a new directory; says aloud if there can be none here.
fn far_away(rtt_us: u64) -> Option<(TempDir, Mount)> {
    let backing = tempfile::tempdir().unwrap();
    match Mount::new(backing.path(), rtt_us) {
        Ok(mount) => Some((backing, mount)),
        Err(reason) => {
            hedgerow_testkit::skip(&reason.to_string());
            None
        }
    }
}

#[test]
fn a_local_tree_is_measured_and_the_repository_set() {
    let repository = repository();
    let root = repository.path();
    let before = "# mine\n[core]\n\tbare = false ; yes\n[checkout]\n\tworkers = 3 # old\n# end\n";
    std::fs::write(config_of(root), before).unwrap();
    let output = tune(root, &["--json", "--force"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = document(&output);
    for operation in ["create", "stat", "remove"] {
        let latency = &document["latency"][operation];
        let (median, p90) = (latency["median_us"].as_f64(), latency["p90_us"].as_f64());
        assert!(
            median.unwrap() > 0.0 && median <= p90,
            "{operation} {latency}"
        );
    }
    let scaling = document["scaling"].as_array().unwrap();
    assert!(scaling.len() >= 3, "two that bring nothing come after one");
    for (at, rate) in scaling.iter().enumerate() {
        assert_eq!(rate["workers"], 1 << at);
        assert!(rate["files_per_second"].as_f64().unwrap() > 0.0);
    }
    let advice = &document["advice"];
    assert_eq!(
        git_text(root, &["config", "checkout.workers"]),
        advice["workers"].to_string()
    );
    let threshold = git_text(root, &["config", "checkout.thresholdForParallelism"]);
    assert_eq!(threshold, advice["threshold"].to_string());
    assert_eq!(document["written"], config_of(root).to_str().unwrap());
    assert!(left_in(root).is_empty());

    // All that was not set is there as it was.
    let after = std::fs::read_to_string(config_of(root)).unwrap();
    let workers = format!("workers = {} # old", advice["workers"]);
    let expected = before.replace("workers = 3 # old", &workers);
    let kept: String = after
        .split_inclusive('\n')
        .filter(|line| !line.contains("thresholdForParallelism"))
        .collect();
    assert_eq!(kept, expected);
}

#[test]
fn the_words_say_the_same_as_what_is_set() {
    let repository = repository();
    let root = repository.path();
    let output = tune(root, &["--force"]).output().unwrap();
    let words = text(&output.stdout);
    let workers = git_text(root, &["config", "checkout.workers"]);
    let threshold = git_text(root, &["config", "checkout.thresholdForParallelism"]);
    assert!(words.starts_with(root.to_str().unwrap()), "{words}");
    assert!(words.contains(&format!(" {workers} worker")), "{words}");
    let set = format!("checkout.thresholdForParallelism {threshold}\n");
    assert!(words.contains(&set), "{words}");
    let marked = words.lines().find(|line| line.ends_with("<- advised"));
    assert_eq!(marked.unwrap().split_whitespace().next(), Some(&*workers));
    let said = format!("Set in '{}'.\n", config_of(root).display());
    assert_eq!(text(&output.stderr), said);
}

#[test]
fn advice_that_differs_is_not_set() {
    let repository = repository();
    let root = repository.path();
    let before = std::fs::read(config_of(root)).unwrap();
    let output = tune(root, &["--json"]).output().unwrap();
    let (document, said) = (document(&output), text(&output.stderr));
    let spread = &document["spread"];
    let number = |name: &str| spread[name].as_u64().unwrap();
    assert!(number("measurements") >= 2);
    let is_noisy = number("workers_max") > 2 * number("workers_min");
    assert_eq!(spread["is_noisy"], is_noisy);
    let share = spread["rate_share"].as_f64().unwrap();
    assert!(share > 0.0 && share <= 1.0, "{document}");
    let after = std::fs::read(config_of(root)).unwrap();
    if is_noisy {
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(message(&said).starts_with("nothing was set: "), "{said}");
        assert!(before == after && document["written"].is_null());
    } else {
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(before != after && document["written"].is_string());
    }
}

#[test]
fn a_millisecond_away_many_workers_are_advised() {
    let Some((backing, mount)) = far_away(1000) else {
        return;
    };
    let repository = repository();
    let before = std::fs::read(config_of(repository.path())).unwrap();
    let started = Instant::now();
    let words = ["--dry-run", "--json", mount.path().to_str().unwrap()];
    let output = tune(repository.path(), &words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let limit = Duration::from_secs(90); // some seconds are promised to an idle machine
    assert!(started.elapsed() < limit);
    let document = document(&output);
    let advice = &document["advice"];
    assert!(advice["workers"].as_u64().unwrap() >= 16, "{document}");
    assert!(advice["gain"].as_f64().unwrap() > 4.0, "{document}");
    assert_eq!(advice["place"], "slow");
    assert_eq!(document["file_system"]["name"], "fuse");
    // A question is one round trip, a creation two and a flush at least.
    let median = |operation: &str| {
        document["latency"][operation]["median_us"]
            .as_f64()
            .unwrap()
    };
    assert!(median("stat") >= 1000.0, "{document}");
    assert!(median("create") >= 3000.0, "{document}");
    assert!(left_in(backing.path()).is_empty());
    assert_eq!(std::fs::read(config_of(repository.path())).unwrap(), before);
    assert_eq!(document["written"], Value::Null);
}

#[test]
fn an_interruption_leaves_neither_files_nor_settings() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let Some((backing, mount)) = far_away(5000) else {
            return;
        };
        let repository = repository();
        let before = std::fs::read(config_of(repository.path())).unwrap();
        let mut command = tune(repository.path(), &[mount.path().to_str().unwrap()]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let started = Instant::now();
        // Some workers have their directories by then.
        while !backing_has_workers(backing.path()) {
            assert!(started.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = child.id().to_string();
        let killed = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(number), "{output:?}");
        assert_eq!(text(&output.stderr), "error: interrupted\n");
        assert!(output.stdout.is_empty());
        assert!(left_in(backing.path()).is_empty(), "{signal}");
        assert_eq!(std::fs::read(config_of(repository.path())).unwrap(), before);
    }
}

fn backing_has_workers(backing: &Path) -> bool {
    left_in(backing).iter().any(|name| {
        assert!(name.starts_with(".hedgerow-tune-"), "{name}");
        backing.join(name).join("g3/w3").is_dir()
    })
}

#[test]
fn whatever_fails_is_told_once_and_nothing_is_left() {
    let repository = repository();
    let root = repository.path();
    let before = std::fs::read(config_of(root)).unwrap();
    let cases = [
        // The directory itself, a group, a worker's own, one of many.
        ("mkdir:1:30", "Read-only file system"),
        ("mkdir:2:28", "No space left on device"),
        ("mkdir:3:28", "No space left on device"),
        ("mkdir:7:28", "No space left on device"),
        // A full disk, at once and later, and for good.
        ("create:1:28", "No space left on device"),
        ("create:300:28", "No space left on device"),
        ("write:1-999999:28", "No space left on device"),
        ("write:200:122", "Disk quota exceeded"),
        ("close:250:5", "Input/output error"),
        ("remove:1:5", "Input/output error"),
    ];
    for (fault, reason) in cases {
        let mut command = tune(root, &[]);
        let output = command.env("HEDGEROW_TEST_FAULT", fault).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{fault}: {said}");
        let told: Vec<&str> = said.lines().filter(|line| line.contains(reason)).collect();
        assert_eq!(told.len(), 1, "{fault}: {said}");
        assert!(told[0].starts_with("error: cannot "), "{fault}: {said}");
        assert!(output.stdout.is_empty(), "{fault}");
        assert_eq!(left_in(root), Vec::<String>::new(), "{fault}");
        assert_eq!(std::fs::read(config_of(root)).unwrap(), before, "{fault}");
    }
}

#[test]
fn what_cannot_be_removed_is_named_and_the_rest_is_gone() {
    let repository = repository();
    let root = repository.path();
    // The first ends the measurement of one worker, the others meet the cleaning up. However slow
    // the machine is, there are four files by then; a later removal may be one of many workers'.
    let mut command = tune(root, &[]);
    command.env("HEDGEROW_TEST_FAULT", "remove:1-4:5");
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: cannot remove '"), "{said}");
    assert!(said.contains("': Input/output error\n"), "{said}");
    let left = left_in(root);
    assert_eq!(left.len(), 1);
    assert_eq!(files_below(&root.join(&left[0])), 3);
}

fn files_below(directory: &Path) -> usize {
    let count = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path)
        } else {
            1
        }
    };
    std::fs::read_dir(directory).unwrap().map(count).sum()
}

#[test]
fn a_bare_repository_is_measured_itself() {
    let directory = tempfile::tempdir().unwrap();
    git_text(directory.path(), &["init", "-q", "--bare", "bare.git"]);
    let bare = directory.path().join("bare.git");
    let before = left_in(&bare);
    let words = ["-C", "bare.git", "--json", "--force"];
    let output = tune(directory.path(), &words).output().unwrap();
    assert_eq!(document(&output)["directory"], bare.to_str().unwrap());
    git_text(&bare, &["config", "checkout.workers"]);
    assert_eq!(left_in(&bare), before);
}

#[test]
fn quiet_sets_and_says_nothing() {
    let repository = repository();
    let output = tune(repository.path(), &["--quiet", "--force"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
    git_text(repository.path(), &["config", "checkout.workers"]);
}

#[test]
fn a_directory_that_cannot_be_measured_is_named() {
    let repository = repository();
    let root = repository.path();
    std::fs::write(root.join("file"), "").unwrap();
    let missing = root.join("missing");
    let cases = [
        (missing.as_path(), "No such file or directory"),
        (&root.join("file"), "Not a directory"),
    ];
    for (directory, reason) in cases {
        let output = tune(root, &[directory.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("error: cannot open '{}': {reason}\n", directory.display());
        assert_eq!(text(&output.stderr), expected);
    }
    assert!(!missing.exists());
    // Not even root can create anything there.
    let output = tune(root, &["/sys"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: cannot create directory '/sys/.hedgerow-tune-"),
        "{said}"
    );
    assert!(
        said.contains("\nhint: name a directory of that file system"),
        "{said}"
    );
}

#[test]
fn without_a_repository_it_says_what_it_would_set() {
    let directory = tempfile::tempdir().unwrap();
    let ceiling = directory.path().parent().unwrap();
    let run = |words: &[&str]| {
        let mut command = tune(directory.path(), words);
        command.env("GIT_CEILING_DIRECTORIES", ceiling);
        command.output().unwrap()
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // Nothing is measured in vain.
    assert_eq!(text(&output.stdout), "");
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: there is no repository here"),
        "{said}"
    );
    assert!(said.contains("hint: name the repository with -C"), "{said}");
    let output = run(&["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty());
    assert!(text(&output.stdout).contains("checkout.thresholdForParallelism "));
    assert!(left_in(directory.path()).is_empty());
}

/// What an error says that is a document.
fn message(said: &str) -> String {
    part(said, "message")
}

fn part(said: &str, name: &str) -> String {
    let document = said.lines().find(|line| line.starts_with('{'));
    let document: Value = serde_json::from_str(document.expect("a document")).unwrap();
    document[name].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_locked_configuration_costs_the_setting_and_not_the_measurement() {
    let repository = repository();
    let root = repository.path();
    let lock = root.join(".git/config.lock");
    std::fs::write(&lock, "held").unwrap();
    let output = tune(root, &["--json", "--force"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(document(&output)["written"], Value::Null);
    let said = text(&output.stderr);
    assert!(said.contains("config.lock': File exists"), "{said}");
    assert!(said.contains("Another git process"), "{said}");
    assert_eq!(std::fs::read(&lock).unwrap(), b"held");
}
