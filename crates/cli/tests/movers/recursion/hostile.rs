//! Names and places of submodules that would lead outside of the working tree or of `.git/modules`.

use super::scene::Scene;
use hedgerow_testkit::{run, snapshot, Repository};
use std::fs;

fn says(copy: &Repository, words: &[&str]) -> hedgerow_testkit::Outcome {
    let mut command = crate::HEDGEROW.command(&copy.root);
    command.args(words);
    run(command)
}

/// Commits a `.gitmodules` in which `sub` has another name, and goes back to `none`.
fn renamed(copy: &Repository, name: &str) {
    let text = format!("[submodule \"{name}\"]\n\tpath = sub\n\turl = ../sub\n");
    copy.write(".gitmodules", text);
    copy.git(&["commit", "-qam", "another name"]);
    copy.git(&["tag", "renamed"]);
    copy.git(&["checkout", "-q", "-f", "none"]);
    fs::remove_dir_all(copy.path("sub")).ok();
    copy.git(&["config", &format!("submodule.{name}.active"), "true"]);
}

#[test]
fn names_do_not_lead_out_of_the_directory_of_modules() {
    let scene = Scene::new("sha1");
    for name in ["../../../outside", "..", "a/../../b", "sub/../../x"] {
        let copy = scene.copy("add");
        renamed(&copy, name);
        let home = copy.root.parent().unwrap();
        // A repository that such a name would lead to.
        copy.git(&["clone", "-q", "--bare", ".git/modules/sub", "../outside"]);
        let before = snapshot(&home.join("outside"), &|_| false);
        let outcome = says(
            &copy,
            &["checkout", "-q", "--recurse-submodules", "renamed"],
        );
        assert_eq!(outcome.code, 0, "{name}: {outcome:?}");
        assert!(!copy.path("sub/.git").exists(), "{name}");
        assert_eq!(
            before,
            snapshot(&home.join("outside"), &|_| false),
            "{name}"
        );
    }
}

#[test]
fn a_name_inside_of_another_git_directory_is_refused() {
    let scene = Scene::new("sha1");
    let copy = scene.copy("add");
    renamed(&copy, "sub/hooks");
    let before = (copy.tree(), copy.metadata());
    let outcome = says(
        &copy,
        &["checkout", "-q", "--recurse-submodules", "renamed"],
    );
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert!(
        outcome.stderr.contains("in another submodule's git dir"),
        "{outcome:?}"
    );
    assert_eq!(before, (copy.tree(), copy.metadata()));
}

#[test]
fn links_are_not_followed() {
    let scene = Scene::new("sha1");
    for (place, to) in [("sub", "none"), ("sub", "modify"), ("dir", "none")] {
        let copy = scene.copy(if place == "dir" { "two" } else { "add" });
        let outside = copy.root.parent().unwrap().join("outside");
        fs::rename(copy.path(place), &outside).unwrap();
        copy.symlink(place, outside.to_str().unwrap());
        let before = snapshot(&outside, &|_| false);
        let words = ["checkout", "-q", "--recurse-submodules", to];
        let outcome = says(&copy, &words);
        assert_eq!(
            before,
            snapshot(&outside, &|_| false),
            "{place} {to}: {outcome:?}"
        );
        assert_ne!(outcome.code, 0, "{place} {to}: {outcome:?}");
        assert!(copy.path(place).is_symlink(), "{place} {to}: {outcome:?}");
        let forced = ["checkout", "-q", "-f", "--recurse-submodules", to];
        let outcome = says(&copy, &forced);
        if place == "sub" {
            assert_eq!(outcome.code, 128, "{place} {to}: {outcome:?}");
            assert!(copy.path(place).is_symlink(), "{place} {to}: {outcome:?}");
        }
        assert_eq!(
            before,
            snapshot(&outside, &|_| false),
            "{place} {to}: {outcome:?}"
        );
    }
}

#[test]
fn a_working_tree_elsewhere_is_refused() {
    let scene = Scene::new("sha1");
    let copy = scene.copy("add");
    let outside = copy.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "mine\n").unwrap();
    let words = [
        "-C",
        "sub",
        "config",
        "core.worktree",
        outside.to_str().unwrap(),
    ];
    copy.git(&words);
    let outcome = says(&copy, &["checkout", "-q", "--recurse-submodules", "none"]);
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"mine\n");
    assert!(copy.path("sub/file").exists());
}

/// The index does not change, so nothing frees the place of the submodule.
#[test]
fn nothing_is_made_behind_a_link_that_stands_in_for_a_submodule() {
    let scene = Scene::new("sha1");
    for (place, at) in [("sub", "add"), ("dir", "two")] {
        let copy = scene.copy(at);
        let outside = copy.root.parent().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        fs::remove_dir_all(copy.path(place)).unwrap();
        copy.symlink(place, outside.to_str().unwrap());
        let config = fs::read(copy.path(".git/modules/sub/config")).unwrap();
        let words = ["reset", "-q", "--merge", "--recurse-submodules", "HEAD"];
        let outcome = says(&copy, &words);
        assert_eq!(outcome.code, 128, "{place}: {outcome:?}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{place}");
        let now = fs::read(copy.path(".git/modules/sub/config")).unwrap();
        assert_eq!(config, now, "{place}");
    }
}

/// Prepares a submodule whose `.git` names another Git directory than the one of its name, with a
/// repository in it that only the other one knows, and a tag under which a file is in its place.
const RECONNECTED: &str = r#"set -e
    M=.git/modules
    blob=$(echo F | git -C sub hash-object -w --stdin)
    tree=$({ git -C sub ls-tree HEAD | grep -v -e inner -e gitmodules; printf "100644 blob $blob\tinner\n"; } |
        git -C sub mktree)
    id=$(git -C sub commit-tree -m without $tree)
    git update-index --cacheinfo 160000,$id,sub; git commit -qm without; git tag target; git reset -q HEAD~
    cp -a $M/sub $M/old; echo gitdir: ../.git/modules/old >sub/.git
    git --git-dir=$M/sub config --unset core.worktree; git --git-dir=$M/sub update-ref --no-deref HEAD $id
    git --git-dir=$M/sub read-tree HEAD; git --git-dir=$M/sub config core.worktree ../../../sub
    rm -rf $M/sub/modules sub/inner/.git; mv $M/old/modules/inner sub/inner/.git
    git config -f sub/inner/.git/config --unset core.worktree
    git -C sub/inner commit -q --allow-empty -m precious
    git -C sub add inner; git -C sub commit -qm local"#;

#[test]
fn a_nested_repository_that_only_the_connected_one_knows_is_absorbed() {
    let scene = Scene::new("sha1");
    let copy = scene.copy("nested");
    let mut shell = hedgerow_testkit::isolated("sh");
    shell.current_dir(&copy.root).args(["-c", RECONNECTED]);
    run(shell).ok("the repository is made");
    let words = ["reset", "-q", "--hard", "--recurse-submodules", "target"];
    let outcome = says(&copy, &words);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(copy.read("sub/inner"), b"F\n");
    let absorbed = copy.path(".git/modules/old/modules/inner");
    assert!(absorbed.join("HEAD").exists(), "{outcome:?}");
}
