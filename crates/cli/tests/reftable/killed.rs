//! Commands that are killed while they write: the old references or the new ones, and a stack that
//! git takes.

use crate::twins::Twins;
use crate::{git_knows_tables, HEDGEROW};
use hedgerow_testkit::{require, run, Program, Repository};
use std::path::Path;
use std::process::Command;

/// The calls in which a stack changes, and all those between.
const CALLS: [&str; 10] = [
    "openat",
    "openat2",
    "linkat",
    "renameat",
    "renameat2",
    "rename",
    "unlink",
    "unlinkat",
    "write",
    "pwrite64",
];

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
    // strace counts the calls of each name separately, so each name has a loop of its own. (`?`:
    // some machines lack the old ones.)
    for call in CALLS {
        for at in 1.. {
            let killed = Killed { call, at };
            let (is_over, is_new) = killed.leaves_a_sound_stack(our);
            if is_over {
                break;
            }
            ends[usize::from(is_new)] += 1;
        }
    }
    assert!(ends[0] > 10 && ends[1] > 10, "{ends:?}");
}

/// A checkout that is killed at the `at`th call of the name `call`.
struct Killed {
    call: &'static str,
    at: usize,
}

impl Killed {
    /// Runs it in a copy of `our`. Whether it ended before that call, and whether the new branch is
    /// there.
    fn leaves_a_sound_stack(&self, our: &Repository) -> (bool, bool) {
        let when = format!("{} {}", self.call, self.at);
        let place = hedgerow_testkit::temporary();
        let copy = our.copy(&place.path().join("r"));
        let before = copy.ask(&["for-each-ref", "--format=%(refname)"]);
        let is_over = self.run(&copy.root);
        // Whoever is killed leaves locks, as git does; they are taken away by hand.
        for path in [".git/index.lock", ".git/reftable/tables.list.lock"] {
            let _ = std::fs::remove_file(copy.root.join(path));
        }
        remove_locks_of_tables(&copy.root);
        let after = copy.ask(&["for-each-ref", "--format=%(refname)"]);
        let kept = after.lines().filter(|name| *name != "refs/heads/new");
        assert!(kept.eq(before.lines()), "{when}: {after}");
        copy.ask(&["fsck", "--no-dangling", "--no-progress"]);
        assert!(!copy.ask(&["reflog", "HEAD"]).is_empty());
        // It can be done again.
        let mut command = HEDGEROW.command(&copy.root);
        command.args(["checkout", "-q", "-f", "-B", "new"]);
        assert_eq!(run(command).code, 0, "{when}");
        assert_eq!(copy.ask(&["symbolic-ref", "HEAD"]), "refs/heads/new");
        (is_over, after.contains("refs/heads/new"))
    }

    /// Whether the checkout ended before the call.
    fn run(&self, root: &Path) -> bool {
        let Program::Hedgerow(path) = HEDGEROW else {
            unreachable!("it is hedgerow");
        };
        let Killed { call, at } = self;
        let mut command: Command = hedgerow_testkit::isolated("strace");
        command.current_dir(root);
        command.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
        command.arg(format!("trace=?{call}"));
        command.args(["-e", &format!("inject=?{call}:signal=KILL:when={at}")]);
        command.args([path, "checkout", "-q", "-j1", "-b", "new"]);
        run(command).code == 0
    }
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
