//! What is left where files are saved while a command waits, or where it ends midway.

use crate::support::{Pair, Repository, RunHedgerow};
use crate::HEDGEROW;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Every command that keeps changes, with the reference that it locks last before it writes files.
const COMMANDS: [(&[&str], &str); 6] = [
    (&["switch", "other"], "HEAD"),
    (&["checkout", "other"], "HEAD"),
    (&["checkout", "-B", "main", "other"], "refs/heads/main"),
    (&["reset", "--keep", "other"], "refs/heads/main"),
    (&["reset", "--merge", "other"], "refs/heads/main"),
    (&["merge", "--ff-only", "other"], "refs/heads/main"),
];

/// Branches `main` and `other`, which differ in `f`; only the second has `new`.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.write("f", "1\n");
    repository.write("g", "1\n");
    repository.commit("first");
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.write("f", "2\n");
    repository.write("new", "2\n");
    repository.commit("second");
    repository.git(&["checkout", "-q", "main"]);
    repository
}

fn start(repository: &Repository, words: &[&str]) -> Child {
    let mut command = HEDGEROW.command(&repository.root);
    command.args(words).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

fn hook(repository: &Repository, script: &str) {
    let path = ".git/hooks/reference-transaction";
    repository.write(path, format!("#!/bin/sh\n{script}\n"));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repository.path(path), executable).unwrap();
}

