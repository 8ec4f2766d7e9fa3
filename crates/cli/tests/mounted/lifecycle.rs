//! From `add` to `remove`, with both programs.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{isolated, require, run, Program};

/// The names of files of the working tree that git opens for a status.
fn opened_by_status(scene: &Scene, place: &str) -> Vec<String> {
    let mut strace = isolated("strace");
    strace.args([
        "-f",
        "-qq",
        "-e",
        "trace=open,openat,openat2",
        "git",
        "status",
    ]);
    strace.current_dir(scene.path(place));
    let traced = run(strace);
    let names = ["\"a\"", "\"d/b\"", "\"d/e/c\"", "\"run.sh\"", "\"link\""];
    let lines = traced.stderr.lines();
    let opened = lines.filter(|line| names.iter().any(|name| line.contains(name)));
    opened.map(str::to_owned).collect()
}

#[test]
fn a_status_right_after_opens_no_file() {
    if !can_mount() || !require("strace") {
        return;
    }
    for kind in ["erofs", "squashfs"] {
        let scene = Scene::on_disk();
        scene
            .repository
            .git(&["config", "hedgerow.imageFormat", kind]);
        scene.add("../w");
        assert_eq!(
            opened_by_status(&scene, "w"),
            Vec::<String>::new(),
            "{kind}"
        );
        // The files of the ordinary one were written in the second of its index.
        scene.assert_clean("w");
        scene.lose_mounts();
        scene.hedgerow("r", "worktree mount --all").ok("mount");
        assert_eq!(
            opened_by_status(&scene, "w"),
            Vec::<String>::new(),
            "{kind}"
        );
        assert!(scene.images()[0].contains(kind));
    }
}

#[test]
fn changes_stay_while_it_is_not_mounted() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("-b topic ../w");
    scene.write("w/a", "changed\n");
    scene.write("w/new", "new\n");
    std::fs::remove_file(scene.path("w/d/b")).unwrap();
    let before = scene.tree("w");
    let status = scene.by_git("w", "status --porcelain").ok("status");
    let told = scene.hedgerow("r", "worktree unmount w").ok("unmount");
    assert_eq!(told, b"");
    assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new());
    let list = scene.hedgerow("r", "worktree list").ok("list");
    let list = String::from_utf8(list).unwrap();
    assert!(list.contains("[topic] locked unmounted\n"), "{list}");
    // Nobody takes it for a tree whose files were deleted.
    for program in [Program::Git, HEDGEROW] {
        let error = scene.run(program, "w", "status").failed(128, "status");
        assert!(
            error.contains("hedgerow-worktree-mount")
                || error.contains("'hedgerow worktree mount'")
        );
        let pruned = scene.run(program, "r", "worktree prune -v --expire=now");
        assert_eq!((pruned.code, pruned.stderr.as_str()), (0, ""));
        scene.run(program, "r", "worktree repair");
        scene
            .run(program, "r", "worktree remove w")
            .failed(128, "remove");
    }
    scene.by_git("r", "gc --prune=now -q").ok("gc");
    let error = scene.by_git("w", "add -A").failed(128, "add");
    assert!(
        error.contains("not-mounted--run-hedgerow-worktree-mount"),
        "{error}"
    );
    // From the place itself.
    scene.hedgerow("w", "worktree mount").ok("mount");
    assert_eq!(scene.tree("w"), before);
    assert_eq!(scene.by_git("w", "status --porcelain").ok("status"), status);
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.mounted().len(), 2);
}

#[test]
fn it_is_moved_locked_and_removed() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/new", "new\n");
    scene
        .hedgerow("r", "worktree move w ../elsewhere")
        .ok("move");
    assert!(!scene.path("w").exists());
    assert_eq!(scene.read("elsewhere/new"), "new\n");
    let status = scene.by_git("elsewhere", "status --porcelain").ok("status");
    assert_eq!(status, b"?? new\n");
    scene
        .hedgerow("r", "worktree unmount elsewhere")
        .ok("unmount");
    scene
        .hedgerow("r", "worktree move elsewhere ../third")
        .ok("move");
    scene.hedgerow("r", "worktree mount third").ok("mount");
    assert_eq!(scene.read("third/new"), "new\n");
    // The user's lock takes the place of ours, and gives it back.
    scene
        .hedgerow("r", "worktree unlock third")
        .failed(128, "unlock");
    scene
        .hedgerow("r", "worktree lock --reason mine third")
        .ok("lock");
    let error = scene
        .hedgerow("r", "worktree remove -f third")
        .failed(128, "remove");
    assert!(error.contains("mine"), "{error}");
    scene.hedgerow("r", "worktree unlock third").ok("unlock");
    let error = scene
        .by_git("r", "worktree remove -f third")
        .failed(128, "remove");
    assert!(error.contains("'hedgerow worktree' removes"), "{error}");
    let error = scene
        .hedgerow("r", "worktree remove third")
        .failed(128, "remove");
    assert!(
        error.contains("contains modified or untracked files"),
        "{error}"
    );
    assert_eq!(scene.read("third/new"), "new\n");
    scene
        .hedgerow("r", "worktree remove --force third")
        .ok("remove");
    assert!(!scene.path("third").exists());
    assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new());
    assert!(!scene.path("r/.git/worktrees").exists());
    scene.assert_clean("r");
}

