use super::origin;
use crate::support::{Pair, Repository, RunHedgerow};

#[test]
fn files_are_copied_as_by_git() {
    let origin = origin();
    let mut failed = Vec::new();
    for words in [
        &["-a"][..],
        &["-a", "-f"],
        &["-a", "-f", "-u"],
        &["-a", "-q"],
        &["-a", "-n", "-f"],
        &["-f", "-u", "same", "d/same"],
        &["same", "ours", "nothing"],
        &["-q", "same", "nothing"],
        &["-a", "--prefix=out/"],
        &["-a", "--prefix=out/x-"],
        &["--stage=2", "-f", "both"],
        &["--stage=3", "-f", "same", "both"],
        &["--stage=4", "both"],
        &["both"],
        &["-a", "same"],
        &["-a", "--stdin"],
        &["--stage=all", "--no-temp", "both"],
        &["../same"],
        &["--", "link", "becomes-dir"],
    ] {
        for conflict in [false, true] {
            let played = std::panic::catch_unwind(|| {
                let mut pair = Pair::of(&origin, "copied");
                pair.each("edits", |it| {
                    if conflict {
                        it.run(&["merge", "t-theirs"], b"");
                    }
                    it.write("same", "mine\n");
                    it.remove("ours");
                    it.remove("link");
                    it.write("link", "file\n");
                    it.remove("d");
                });
                pair.both("checkout-index", "", words, &[]);
            });
            if played.is_err() {
                failed.push((words, conflict));
            }
        }
    }
    assert!(failed.is_empty(), "these failed: {failed:#?}");
}

#[test]
fn temporary_files_hold_the_stages() {
    let origin = origin();
    origin.run(&["merge", "t-theirs"], b"");
    let outcome = origin.hedgerow(&["checkout-index", "--stage=all", "both", "new-both"]);
    let said = String::from_utf8(outcome.stdout).unwrap();
    let contents: Vec<(String, Vec<String>)> = said
        .lines()
        .map(|line| {
            let (files, path) = line.split_once('\t').unwrap();
            let read = |file: &str| match file {
                "." => ".".to_owned(),
                file => String::from_utf8(origin.read(file)).unwrap(),
            };
            (path.to_owned(), files.split(' ').map(read).collect())
        })
        .collect();
    let expected = [
        ("both", ["both\n", "ours\n", "theirs\n"]),
        ("new-both", [".", "ours\n", "theirs\n"]),
    ];
    let expected: Vec<(String, Vec<String>)> = expected
        .map(|(path, files)| (path.to_owned(), files.map(str::to_owned).to_vec()))
        .to_vec();
    assert_eq!(contents, expected, "{said}");
}

#[test]
fn files_without_an_object_are_named_and_the_others_are_copied() {
    let missing = "3685f0bc3974902b137f7dc59ac799c006cdec92";
    let make = |it: &Repository| {
        let lines = format!("100644 {missing}\tfile\n120000 {missing}\tsymlink\n");
        it.git_with(&["update-index", "--index-info"], lines.as_bytes());
        it.remove("same");
    };
    for words in [
        &["-a"][..],
        &["-a", "-f"],
        &["-a", "-q"],
        &["-f", "-u", "same", "symlink"],
        &["symlink", "file"],
        &["--prefix=out/", "file", "same"],
    ] {
        let mut pair = Pair::of(&origin(), "missing");
        pair.each("missing", make);
        let outcome = pair.both("checkout-index", "", words, &[]);
        assert_eq!(outcome.code, 1, "{words:?}");
        assert!(outcome.stderr.contains(missing), "{words:?}");
    }
    // What git removes before it finds that it has nothing to write is kept.
    let origin = origin();
    make(&origin);
    origin.write("file", "mine\n");
    origin.write("symlink/file", "mine\n");
    let outcome = origin.hedgerow(&["checkout-index", "-a", "-f"]);
    assert_eq!(outcome.code, 1);
    for path in ["file", "symlink/file"] {
        assert_eq!(origin.read(path), b"mine\n");
    }
    assert_eq!(origin.read("same"), b"same\n");
    let words = ["checkout-index", "--temp", "symlink", "same", "file"];
    let [git, ours] = [origin.run(&words, b""), origin.hedgerow(&words)];
    assert_eq!((git.code, git.stderr), (ours.code, ours.stderr));
}
