//! Which of its forms `checkout` takes its words for: every kind of word in every form, by git and
//! by hedgerow.

use crate::support::{Pair, Repository};

/// What a word may be; the same name stands for several things at once.
const WORDS: [&str; 22] = [
    "main",
    "side",
    "tag",
    "both",
    "away",
    "docs",
    "file",
    "dir",
    "loose",
    "branch-and-file",
    "branch-and-dir",
    "tag-and-file",
    "away-and-file",
    "away-and-loose",
    "several",
    "tree",
    "blob",
    "HEAD",
    "@",
    "nothing",
    "*",
    ":file",
];

/// The second word: a path with changes, one that is not tracked, nothing.
const PATHS: [&str; 3] = ["file", "loose", "nothing"];

/// Two branches that differ, two remotes, and every kind of name. All files have changes that
/// would be lost.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    let tracked = [
        "file",
        "dir/file",
        "branch-and-file",
        "branch-and-dir/file",
        "tag-and-file",
        "away-and-file",
        "HEAD",
        "@",
    ];
    for path in tracked {
        repository.write(path, "first\n");
    }
    repository.write("same", "same\n");
    let first = repository.commit("first");
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.write("same", "other\n");
    let second = repository.commit("second");
    repository.git(&["checkout", "-q", "main"]);
    for branch in ["branch-and-file", "branch-and-dir", "both"] {
        repository.git(&["branch", branch, &first]);
    }
    for tag in ["tag", "tag-and-file", "both"] {
        repository.git(&["tag", tag, &second]);
    }
    repository.git(&["tag", "tree", "side^{tree}"]);
    repository.git(&["tag", "blob", "side:same"]);
    for (remote, branches) in [
        (
            "origin",
            &["away", "docs", "away-and-file", "away-and-loose", "several"][..],
        ),
        ("other", &["several"]),
    ] {
        let fetch = format!("remote.{remote}.fetch");
        let rule = format!("+refs/heads/*:refs/remotes/{remote}/*");
        repository.git(&["config", &fetch, &rule]);
        for branch in branches {
            let name = format!("refs/remotes/{remote}/{branch}");
            repository.git(&["update-ref", &name, &second]);
        }
    }
    for path in tracked {
        repository.write(path, "precious\n");
    }
    for path in ["loose", "away-and-loose", "docs/loose"] {
        repository.write(path, "precious\n");
    }
    repository
}

/// All command lines that begin with the word.
fn lines(word: &str) -> Vec<Vec<&str>> {
    let mut lines = vec![
        vec![word],
        vec![word, "--"],
        vec!["--", word],
        vec!["--detach", word],
        vec!["-d", word, "--"],
        vec!["-f", word],
        vec!["--no-guess", word],
        vec!["--end-of-options", word],
    ];
    for path in PATHS {
        lines.extend([
            vec![word, path],
            vec![word, "--", path],
            vec!["--detach", word, path],
            vec!["-d", word, "--", path],
        ]);
    }
    lines.push(vec![word, "file", "--", "loose"]);
    lines.push(vec!["--", word, "--", "file"]);
    lines.push(vec!["-q", word, "file"]);
    lines
}

/// Runs each line in copies of `origin` as it is; all that differs is told at once.
fn compare<'l>(
    origin: &Repository,
    directory: &str,
    lines: impl IntoIterator<Item = Vec<&'l str>>,
    environment: &[(&str, &str)],
) {
    let mut wrong = Vec::new();
    let mut fresh: Option<Pair> = None;
    for line in lines {
        let mut pair = fresh.take().unwrap_or_else(|| Pair::of(origin, "words"));
        let compared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pair.checkout_in(directory, &line, environment)
        }));
        match compared {
            Ok(outcome) if [1, 128, 129].contains(&outcome.code) => fresh = Some(pair),
            Ok(_) => {}
            Err(panic) => {
                let story = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                wrong.push(format!("{line:?}\n{story}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} lines differ:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_word_in_every_form() {
    let origin = origin();
    for words in WORDS.chunks(6) {
        compare(&origin, "", words.iter().flat_map(|word| lines(word)), &[]);
    }
}

#[test]
fn names_are_looked_for_where_the_user_is() {
    let origin = origin();
    let words = ["file", "../file", ":/file", ":/", "../tag-and-file", "side"];
    compare(&origin, "dir", words.into_iter().flat_map(lines), &[]);
}

#[test]
fn the_branch_before() {
    let origin = origin();
    origin.git(&["checkout", "-q", "-m", "side"]);
    origin.git(&["checkout", "-q", "-m", "main"]);
    let lines = ["-", "@{-1}", "@{-2}", "@{-9}"].into_iter().flat_map(lines);
    compare(&origin, "", lines, &[]);
}
