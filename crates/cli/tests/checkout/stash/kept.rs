//! With pathspecs, only what is in the entry is taken away.

use crate::support::{Repository, RunHedgerow};
use std::fs;

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
