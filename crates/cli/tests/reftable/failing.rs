//! Calls that fail while references change: what is told is what is.

use crate::twins::Twins;
use crate::{git_knows_tables, HEDGEROW};
use hedgerow_testkit::run;

const IO_ERROR: i32 = 5;

#[test]
fn whatever_fails_leaves_the_old_references_or_the_new_ones_and_says_which() {
    if !git_knows_tables() {
        return;
    }
    let mut twins = Twins::new("failing", "sha1");
    for branch in ["one", "two", "three"] {
        twins.run("", &["checkout", "-q", "-b", branch]);
    }
    let our = &twins.repositories[1];
    let mut failed = 0;
    for kind in [
        "open", "create", "read", "write", "rename", "link", "close", "remove",
    ] {
        for number in 1.. {
            let place = hedgerow_testkit::temporary();
            let copy = our.copy(&place.path().join("r"));
            let before = copy.ask(&["for-each-ref", "--format=%(refname)"]);
            let fault = format!("{kind}:{number}:{IO_ERROR}");
            let mut command = HEDGEROW.command(&copy.root);
            command.env("HEDGEROW_TEST_FAULT", &fault);
            command.args(["checkout", "-q", "-j1", "-b", "new"]);
            let outcome = run(command);
            let what = format!("{fault}: {outcome:?}");
            copy.assert_no_lock(&what);
            let after = copy.ask(&["for-each-ref", "--format=%(refname)"]);
            let is_new = after.contains("refs/heads/new");
            let kept = after.lines().filter(|name| *name != "refs/heads/new");
            assert!(kept.eq(before.lines()), "{what}: {after}");
            let head = copy.ask(&["symbolic-ref", "HEAD"]);
            match outcome.code {
                0 => assert!(is_new && head == "refs/heads/new", "{what}"),
                // Something else could not be done, and that is said.
                1 if head == "refs/heads/new" => {
                    assert!(outcome.stderr.contains("error: "), "{what}");
                }
                _ => assert_eq!(head, "refs/heads/three", "{what}"),
            }
            failed += usize::from(outcome.code != 0);
            copy.ask(&["fsck", "--no-dangling", "--no-progress"]);
            let (_, seen) = outcome.stderr.split_once("saw ").expect(&what);
            let (seen, _) = seen.split_once(' ').expect(&what);
            if number > seen.parse::<usize>().expect(&what) {
                break;
            }
        }
    }
    assert!(failed > 40, "{failed}");
}
