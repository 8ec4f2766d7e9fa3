//! Commands that are killed while they write: the old references or the new ones, and a stack that
//! git takes.

use crate::twins::Twins;
use crate::{git_knows_tables, HEDGEROW};
use hedgerow_testkit::{require, run, Program};
use std::path::Path;
use std::process::Command;

/// The calls in which a stack changes, and all those between.
const CALLS: &str =
    "openat,openat2,linkat,renameat,renameat2,rename,unlink,unlinkat,write,pwrite64";

#[test]
fn a_command_killed_at_any_call_leaves_one_state_or_the_other() {
    if !git_knows_tables() || !require("strace") {
        return;
    }
    let mut twins = Twins::new("killed", "sha1");
    // The next change makes the stack so long that it is compacted.
    for branch in ["one", "two", "three"] {
        twins.run("", &["checkout", "-q", "-b", branch]);
    }
    let [_, our, _] = &twins.repositories;
    let mut ends = [0, 0];
    let mut at = 1;
    loop {
        let place = hedgerow_testkit::temporary();
        let copy = our.copy(&place.path().join("r"));
        let before = copy.ask(&["for-each-ref", "--format=%(refname)"]);
        let is_over = killed(&copy.root, at);
        // Whoever is killed leaves locks, as git does; they are taken away by hand.
        for path in [".git/index.lock", ".git/reftable/tables.list.lock"] {
            let _ = std::fs::remove_file(copy.root.join(path));
        }
        remove_locks_of_tables(&copy.root);
        let after = copy.ask(&["for-each-ref", "--format=%(refname)"]);
        let is_new = after.contains("refs/heads/new");
        ends[usize::from(is_new)] += 1;
        let kept = after.lines().filter(|name| *name != "refs/heads/new");
        assert!(kept.eq(before.lines()), "call {at}: {after}");
        copy.ask(&["fsck", "--no-dangling", "--no-progress"]);
        assert!(!copy.ask(&["reflog", "HEAD"]).is_empty());
        // It can be done again.
        let mut command = HEDGEROW.command(&copy.root);
        command.args(["checkout", "-q", "-f", "-B", "new"]);
        assert_eq!(run(command).code, 0, "call {at}");
        assert_eq!(copy.ask(&["symbolic-ref", "HEAD"]), "refs/heads/new");
        if is_over {
            break;
        }
        at += 1;
    }
    assert!(ends[0] > 5 && ends[1] > 5, "{ends:?}");
}

/// Runs a checkout that is killed at the call `at`; says whether it ended before that.
fn killed(root: &Path, at: usize) -> bool {
    let Program::Hedgerow(path) = HEDGEROW else {
        unreachable!("it is hedgerow");
    };
    let mut command: Command = hedgerow_testkit::isolated("strace");
    command.current_dir(root);
    command.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
    command.arg(format!("trace={CALLS}"));
    command.args(["-e", &format!("inject={CALLS}:signal=KILL:when={at}")]);
    command.args([path, "checkout", "-q", "-j1", "-b", "new"]);
    run(command).code == 0
}

fn remove_locks_of_tables(root: &Path) {
    for entry in std::fs::read_dir(root.join(".git/reftable")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "lock")
        {
            std::fs::remove_file(path).unwrap();
        }
    }
}
