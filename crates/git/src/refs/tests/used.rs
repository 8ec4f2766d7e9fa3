//! What a repository does with its references, whatever they are stored in.

use super::memory::Memory;
use super::{committer, id};
use crate::branches::{HeadTarget, NewBranch};
use crate::refs::{Head, RefValue};
use crate::repository::{Repository, Scratch};
use std::sync::Arc;

/// A repository whose files know nothing of its references any more.
fn repository(scratch: &Scratch) -> (Repository, Memory) {
    let memory = Memory::default();
    let mut found = scratch.open("r");
    let tip = found.head().unwrap().id().unwrap();
    memory.set("HEAD", RefValue::Symbolic("refs/heads/main".into()));
    memory.set("refs/heads/main", RefValue::Direct(tip));
    memory.set("refs/tags/one", RefValue::Direct(tip));
    found.replace_refs(Arc::new(memory.clone()));
    for gone in ["refs", "logs"] {
        std::fs::remove_dir_all(scratch.path("r/.git").join(gone)).unwrap();
    }
    (found, memory)
}

#[test]
fn heads_are_switched_and_logged() {
    let scratch = Scratch::with_history();
    let (found, _) = repository(&scratch);
    let tip = found.resolve("main".into()).unwrap();
    let first = found.resolve("main~3".into()).unwrap();
    let old = found.head().unwrap();
    let message = found.checkout_message(&old, "main~3".into());
    let target = HeadTarget::Detached(first);
    found
        .switch_head(&target, message.as_ref(), &committer())
        .unwrap();
    assert_eq!(found.head().unwrap(), Head::Detached { id: first });
    assert_eq!(found.previous_branch(1).unwrap().unwrap(), "main");
    assert_eq!(found.resolve("@{-1}".into()).unwrap(), tip);
    let orphans = found.orphaned_commits(&first, None).unwrap();
    assert_eq!(orphans.count, 0);
    let target = HeadTarget::Branch("refs/heads/main".into());
    found
        .switch_head(&target, "back".into(), &committer())
        .unwrap();
    assert_eq!(found.head().unwrap().branch().unwrap(), "refs/heads/main");
    assert_eq!(found.resolve("HEAD@{1}".into()).unwrap(), first);
    assert_eq!(found.reflog("HEAD".into()).unwrap().len(), 2);
    let head = scratch.read("r/.git/HEAD");
    assert_eq!(head, "ref: refs/heads/main\n", "the file is what it was");
}

#[test]
fn branches_are_created_listed_and_refused() {
    let scratch = Scratch::with_history();
    let (found, memory) = repository(&scratch);
    let new = |name: &str, may_exist| NewBranch {
        name: name.into(),
        id: id('7'),
        may_exist,
        message: "made".into(),
    };
    let create = |branch: NewBranch| found.create_branch(&branch, &committer());
    create(new("refs/heads/a", false)).unwrap();
    create(new("refs/heads/main", true)).unwrap();
    for (name, said) in [
        ("refs/heads/a", "a branch named 'a' already exists"),
        (
            "refs/heads/a/b",
            "'refs/heads/a' exists; cannot create 'refs/heads/a/b'",
        ),
    ] {
        assert_eq!(create(new(name, false)).unwrap_err().to_string(), said);
    }
    let listed = found.references_below("refs/".into()).unwrap();
    let names: Vec<_> = listed.iter().map(|found| found.name.to_string()).collect();
    assert_eq!(names, ["refs/heads/a", "refs/heads/main", "refs/tags/one"]);
    let logs = found.all_logs().unwrap();
    assert!(logs.iter().any(|log| log.name == "refs/heads/a"));
    memory.set(
        "refs/heads/loop",
        RefValue::Symbolic("refs/heads/loop".into()),
    );
    assert!(found.all_references().is_err());
    assert_eq!(found.references_below("refs/".into()).unwrap().len(), 3);
    assert_eq!(found.references_like("heads/m*".into()).unwrap().len(), 1);
    assert_eq!(found.shorten_reference("refs/tags/one".into()), "one");
}

#[test]
fn what_a_switch_ends_is_deleted() {
    let scratch = Scratch::with_history();
    let (found, memory) = repository(&scratch);
    let tip = found.resolve("main".into()).unwrap();
    memory.set("CHERRY_PICK_HEAD", RefValue::Direct(id('7')));
    memory.set("MERGE_AUTOSTASH", RefValue::Direct(tip));
    let ended = found.remove_branch_state();
    assert!(ended.failures.is_empty());
    assert_eq!(ended.operations, ["cherry picking"]);
    assert!(ended.stashed);
    assert_eq!(found.resolve("stash@{0}".into()).unwrap(), tip);
    for gone in ["CHERRY_PICK_HEAD", "MERGE_AUTOSTASH"] {
        assert_eq!(found.reference(gone.into()).unwrap(), None);
    }
}
