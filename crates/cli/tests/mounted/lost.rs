//! What is lost comes back, or it is said why not; a change is never lost.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::run;
use std::path::PathBuf;

#[test]
fn a_restart_loses_all_mounts() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for name in ["one", "two"] {
        scene.add(&format!("../{name}"));
        scene.write(&format!("{name}/a"), name);
    }
    scene.hedgerow("r", "worktree add ../files").ok("add");
    scene.lose_mounts();
    scene.by_git("one", "status").failed(128, "status");
    let told = scene.hedgerow("r", "worktree mount --all");
    assert_eq!(told.stderr.lines().count(), 2, "{}", told.stderr);
    told.ok("mount");
    for name in ["one", "two"] {
        assert_eq!(scene.read(&format!("{name}/a")), name);
        assert_eq!(
            scene.by_git(name, "status --porcelain").ok("status"),
            b" M a\n"
        );
    }
    assert_eq!(scene.mounted().len(), 3);
}

#[test]
fn the_image_mount_may_be_lost_alone() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../one");
    let base = scene.mounted()[0].clone();
    hedgerow_fs::unmount(&base, true).unwrap();
    scene.assert_clean("one");
    scene.add("../two");
    scene.assert_clean("two");
    scene.hedgerow("r", "worktree unmount one").ok("unmount");
    scene.assert_clean("two");
    scene.hedgerow("r", "worktree mount one").ok("mount");
    scene.assert_clean("one");
}

fn remove_images(scene: &Scene) {
    let store = scene.path("r/.git/hedgerow/images");
    std::fs::remove_dir_all(store).unwrap();
}

#[test]
fn a_removed_image_is_made_again_with_the_same_bytes() {
    if !can_mount() {
        return;
    }
    let scene = Scene::on_disk();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    let image = |scene: &Scene| {
        let name = scene.images()[0].split(' ').next().unwrap().to_owned();
        let kind = scene.images()[0].split(' ').nth(2).unwrap().to_owned();
        std::fs::read(scene.path(&format!("r/.git/hedgerow/images/{name}.{kind}"))).unwrap()
    };
    let before = image(&scene);
    remove_images(&scene);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert!(image(&scene) == before, "another image");
    assert_eq!(scene.read("w/a"), "changed\n");
    // The index still fits: the other files count as unchanged by their stat data.
    let files = scene.by_git("w", "diff-files --name-only").ok("diff-files");
    assert_eq!(files, b"a\n");
}

#[test]
fn an_image_that_cannot_be_made_again_is_missed_aloud() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    scene.lose_mounts();
    remove_images(&scene);
    scene.repository.git(&["config", "core.autocrlf", "true"]);
    let error = scene
        .hedgerow("r", "worktree mount --all")
        .failed(128, "mount");
    assert!(
        error.contains(
            "conversions (such as core.autocrlf, core.symlinks, filters, LFS) changed since"
        ),
        "{error}"
    );
    assert!(error.contains("its changes are in '"), "{error}");
    let upper = scene.path("r/.git/worktrees/w/hedgerow/upper/a");
    assert_eq!(std::fs::read_to_string(upper).unwrap(), "changed\n");
    scene
        .repository
        .git(&["config", "--unset", "core.autocrlf"]);
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    assert_eq!(scene.read("w/a"), "changed\n");
}

#[test]
fn an_image_whose_tree_is_gone_is_missed_aloud() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.repository.write("a", "gone soon\n");
    scene.repository.commit("gone soon");
    scene.add("--detach ../w");
    scene
        .by_git("w", "checkout -q --detach HEAD~1")
        .ok("checkout");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    remove_images(&scene);
    scene.repository.git(&["reset", "-q", "--hard", "HEAD~1"]);
    for log in ["r/.git/logs", "r/.git/worktrees/w/logs"] {
        std::fs::remove_dir_all(scene.path(log)).unwrap();
    }
    let _ = std::fs::remove_file(scene.path("r/.git/ORIG_HEAD"));
    let _ = std::fs::remove_file(scene.path("r/.git/worktrees/w/ORIG_HEAD"));
    scene.by_git("r", "gc -q --prune=now").ok("gc");
    let error = scene.hedgerow("r", "worktree mount w").failed(128, "mount");
    assert!(error.contains("no such tree any more"), "{error}");
    assert!(error.contains("its changes are in '"), "{error}");
}

