//! Processes that are killed before each change that they make to names and mounts. What they leave is
//! nothing, or it is ended by one of the other commands; a change is never lost, and git never takes a
//! tree for one whose files were all deleted.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{isolated, require, run, Outcome, Program};

/// The calls before which a process is killed.
const CALLS: &str = "rename,renameat,renameat2,link,linkat,mkdir,mkdirat,unlink,unlinkat,rmdir,\
                     fsmount,move_mount,umount2";

/// Runs hedgerow in the repository; `signal` comes before its call number `number` of `calls`.
fn struck(scene: &Scene, line: &str, calls: &str, (signal, number): (&str, u32)) -> Outcome {
    let Program::Hedgerow(hedgerow) = HEDGEROW else {
        unreachable!("it is no git");
    };
    let mut command = isolated("strace");
    command.args(["-f", "-qq", "-o", "/dev/null"]);
    command.args(["-e", &format!("trace={calls}")]);
    let inject = format!("inject={calls}:signal={signal}:when={number}");
    command.args(["-e", &inject]);
    command.arg(hedgerow).args(line.split(' '));
    command.current_dir(scene.path("r"));
    run(command)
}

/// Runs hedgerow in the repository, killed at its call number `number`; whether it came to its end before.
fn ends(scene: &Scene, line: &str, number: u32) -> bool {
    let ended = struck(scene, line, CALLS, ("KILL", number));
    assert!(ended.code == 0 || ended.code == 137, "{line}: {ended:?}");
    ended.code == 0
}

/// Kills `line` at each of its calls; `check` looks at what is left, ends it, and prepares the next one.
fn sweep(scene: &Scene, line: &str, check: &dyn Fn(&str)) {
    let seen = sweep_all(scene, line, check);
    assert!(seen > 5, "{line}: only {seen} calls were seen");
}

/// The same for a line of any number of calls, which is returned.
fn sweep_all(scene: &Scene, line: &str, check: &dyn Fn(&str)) -> u32 {
    let mut number = 1;
    while !ends(scene, line, number) {
        for place in ["w", "v"] {
            assert_nothing_deleted(scene, place);
        }
        check(&format!("{line}, killed at {number}"));
        number += 1;
        assert!(number < 200, "{line} never ends");
    }
    number
}

/// Where git sees a working tree, its files are there.
fn assert_nothing_deleted(scene: &Scene, place: &str) {
    if !scene.path(place).exists() {
        return;
    }
    let status = scene.by_git(place, "status --porcelain");
    let text = status.text();
    let is_deleted = |line: &str| line.starts_with(" D") || line.starts_with("D ");
    assert!(
        status.code != 0 || !text.lines().any(is_deleted),
        "{place}: {text}"
    );
}

/// Nothing is left of the trees, not even of what a killed process had begun.
fn assert_gone(scene: &Scene, what: &str) {
    scene.hedgerow("r", "worktree prune").ok(what);
    let left = std::fs::read_dir(scene.path("r/.git/worktrees"));
    let left: Vec<_> = left.into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{what}: {left:?}");
    for place in ["w", "v"] {
        // An empty directory is what git leaves as well.
        let _ = std::fs::remove_dir(scene.path(place));
        assert!(!scene.path(place).exists(), "{what}");
    }
    let trees = scene.mounted().into_iter();
    let trees: Vec<_> = trees
        .filter(|path| !path.starts_with(scene.path("r")))
        .collect();
    assert!(trees.is_empty(), "{what}: {trees:?}");
}

fn is_known(scene: &Scene, place: &str) -> bool {
    let listed = scene.hedgerow("r", "worktree list --porcelain").text();
    listed.contains(&format!("worktree {}\n", scene.path(place).display()))
}

#[test]
fn a_killed_add_is_ended_or_pruned() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    sweep(&scene, "worktree add --mount --detach ../w", &|what| {
        let mounted = scene.hedgerow("r", "worktree mount --all");
        assert_eq!(mounted.code, 0, "{what}: {}", mounted.stderr);
        scene.hedgerow("r", "worktree prune").ok(what);
        if is_known(&scene, "w") {
            scene.assert_clean("w");
            // It is like any other now: neither locked by its maker nor without its files.
            scene.hedgerow("r", "worktree remove w").ok(what);
        }
        assert_gone(&scene, what);
    });
    scene.assert_clean("w");
}

