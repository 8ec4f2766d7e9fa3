//! What `--json` and `--stats=FILE` say of a checkout.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use std::path::Path;
use std::process::{Command, Output};

fn run(program: &str, directory: &Path, words: &[&str]) -> Output {
    let output = Command::new(program)
        .args(words)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words:?}: {stderr}");
    output
}

#[test]
fn the_document_and_the_statistics_count_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    run("git", directory, &["init", "-q", "-b", "main"]);
    for name in ["a", "b", "c"] {
        std::fs::write(directory.join(name), name).unwrap();
    }
    run("git", directory, &["add", "."]);
    let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    run(
        "git",
        directory,
        &[&author[..], &["commit", "-qm", "one"]].concat(),
    );
    std::fs::remove_file(directory.join("b")).unwrap();
    let words = ["checkout", "-f", "--json", "--stats=stats.json"];
    let output = run(env!("CARGO_BIN_EXE_hedgerow"), directory, &words);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], "hedgerow.checkout.v1");
    assert_eq!(report["status"], "done");
    assert_eq!(report["written"], 1);
    assert_eq!(report["bytes"], 1);
    assert_eq!(report["removed"], 0);
    assert_eq!(report["failures"], serde_json::json!([]));
    let statistics = std::fs::read(directory.join("stats.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_slice(&statistics).unwrap();
    assert_eq!(statistics["bytes"], 1);
    assert!(statistics["operations"].as_u64().unwrap() >= 4);
    assert!(!directory.join("stats.json.lock").exists());
}
