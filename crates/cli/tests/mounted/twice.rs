//! One layer of changes is mounted once: by several at the same time, from a copy of its repository, in
//! another mount namespace.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{isolated, require, run, Outcome};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs lines in the repository at the same time.
fn at_once(scene: &Scene, lines: &[&str]) -> Vec<Outcome> {
    std::thread::scope(|scope| {
        let started: Vec<_> = lines
            .iter()
            .map(|line| {
                let mut command = HEDGEROW.command(&scene.path("r"));
                command.args(line.split(' '));
                scope.spawn(move || run(command))
            })
            .collect();
        let ended = started.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    })
}

#[test]
fn several_mount_at_once() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for number in 0..4 {
        scene.add(&format!("--detach ../w{number}"));
    }
    for round in 0..5 {
        scene.hedgerow("r", "worktree unmount --all").ok("unmount");
        for number in 0..4 {
            let sign = std::fs::read_dir(scene.path(&format!("w{number}/.git"))).unwrap();
            let names = sign.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            assert!(
                !names.into_iter().any(|name| name.ends_with(".lock")),
                "{round}"
            );
        }
        for outcome in at_once(&scene, &["worktree mount --all"; 4]) {
            outcome.ok("mount");
        }
        assert_eq!(scene.mounted().len(), 5, "{round}");
    }
}

#[test]
fn mounting_and_unmounting_a_commit_and_checking_its_image_end() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for round in 0..15 {
        let lines = ["unmount -f ../m", "mount HEAD ../m", "image-store verify"];
        let [unmounted, mounted, verified]: [Outcome; 3] =
            at_once(&scene, &lines).try_into().unwrap();
        assert!([0, 2].contains(&unmounted.code), "{round}: {unmounted:?}");
        assert!([0, 2].contains(&mounted.code), "{round}: {mounted:?}");
        // The first time, the image may not be there yet.
        verified.ok("verify");
    }
    scene.hedgerow("r", "unmount -f ../m");
    assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn one_of_several_adds_gets_the_place() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for round in 0..5 {
        let ended = at_once(&scene, &["worktree add --mount --detach ../w"; 3]);
        let added = ended.iter().filter(|outcome| outcome.code == 0).count();
        assert_eq!(added, 1, "{round}: {ended:?}");
        scene.assert_clean("w");
        let list = scene.hedgerow("r", "worktree list").text();
        assert_eq!(list.lines().count(), 2, "{list}");
        scene.hedgerow("r", "worktree remove w").ok("remove");
    }
}

#[test]
fn images_are_pruned_while_trees_are_added() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let pruned = scene.hedgerow("r", "image-store prune --all");
                    assert_eq!(pruned.code, 0, "{}", pruned.stderr);
                }
            });
        }
        let outcomes: Vec<[Outcome; 2]> = (0..30)
            .map(|_| {
                ["add --mount --detach ../w", "remove w"]
                    .map(|line| scene.hedgerow("r", &format!("worktree {line}")))
            })
            .collect();
        is_over.store(true, Ordering::SeqCst);
        for outcome in outcomes.into_iter().flatten() {
            assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
            outcome.ok("add, remove");
        }
    });
}

/// A changed working tree `w` of the repository `r`, which was copied to `copy`.
fn copied() -> Scene {
    let scene = Scene::new();
    scene.add("-b topic ../w");
    scene.write("w/a", "changed\n");
    let mut copy = isolated("cp");
    copy.args(["-a", "r", "copy"]).current_dir(&scene.root);
    run(copy).ok("cp");
    scene
}

#[test]
fn a_copy_of_a_repository_takes_no_tree_away() {
    if !can_mount() {
        return;
    }
    let scene = copied();
    let link = scene.read("w/.git");
    let is_untouched = |what: &str| {
        assert_eq!(scene.read("w/.git"), link, "{what}");
        let status = scene.by_git("w", "status --porcelain").ok(what);
        assert_eq!(status, b" M a\n", "{what}");
    };
    for line in [
        "worktree mount --all",
        "worktree mount w",
        "worktree unmount --all",
        "worktree unmount w",
        "worktree remove w",
    ] {
        let error = scene.hedgerow("copy", line).failed(128, line);
        assert!(
            error.contains("a copy of a repository has no mounted"),
            "{line}: {error}"
        );
        is_untouched(line);
    }
    // Nor while it is not mounted.
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    let sign = scene.read("w/.git/hedgerow");
    scene
        .hedgerow("copy", "worktree mount --all")
        .failed(128, "mount");
    scene
        .hedgerow("copy", "worktree repair")
        .failed(1, "repair");
    assert_eq!(scene.read("w/.git/hedgerow"), sign);
    scene.hedgerow("r", "worktree mount w").ok("mount");
    is_untouched("mount");
    // The copy has the changes, too, and gets a place for them.
    scene.hedgerow("copy", "worktree move w ../v").ok("move");
    is_untouched("move");
    scene.hedgerow("copy", "worktree mount v").ok("mount");
    assert_eq!(scene.read("v/a"), "changed\n");
    scene.write("v/a", "changed in the copy\n");
    is_untouched("a change in the copy");
    let status = scene.by_git("v", "status --porcelain").ok("status");
    assert_eq!(status, b" M a\n");
    scene
        .hedgerow("copy", "worktree remove --force v")
        .ok("remove");
    is_untouched("remove");
}

