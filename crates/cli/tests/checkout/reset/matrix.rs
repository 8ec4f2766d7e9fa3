//! Every mode in every situation: git and hedgerow do the same.

use crate::support::{Pair, Repository};

/// A repository with the commits `first` and `second`, which differ in every way; `second` is
/// checked out.
pub fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.write(".gitignore", "*.o\n");
    for name in ["same", "changed", "removed", "d/same", "d/changed", "mode"] {
        repository.write(name, format!("{name}\n"));
    }
    repository.write("becomes-dir", "file\n");
    repository.write("becomes-file/a", "a\n");
    repository.write("becomes-file/b", "b\n");
    repository.write("gone/deep/down", "down\n");
    repository.symlink("link", "same");
    repository.symlink("to-file", "same");
    repository.commit("first");
    repository.git(&["tag", "first"]);
    for name in ["changed", "d/changed", "d/added", "added"] {
        repository.write(name, format!("{name} again\n"));
    }
    for name in [
        "removed",
        "becomes-dir",
        "becomes-file",
        "gone",
        "link",
        "to-file",
    ] {
        repository.remove(name);
    }
    repository.write("becomes-dir/inner", "inner\n");
    repository.write("becomes-file", "file\n");
    repository.symlink("link", "changed");
    repository.write("to-file", "file\n");
    repository.git(&["update-index", "--chmod=+x", "mode"]);
    repository.commit("second");
    repository.git(&["tag", "second"]);
    repository.git(&["branch", "other", "first"]);
    repository.git(&["reset", "-q", "--hard"]);
    repository
}

