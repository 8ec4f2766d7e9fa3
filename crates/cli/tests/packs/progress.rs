//! Progress, in the lines of git.

use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::{run, Program};
use std::process::Stdio;

/// The last states of the lines that `program` writes to standard error.
fn told(program: Program, scene: &Scene, words: &[&str], delay: &str) -> Vec<String> {
    let mut command = program.command(&scene.root);
    command.args(words).stdin(Stdio::null());
    command.env("GIT_PROGRESS_DELAY", delay);
    let outcome = run(command);
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
    let lines = outcome.stderr.lines();
    let last = lines.map(|line| line.rsplit('\r').next().unwrap().to_owned());
    last.filter(|line| !line.starts_with("Delta compression"))
        .collect()
}

/// What is done, without how much it was.
fn titles(lines: &[String]) -> Vec<&str> {
    let titles = lines.iter().map(|line| line.split([':', '(']).next());
    titles.map(Option::unwrap).collect()
}

#[test]
fn packing_is_shown_in_the_lines_of_git() {
    let scene = scene(70, "sha1", Storage::Loose, Graph::None);
    for words in [
        &["pack-objects", "--all", "--stdout", "--progress"][..],
        &["pack-objects", "--all", "--progress", "made"],
        &["pack-objects", "--all", "--stdout", "--all-progress"],
        &["pack-objects", "--all", "--stdout"],
        &["pack-objects", "--all", "--stdout", "--progress", "-q"],
    ] {
        let git = told(Program::Git, &scene, words, "0");
        let ours = told(HEDGEROW, &scene, words, "0");
        // How much there is to compress is what each has chosen.
        let (first, titles_of_git) = (git.first(), titles(&git));
        assert_eq!(ours.first(), first, "{words:?}");
        assert_eq!(ours.get(1), git.get(1), "{words:?}");
        let plain = |title: &&str| title.split(' ').next() != Some("Total");
        let ours: Vec<&str> = titles(&ours).into_iter().filter(plain).collect();
        let git: Vec<&str> = titles_of_git.into_iter().filter(plain).collect();
        assert_eq!(ours, git, "{words:?}");
    }
}

#[test]
fn reused_entries_are_counted_as_git_counts_them() {
    let scene = scene(71, "sha1", Storage::Packed, Graph::None);
    scene.git(&["repack", "-adbq"]);
    let words = ["pack-objects", "--all", "--stdout", "--progress"];
    let git = told(Program::Git, &scene, &words, "0");
    let ours = told(HEDGEROW, &scene, &words, "0");
    assert_eq!(ours.first(), git.first());
    let reused = |lines: &[String]| {
        let total = lines.last().unwrap();
        total.split("pack-reused ").nth(1).unwrap().to_owned()
    };
    let git = reused(&git);
    // The packs that are reused were not told at first.
    assert!(reused(&ours).starts_with(&git), "{git}");
}

#[test]
fn what_is_short_is_shown_after_the_delay() {
    let scene = scene(72, "sha1", Storage::Packed, Graph::None);
    let words = ["multi-pack-index", "write", "--progress"];
    let quick = told(HEDGEROW, &scene, &words, "5");
    assert_eq!(quick, [""; 0]);
    std::fs::remove_file(scene.root.join(".git/objects/pack/multi-pack-index")).unwrap();
    let shown = told(HEDGEROW, &scene, &words, "0");
    assert_eq!(titles(&shown), ["Adding packfiles to multi-pack-index"]);
    let words = ["multi-pack-index", "verify", "--progress"];
    let ours = told(HEDGEROW, &scene, &words, "5");
    let git = told(Program::Git, &scene, &words, "5");
    for title in titles(&ours) {
        assert!(titles(&git).contains(&title), "{title}: {git:?}");
    }
    assert!(
        titles(&ours).contains(&"Verifying object offsets"),
        "{ours:?}"
    );
    let words = ["multi-pack-index", "verify"];
    assert_eq!(told(HEDGEROW, &scene, &words, "0"), [""; 0]);
}
