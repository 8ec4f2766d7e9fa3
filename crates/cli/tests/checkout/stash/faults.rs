//! Calls that fail: an edit, untracked or not, is in its file or in an entry that git can apply.

use crate::support::{temporary, Repository, RunHedgerow};
use std::fs;

/// Edits, by path, and words that only they have.
const EDITS: [(&str, &str); 4] = [
    ("a", "precious-a"),
    ("d/staged", "precious-staged"),
    ("d/new", "precious-new"),
    ("u/deep/untracked", "precious-untracked"),
];

fn edited() -> Repository {
    let repository = Repository::init(&[]);
    for path in ["a", "d/staged", "d/other", "e/f/g"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    for (path, word) in EDITS {
        repository.write(path, format!("{word}\n"));
    }
    repository.git(&["add", "d"]);
    repository.git(&["gc", "-q"]);
    repository
}

fn assert_kept(repository: &Repository, what: &str) {
    let place = |path: &str| fs::read_to_string(repository.root.join(path)).unwrap_or_default();
    let missing = EDITS
        .iter()
        .filter(|(path, word)| !place(path).contains(word));
    for (path, word) in missing {
        // Untracked files are in a commit of their own.
        let is_stashed = ["refs/stash", "refs/stash^3"].iter().any(|commit| {
            let shown = repository.run(&["show", &format!("{commit}:{path}")], b"");
            String::from_utf8_lossy(&shown.stdout).contains(word)
        });
        assert!(is_stashed, "{what}: the edit of '{path}' is lost");
        let walked = repository.run(&["rev-list", "--objects", "refs/stash"], b"");
        assert_eq!(walked.code, 0, "{what}: {walked:?}");
    }
}

fn fail_each(origin: &Repository, words: &[&str]) {
    let home = temporary();
    let mut number_of_copy = 0;
    let mut fail = |fault: &str| -> usize {
        number_of_copy += 1;
        let copy = origin.copy(&home.path().join(number_of_copy.to_string()));
        let outcome = copy.hedgerow_with(words, &[("HEDGEROW_TEST_FAULT", fault)]);
        let what = format!("{words:?}, {fault}: {outcome:?}");
        assert_kept(&copy, &what);
        fs::remove_dir_all(&copy.root).unwrap();
        let (_, count) = outcome.stderr.rsplit_once("saw ").expect(&what);
        count.split(' ').next().unwrap().parse().expect(&what)
    };
    for (ops, errno) in [
        ("stat", 5),
        ("read", 5),
        ("open", 5),
        ("write", 28),
        ("rename", 5),
        ("close", 122),
    ] {
        let count = fail(&format!("{ops}:1000000:{errno}"));
        assert!(count >= 2, "{words:?}: {ops} is called {count} times");
        for number in (1..=count).step_by(count.div_ceil(60)) {
            fail(&format!("{ops}:{number}:{errno}"));
        }
    }
}

#[test]
fn no_failing_call_loses_what_is_put_aside() {
    fail_each(&edited(), &["stash", "push", "-u"]);
}

#[test]
fn no_failing_call_loses_what_is_taken_back() {
    let origin = edited();
    origin.git(&["stash", "push", "-q", "-u"]);
    fail_each(&origin, &["stash", "pop"]);
}
