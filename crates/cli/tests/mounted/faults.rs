//! Processes that are killed, disks that are full, calls that fail.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{run, skip, Mount};
use std::process::Stdio;
use std::time::Duration;

/// The names of files in the store that are neither images nor what belongs to them.
fn leftovers(scene: &Scene) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(scene.path("r/.git/hedgerow/images")) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_known = |name: &String| {
        let name = name.as_str();
        let endings = [".erofs", ".index", ".settings"];
        name == "lock" || name == "users" || endings.iter().any(|end| name.ends_with(end))
    };
    names.filter(|name| !is_known(name)).collect()
}

#[test]
fn a_killed_maker_leaves_nothing_that_matters() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for number in 0..200 {
        scene
            .repository
            .write(format!("many/{number}"), vec![number as u8; 4000]);
    }
    scene.repository.commit("many");
    for moment in 0..24 {
        let mut command = HEDGEROW.command(&scene.path("r"));
        let place = format!("../w{moment}");
        command.args(["worktree", "add", "--mount", "--detach", &place]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_micros(moment * 1500));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(leftovers(&scene), Vec::<String>::new(), "{moment}");
        if moment % 6 == 5 {
            // Whoever comes next is not hindered.
            scene.add(&format!("--detach ../after{moment}"));
            scene.assert_clean(&format!("after{moment}"));
            scene
                .hedgerow("r", &format!("worktree remove after{moment}"))
                .ok("remove");
            scene.hedgerow("r", "image-store prune --all").ok("prune");
        }
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    if !can_mount() {
        return;
    }
    let Some(mount) = Mount::tmpfs("size=6m") else {
        return skip("no tmpfs can be mounted");
    };
    let scene = Scene::at(mount.path()).among_others();
    let mut noise = vec![0_u8; 2 << 20];
    let mut random = hedgerow_testkit::Random::new(7);
    noise
        .iter_mut()
        .for_each(|byte| *byte = random.number() as u8);
    scene.repository.write("noise", &noise);
    scene.repository.commit("noise");
    // Neither the image nor the file has room: files are tried after it, and that fails, too.
    let error = scene
        .hedgerow("r", "worktree add --mount --detach ../w")
        .failed(128, "add");
    assert!(error.contains("No space left on device"), "{error}");
    assert!(!scene.path("w").exists() && !scene.path("r/.git/worktrees/w").exists());
    assert_eq!(leftovers(&scene), Vec::<String>::new());
    assert_eq!(scene.images(), Vec::<String>::new());
    // With room for one image, but not for a change of it.
    scene.repository.remove("noise");
    scene.by_git("r", "gc -q --prune=now").ok("gc");
    scene.add("--detach ../w");
    let copied = std::fs::OpenOptions::new()
        .append(true)
        .open(scene.path("w/noise"));
    assert!(copied.is_err(), "there is room for a copy");
    scene.assert_clean("w");
    scene.by_git("w", "checkout -q HEAD").ok("checkout");
    scene.assert_clean("w");
    scene.hedgerow("r", "worktree remove w").ok("remove");
    drop(scene);
}

#[test]
fn each_call_to_mount_may_fail() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for number in 1..=3 {
        for setting in ["auto", "always"] {
            let mut command = HEDGEROW.command(&scene.path("r"));
            let place = format!("../w{number}{setting}");
            let setting = format!("hedgerow.worktreeMount={setting}");
            command.args(["-c", &setting, "worktree", "add", "--detach", &place]);
            command.env("HEDGEROW_TEST_FAULT", format!("mount:{number}:1"));
            let ended = run(command);
            ended.assert_civil(&setting);
            let place = place.trim_start_matches("../");
            if number == 3 {
                scene.assert_clean(place);
                continue;
            }
            if setting.ends_with("always") {
                assert_eq!(ended.code, 128, "{}", ended.stderr);
                assert!(
                    ended.stderr.contains("cannot be mounted: cannot mount"),
                    "{}",
                    ended.stderr
                );
                assert!(!scene.path(place).exists());
            } else {
                assert!(
                    ended.stderr.contains("its files are written: cannot mount"),
                    "{}",
                    ended.stderr
                );
                assert_eq!(scene.tree(place), scene.tree("r"));
                assert!(!scene
                    .path(&format!("r/.git/worktrees/{place}/hedgerow"))
                    .exists());
            }
        }
    }
}
