use super::origin;
use crate::support::{Pair, Repository};
use bstr::ByteSlice;
use std::time::{Duration, SystemTime};

type Situation = (&'static str, fn(&Repository));

const SITUATIONS: [Situation; 8] = [
    ("clean", |_| {}),
    ("an edit", |it| it.write("theirs", "mine\n")),
    ("an edit staged", |it| {
        it.write("same", "mine\n");
        it.git(&["add", "same"]);
    }),
    ("their content staged", |it| {
        it.write("theirs", "changed\n");
        it.git(&["add", "theirs"]);
    }),
    ("untracked files in the way", |it| {
        it.write("new-theirs", "untracked\n");
    }),
    ("a file deleted", |it| it.remove("theirs")),
    ("no index", |it| it.remove(".git/index")),
    ("a conflict", |it| {
        it.run(&["merge", "t-theirs"], b"");
    }),
];

const COMMANDS: [&[&str]; 30] = [
    &["t-theirs"],
    &["base", "t-theirs"],
    &["--empty"],
    &[],
    &["-m", "t-theirs"],
    &["-m", "-u", "t-theirs"],
    &["-m", "-i", "t-theirs"],
    &["-m", "-n", "-u", "t-theirs"],
    &["--reset", "t-theirs"],
    &["--reset", "-u", "t-theirs"],
    &["-m", "t-ours", "t-theirs"],
    &["-m", "-u", "t-ours", "t-theirs"],
    &["-m", "-u", "base", "t-theirs"],
    &["--reset", "-u", "t-ours", "t-theirs"],
    &["-m", "base", "t-ours", "t-theirs"],
    &["-m", "-u", "base", "t-ours", "t-theirs"],
    &["-m", "-i", "base", "t-ours", "t-theirs"],
    &["-m", "--aggressive", "-u", "base", "t-ours", "t-theirs"],
    &["-m", "--trivial", "-u", "base", "t-ours", "t-theirs"],
    &["-m", "--trivial", "-u", "base", "t-ours", "t-ours"],
    &["--prefix=below/", "t-theirs"],
    &["--prefix=below", "-u", "t-theirs"],
    &["--prefix=d/", "-u", "t-theirs:d"],
    &["--prefix=below/", "t-ours", "t-theirs"],
    &["--prefix=below/", "-u", "base", "t-theirs"],
    &["--prefix=below/", "base", "t-ours", "t-theirs"],
    &["t-theirs", "base"],
    &["t-ours", "t-theirs", "base"],
    &["-u", "t-theirs"],
    &["-m", "-u", "-i", "t-theirs"],
];

#[test]
fn trees_are_read_as_by_git() {
    let origin = origin();
    let mut failed = Vec::new();
    for (name, arrange) in SITUATIONS {
        for words in COMMANDS {
            let played = std::panic::catch_unwind(|| {
                let mut pair = Pair::of(&origin, name);
                pair.each(name, arrange);
                pair.both("read-tree", "", words, &[]);
            });
            if played.is_err() {
                failed.push((name, words));
            }
        }
    }
    assert!(failed.is_empty(), "these failed: {failed:#?}");
}

#[test]
fn the_index_is_written_elsewhere() {
    let mut pair = Pair::of(&origin(), "elsewhere");
    pair.both(
        "read-tree",
        "",
        &["--index-output=.git/other-index", "t-theirs"],
        &[],
    );
    let [expected, found] = [&pair.git, &pair.hedgerow].map(|it| {
        let mut command = crate::support::Program::Git.command(&it.root);
        command
            .args(["ls-files", "-s"])
            .env("GIT_INDEX_FILE", ".git/other-index");
        crate::support::run(command)
    });
    assert_eq!(expected, found);
}
/// An edit that stat data do not show, because it was made in the index's own second, is still seen after the
/// index alone was written anew.
#[test]
fn a_new_index_hides_no_edit_of_the_second_of_the_old_one() {
    for words in [
        &["-m", "-i", "HEAD"][..],
        &["--reset", "-i", "HEAD"],
        &["-i", "--prefix=new/", "HEAD"],
        &["-m", "-i", "HEAD", "HEAD"],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("an edit", |repository| {
            repository.git(&["config", "core.checkStat", "minimal"]);
            repository.git(&["config", "core.trustctime", "false"]);
            let second = SystemTime::now() - Duration::from_secs(60);
            let at = |path: &str| {
                let file = std::fs::File::options()
                    .write(true)
                    .open(repository.path(path));
                file.unwrap().set_modified(second).unwrap();
            };
            at("same");
            repository.git(&["update-index", "--refresh"]);
            repository.write("same", "SAME\n");
            at("same");
            at(".git/index");
        });
        pair.both("read-tree", "", words, &[]);
        pair.each("still seen", |repository| {
            let told = repository.git(&["diff-files", "--name-only"]);
            assert!(told.contains_str("same"), "{words:?}");
        });
    }
}