#[test]
fn who_works_in_it_keeps_it() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    let file = std::fs::File::open(scene.path("w/a")).unwrap();
    for line in [
        "worktree unmount w",
        "worktree remove w",
        "worktree move w ../v",
    ] {
        let error = scene.hedgerow("r", line).failed(128, line);
        assert!(error.contains("it is in use"), "{error}");
        scene.assert_clean("w");
    }
    drop(file);
    scene.hedgerow("r", "worktree remove w").ok("remove");
}

#[test]
fn a_removed_unmounted_tree_needs_force() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    let error = scene
        .hedgerow("r", "worktree remove w")
        .failed(128, "remove");
    assert!(error.contains("may have changes"), "{error}");
    // Not even if its place is deleted.
    std::fs::remove_dir_all(scene.path("w")).unwrap();
    for program in [Program::Git, HEDGEROW] {
        scene
            .run(program, "r", "worktree prune --expire=now")
            .ok("prune");
    }
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.read("w/a"), "changed\n");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    scene.hedgerow("r", "worktree remove -f w").ok("remove");
    assert!(!scene.path("w").exists() && !scene.path("r/.git/worktrees").exists());
}

#[test]
fn files_in_the_place_of_a_tree_are_not_hidden() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    scene.write("w/mine", "mine\n");
    let error = scene.hedgerow("r", "worktree mount w").failed(128, "mount");
    assert!(error.contains("is not empty"), "{error}");
    assert_eq!(scene.read("w/mine"), "mine\n");
    std::fs::remove_file(scene.path("w/mine")).unwrap();
    scene.hedgerow("r", "worktree mount w").ok("mount");
    scene.assert_clean("w");
}

#[test]
fn ordinary_trees_are_the_default() {
    let scene = Scene::new();
    scene.hedgerow("r", "worktree add ../w").ok("add");
    assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new());
    let error = scene.hedgerow("r", "worktree mount w").failed(128, "mount");
    assert!(error.contains("was added without --mount"), "{error}");
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    if !can_mount() {
        return;
    }
    scene
        .repository
        .git(&["config", "hedgerow.worktreeMount", "auto"]);
    scene.hedgerow("r", "worktree add ../mounted").ok("add");
    scene
        .hedgerow("r", "worktree add --no-mount ../files")
        .ok("add");
    assert_eq!(scene.mounted().len(), 2);
    assert_eq!(scene.tree("mounted"), scene.tree("files"));
    let error = scene.hedgerow("r", "worktree add --mount --no-checkout ../x");
    assert_eq!(error.code, 129, "{}", error.stderr);
}

#[test]
fn nothing_is_put_into_a_place_that_is_not_mounted() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("-b w ../w");
    scene.add("-b v ../v");
    let error = scene
        .hedgerow("r", "worktree move w ../w/x")
        .failed(128, "into itself");
    assert!(
        error.contains("failed to move") && error.contains("Invalid argument"),
        "{error}"
    );
    assert_eq!(scene.read("w/a"), "one\n");
    assert!(!scene.path("w/x").exists());
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    for (line, code) in [
        ("worktree move w ../w/x", 128),
        ("worktree move v ../w/x", 128),
        ("worktree add ../w/x", 128),
        ("worktree add --mount ../w/x", 128),
        ("mount HEAD ../w/x", 2),
    ] {
        let error = scene.hedgerow("r", line).failed(code, line);
        assert!(
            error.contains("not mounted") || error.contains("Invalid argument"),
            "{error}"
        );
        assert!(!scene.path("w/x").exists(), "{line}");
    }
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.read("w/a"), "one\n");
}

#[test]
fn what_is_mounted_within_is_named() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("-b w ../w");
    scene.hedgerow("r", "mount HEAD ../w/in").ok("mount");
    let inner = format!("'{}' is mounted within it", scene.path("w/in").display());
    for line in [
        "worktree unmount w",
        "worktree move w ../v",
        "worktree remove -f w",
    ] {
        let error = scene.hedgerow("r", line).failed(128, line);
        assert!(error.contains(&inner), "{line}: {error}");
    }
    scene.hedgerow("r", "unmount ../w/in").ok("unmount");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
}

#[test]
fn an_unmounted_tree_without_changes_is_removed() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("-b w ../w");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    scene.hedgerow("r", "worktree remove w").ok("remove");
    assert!(!scene.path("w").exists());
    scene
        .repository
        .git(&["config", "hedgerow.imageDistance", "0"]);
    // Whatever differs from the image may be wanted.
    for (number, line) in [
        "rm -q --cached a",
        "commit -q --amend -m x",
        "checkout -q HEAD~",
    ]
    .iter()
    .enumerate()
    {
        scene.repository.write("a", format!("{number}"));
        scene.repository.commit("next");
        let name = format!("w{number}");
        scene.add(&format!("--detach ../{name}"));
        scene.by_git(&name, line).ok(line);
        scene
            .hedgerow("r", &format!("worktree unmount {name}"))
            .ok("unmount");
        let removed = scene.hedgerow("r", &format!("worktree remove {name}"));
        if line.starts_with("commit") {
            removed.ok(line);
        } else {
            let error = removed.failed(128, line);
            assert!(error.contains("may have changes"), "{error}");
        }
    }
}

#[test]
fn a_file_in_the_place_of_a_tree_is_named() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("-b w ../w");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    std::fs::remove_dir_all(scene.path("w")).unwrap();
    scene.write("w", "a file");
    let error = scene
        .hedgerow("r", "worktree mount --all")
        .failed(128, "mount");
    assert!(error.contains("w' is no directory"), "{error}");
    assert_eq!(scene.read("w"), "a file");
}
