//! The store of images.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{isolated, run};

#[test]
fn what_is_needed_stays_and_the_oldest_of_the_rest_goes() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .git(&["config", "hedgerow.imageDistance", "0"]);
    for version in ["1", "2", "3"] {
        scene.repository.write("a", version);
        scene.repository.commit(version);
        scene.add(&format!("../w{version}"));
    }
    assert_eq!(scene.images().len(), 3);
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(scene.images().len(), 3);
    scene.hedgerow("r", "worktree unmount w1").ok("unmount");
    scene.hedgerow("r", "worktree remove w2").ok("remove");
    let notes = |scene: &Scene, note: &str| {
        let images = scene.images();
        images.iter().filter(|line| line.ends_with(note)).count()
    };
    assert_eq!(
        (notes(&scene, " mounted"), notes(&scene, " needed")),
        (1, 1)
    );
    let shown = scene
        .hedgerow("r", "image-store prune --all -n")
        .ok("prune");
    let removed = scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(shown, removed);
    assert_eq!(scene.images().len(), 2);
    scene.hedgerow("r", "worktree mount w1").ok("mount");
    assert_eq!(scene.read("w1/a"), "1");
    // A limit is kept by whoever makes the next one.
    scene.hedgerow("r", "worktree remove w1").ok("remove");
    scene
        .repository
        .git(&["config", "hedgerow.imageStoreSize", "1"]);
    scene.repository.write("a", "4");
    scene.repository.commit("4");
    scene.add("../w4");
    assert_eq!((scene.images().len(), notes(&scene, " mounted")), (2, 2));
}

#[test]
fn images_are_made_ahead_of_time() {
    let scene = Scene::new();
    scene.repository.write("a", "second");
    scene.repository.commit("second");
    let made = |words: &str| {
        let command = format!("image-store make {words}");
        scene.hedgerow("r", command.trim_end())
    };
    let error = made("HEAD no-such-branch").failed(2, "make");
    assert!(error.contains("no-such-branch"), "{error}");
    assert_eq!(scene.images(), Vec::<String>::new());
    let listed = made("HEAD HEAD~ HEAD").ok("make");
    let listed = String::from_utf8(listed).unwrap();
    let mut listed: Vec<&str> = listed.lines().collect();
    let mut images = scene.images();
    listed.sort_unstable();
    images.sort_unstable();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed, images);
    assert_eq!(made("").ok("again"), b"");
    if can_mount() {
        scene.add("../w");
        assert_eq!(scene.images().len(), 2);
        scene.assert_clean("w");
    }
    // The limit is kept; the one made last stays longest.
    scene
        .repository
        .git(&["config", "hedgerow.imageStoreSize", "1"]);
    scene.repository.write("a", "third");
    scene.repository.commit("third");
    made("").ok("make");
    let needed = usize::from(can_mount());
    assert_eq!(scene.images().len(), needed);
}

#[test]
fn damage_is_found() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .git(&["config", "hedgerow.imageFormat", "erofs"]);
    scene.repository.write("large", vec![b'x'; 100_000]);
    scene.repository.commit("large");
    scene.add("../w");
    scene.hedgerow("r", "worktree remove w").ok("remove");
    let name = scene.images()[0].split(' ').next().unwrap().to_owned();
    let path = scene.path(&format!("r/.git/hedgerow/images/{name}.erofs"));
    let mut image = std::fs::read(&path).unwrap();
    let at = image
        .windows(64)
        .position(|bytes| bytes == [b'x'; 64])
        .unwrap();
    image[at + 20] = b'y';
    std::fs::write(&path, image).unwrap();
    let error = scene
        .hedgerow("r", "image-store verify")
        .failed(3, "verify");
    assert!(
        error.contains("differs from a checkout of its tree:\n  large"),
        "{error}"
    );
}

#[test]
fn several_who_need_the_same_image_make_one() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let place = scene.path("r");
            scope.spawn(move || {
                let mut command = HEDGEROW.command(&place);
                let tree = format!("../w{number}");
                command.args(["worktree", "add", "--mount", "--detach", &tree]);
                let added = run(command);
                assert!(!added.stderr.contains("warning"), "{}", added.stderr);
                added.ok("add");
            });
        }
    });
    assert_eq!(scene.images().len(), 1);
    assert_eq!(scene.mounted().len(), 7);
    for number in 0..6 {
        scene.assert_clean(&format!("w{number}"));
    }
}

/// The repository `r` and its clone `clone`, which keep their images in the directory `shared`.
fn sharing() -> Scene {
    let scene = Scene::new();
    scene.by_git("", "clone -q r clone").ok("clone");
    let store = scene.path("shared").display().to_string();
    for place in ["r", "clone"] {
        let set = format!("config hedgerow.imageStore {store}");
        scene.by_git(place, &set).ok("config");
    }
    scene
}

