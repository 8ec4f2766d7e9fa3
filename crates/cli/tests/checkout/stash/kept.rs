//! With pathspecs, only what is in the entry is taken away.

use crate::support::{run, Pair, Program, Repository, RunHedgerow};
use crate::HEDGEROW;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const PRECIOUS: &str = "precious\n";

fn repository() -> Repository {
    let repository = Repository::init(&[]);
    for path in ["a", "b", "c", "d/x"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    repository
}

fn assert_kept(repository: &Repository, words: &[&str], path: &str, code: i32) {
    let outcome = repository.hedgerow_with(words, &[]);
    assert_eq!(outcome.code, code, "{words:?}: {outcome:?}");
    let kept = fs::read_to_string(repository.root.join(path)).unwrap_or_default();
    assert_eq!(kept, PRECIOUS, "{words:?}: {outcome:?}");
}

/// git does not see the edit, and the entry does not have it.
#[test]
fn an_edit_that_is_assumed_not_to_be() {
    let repository = repository();
    repository.git(&["update-index", "--assume-unchanged", "a"]);
    repository.write("a", PRECIOUS);
    fs::remove_file(repository.root.join("b")).unwrap();
    assert_kept(&repository, &["stash", "push", "--", "."], "a", 0);
    assert!(repository.root.join("b").exists());
}

#[test]
fn an_untracked_directory_in_the_place_of_a_file() {
    for staged in [false, true] {
        let repository = repository();
        fs::remove_file(repository.root.join("b")).unwrap();
        if staged {
            repository.git(&["add", "b"]);
        }
        repository.write("b/in", PRECIOUS);
        repository.write("c", "changed\n");
        let words = ["stash", "push", "--", "."];
        assert_kept(&repository, &words, "b/in", 1);
        let other = fs::read_to_string(repository.root.join("c")).unwrap();
        assert_eq!(other, "c\n", "it was put aside");
    }
}

#[test]
fn an_untracked_file_in_the_place_of_a_directory() {
    let repository = repository();
    fs::remove_dir_all(repository.root.join("d")).unwrap();
    repository.write("d", PRECIOUS);
    assert_kept(&repository, &["stash", "push", "--", "d/*"], "d", 1);
}

/// It is no longer in the index, and only the index is put aside.
#[test]
fn a_file_that_was_unstaged_for_good() {
    let repository = repository();
    repository.git(&["rm", "-q", "--cached", "b"]);
    repository.write("b", PRECIOUS);
    repository.write("c", "changed\n");
    repository.git(&["add", "c"]);
    assert_kept(&repository, &["stash", "push", "-S"], "b", 1);
    let other = fs::read_to_string(repository.root.join("c")).unwrap();
    assert_eq!(other, "changed\n", "all goes, or nothing");
}

/// What a checkout would not bring back as it was is not put aside where the configuration forbids it.
#[test]
fn content_that_would_not_come_back_is_not_put_aside() {
    let changes: [(&str, &[u8], &str); 3] = [
        ("mixed line ends", b"one\r\ntwo\n", "a text\n"),
        (
            "no round trip",
            b"\xfb\x00",
            "a text working-tree-encoding=UTF-16\n",
        ),
        ("a filter that fails", b"changed\n", "a filter=f\n"),
    ];
    for (label, content, attributes) in changes {
        for words in [&["push"][..], &["push", "-q"], &["push", "--", "a"]] {
            let origin = Repository::init(&[]);
            origin.commit_files(&[("a", "some content\n")], "first");
            let mut pair = Pair::of(&origin, label);
            pair.each("change", |repository| {
                repository.git(&["config", "core.safecrlf", "true"]);
                repository.git(&["config", "core.autocrlf", "true"]);
                repository.git(&["config", "filter.f.clean", "false"]);
                repository.git(&["config", "filter.f.required", "true"]);
                repository.write(".git/info/attributes", attributes);
                repository.write("a", content);
            });
            let said = [Program::Git, HEDGEROW].map(|program| {
                let root = match program {
                    Program::Git => &pair.git.root,
                    _ => &pair.hedgerow.root,
                };
                let mut command = program.command(root);
                command.arg("stash").args(words);
                run(command)
            });
            assert_eq!((said[0].code, said[1].code), (1, 1), "{label}: {said:?}");
            let is_silent = words.contains(&"-q");
            let last = "Cannot save the current worktree state\n";
            assert_eq!(said[1].stderr.ends_with(last), !is_silent, "{said:?}");
            let failed = "clean filter 'f' failed";
            let told = [0, 1].map(|at| said[at].stderr.contains(failed));
            assert_eq!(told[0], told[1], "{label}: {said:?}");
            pair.assert_same_state();
        }
    }
}

/// What could not be taken out of the way stays there, also where the index is to be kept.
#[test]
fn untracked_files_in_the_place_of_files_that_are_kept_in_the_index() {
    for (gone, place, words) in [
        ("d/x", "d", ["d", "a"]),
        ("b", "b/in", ["b", "a"]),
        ("d/x", "d", [".", ":!c"]),
    ] {
        let repository = repository();
        fs::remove_file(repository.root.join(gone)).unwrap();
        let _ = fs::remove_dir(repository.root.join("d"));
        if gone == "b" {
            repository.write("d/x", "d/x\n");
        }
        repository.write(place, PRECIOUS);
        repository.write("a", "changed\n");
        let words = [&["stash", "push", "-k", "--"][..], &words].concat();
        assert_kept(&repository, &words, place, 1);
    }
}

/// git takes the file for the object.
#[test]
fn a_change_whose_object_was_damaged_by_a_crash() {
    for damage in [&b""[..], &[0; 40], b"no object"] {
        let repository = repository();
        repository.write("a", PRECIOUS);
        let id = repository.ask(&["hash-object", "-w", "a"]);
        let path = format!(".git/objects/{}/{}", &id[..2], &id[2..]);
        let path = repository.root.join(path);
        fs::remove_file(&path).unwrap();
        fs::write(&path, damage).unwrap();
        let outcome = repository.hedgerow_with(&["stash", "push"], &[]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!(repository.ask(&["show", "stash:a"]), PRECIOUS.trim());
    }
}

/// An entry without it could not be applied.
#[test]
fn changes_beside_a_staged_entry_without_an_object() {
    for words in [
        &["stash", "push"][..],
        &["stash", "push", "--", "b"],
        &["stash", "push", "-k"],
        &["stash", "push", "-u", "--", "b"],
        &["stash", "create"],
    ] {
        let repository = repository();
        let missing = "100644,1111111111111111111111111111111111111111,a";
        repository.git(&["update-index", "--cacheinfo", missing]);
        repository.write("b", PRECIOUS);
        assert_kept(&repository, words, "b", 1);
        assert!(repository.ask(&["stash", "list"]).is_empty());
    }
}

#[test]
fn a_hook_that_fails_after_what_is_staged_was_kept_is_a_failure() {
    for (script, code) in [("exit 0", 0), ("exit 3", 1), ("kill -9 $$", 1)] {
        for words in [
            &["stash", "push", "-k"][..],
            &["stash", "push", "-q", "-k", "--", "a", "b"],
        ] {
            let [by_git, by_us] = [Program::Git, HEDGEROW].map(|program| {
                let repository = repository();
                repository.write("a", "staged\n");
                repository.git(&["add", "a"]);
                repository.write("b", "mine\n");
                repository.write(".git/hooks/post-checkout", format!("#!/bin/sh\n{script}\n"));
                let hook = repository.path(".git/hooks/post-checkout");
                fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
                let mut command = program.command(&repository.root);
                command.args(words);
                (run(command).code, repository.ask(&["status", "-s"]))
            });
            assert_eq!(by_git, by_us, "{words:?} {script}");
            assert_eq!(by_us, (code, "M  a".into()), "{words:?} {script}");
        }
    }
}