#[test]
fn an_add_that_is_ended_leaves_nothing_mounted() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    let line = "worktree add --mount --detach ../w";
    for call in ["fsmount", "move_mount", "renameat"] {
        let mut number = 1;
        while struck(&scene, line, call, ("TERM", number)).code != 0 {
            if is_known(&scene, "w") {
                // It was whole before.
                scene.hedgerow("r", "worktree remove w").ok("remove");
            }
            let mounted = scene.mounted();
            assert!(mounted.is_empty(), "{call} {number}: {mounted:?}");
            assert!(!scene.path("w").exists(), "{call} {number}");
            number += 1;
        }
        assert!(number > 1, "{call}");
        scene.hedgerow("r", "worktree remove w").ok("remove");
    }
}

#[test]
fn an_add_that_was_killed_early_is_not_passed_over() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    let mut seen = 0;
    for number in 1..40 {
        let place = format!("w{number}");
        let line = format!("worktree add --mount --detach ../{place}");
        if struck(&scene, &line, "renameat", ("KILL", number)).code == 0 {
            break;
        }
        let layers = scene.path(&format!("r/.git/worktrees/{place}/hedgerow"));
        let is_stopped = layers.is_dir() && !layers.join("image").exists();
        if is_stopped && is_known(&scene, &place) {
            let error = scene
                .hedgerow("r", "worktree mount --all")
                .failed(128, "mount");
            assert!(
                error.contains("'hedgerow worktree prune' ends it"),
                "{error}"
            );
            scene.hedgerow("r", "worktree unmount --all").ok("unmount");
            seen += 1;
        }
        scene.hedgerow("r", "worktree prune").ok("prune");
        if is_known(&scene, &place) {
            scene
                .hedgerow("r", &format!("worktree remove -f -f {place}"))
                .ok("remove");
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_killed_add_over_another_image_is_told_of() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    scene.add("../first");
    scene.repository.write("a", "another\n");
    scene.repository.commit("two");
    sweep(&scene, "worktree add --mount --detach ../w main", &|what| {
        let mounted = scene.hedgerow("r", "worktree mount --all");
        if mounted.code != 0 {
            assert!(
                mounted.stderr.contains("was stopped before"),
                "{what}: {}",
                mounted.stderr
            );
            assert!(is_known(&scene, "w"), "{what}");
        }
        scene.hedgerow("r", "worktree prune").ok(what);
        if is_known(&scene, "w") {
            scene.hedgerow("r", "worktree remove --force w").ok(what);
        }
        scene.hedgerow("r", "worktree remove first").ok(what);
        assert_gone(&scene, what);
        scene.add("--detach ../first main~1");
    });
    scene.assert_clean("w");
}

#[test]
fn a_killed_add_is_repeated_at_once() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    sweep(&scene, "worktree add --mount --detach ../w", &|what| {
        let again = scene.hedgerow("r", "worktree add --mount --detach ../w");
        if again.code != 0 {
            // It has its layers, and may have a sign.
            assert!(is_known(&scene, "w"), "{what}: {}", again.stderr);
            scene.hedgerow("r", "worktree mount w").ok(what);
        }
        scene.assert_clean("w");
        scene.hedgerow("r", "worktree remove w").ok(what);
        assert_gone(&scene, what);
    });
}

/// A tree with changes.
fn add_changed(scene: &Scene) {
    scene.add("--detach ../w");
    scene.write("w/a", "changed\n");
    scene.write("w/new", "new\n");
}

fn assert_changed(scene: &Scene, place: &str, what: &str) {
    // Git 2.47 does not know relative links.
    let status = scene.hedgerow(place, "status --porcelain").ok(what);
    assert_eq!(status, b" M a\n?? new\n", "{what}");
}

