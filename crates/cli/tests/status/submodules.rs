//! Submodules that are broken, of another format, or somebody else's: what git says of them.

use crate::HEDGEROW;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run, Outcome, Program};
use std::os::unix::fs::chown;
use std::path::Path;

/// A repository with a submodule `sub` in which nothing has changed, and a changed file.
fn repository(format: &[&str]) -> Repository {
    let repository = Repository::init(&[]);
    let sub = repository.path("sub");
    let words = [&["init", "-q", "-b", "main"], format, &["sub"]].concat();
    git(&repository.root, &words, b"");
    repository.write("sub/f", "1\n");
    git(&sub, &["add", "f"], b"");
    git(&sub, &["commit", "-q", "-m", "one"], b"");
    let modules = "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n";
    repository.write(".gitmodules", modules);
    repository.write("t", "1\n");
    git(&repository.root, &["add", "-A"], b"");
    git(&repository.root, &["commit", "-q", "-m", "one"], b"");
    repository.write("t", "12\n");
    repository
}

fn status(program: Program, root: &Path, word: &str) -> Outcome {
    let mut command = program.command(root);
    command.args(["status", "--porcelain=v2"]);
    if !word.is_empty() {
        command.arg(format!("--ignore-submodules={word}"));
    }
    run(command)
}

/// Git's exit code and list, whatever is left out; its words if `words`.
fn compare(repository: &Repository, what: &str, words: bool) {
    for word in ["", "none", "untracked", "dirty", "all"] {
        let expected = status(Program::Git, &repository.root, word);
        let found = status(HEDGEROW, &repository.root, word);
        found.assert_civil(what);
        let told = |outcome: &Outcome| (outcome.code, outcome.stdout.clone());
        assert_eq!(told(&found), told(&expected), "{what} {word} {found:?}");
        if words {
            assert_eq!(found.stderr, expected.stderr, "{what} {word}")
        } else {
            assert_eq!(
                found.stderr.is_empty(),
                expected.stderr.is_empty(),
                "{what}"
            )
        }
    }
}

#[test]
fn broken_ones_are_told_of() {
    type Damage = fn(&Repository);
    let with_words: [(&str, Damage); 5] = [
        ("no HEAD", |r| {
            std::fs::remove_file(r.path("sub/.git/HEAD")).unwrap()
        }),
        ("an empty HEAD", |r| r.write("sub/.git/HEAD", "")),
        ("no objects", |r| {
            std::fs::remove_dir_all(r.path("sub/.git/objects")).unwrap()
        }),
        ("no link", |r| {
            std::fs::remove_dir_all(r.path("sub/.git")).unwrap();
            r.write("sub/.git", "anything\n");
        }),
        ("not populated", |r| {
            std::fs::remove_dir_all(r.path("sub/.git")).unwrap()
        }),
    ];
    let without_words: [(&str, Damage); 4] = [
        ("no commit", |r| {
            r.write("sub/.git/refs/heads/main", format!("{:040}\n", 1))
        }),
        ("no branch", |r| {
            std::fs::remove_file(r.path("sub/.git/refs/heads/main")).unwrap()
        }),
        ("a broken index", |r| r.write("sub/.git/index", "anything")),
        ("nowhere", |r| {
            std::fs::remove_dir_all(r.path("sub/.git")).unwrap();
            r.write("sub/.git", "gitdir: ../nowhere\n");
        }),
    ];
    for (cases, words) in [(&with_words[..], true), (&without_words[..], false)] {
        for (what, damage) in cases {
            let repository = repository(&[]);
            damage(&repository);
            compare(&repository, what, words);
        }
    }
}

/// What may be ignored stands in `.gitmodules`, unless the call says it.
#[test]
fn modules_that_cannot_be_read_matter_where_they_are_asked() {
    for modules in [
        "[submodule",
        "line 0 0\n",
        "[submodule \"sub\"]\n\tpath sub\n",
    ] {
        let repository = repository(&[]);
        repository.write(".gitmodules", modules);
        for word in ["", "none", "untracked", "dirty", "all"] {
            let [git, here] =
                [Program::Git, HEDGEROW].map(|program| status(program, &repository.root, word));
            here.assert_civil(word);
            let told = |outcome: &Outcome| (outcome.code, outcome.stdout.clone());
            assert_eq!(told(&here), told(&git), "{modules} {word} {here:?} {git:?}");
        }
    }
}

#[test]
fn one_of_somebody_else_is_looked_into() {
    let repository = repository(&[]);
    for path in ["sub", "sub/.git"] {
        if chown(repository.path(path), Some(1234), None).is_err() {
            hedgerow_testkit::skip("only root gives files away");
            return;
        }
    }
    compare(&repository, "as it was", true);
    repository.write("sub/f", "12\n");
    compare(&repository, "changed", true);
}

#[test]
fn references_may_be_stored_as_reftable() {
    let version = git(Path::new("."), &["version"], b"");
    let version = String::from_utf8(version).unwrap();
    let minor = version
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse().ok());
    if minor.is_none_or(|minor: u32| minor < 45) {
        hedgerow_testkit::skip("reftable needs git 2.45");
        return;
    }
    let repository = repository(&["--ref-format=reftable"]);
    compare(&repository, "clean", true);
    repository.write("sub/new", "");
    compare(&repository, "untracked", true);
    repository.write("sub/f", "12\n");
    compare(&repository, "changed", true);
    git(
        &repository.path("sub"),
        &["commit", "-q", "-a", "-m", "two"],
        b"",
    );
    compare(&repository, "committed", true);
}
