//! What is wrong with a repository is told, and told once.

use crate::support::{Pair, Repository, RunHedgerow};
use bstr::ByteSlice;
use std::fs;

fn origin() -> Repository {
    let repository = Repository::init(&["-b", "main"]);
    for path in ["one", "two", "d/three"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    repository.write("two", "changed\n");
    repository.commit("second");
    repository
}

/// Git warns, and goes on without a working tree.
#[test]
fn a_bare_repository_with_a_working_tree_has_none() {
    let mut pair = Pair::of(&origin(), "bare");
    pair.each("settings", |it| {
        it.git(&["config", "core.worktree", ".."]);
        it.git(&["config", "core.bare", "true"]);
    });
    for (words, code) in [
        (&["rev-list", "--count", "HEAD"][..], 0),
        (&["cat-file", "-t", "HEAD"], 0),
        (&["ls-files"], 0),
        (&["reset", "--soft", "HEAD"], 0),
        (&["reset"], 128),
        (&["status"], 128),
        (&["checkout", "main"], 128),
        (&["clean", "-n"], 128),
        (&["stash"], 128),
        (&["merge", "--ff-only", "main"], 128),
    ] {
        assert_eq!(pair.both(words[0], "", &words[1..], &[]).code, code);
    }
}

/// For git, a tree is enough.
#[test]
fn a_commit_without_an_author_is_checked_out() {
    let origin = origin();
    let tree = origin.ask(&["rev-parse", "main~1^{tree}"]);
    let text = format!("tree {tree}\ncommitter a <a@b> 1 +0000\n\nm\n");
    let words = [
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        "--literally",
    ];
    let commit = origin.ask_with(&words, text.as_bytes());
    for words in [
        &["checkout", "-q"][..],
        &["reset", "--hard"],
        &["read-tree"],
    ] {
        let mut pair = Pair::of(&origin, "no author");
        let words = [words, &[&commit]].concat();
        assert_eq!(pair.both(words[0], "", &words[1..], &[]).code, 0);
    }
}

#[test]
fn a_missing_alternate_is_told_of_once() {
    let repository = origin();
    repository.git(&["repack", "-adq"]);
    repository.write(".git/objects/info/alternates", "/nowhere/objects\n");
    for words in [
        &["status"][..],
        &["ls-files"],
        &["rev-list", "--all"],
        &["cat-file", "-t", "HEAD"],
        &["checkout", "main"],
        &["reset", "-q"],
        &["read-tree", "HEAD"],
        &["checkout-index", "-a"],
        &["sparse-checkout", "check-rules"],
        &["diff-files"],
        &["clean", "-n"],
        &["archive", "HEAD"],
        &["pack-objects", "--all", "--revs", "--stdout"],
        &["bitmap", "list"],
        &["repack", "-adb"],
    ] {
        let outcome = repository.hedgerow(words);
        let told = outcome.stderr.matches("/nowhere/objects").count();
        assert_eq!(told, 1, "{words:?}: {}", outcome.stderr);
    }
}

/// Resetting is how one recovers from that.
#[test]
fn a_tree_that_only_the_index_knows_is_not_looked_for() {
    let mut pair = Pair::of(&origin(), "index");
    // Git keeps the wrong one for longer.
    pair.any_trees = true;
    for words in [
        &["reset", "-q", "--hard"][..],
        &["reset", "-q"],
        &["checkout", "-q", "-f"],
    ] {
        pair.each("index", |it| {
            it.git(&["read-tree", "HEAD"]);
            let path = it.root.join(".git/index");
            let mut bytes = fs::read(&path).unwrap();
            let (at, id_bytes) = (bytes.find("TREE").unwrap(), 20);
            // Behind the length, an empty name, and how many entries and directories there are.
            let id = at + 9 + bytes[at + 9..].find("\n").unwrap() + 1;
            bytes[id..id + id_bytes].fill(0x11);
            // No checksum.
            let end = bytes.len() - id_bytes;
            bytes[end..].fill(0);
            fs::write(path, bytes).unwrap();
        });
        assert_eq!(
            pair.both(words[0], "", &words[1..], &[]).code,
            0,
            "{words:?}"
        );
        pair.each("tree", |it| {
            it.git(&["write-tree"]);
        });
    }
}
