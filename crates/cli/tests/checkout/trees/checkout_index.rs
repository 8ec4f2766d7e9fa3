use super::origin;
use crate::support::{Pair, RunHedgerow};

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
