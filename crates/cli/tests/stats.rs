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
    let phases = json["phases"].as_array().unwrap();
    assert!(
        phases.iter().any(|phase| phase["name"] == "files"),
        "{json}"
    );
    let stages = json["stages"].as_array().unwrap();
    let written = stages
        .iter()
        .find(|stage| stage["name"] == "files")
        .unwrap();
    assert_eq!(written["operations"], 300);
    let bytes = stages.iter().map(|stage| stage["bytes"].as_u64().unwrap());
    assert_eq!(bytes.sum::<u64>(), json["bytes"].as_u64().unwrap());
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
    assert!(drawn.contains(">files<"));
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

#[test]
fn a_page_tells_of_one_run_or_compares_two() {
    let directory = recorded();
    let directory = directory.path();
    stdout(&hedgerow(
        directory,
        &["stats", "stats.json", "-o", "page.html"],
    ));
    let page = std::fs::read_to_string(directory.join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(">stats.json</th>"));
    let words = ["stats", "--format=html", "-o", "-", "stats.json"];
    assert_eq!(
        stdout(&hedgerow(directory, &words)),
        page,
        "the same bytes again"
    );

    let hostile = "<script>alert(1)</script>.json";
    // A slash would name a directory.
    let hostile = hostile.replace('/', "\"");
    std::fs::copy(directory.join("stats.json"), directory.join(&hostile)).unwrap();
    let words = ["stats", "stats.json", &hostile, "-o", "two.HTML"];
    stdout(&hedgerow(directory, &words));
    let page = std::fs::read_to_string(directory.join("two.HTML")).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;&quot;script&gt;.json took "));
    assert!(!page.contains("<script"));
    let told = stdout(&hedgerow(directory, &["stats", "stats.json", &hostile]));
    assert!(
        told.contains("\noperations a second ") && told.contains("same"),
        "{told}"
    );

    let said = refused(
        directory,
        &["stats", "stats.json", &hostile, "-o", "plot.svg"],
    );
    assert!(
        said.ends_with("\nhint: two are compared on a page: use -o NAME.html\n"),
        "{said}"
    );
    assert!(!directory.join("plot.svg").exists());
    let said = refused(
        directory,
        &["stats", "stats.json", "missing", "-o", "x.html"],
    );
    assert!(said.contains("'missing'"), "{said}");
    assert!(!directory.join("x.html").exists());
}

#[test]
fn the_command_the_version_and_the_date_are_told() {
    let directory = recorded();
    let directory = directory.path();
    let json = std::fs::read(directory.join("stats.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        (&json["command"], &json["jobs"]),
        (&"checkout".into(), &4.into())
    );
    let told = stdout(&hedgerow(directory, &["stats", "stats.json"]));
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("\ncommand         checkout, hedgerow {version}, 20");
    assert!(told.contains(&expected), "{told}");
    let words = [
        "-j1",
        "--stats=other.json",
        "image",
        "create",
        "repository",
        "image",
    ];
    hedgerow(directory, &words);
    let told = stdout(&hedgerow(directory, &["stats", "stats.json", "other.json"]));
    let expected = "\nThese are different commands: stats.json is of 'checkout', other.json of \
                    'image create'.\n";
    assert!(told.contains(expected), "{told}");
}

/// A browser lays the page out: nothing is wider than a narrow window, in both color schemes.
#[test]
fn a_browser_shows_the_page() {
    if !hedgerow_testkit::require("chromium") {
        return;
    }
    let directory = recorded();
    let directory = directory.path();
    stdout(&hedgerow(
        directory,
        &["stats", "stats.json", "stats.json", "-o", "page.html"],
    ));
    let page = std::fs::read_to_string(directory.join("page.html")).unwrap();
    // The page itself allows no script: what measures it is put into a copy.
    let (head, policy) = page.split_once("<meta http-equiv").unwrap();
    let rest = policy.split_once(">\n").unwrap().1;
    let script = "<script>document.title = [document.documentElement.scrollWidth <= innerWidth, \
                  document.querySelectorAll('svg').length, \
                  [...document.querySelectorAll('svg')].every(it => it.clientHeight > 40), \
                  [...document.querySelectorAll('svg text')].every(it => { const a = \
                  it.getBoundingClientRect(), b = it.ownerSVGElement.getBoundingClientRect(); \
                  return a.left > b.left - 1 && a.right < b.right + 1 && a.top > b.top - 1 && \
                  a.bottom < b.bottom + 1 })].join(' ')</script></body>";
    let measured = format!("{head}{rest}").replace("</body>", script);
    std::fs::write(directory.join("measured.html"), measured).unwrap();
    for size in ["--window-size=1200,900", "--window-size=500,900"] {
        let mut browser = hedgerow_testkit::isolated("chromium");
        let address = format!("file://{}/measured.html", directory.display());
        browser.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            size,
        ]);
        browser.arg(format!(
            "--user-data-dir={}",
            directory.join("profile").display()
        ));
        browser.arg(&address);
        let shown = String::from_utf8(hedgerow_testkit::run(browser).ok("chromium")).unwrap();
        assert!(
            shown.contains("<title>true 7 true true</title>"),
            "{size}: {}",
            &shown[..900]
        );
    }
}
