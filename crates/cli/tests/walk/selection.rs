//! Which entries are listed. Where git has a word to say, git is asked.

use crate::support::{generate, parts, run, walk};
use hedgerow_testkit::git;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn listed(root: &Path, words: &[&str]) -> Vec<String> {
    let outcome = walk(root, &[words, &["--sort"]].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let unsorted = walk(root, words);
    assert!(parts(&unsorted.stdout, b'\n') == parts(&outcome.stdout, b'\n'));
    let text = String::from_utf8(outcome.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn make(root: &Path, names: &[&str]) {
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
}

#[test]
fn types_and_depths() {
    let root = tempfile::tempdir().unwrap();
    generate(root.path(), 5, 300);
    for letter in ["f", "d", "l", "p", "s"] {
        for depth in ["1", "2", "100"] {
            let mut find = Command::new("find");
            find.args([".", "-mindepth", "1", "-maxdepth", depth, "-type", letter]);
            find.args(["-printf", r"%P\0"]).current_dir(root.path());
            let expected = parts(&run(&mut find).stdout, 0);
            for more in [&[][..], &["--sort"]] {
                let words = [&["-0", "--type", letter, "--max-depth", depth], more].concat();
                assert!(
                    parts(&walk(root.path(), &words).stdout, 0) == expected,
                    "{words:?}"
                );
            }
        }
    }
    let both = walk(root.path(), &["-0", "--type", "f,l"]);
    let files = walk(root.path(), &["-0", "--type=f"]);
    let links = walk(root.path(), &["-0", "--type=l", "--stat"]);
    let (both, files) = (parts(&both.stdout, 0), parts(&files.stdout, 0));
    assert_eq!(both.len(), files.len() + parts(&links.stdout, 0).len());
}

#[test]
fn globs() {
    let root = tempfile::tempdir().unwrap();
    make(
        root.path(),
        &[
            "a.o", "b.c", "d/a.o", "d/keep.o", "d/x/y", "target/z", "d/target",
        ],
    );
    let root = root.path();
    let all = [
        "a.o", "b.c", "d", "d/a.o", "d/keep.o", "d/target", "d/x", "d/x/y", "target",
    ];
    assert_eq!(listed(root, &["--exclude", "z"]), all);
    assert_eq!(
        listed(
            root,
            &["--exclude=*.o", "--exclude=!keep.o", "--exclude=target/"]
        ),
        ["b.c", "d", "d/keep.o", "d/target", "d/x", "d/x/y"]
    );
    assert_eq!(
        listed(
            root,
            &["--exclude=/a.o", "--exclude=d/*", "--exclude", "/target"]
        ),
        ["b.c", "d"]
    );
    assert_eq!(listed(root, &["--exclude=*", "--type=f"]), [""; 0]);
}

#[test]
fn ignored_files_are_those_that_git_ignores() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    git(root, &["init", "-q"], b"");
    make(
        root,
        &[
            "a.o",
            "b.c",
            "build/x",
            "d/a.o",
            "d/keep.o",
            "d/e/local",
            "d/e/other",
        ],
    );
    make(
        root,
        &["d/build/y", "d/e/f/local", "top", "d/top", "\u{e4}", "d/q"],
    );
    fs::write(
        root.join(".gitignore"),
        "*.o\nbuild/\n/top\n!d/e/*\n\u{e4}\n",
    )
    .unwrap();
    fs::write(root.join("d/.gitignore"), "!keep.o\n/e/local\nq\n").unwrap();
    fs::write(root.join("d/e/.gitignore"), "# nothing\nother\n!other\n").unwrap();
    let of_git = |directory: &Path| {
        let words = ["ls-files", "-z", "--others", "--exclude-standard"];
        parts(&git(directory, &words, b""), 0)
    };
    for directory in ["", "d", "d/e", "d/e/f"] {
        let directory = root.join(directory);
        for more in [&[][..], &["--sort"], &["--stat", "-j1"]] {
            let words = [&["--gitignore", "-0", "--type", "f,l"], more].concat();
            let outcome = walk(&directory, &words);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
            let listed = parts(&outcome.stdout, 0);
            let path = |line: &Vec<u8>| {
                if more.contains(&"--stat") {
                    crate::support::path_of(line)
                } else {
                    line.clone()
                }
            };
            let listed: BTreeSet<Vec<u8>> = listed.iter().map(path).collect();
            assert_eq!(listed, of_git(&directory), "{directory:?} {words:?}");
        }
    }
    let everything = listed(root, &["--exclude=.git"]);
    assert!(everything.contains(&"a.o".to_owned()) && everything.len() == 21);
    // The command line has the last word.
    assert!(listed(root, &["--gitignore", "--exclude=!a.o"]).contains(&"d/a.o".to_owned()));
}

#[test]
fn patterns_that_cannot_be_read_are_named() {
    let root = tempfile::tempdir().unwrap();
    make(root.path(), &["d/.gitignore", "d/x"]);
    let mut faulty = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    // Opened are the root, the same again, d, and the file.
    faulty
        .env("HEDGEROW_TEST_FAULT", "open:4:5")
        .current_dir(root.path());
    let outcome = run(faulty.args(["walk", "--gitignore", "-j1", "--sort"]));
    assert_eq!(outcome.stdout, b"d\nd/.gitignore\nd/x\n");
    assert_eq!(outcome.code, Some(3));
    let message = "error: cannot open 'd/.gitignore': Input/output error";
    assert!(outcome.stderr.contains(message), "{outcome:?}");
}