#[test]
fn a_repository_is_moved() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    let moved = |scene: &Scene| {
        std::fs::rename(scene.path("r"), scene.path("moved")).unwrap();
    };
    // While it is mounted.
    hedgerow_fs::unmount(&scene.mounted()[0], true).unwrap();
    moved(&scene);
    scene.by_git("w", "status").failed(128, "status");
    scene.hedgerow("moved", "worktree mount w").ok("mount");
    assert_eq!(
        scene.by_git("w", "status --porcelain").ok("status"),
        b" M a\n"
    );
    std::fs::rename(scene.path("moved"), scene.path("r")).unwrap();
    scene
        .by_git("r", "worktree repair")
        .ok("git repairs what is mounted");
    assert_eq!(
        scene.by_git("w", "status --porcelain").ok("status"),
        b" M a\n"
    );
    // While it is not.
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    moved(&scene);
    scene.hedgerow("moved", "worktree mount --all").ok("mount");
    assert_eq!(
        scene.by_git("w", "status --porcelain").ok("status"),
        b" M a\n"
    );
    assert_eq!(scene.read("w/a"), "changed\n");
}

#[test]
fn the_place_of_a_tree_is_moved() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    std::fs::rename(scene.path("w"), scene.path("v")).unwrap();
    let repaired = scene.hedgerow("r", "worktree repair ../v");
    assert!(
        repaired.stderr.contains("gitdir incorrect"),
        "{}",
        repaired.stderr
    );
    repaired.ok("repair");
    scene.hedgerow("r", "worktree mount v").ok("mount");
    assert_eq!(
        scene.by_git("v", "status --porcelain").ok("status"),
        b" M a\n"
    );
    assert!(!scene.path("w").exists());
    // The sign follows a repository that was moved.
    scene.hedgerow("r", "worktree unmount v").ok("unmount");
    std::fs::rename(scene.path("r"), scene.path("moved")).unwrap();
    scene.hedgerow("v", "worktree mount").failed(128, "mount");
    let repaired = scene.hedgerow("moved", "worktree repair");
    assert!(repaired.stderr.contains("/v"), "{}", repaired.stderr);
    scene.hedgerow("v", "worktree mount").ok("mount");
    assert_eq!(scene.read("v/a"), "changed\n");
    assert_eq!(scene.mounted().len(), 2);
    let base: &PathBuf = &scene.mounted()[0];
    assert!(base.starts_with(scene.path("moved")));
}

#[test]
fn a_place_that_names_somebody_elses_repository_leads_nowhere() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.lose_mounts();
    for line in ["worktree mount", "worktree list"] {
        let mut command = HEDGEROW.command(&scene.path("w"));
        command.args(line.split(' '));
        command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
        let error = run(command).failed(128, line);
        assert!(error.contains("detected dubious ownership"), "{error}");
    }
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
    scene.hedgerow("w", "worktree mount").ok("mount");
}

