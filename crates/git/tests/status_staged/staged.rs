//! Which paths differ.

use super::fixture::Repo;
use hedgerow_git::status::rename::{Detection, RenameOptions};

fn off() -> RenameOptions {
    RenameOptions {
        detection: Detection::Off,
        ..RenameOptions::default()
    }
}

fn assert_as_git(repo: &Repo, what: &str) -> usize {
    let expected = repo.by_git(&[], &["--no-renames", "--ignore-submodules=none"]);
    assert_eq!(repo.by_us(&off()), expected, "{what}");
    expected.len()
}

/// A repository with a commit of a few directories.
fn repo() -> Repo {
    let repo = Repo::new();
    for path in [
        "a", "a-b", "b/c", "b/d/e", "b/d/f", "b-x/y", "b0", "c/d", "d/e/f/g", "z",
    ] {
        repo.write(path, path.as_bytes());
    }
    std::os::unix::fs::symlink("a", repo.path("link")).unwrap();
    repo.git(&["add", "-A"]);
    let module = format!("160000,{:040x},m", 7);
    repo.git(&["update-index", "--add", "--cacheinfo", &module]);
    repo.commit_staged();
    repo
}

#[test]
fn everything_is_added_before_the_first_commit() {
    let repo = Repo::new();
    assert_eq!(assert_as_git(&repo, "nothing"), 0);
    repo.write("a", b"1");
    repo.write("b/c", b"2");
    repo.git(&["add", "a", "b"]);
    assert_eq!(assert_as_git(&repo, "unborn"), 2);
    repo.git(&["write-tree"]);
    assert_eq!(assert_as_git(&repo, "unborn with a cache tree"), 2);
}

#[test]
fn changes_of_every_kind_are_found() {
    let repo = repo();
    assert_eq!(assert_as_git(&repo, "clean"), 0);
    let blob = repo.ask(&["rev-parse", "HEAD:a"]);
    let set = |mode: &str, id: &str, path: &str| {
        repo.git(&[
            "update-index",
            "--add",
            "--replace",
            "--cacheinfo",
            &format!("{mode},{id},{path}"),
        ]);
    };
    set("100755", &blob, "a");
    assert_eq!(assert_as_git(&repo, "executable"), 1);
    set("120000", &blob, "a-b");
    set("100644", &blob, "link");
    set("160000", &format!("{:040x}", 9), "m");
    assert_eq!(assert_as_git(&repo, "types"), 4);
    set("100644", &blob, "b/d");
    set("100644", &blob, "z/y/x");
    set("100644", &blob, "m/x");
    assert_eq!(assert_as_git(&repo, "files for directories"), 10);
    repo.git(&["read-tree", "--empty"]);
    assert_eq!(assert_as_git(&repo, "empty index"), 12);
    set("100644", &blob, "new/only");
    assert_eq!(assert_as_git(&repo, "only new"), 13);
}

#[test]
fn paths_only_intended_to_be_added_are_not_there() {
    let repo = repo();
    repo.write("new", b"n");
    repo.write("b/new", b"n");
    repo.git(&["add", "-N", "new", "b/new"]);
    assert_eq!(assert_as_git(&repo, "new"), 0);
    repo.git(&["rm", "-q", "--cached", "c/d", "z"]);
    repo.git(&["add", "-N", "c/d"]);
    assert_eq!(assert_as_git(&repo, "HEAD has it"), 2);
}

#[test]
fn conflicts_are_listed_apart() {
    let repo = repo();
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("a", b"side");
    repo.write("both", b"side");
    repo.git(&["rm", "-q", "z"]);
    repo.git(&["add", "a", "both"]);
    repo.commit_staged();
    repo.git(&["checkout", "-q", "-f", "main"]);
    repo.write("a", b"main");
    repo.write("both", b"main");
    repo.write("z", b"main");
    repo.git(&["add", "a", "both", "z"]);
    repo.commit_staged();
    let bases = repo.ask(&["merge-base", "main", "side"]);
    repo.git(&["read-tree", "-m", &bases, "main", "side"]);
    assert_eq!(assert_as_git(&repo, "main"), 0);
    let paths = |repo: &Repo| {
        let unmerged = repo.staged().unmerged;
        unmerged
            .iter()
            .map(|(path, _)| path.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&repo), ["a", "both", "z"]);
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/side"]);
    assert_as_git(&repo, "side");
    assert_eq!(paths(&repo), ["a", "both"]);

    // What is in conflict can be copied from.
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let blob = repo.ask(&["rev-parse", "main:a"]);
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},copy"),
    ]);
    let copies = RenameOptions {
        detection: Detection::Copies,
        ..RenameOptions::default()
    };
    let expected = repo.by_git(&["status.renames=copies"], &[]);
    assert_eq!(repo.by_us(&copies), expected);
    assert!(
        expected.iter().any(|line| line.starts_with('C')),
        "{expected:?}"
    );
}

/// A cache tree that is whole says all; where it is not, what it does say must not hide anything.
#[test]
fn cache_trees_of_any_state_change_nothing() {
    let repo = repo();
    for n in 0..40 {
        repo.write(format!("many/{}/{}/{n}", n % 4, n % 3), b"m");
    }
    repo.git(&["add", "many"]);
    repo.commit_staged();
    let blob = repo.ask(&["rev-parse", "HEAD:a"]);
    let mut paths = [
        "a",
        "many/0/0/12",
        "many/1/new/x",
        "b/d/e/f",
        "zz",
        "many/3",
    ];
    for round in 0..12 {
        paths.rotate_left(1);
        repo.git(&["read-tree", ["HEAD", "HEAD~"][round % 2]]);
        for (count, path) in paths.iter().take(round % 6).enumerate() {
            let entry = format!("100644,{blob},{path}");
            repo.git(&["update-index", "--add", "--replace", "--cacheinfo", &entry]);
            if count == 2 {
                repo.git(&["write-tree"]);
            }
        }
        assert_as_git(&repo, &format!("round {round}"));
    }
}
