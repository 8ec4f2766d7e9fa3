//! What `--json` and `--stats=FILE` say of a checkout.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use hedgerow_testkit::{run, Program, Repository};

const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

#[test]
fn the_document_and_the_statistics_count_what_was_written() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("a", "a"), ("b", "b"), ("c", "c")], "one");
    let directory = repository.root.as_path();
    std::fs::remove_file(directory.join("b")).unwrap();
    let mut command = HEDGEROW.command(directory);
    command.args(["checkout", "-f", "--json", "--stats=stats.json"]);
    let output = run(command).ok("checkout");
    let report: serde_json::Value = serde_json::from_slice(&output).unwrap();
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

/// The whole family has `--json`, or refuses it by name before anything is touched.
#[test]
fn commands_without_documents_say_what_to_read_instead() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("file", "one\n")], "one");
    repository.write("file", "mine\n");
    for (words, hint) in [
        ("reset --hard", "hedgerow status --json"),
        ("read-tree HEAD", "hedgerow status --json"),
        ("checkout-index -f -a", "hedgerow status --json"),
        ("merge --ff-only HEAD", "hedgerow status --json"),
        ("diff-files", "--raw -z"),
        ("diff-index HEAD", "--raw -z"),
        ("worktree list", "worktree list --porcelain -z"),
        ("sparse-checkout list", "sparse-checkout list"),
    ] {
        let mut command = HEDGEROW.command(&repository.root);
        command.arg("--json").args(words.split(' '));
        let refused = run(command);
        assert_eq!(refused.code, 129, "{words}");
        assert!(refused.stdout.is_empty(), "{words}");
        let document: serde_json::Value = serde_json::from_str(&refused.stderr).unwrap();
        // A command of a command is named, too.
        let name = words
            .strip_suffix(" list")
            .map_or(words.split(' ').next(), |_| Some(words));
        let name = name.unwrap();
        let message = format!("'hedgerow {name}' prints no JSON");
        assert_eq!(document["message"], message.as_str());
        assert_eq!(document["exit_code"], 129);
        assert!(document["hint"].as_str().unwrap().contains(hint), "{words}");
    }
    assert_eq!(repository.read("file"), b"mine\n");
}