#[test]
fn a_copy_gives_up_its_layers_alone() {
    if !can_mount() {
        return;
    }
    let scene = copied();
    scene
        .hedgerow("copy", "worktree remove --force w")
        .ok("remove");
    assert!(!scene.path("copy/.git/worktrees").exists());
    assert_eq!(scene.read("w/a"), "changed\n");
    let status = scene.by_git("w", "status --porcelain").ok("status");
    assert_eq!(status, b" M a\n");
}

#[test]
fn what_another_namespace_uses_is_neither_mounted_nor_removed() {
    if !can_mount() || !require("unshare") {
        return;
    }
    let scene = Scene::alone();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    let mut holder = isolated("unshare");
    holder.args([
        "-m",
        "--propagation",
        "private",
        "sh",
        "-c",
        "echo ready; read line",
    ]);
    holder.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(holder.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    for line in ["worktree mount w", "worktree remove --force w"] {
        let error = scene.hedgerow("r", line).failed(128, line);
        assert!(error.contains("in another mount namespace"), "{error}");
    }
    drop(holder.stdin.take());
    holder.wait().unwrap();
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.read("w/a"), "changed\n");
}

#[test]
fn what_is_mounted_elsewhere_is_neither_mounted_nor_removed() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    let gitdir = scene.path("r/.git/worktrees/w/gitdir");
    let elsewhere = format!("{}/.git\n", scene.path("v").display());
    std::fs::write(gitdir, elsewhere).unwrap();
    for line in [
        "worktree mount --all",
        "worktree remove --force v",
        "worktree move v ../u",
    ] {
        let error = scene.hedgerow("r", line).failed(128, line);
        assert!(error.contains("are mounted on '"), "{line}: {error}");
    }
    assert_eq!(scene.read("w/a"), "changed\n");
    scene.hedgerow("r", "worktree repair ../w").ok("repair");
    scene
        .hedgerow("r", "worktree remove --force w")
        .ok("remove");
}

#[test]
fn what_was_moved_and_mounted_at_its_old_place_is_repaired_after_unmounting() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.write("w/a", "changed\n");
    let moved = || {
        scene.hedgerow("r", "worktree unmount ../w").ok("unmount");
        std::fs::rename(scene.path("w"), scene.path("w2")).unwrap();
        scene.hedgerow("r", "worktree mount --all").ok("mount");
    };
    moved();
    let error = scene
        .hedgerow("r", "worktree repair ../w2")
        .failed(1, "repair");
    assert!(error.contains("mounted elsewhere"), "{error}");
    let listed = scene.hedgerow("r", "worktree list --porcelain").text();
    assert!(!listed.contains("/w2\n"), "{listed}");
    scene.hedgerow("r", "worktree unmount ../w").ok("unmount");
    scene.hedgerow("r", "worktree repair ../w2").ok("repair");
    scene.hedgerow("r", "worktree mount ../w2").ok("mount");
    assert_eq!(scene.read("w2/a"), "changed\n");
    // What knows another place is unmounted where it is.
    let gitdir = scene.path("r/.git/worktrees/w/gitdir");
    let elsewhere = format!("{}/.git\n", scene.path("v").display());
    for line in [
        "worktree unmount --all",
        "worktree unmount ../w2",
        "worktree unmount ../v",
    ] {
        std::fs::write(&gitdir, &elsewhere).unwrap();
        let told = scene.hedgerow("r", line);
        let place = format!("unmounted '{}'", scene.path("w2").display());
        assert!(told.stderr.contains(&place), "{line}: {}", told.stderr);
        told.ok(line);
        assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new());
        assert!(!scene.path("w2").exists(), "{line}");
        scene.hedgerow("r", "worktree mount --all").ok("mount");
        assert_eq!(scene.read("v/a"), "changed\n");
        scene
            .hedgerow("r", "worktree move ../v ../w2")
            .ok("move it back");
    }
    // A directory of somebody else, where it was mounted, too, stays.
    std::fs::create_dir(scene.path("bound")).unwrap();
    let mut bind = isolated("mount");
    bind.args(["--bind", "w2", "bound"])
        .current_dir(&scene.root);
    run(bind).ok("mount --bind");
    scene.hedgerow("r", "worktree unmount ../w2").ok("unmount");
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new());
    assert!(scene.path("bound").exists());
}