type Situation = (&'static str, fn(&Repository));

const SITUATIONS: [Situation; 30] = [
    ("clean", |_| {}),
    ("a file edited", |it| it.write("changed", "mine\n")),
    ("a file edited that is the same", |it| {
        it.write("same", "mine\n")
    }),
    ("an edit staged", |it| {
        it.write("changed", "mine\n");
        it.git(&["add", "changed"]);
    }),
    ("the target's content staged", |it| {
        it.write("changed", "changed\n");
        it.git(&["add", "changed"]);
    }),
    ("an edit staged of what is the same", |it| {
        it.write("d/same", "mine\n");
        it.git(&["add", "d/same"]);
    }),
    ("an edit staged and another not", |it| {
        it.write("same", "mine\n");
        it.git(&["add", "same"]);
        it.write("same", "more\n");
    }),
    ("files deleted", |it| {
        it.remove("same");
        it.remove("d");
    }),
    ("a deletion staged", |it| {
        it.git(&["rm", "-q", "added", "same"]);
    }),
    ("a deletion staged, the file kept", |it| {
        it.git(&["rm", "-q", "--cached", "changed", "d/same"]);
    }),
    ("a new file staged", |it| {
        it.write("new/file", "new\n");
        it.git(&["add", "new"]);
    }),
    ("a file to be added later", |it| {
        it.write("later", "later\n");
        it.write("empty", "");
        it.git(&["add", "-N", "later", "empty"]);
    }),
    ("untracked files in the way", |it| {
        it.write("removed", "untracked\n");
        it.write("gone", "untracked\n");
    }),
    ("untracked files where directories go", |it| {
        it.write("becomes-dir/untracked", "untracked\n");
        it.write("d/untracked", "untracked\n");
    }),
    ("ignored files where a directory goes", |it| {
        it.write("becomes-dir/x.o", "ignored\n");
    }),
    ("a directory in place of a file", |it| {
        it.remove("changed");
        it.write("changed/below", "below\n");
    }),
    ("an empty directory in place of a file", |it| {
        it.remove("same");
        std::fs::create_dir(it.path("same")).unwrap();
    }),
    ("a file in place of a directory", |it| {
        it.remove("d");
        it.write("d", "file\n");
    }),
    ("a link in place of a directory", |it| {
        it.remove("d");
        it.symlink("d", "elsewhere");
    }),
    ("a link in place of a file", |it| {
        it.remove("same");
        it.symlink("same", "elsewhere");
    }),
    ("a file in place of a link", |it| {
        it.remove("link");
        it.write("link", "file\n");
    }),
    ("another mode", |it| {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(it.path("same"), mode).unwrap();
    }),
    ("a conflict", |it| {
        conflict(it);
    }),
    ("a conflict resolved", |it| {
        conflict(it);
        it.write("changed", "resolved\n");
        // Not all paths: `git add` takes racy files anew, and forgets the trees above them.
        it.git(&["add", "changed", "d/changed", "removed"]);
    }),
    ("a conflict, and its file gone", |it| {
        conflict(it);
        it.remove("changed");
    }),
    ("a cherry-pick that stopped", |it| {
        it.write("same", "cherry\n");
        let id = it.commit("cherry");
        it.git(&["reset", "-q", "--hard", "HEAD^"]);
        it.write("same", "tree\n");
        it.commit("tree");
        it.run(&["cherry-pick", &id], b"");
    }),
    ("a file not looked at", |it| {
        it.git(&["update-index", "--assume-unchanged", "changed", "same"]);
        it.write("changed", "hidden\n");
    }),
    ("a file that is nowhere", |it| {
        it.git(&["update-index", "--skip-worktree", "changed", "same"]);
        it.remove("same");
    }),
    ("a submodule without its repository", |it| {
        let id = it.ask(&["rev-parse", "HEAD"]);
        let info = format!("160000,{id},module");
        it.git(&["update-index", "--add", "--cacheinfo", &info]);
        std::fs::create_dir(it.path("module")).unwrap();
    }),
    ("a detached HEAD", |it| {
        it.git(&["checkout", "-q", "--detach"]);
        it.write("changed", "mine\n");
    }),
];

/// A merge that stops at `changed`, `d/changed` and `removed`.
pub fn conflict(it: &Repository) {
    it.git(&["checkout", "-q", "-f", "other"]);
    it.write("changed", "theirs\n");
    it.write("d/changed", "theirs\n");
    it.write("removed", "theirs\n");
    it.write("theirs", "theirs\n");
    it.commit("theirs");
    it.git(&["checkout", "-q", "-f", "main"]);
    it.run(&["merge", "other"], b"");
}

const COMMANDS: [&[&str]; 26] = [
    &[],
    &["-q"],
    &["--no-refresh"],
    &["--mixed", "first"],
    &["-N", "first"],
    &["first", "-q", "--no-refresh"],
    &["--soft"],
    &["--soft", "first"],
    &["--hard"],
    &["--hard", "first"],
    &["--hard", "-q", "HEAD^"],
    &["--merge"],
    &["--merge", "first"],
    &["--keep"],
    &["--keep", "first"],
    &["--keep", "-q", "second"],
    &["--", "."],
    &["changed"],
    &["first", "--", "changed", "d", "nothing"],
    &["-N", "first", "--", "added", "d"],
    &["-N", "--", "new", "same"],
    &["first", "becomes-dir", "becomes-file", "gone"],
    &["-q", "first", "--", ":(glob)**/changed", ":!d"],
    &["--hard", "--", "changed"],
    &["--mixed", "--", "changed"],
    &["first^{tree}", "--", "removed", "same"],
];

fn play(situations: &[Situation]) {
    // Where a link is in the way of a file, git looks behind it; hedgerow refuses.
    let is_played = |name: &str, words: &[&str]| {
        let keeps = words
            .iter()
            .any(|word| ["--merge", "--keep"].contains(word));
        !(keeps && words.contains(&"first") && name == "a link in place of a directory")
    };
    let origin = origin();
    let mut failed = Vec::new();
    for (name, arrange) in situations {
        for words in COMMANDS.iter().filter(|words| is_played(name, words)) {
            let played = std::panic::catch_unwind(|| {
                let mut pair = Pair::of(&origin, name);
                pair.each(name, arrange);
                pair.both("reset", "", words, &[]);
            });
            if played.is_err() {
                failed.push((name, words));
            }
        }
    }
    assert!(failed.is_empty(), "these failed: {failed:#?}");
}

#[test]
fn modes_and_paths_in_each_situation_1() {
    play(&SITUATIONS[..8]);
}

#[test]
fn modes_and_paths_in_each_situation_2() {
    play(&SITUATIONS[8..15]);
}

#[test]
fn modes_and_paths_in_each_situation_3() {
    play(&SITUATIONS[15..22]);
}

#[test]
fn modes_and_paths_in_each_situation_4() {
    play(&SITUATIONS[22..]);
}