#[test]
fn hedgerow_stops_also_where_the_git_directory_is_named() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    let admin = scene.path("r/.git/worktrees/w");
    let named = |place: &str, line: &str| {
        let mut command = HEDGEROW.command(&scene.path(place));
        command.env("GIT_DIR", &admin);
        command.env("GIT_WORK_TREE", scene.path("w"));
        command.args(line.split(' '));
        run(command)
    };
    assert_eq!(named("r", "status --porcelain").ok("status"), b"");
    let check = |what: &str| {
        for line in [
            "status",
            "stash",
            "reset --hard",
            "restore .",
            "checkout -f",
            "clean -fd",
            "ls-files -d",
            "checkout-index -a",
            "read-tree -m -u HEAD",
            "sparse-checkout set d",
            "worktree add ../other",
        ] {
            if line.starts_with("worktree") && what == "lost" {
                continue;
            }
            let ended = named("r", line);
            if line.starts_with("worktree") {
                ended.ok(line);
                continue;
            }
            let error = ended.failed(128, line);
            assert!(
                error.contains("'hedgerow worktree mount'"),
                "{line}: {error}"
            );
        }
        named("r", "ls-files").ok("what needs no working tree");
    };
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    check("unmounted");
    scene.lose_mounts();
    check("lost");
    // What `git worktree repair` writes where the sign was deleted.
    std::fs::remove_dir_all(scene.path("w/.git")).unwrap();
    check("lost");
    scene.by_git("r", "worktree repair").ok("repair");
    assert!(scene.path("w/.git").is_file());
    check("lost");
    let error = scene.hedgerow("w", "status").failed(128, "status");
    assert!(error.contains("'hedgerow worktree mount'"), "{error}");
    named("r", "worktree mount").ok("mount");
    assert_eq!(named("r", "status --porcelain").ok("status"), b"");
    scene.assert_clean("w");
}

#[test]
fn no_directory_of_old_is_made_for_a_tree_that_was_moved() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    std::fs::create_dir(scene.path("old")).unwrap();
    scene.add("../old/w");
    scene.write("old/w/a", "changed\n");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    std::fs::rename(scene.path("old"), scene.path("new")).unwrap();
    let error = scene
        .hedgerow("r", "worktree mount --all")
        .failed(128, "mount");
    assert!(
        error.contains("'hedgerow worktree repair NEW-PATH'"),
        "{error}"
    );
    assert!(!scene.path("old").exists());
    scene.hedgerow("r", "worktree repair ../new/w").ok("repair");
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    assert_eq!(scene.read("new/w/a"), "changed\n");
}

#[test]
fn an_image_is_made_again_with_the_settings_of_any_tree_that_has_them() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/d/b", "changed\n");
    scene.by_git("w", "sparse-checkout set d").ok("sparse");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    remove_images(&scene);
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    assert_eq!(scene.read("w/d/b"), "changed\n");
    // The other way round.
    scene.hedgerow("r", "worktree remove -f w").ok("remove");
    scene
        .hedgerow("r", "worktree add -q --no-checkout ../s")
        .ok("add");
    scene
        .by_git("s", "sparse-checkout set --no-cone /d")
        .ok("sparse");
    scene.by_git("s", "checkout -q --detach").ok("checkout");
    scene
        .hedgerow("s", "worktree add -q --mount --detach ../w")
        .ok("add");
    scene.write("w/d/b", "changed\n");
    scene.hedgerow("r", "worktree remove -f s").ok("remove");
    let set = |line: &str| {
        scene
            .by_git("w", &format!("sparse-checkout {line}"))
            .ok(line);
        scene.hedgerow("r", "worktree unmount --all").ok("unmount");
        remove_images(&scene);
    };
    set("disable");
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.read("w/d/b"), "changed\n");
    // Nobody has these patterns any more.
    set("set --no-cone /a /d/b");
    let error = scene.hedgerow("r", "worktree mount w").failed(128, "mount");
    assert!(
        error.contains("the patterns of the sparse checkout changed"),
        "{error}"
    );
    let at = error.find("'hedgerow image-store make ").unwrap() + 1;
    let command = error[at..].split('\'').next().unwrap();
    // What it says helps.
    scene
        .hedgerow("r", "worktree add -q --no-checkout --detach ../s")
        .ok("add");
    scene
        .by_git("s", "sparse-checkout set --no-cone /d")
        .ok("sparse");
    scene
        .hedgerow("s", command.strip_prefix("hedgerow ").unwrap())
        .ok("make");
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.read("w/d/b"), "changed\n");
}
