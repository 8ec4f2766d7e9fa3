//! What is said and refused, word for word.

use crate::support::{run, Pair, Program, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::obeying_permissions;
use std::fs;

fn dirty() -> Repository {
    let repository = Repository::init(&[]);
    repository.git(&["config", "user.name", "A"]);
    repository.git(&["config", "user.email", "a@example.com"]);
    fs::write(repository.root.join("a"), "1\n2\n3\n").unwrap();
    fs::write(repository.root.join("b"), "b\n").unwrap();
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "first"]);
    fs::write(repository.root.join("a"), "1\n2\nthree\n").unwrap();
    repository
}

/// The reference is the newest entry even where its log is empty.
#[test]
fn an_empty_log_hinders_nobody() {
    for words in ["drop", "pop", "apply"] {
        let mut pair = Pair::of(&dirty(), words);
        pair.each("the log is empty", |repository| {
            repository.git(&["stash", "-q"]);
            repository.write(".git/logs/refs/stash", "");
        });
        pair.both("stash", "", &[words], &[]);
    }
}

#[test]
fn what_was_staged_is_taken_out_of_index_and_log() {
    let mut pair = Pair::of(&dirty(), "staged");
    pair.each("staged", |repository| {
        repository.git(&["add", "a"]);
        repository.write("b", "unstaged\n");
    });
    pair.both("stash", "", &["push", "-S"], &[]);
    let log = |repository: &Repository| repository.ask(&["log", "-g", "--format=%gs", "HEAD"]);
    assert_eq!(log(&pair.git), log(&pair.hedgerow));
}

#[test]
fn words_and_refusals_are_those_of_git() {
    for (label, steps) in [
        (
            "nothing there",
            &[&["pop"][..], &["apply"], &["drop"], &["list"], &["clear"]][..],
        ),
        (
            "push and pop",
            &[&["push", "-m", "a message"], &["list"], &["pop"]],
        ),
        (
            "numbers",
            &[
                &["push"],
                &["apply", "4294967295"],
                &["drop", "4294967295"],
                &["pop", "stash@{1111111111111111111111111111111111111111}"],
                &["apply", "0"],
                &["drop", "5"],
                &["drop", "0"],
            ],
        ),
        (
            "no entry",
            &[
                &["push"],
                &["pop", "HEAD"],
                &["apply", "nothing"],
                &["drop", "a", "b"],
            ],
        ),
        (
            "pathspec",
            &[&["push", "--", "nothing"], &["push", "--", "a"], &["pop"]],
        ),
        ("staged", &[&["push", "--staged"], &["push", "-S", "-u"]]),
        (
            "would overwrite",
            &[&["push", "-k"], &["apply"], &["apply"], &["list"]],
        ),
        (
            "unknown",
            &[&["nonsense"], &["push", "-k", "a"], &["-k", "a"]],
        ),
        ("nothing left", &[&["push"], &["push"], &["push", "-q"]]),
        ("clear", &[&["push"], &["clear"], &["list"]]),
        ("clear words", &[&["clear", "x"]]),
        ("create", &[&["create"], &["create", "my", "message"]]),
        (
            "store",
            &[&["store"], &["store", "nothing"], &["store", "HEAD"]],
        ),
        ("branch", &[&["push"], &["branch"], &["branch", "topic"]]),
        ("save", &[&["save", "some", "words"], &["list"]]),
    ] {
        let mut pair = Pair::of(&dirty(), label);
        for words in steps {
            pair.both("stash", "", words, &[]);
        }
    }
}

/// A reference that was packed is deleted from there too.
#[test]
fn entries_whose_reference_is_packed_are_dropped() {
    for verb in ["drop", "pop", "clear"] {
        for more in [false, true] {
            let mut pair = Pair::of(&dirty(), &format!("{verb}, several: {more}"));
            if more {
                pair.both("stash", "", &["push", "-k"], &[]);
            }
            pair.both("stash", "", &["push"], &[]);
            pair.each("pack-refs", |repository| {
                repository.git(&["tag", "-m", "peeled", "tag"]);
                repository.git(&["pack-refs", "--all"]);
            });
            pair.both("stash", "", &[verb], &[]);
            pair.both("stash", "", &["list"], &[]);
            pair.both("stash", "", &[verb], &[]);
            pair.both("stash", "", &["list"], &[]);
        }
    }
}

/// Without a commit nothing is put aside, but what is found unchanged need not be read again.
#[test]
fn a_refused_stash_refreshes_the_index() {
    let mut pair = Pair::of(&dirty(), "no commit");
    pair.is_dated = true;
    pair.each_edited("an unborn branch", |pair, repository| {
        repository.git(&["checkout", "-q", "--orphan", "unborn"]);
        pair.edit(repository, b"b", b"b\n");
    });
    pair.both("stash", "", &["push"], &[]);
    pair.assert_fresh();
}

/// What may not be read is not put aside, and git says so, whatever else there is.
#[test]
fn directories_that_may_not_be_read_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let is_root = hedgerow_fs::effective_uid() == 0;
    if is_root && !hedgerow_testkit::is_there("setpriv") {
        return hedgerow_testkit::skip(
            "permissions mean nothing to root, and setpriv(1) is missing",
        );
    }
    let is_clean = |words: &[&str]| words.contains(&"locked");
    for words in [
        &["push", "-u"][..],
        &["push", "-a", "-q"],
        &["push", "-u", "--", "locked"],
    ] {
        let mut pair = Pair::of(&dirty(), &format!("{words:?}"));
        let set = |repository: &Repository, mode: u32| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(repository.path("locked"), mode).unwrap();
        };
        pair.each("locked", |repository| {
            repository.write("locked/mine", "mine\n");
            set(repository, 0o000);
        });
        let said = |program: Program, repository: &Repository| {
            let mut command = program.command(&repository.root);
            command.arg("stash").args(words);
            run(if is_root {
                obeying_permissions(command)
            } else {
                command
            })
        };
        let git = said(Program::Git, &pair.git);
        let our = said(HEDGEROW, &pair.hedgerow);
        for repository in [&pair.git, &pair.hedgerow] {
            set(repository, 0o755);
            let kept = fs::read(repository.path("locked/mine")).unwrap();
            assert_eq!(kept, b"mine\n");
        }
        assert_eq!(
            (git.code, &git.stdout),
            (our.code, &our.stdout),
            "{words:?}"
        );
        assert_eq!(our.code, i32::from(!is_clean(words)));
        let warning = "warning: could not open directory 'locked/': Permission denied\n";
        assert!(
            git.stderr.contains(warning) && our.stderr.contains(warning),
            "{our:?}"
        );
    }
}
