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