fn assert_nothing_happened(repository: &Repository, words: &[&str]) {
    assert_eq!(repository.ask(&["log", "-1", "--format=%s"]), "first");
    let staged = repository.ask(&["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "", "{words:?}");
}

#[test]
fn what_is_saved_while_a_lock_is_waited_for_stays() {
    for (words, reference) in COMMANDS {
        let repository = origin();
        repository.git(&["config", "core.filesRefLockTimeout", "20000"]);
        let lock = format!(".git/{reference}.lock");
        repository.write(&lock, "");
        let mut command = start(&repository, words);
        // Whether it has looked at the files by now or not, it must not lose what comes.
        std::thread::sleep(Duration::from_millis(300));
        repository.write("f", "saved\n");
        repository.write("new", "saved\n");
        repository.remove(&lock);
        assert!(!command.wait().unwrap().success(), "{words:?}");
        for path in ["f", "new"] {
            let content = std::fs::read(repository.path(path)).unwrap();
            assert_eq!(content, b"saved\n", "{words:?}");
        }
        assert_nothing_happened(&repository, words);
    }
}

#[test]
fn what_a_hook_writes_before_the_files_are_written_stays() {
    for (words, reference) in COMMANDS {
        for path in ["f", "new"] {
            let repository = origin();
            let asked = format!("grep -q ' {reference}$' && test \"$1\" = prepared");
            hook(
                &repository,
                &format!("{asked} && echo saved >{path}; exit 0"),
            );
            let mut command = start(&repository, words);
            assert!(!command.wait().unwrap().success(), "{words:?}");
            let content = std::fs::read(repository.path(path)).unwrap();
            assert_eq!(content, b"saved\n", "{words:?}");
            assert_nothing_happened(&repository, words);
        }
    }
}

/// A second look that finds nothing changes nothing.
#[test]
fn a_hook_that_only_looks_changes_nothing() {
    for (words, _) in COMMANDS {
        let origin = origin();
        hook(&origin, "cat >/dev/null");
        let mut pair = Pair::of(&origin, "a hook that looks");
        pair.each("edit", |repository| repository.write("g", "edited\n"));
        pair.both(words[0], "", &words[1..], &[]);
        pair.assert_same_state();
    }
}

/// Without overlay, files are removed with their changes: not before it is certain that the others can be
/// written.
#[test]
fn a_filter_that_fails_ends_a_checkout_of_paths_before_anything_is_removed() {
    for words in [
        &["restore", "-s", "other", "."][..],
        &["restore", "-s", "other", "-S", "-W", "."],
        &["checkout", "--no-overlay", "other", "--", "."],
    ] {
        let origin = Repository::init(&[]);
        origin.write("d/filtered", "1\n");
        origin.write("gone", "1\n");
        origin.write("place", "1\n");
        origin.commit("first");
        origin.git(&["checkout", "-q", "-b", "other"]);
        origin.git(&["rm", "-q", "gone", "place"]);
        origin.write("d/filtered", "2\n");
        origin.write("place/inner", "2\n");
        origin.commit("second");
        origin.git(&["checkout", "-q", "main"]);
        let mut pair = Pair::of(&origin, "a filter that fails");
        pair.any_words = true;
        pair.each("edit", |repository| {
            repository.write("gone", "edited\n");
            repository.write(".git/info/attributes", "d/* filter=f\n");
            repository.git(&["config", "filter.f.required", "true"]);
            repository.git(&["config", "filter.f.clean", "cat"]);
            repository.git(&["config", "filter.f.smudge", "false"]);
        });
        let mut command = HEDGEROW.command(&pair.hedgerow.root);
        let answer = command.args(words).output().unwrap();
        assert_eq!(answer.status.code(), Some(128), "{words:?}");
        let content = std::fs::read(pair.hedgerow.path("gone")).unwrap();
        assert_eq!(content, b"edited\n", "{words:?}");
        pair.each("mend", |repository| {
            repository.git(&["config", "filter.f.smudge", "cat"]);
            repository.git(&["reset", "-q", "--hard"]);
        });
        pair.both(words[0], "", &words[1..], &[]);
        pair.assert_same_state();
    }
}

/// Changes that are put aside for the switch, and put aside already: what is saved after that is in no entry.
#[test]
fn what_is_saved_while_changes_are_carried_over_stays() {
    for (path, before) in [("f", "local\n"), ("f", "1\n"), ("new", "")] {
        let repository = origin();
        repository.write("f", "local\n");
        repository.write("g", "local\n");
        if path == "f" {
            repository.write("f", before);
        }
        let script =
            format!("grep -q ' HEAD$' && test \"$1\" = prepared && echo saved >{path}; exit 0");
        hook(&repository, &script);
        let mut command = start(&repository, &["checkout", "-m", "other"]);
        command.wait().unwrap();
        let content = std::fs::read_to_string(repository.path(path)).unwrap();
        assert!(content.contains("saved"), "{path}: {content}");
        let left = repository.run(
            &["rev-parse", "-q", "--verify", "CHECKOUT_AUTOSTASH_HEAD"],
            b"",
        );
        assert_ne!(left.code, 0);
    }
}

/// A repository with a submodule at `path`. On the branch `other`, `s` is a file.
fn with_submodule(path: &str) -> Repository {
    let repository = Repository::init(&[]);
    repository.write("f", "1\n");
    repository.commit("first");
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.write("f", "2\n");
    repository.write("s", "2\n");
    repository.commit("second");
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["init", "-q", path]);
    repository.write(format!("{path}/file"), "1\n");
    repository.git(&["-C", path, "add", "."]);
    repository.git(&["-C", path, "commit", "-q", "-m", "inner"]);
    repository.git(&["-c", "advice.addEmbeddedRepo=false", "add", path]);
    repository.commit("with a submodule");
    repository
}

/// Git deletes the submodule, even one below the file.
#[test]
fn a_forced_move_deletes_no_submodule() {
    for path in ["s", "s/below"] {
        for words in [
            &["checkout", "-f", "other"][..],
            &["switch", "--discard-changes", "other"],
            &["reset", "--hard", "other"],
            &["reset", "--merge", "other"],
            &["read-tree", "--reset", "-u", "other"],
            &["checkout", "other", "--", "."],
            &["restore", "-s", "other", "."],
        ] {
            let repository = with_submodule(path);
            let before = (repository.ask(&["rev-parse", "HEAD"]), repository.tree());
            let outcome = repository.hedgerow(words);
            assert_ne!(outcome.code, 0, "{path} {words:?}");
            assert!(outcome.stderr.contains("'s'"), "{words:?}: {outcome:?}");
            let after = (repository.ask(&["rev-parse", "HEAD"]), repository.tree());
            assert_eq!(after, before, "{path} {words:?}");
        }
    }
}

/// A populated submodule may have the only copy of its history. Git deletes it for a file of its name.
#[test]
fn a_checkout_of_paths_deletes_no_submodule() {
    for words in [
        &["checkout", "other", "--", "s"][..],
        &["checkout", "--no-overlay", "other", "--", "."],
        &["restore", "-s", "other", "."],
        &["restore", "-s", "other", "-S", "-W", "s"],
    ] {
        let repository = with_submodule("s");
        let outcome = repository.hedgerow(words);
        assert_eq!(outcome.code, 1, "{words:?}: {outcome:?}");
        let said = "error: cannot create 's': a submodule is there\n";
        assert_eq!(outcome.stderr, said, "{words:?}");
        assert_eq!(repository.ask(&["-C", "s", "log", "--format=%s"]), "inner");
        assert_eq!(repository.read("s/file"), b"1\n", "{words:?}");
        assert_eq!(repository.ask(&["status", "--porcelain"]), "", "{words:?}");
        // Its place is free without a repository.
        std::fs::remove_dir_all(repository.path("s/.git")).unwrap();
        let outcome = repository.hedgerow(words);
        assert_eq!(outcome.code, 0, "{words:?}: {outcome:?}");
        assert_eq!(repository.read("s"), b"2\n", "{words:?}");
    }
}
