//! Tracked files whose directories became symbolic links, other repositories or files.

use crate::{past, set_time, Bench, Format, FORMATS};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Options whose answers depend on whether unknown files are looked for.
const SETS: [&[&str]; 9] = [
    &[],
    &["-m"],
    &["-a"],
    &["-d"],
    &["-i"],
    &["-q"],
    &["-mardc"],
    &["-A"],
    &["-du"],
];

/// Paths as arguments, which are looked at themselves.
const NAMED: [&[&str]; 10] = [
    &["d/f"],
    &["-r", "d/x/g", "d/f"],
    &["-c", "d/f", "d/x/g"],
    &["-d", "d/x/nothing"],
    &["-d", "d"],
    &["-d", "d", "w"],
    &["-d", "path:d/f"],
    &["-m", "w"],
    &["-md", "nothing", "d/x/g"],
    &["-q", "."],
];

/// A repository with committed files whose times are not those that Mercurial noted.
fn touched(bench: &mut Bench, name: &str, format: Format) -> PathBuf {
    let root = bench.init(name, format);
    fs::create_dir_all(root.join("d/x")).unwrap();
    fs::create_dir(root.join("w")).unwrap();
    let files = ["d/f", "d/x/g", "w/w", "z"];
    for file in files {
        fs::write(root.join(file), "content\n").unwrap();
    }
    symlink("f", root.join("d/l")).unwrap();
    bench.hg(&root, &["commit", "-qAm", "one"]);
    for (number, file) in (0..).zip(files) {
        let (seconds, nanoseconds) = past(number);
        set_time(&root.join(file), seconds, nanoseconds);
    }
    root
}

/// Moves `name` to `e` and makes a link to it in its place.
fn linked(root: &Path, name: &str) {
    fs::rename(root.join(name), root.join("e")).unwrap();
    symlink(root.join("e"), root.join(name)).unwrap();
}

/// Asserts that both print the same and say the same, with the word that each has for it.
fn compare(bench: &mut Bench, cwd: &Path, sets: &[&[&str]], context: &str) -> usize {
    let mut refused = 0;
    for words in sets {
        let ours = bench.ours(cwd, words);
        let all: Vec<&OsStr> = ["status"].iter().chain(*words).map(OsStr::new).collect();
        let theirs = bench.hg.run(cwd, &all);
        let code = match theirs.code {
            255 => 128,
            code => code,
        };
        refused += usize::from(theirs.code == 255);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(
            (
                text(&ours.stdout),
                text(&ours.stderr),
                ours.status.code().unwrap()
            ),
            (
                text(&theirs.output),
                text(&theirs.errors).replace("abort: ", "fatal: "),
                code
            ),
            "{context} {words:?}"
        );
    }
    refused
}

fn in_both_formats(name: &str, refused: [usize; 2], change: &dyn Fn(&mut Bench, &Path)) {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for format in FORMATS {
        let root = touched(&mut bench, &format!("{name}-{format:?}"), format);
        change(&mut bench, &root);
        let context = format!("{name} {format:?}");
        let of_sets = compare(&mut bench, &root, &SETS, &context);
        let of_named = compare(&mut bench, &root, &NAMED, &context);
        assert_eq!([of_sets, of_named], refused, "{context}");
        compare(&mut bench, &root.join("w"), &[&["-d"], &["-c", "."]], name);
    }
}

#[test]
fn a_directory_that_became_a_link_is_refused_where_contents_are_compared() {
    in_both_formats("link", [6, 8], &|_, root| linked(root, "d"));
}

#[test]
fn a_link_further_down_is_refused_with_the_files_below_it() {
    in_both_formats("deep", [6, 7], &|_, root| linked(root, "d/x"));
}

#[test]
fn a_nested_repository_is_refused_where_unknown_files_are_not_looked_for() {
    in_both_formats("nested", [6, 9], &|bench, root| {
        bench.hg(root, &["init", "d"]);
    });
}

#[test]
fn a_link_to_the_repository_is_refused_even_where_directories_are_listed() {
    in_both_formats("linked", [9, 9], &|_, root| {
        symlink("../.hg", root.join("d/.hg")).unwrap();
    });
}

#[test]
fn files_below_a_file_or_a_link_that_leads_nowhere_are_missing() {
    in_both_formats("nowhere", [0, 5], &|_, root| {
        fs::remove_dir_all(root.join("d")).unwrap();
        symlink("nothing", root.join("d")).unwrap();
    });
    in_both_formats("file", [0, 0], &|_, root| {
        fs::remove_dir_all(root.join("d")).unwrap();
        fs::write(root.join("d"), "").unwrap();
    });
}

#[test]
fn names_are_quoted_as_mercurial_quotes_them() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for name in ["o'o", "\u{e4}\\"] {
        let root = touched(&mut bench, name, Format::V1);
        let directory = root.join(name);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("k"), "").unwrap();
        bench.hg(&root, &["commit", "-qAm", "two"]);
        set_time(&directory.join("k"), 1_400_000_000, 1);
        bench.hg(&root, &["init", name]);
        assert_eq!(compare(&mut bench, &root, &[&["-m"]], name), 1);
        fs::remove_dir_all(directory.join(".hg")).unwrap();
        linked(&root, name);
        assert_eq!(compare(&mut bench, &root, &[&["-m"]], name), 1);
    }
}

#[test]
fn patterns_that_are_asked_for_no_path_may_be_wrong() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = touched(&mut bench, "patterns", Format::V1);
    fs::write(root.join(".hgignore"), "(((\n").unwrap();
    compare(
        &mut bench,
        &root,
        &[&["-A", "nothing"], &["-i", "nothing"]],
        "",
    );
    assert_eq!(
        bench.ours(&root, &["-u", "nothing"]).status.code(),
        Some(128)
    );
    assert_eq!(
        bench.ours(&root, &["-A", "z", "d"]).status.code(),
        Some(128)
    );
}