#[test]
fn a_killed_move_is_ended_by_mounting() {
    if !can_mount() || !require("strace") {
        return;
    }
    for options in ["", "--relative-paths "] {
        let scene = Scene::new();
        add_changed(&scene);
        sweep(
            &scene,
            &format!("worktree move {options}../w ../v"),
            &|what| {
                let mounted = scene.hedgerow("r", "worktree mount --all");
                assert_eq!(mounted.code, 0, "{what}: {}", mounted.stderr);
                let (here, there) = if is_known(&scene, "w") {
                    ("w", "v")
                } else {
                    ("v", "w")
                };
                assert!(!scene.path(there).exists(), "{what}");
                assert_changed(&scene, here, what);
                assert_eq!(scene.mounted().len(), 2, "{what}");
                if here == "v" {
                    scene.hedgerow("r", "worktree move ../v ../w").ok(what);
                }
            },
        );
        assert_changed(&scene, "v", options);
    }
}

#[test]
fn a_killed_mount_of_a_commit_leaves_no_image_mounted() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    // Either of these ends what was left, and nothing but the mount of the commit is its own.
    let clear = |what: &str| {
        scene.hedgerow("r", "worktree prune").ok(what);
        let left = scene.mounted();
        let is_whole = left.contains(&scene.path("w"));
        assert!(is_whole || left.is_empty(), "{what}: {left:?}");
        if is_whole {
            scene.hedgerow("r", "unmount ../w").ok(what);
        }
        assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new(), "{what}");
    };
    sweep(&scene, "mount HEAD ../w", &|what| clear(what));
    // Of several threads that remove a tree, each counts its own calls, and has few or many of them.
    for (line, expected) in [("-j1 unmount ../w", 4), ("unmount ../w", 2)] {
        let seen = sweep_all(&scene, line, &|what| {
            clear(what);
            scene.hedgerow("r", "mount HEAD ../w").ok(what);
        });
        assert!(seen >= expected, "{line}: only {seen} calls were seen");
        scene.hedgerow("r", "mount HEAD ../w").ok("the next");
    }
    clear("the end");
    for line in ["mount HEAD ../w", "mount --read-only HEAD ../w"] {
        let _ = std::fs::remove_dir(scene.path("w"));
        for number in 1..=2 {
            let ended = struck(&scene, line, "move_mount", ("TERM", number));
            let calls = if line.contains("only") { 1 } else { 2 };
            if number <= calls {
                assert_eq!(ended.code, 143, "{line}: {ended:?}");
                assert!(!scene.path("w").exists(), "{line}");
            }
            if scene.path("w").exists() {
                scene.hedgerow("r", "unmount ../w").ok(line);
            }
            assert_eq!(scene.mounted(), Vec::<std::path::PathBuf>::new(), "{line}");
        }
    }
}

#[test]
fn a_killed_mount_is_repeated() {
    if !can_mount() || !require("strace") {
        return;
    }
    let scene = Scene::new();
    add_changed(&scene);
    let lose = || {
        scene.hedgerow("r", "worktree unmount w").ok("unmount");
        // With its sign, it only has to be mounted.
        std::fs::remove_dir_all(scene.path("w")).unwrap();
    };
    lose();
    sweep(&scene, "worktree mount w", &|what| {
        let mounted = scene.hedgerow("r", "worktree mount --all");
        assert_eq!(mounted.code, 0, "{what}: {}", mounted.stderr);
        assert_changed(&scene, "w", what);
        lose();
    });
    assert_changed(&scene, "w", "mount");
}

#[test]
fn a_killed_removal_is_ended_or_undone() {
    if !can_mount() || !require("strace") {
        return;
    }
    for is_undone in [true, false] {
        let scene = Scene::new();
        add_changed(&scene);
        sweep(&scene, "worktree remove --force w", &|what| {
            if is_undone && scene.hedgerow("r", "worktree mount w").code == 0 {
                assert_changed(&scene, "w", what);
            }
            if is_known(&scene, "w") {
                scene.hedgerow("r", "worktree remove --force w").ok(what);
            }
            assert_gone(&scene, what);
            add_changed(&scene);
        });
        assert_gone(&scene, "remove");
    }
}
