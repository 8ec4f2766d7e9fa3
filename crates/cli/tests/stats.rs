//! `hedgerow stats`, from a recorded checkout to words and a drawing.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use hedgerow_testkit::{Program, Repository};
use std::path::Path;
use std::process::{Output, Stdio};

const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

fn hedgerow(directory: &Path, words: &[&str]) -> Output {
    HEDGEROW.command(directory).args(words).output().unwrap()
}

fn stdout(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn refused(directory: &Path, words: &[&str]) -> String {
    let output = hedgerow(directory, words);
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

/// A directory with `stats.json`, from a checkout of 300 files by four workers.
fn recorded() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    let made = Repository::at(repository.clone());
    made.git(&["init", "-q", "-b", "main"]);
    for number in 0..300 {
        made.write(format!("file-{number}"), format!("content {number}\n"));
    }
    made.commit("one");
    for number in 0..300 {
        std::fs::remove_file(repository.join(format!("file-{number}"))).unwrap();
    }
    let words = ["checkout", "-f", "--workers=4", "--threshold=1"];
    let words = [&["-C", "repository", "--stats=../stats.json"], &words[..]].concat();
    stdout(&hedgerow(directory.path(), &words));
    directory
}

#[test]
fn a_checkout_is_told_and_drawn() {
    let directory = recorded();
    let directory = directory.path();
    let json = std::fs::read(directory.join("stats.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["schema"], "hedgerow.stats.v1");
    assert_eq!(json["phases"][0]["name"], "checkout");
    let series = json["series"].as_array().unwrap();
    assert!(series.iter().any(|point| point["target"] == 4));
    let most = series.iter().map(|point| point["queue_max"].as_u64());
    assert_eq!(most.max().unwrap(), json["queue_max"].as_u64());

    let told = stdout(&hedgerow(directory, &["stats", "stats.json"]));
    assert!(told.starts_with("The queue "), "{told}");
    for subject in [
        "\nworkers ",
        "\nqueue ",
        "\nlatency ",
        "\nworker time ",
        "\nmemory ",
    ] {
        assert!(told.contains(subject), "{subject}: {told}");
    }
    let drawn = stdout(&hedgerow(directory, &["stats", "stats.json", "-o", "-"]));
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert!(drawn.contains(">checkout<"));
    let to_file = hedgerow(directory, &["stats", "-o", "plot.svg", "stats.json"]);
    assert_eq!(stdout(&to_file), "");
    let written = std::fs::read_to_string(directory.join("plot.svg")).unwrap();
    assert_eq!(written, drawn, "the same bytes again");
}

#[test]
fn statistics_on_standard_error_are_the_same_words() {
    let directory = recorded();
    let repository = directory.path().join("repository");
    let output = hedgerow(&repository, &["--stats", "checkout", "-f"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("\nworker time "), "{told}");
}

#[test]
fn what_exists_stays_unless_it_is_to_go() {
    let directory = recorded();
    let directory = directory.path();
    std::fs::write(directory.join("plot.svg"), "mine").unwrap();
    let said = refused(directory, &["stats", "stats.json", "-o", "plot.svg"]);
    let expected = "error: cannot create 'plot.svg': File exists\n\nhint: use -f to replace it\n";
    assert_eq!(said, expected);
    assert_eq!(std::fs::read(directory.join("plot.svg")).unwrap(), b"mine");
    assert!(!directory.join("plot.svg.lock").exists());
    stdout(&hedgerow(
        directory,
        &["stats", "stats.json", "-fo", "plot.svg"],
    ));
    let written = std::fs::read_to_string(directory.join("plot.svg")).unwrap();
    assert!(written.starts_with("<svg "));
    let said = refused(directory, &["stats", "stats.json", "-o", "none/plot.svg"]);
    assert!(said.contains("No such file or directory"), "{said}");
}

#[test]
fn what_is_no_file_of_statistics_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let said = refused(directory, &["stats", "missing"]);
    assert_eq!(
        said,
        "error: cannot open 'missing': No such file or directory\n"
    );
    for (content, reason) in [
        ("no JSON", "does not hold statistics"),
        (
            r#"{"schema": "hedgerow.checkout.v1"}"#,
            "'hedgerow.checkout.v1'",
        ),
        (r#"{"schema": "hedgerow.stats.v2"}"#, "'hedgerow.stats.v2'"),
        (
            r#"{"schema": "hedgerow.stats.v1", "series": 1}"#,
            "at most 65536",
        ),
    ] {
        std::fs::write(directory.join("file"), content).unwrap();
        let said = refused(directory, &["stats", "file"]);
        assert!(said.starts_with("error: cannot use 'file': "), "{said}");
        assert!(said.contains(reason) && said.contains("\nhint: "), "{said}");
        refused(directory, &["stats", "file", "-o", "plot.svg"]);
        assert!(!directory.join("plot.svg").exists());
    }
    let said = refused(directory, &["stats", "file", "--json"]);
    assert!(said.contains("JSON already"), "{said}");
    let said = refused(directory, &["stats", "."]);
    assert!(said.contains("Is a directory"), "{said}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let directory = recorded();
    let mut child = HEDGEROW
        .command(directory.path())
        .args(["stats", "stats.json", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