#[test]
fn clones_share_a_store_and_keep_what_the_other_needs() {
    if !can_mount() {
        return;
    }
    let scene = sharing();
    scene.add("../w");
    scene
        .hedgerow("clone", "worktree add --mount ../v")
        .ok("add");
    scene.assert_clean("v");
    assert_eq!(scene.images().len(), 1);
    assert!(!scene.path("r/.git/hedgerow/images").exists());
    scene.hedgerow("r", "worktree remove w").ok("remove");
    scene.hedgerow("clone", "worktree unmount v").ok("unmount");
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(scene.images().len(), 1);
    scene.hedgerow("clone", "worktree mount v").ok("mount");
    scene.assert_clean("v");
    scene.hedgerow("clone", "worktree remove v").ok("remove");
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(scene.images(), Vec::<String>::new());
}

#[test]
fn a_store_that_was_deleted_knows_who_mounts_again() {
    if !can_mount() {
        return;
    }
    let scene = sharing();
    scene.add("../w");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    std::fs::remove_dir_all(scene.path("shared")).unwrap();
    scene.hedgerow("r", "worktree mount w").ok("mount");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    scene
        .hedgerow("clone", "image-store prune --all")
        .ok("prune");
    assert_eq!(scene.images().len(), 1);
    // Also of a repository that was moved.
    std::fs::rename(scene.path("r"), scene.path("moved")).unwrap();
    scene.hedgerow("moved", "worktree mount w").ok("mount");
    scene.hedgerow("moved", "worktree unmount w").ok("unmount");
    scene
        .hedgerow("clone", "image-store prune --all")
        .ok("prune");
    std::fs::rename(scene.path("moved"), scene.path("r")).unwrap();
    assert_eq!(scene.images().len(), 1);
}

#[test]
fn a_store_that_cannot_be_written_is_told_of() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .git(&["config", "hedgerow.imageStore", "/proc"]);
    let added = scene.hedgerow("r", "worktree add --mount ../w");
    let reason = "the store of images '/proc' cannot be written";
    assert!(added.stderr.contains(reason), "{}", added.stderr);
    added.ok("add");
    scene.assert_clean("w");
    assert_eq!(scene.mounted().len(), 2);
}

#[test]
fn what_a_killed_maker_left_is_removed() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let files = || {
        let files = std::fs::read_dir(scene.path("r/.git/hedgerow/images")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.contains('-')).collect();
        names.sort();
        names
    };
    let strip = || {
        for name in files().iter().filter(|name| name.ends_with(".index")) {
            std::fs::remove_file(scene.path("r/.git/hedgerow/images").join(name)).unwrap();
        }
    };
    scene.hedgerow("r", "image-store make").ok("make");
    strip();
    assert_eq!(files().len(), 2);
    let shown = scene.hedgerow("r", "image-store prune -n").ok("prune");
    assert_eq!(files().len(), 2);
    assert_eq!(scene.hedgerow("r", "image-store prune").ok("prune"), shown);
    assert_eq!((files(), shown.is_empty()), (Vec::new(), false));
    // Whoever makes another one removes it, too, unless working trees need it.
    scene.hedgerow("r", "image-store make").ok("make");
    strip();
    scene.repository.write("a", "second");
    scene.repository.commit("second");
    scene.hedgerow("r", "image-store make").ok("make");
    assert_eq!(files().len(), 3, "{:?}", files());
    scene.add("../w");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    strip();
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(files().len(), 2);
    scene.hedgerow("r", "worktree mount w").ok("mount");
    scene.assert_clean("w");
}

#[test]
fn images_of_other_settings_are_compared_or_named() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .hedgerow("r", "worktree add -q --no-checkout ../s")
        .ok("add");
    scene
        .by_git("s", "sparse-checkout set --no-cone /d")
        .ok("sparse");
    scene.by_git("s", "checkout -q --detach").ok("checkout");
    scene
        .hedgerow("s", "worktree add -q --mount --detach ../sm")
        .ok("add");
    let verify = || scene.hedgerow("r", "image-store verify");
    let listed = String::from_utf8(verify().ok("verify")).unwrap();
    assert!(
        listed.ends_with(" ok\n") && listed.lines().count() == 1,
        "{listed}"
    );
    // Of another user's umask.
    let mut command = isolated("sh");
    command.args(["-c", "umask 077 && exec \"$0\" image-store make"]);
    command.arg(env!("CARGO_BIN_EXE_hedgerow"));
    command.current_dir(scene.path("r"));
    run(command).ok("make");
    let listed = String::from_utf8(verify().ok("verify")).unwrap();
    assert_eq!(listed.matches(" ok\n").count(), 2, "{listed}");
    scene.repository.git(&["config", "core.autocrlf", "true"]);
    let error = verify().failed(3, "verify");
    assert!(
        error.contains("was not compared: no working tree has its settings (conversions"),
        "{error}"
    );
    scene
        .repository
        .git(&["config", "--unset", "core.autocrlf"]);
    verify().ok("verify");
}

#[test]
fn an_image_that_has_no_room_is_not_said_to_be_made() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .git(&["config", "hedgerow.imageDistance", "0"]);
    scene.add("../w");
    scene.repository.write("a", "second");
    scene.repository.commit("second");
    scene
        .repository
        .git(&["config", "hedgerow.imageStoreSize", "1"]);
    let made = scene.hedgerow("r", "image-store make");
    assert!(
        made.stderr.contains("no room in hedgerow.imageStoreSize"),
        "{}",
        made.stderr
    );
    assert_eq!(made.ok("make"), b"");
    assert_eq!(scene.images().len(), 1);
}
