//! What was damaged, by others or by the machine: it stops nothing else, is told, and comes back.

use crate::scene::{can_mount, Scene};
use bstr::ByteSlice;
use hedgerow_testkit::skip;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

#[test]
fn layers_that_name_no_image_stop_nothing_else() {
    if !can_mount() {
        return;
    }
    for content in [Some(""), None] {
        let scene = Scene::new();
        scene.add("../w");
        scene.add("../other");
        scene.write("w/a", "changed\n");
        scene.lose_mounts();
        let state = scene.path("r/.git/worktrees/w/hedgerow/image");
        match content {
            Some(content) => std::fs::write(&state, content).unwrap(),
            None => std::fs::remove_file(&state).unwrap(),
        }
        for line in [
            "worktree list",
            "worktree repair",
            "worktree prune",
            "image-store list",
            "image-store prune --all",
            "image-store verify",
            "worktree move w ../v",
        ] {
            scene.hedgerow("r", line).ok(line);
        }
        let error = scene
            .hedgerow("r", "worktree mount --all")
            .failed(128, "mount");
        let upper = scene.path("r/.git/worktrees/w/hedgerow/upper");
        assert!(
            error.contains(&format!("are in '{}'", upper.display())),
            "{error}"
        );
        assert_eq!(
            std::fs::read_to_string(upper.join("a")).unwrap(),
            "changed\n"
        );
        scene.assert_clean("other");
        scene
            .hedgerow("r", "worktree remove v")
            .failed(128, "remove");
        scene
            .hedgerow("r", "worktree remove --force v")
            .ok("remove");
        assert!(!scene.path("v").exists() && !scene.path("r/.git/worktrees/w").exists());
    }
}

/// The file of the only image, and the index beside it.
fn image_files(scene: &Scene) -> (PathBuf, PathBuf) {
    let images = scene.images();
    let mut words = images[0].split(' ');
    let name = words.next().unwrap();
    let kind = words.nth(1).unwrap();
    let file = |ending: &str| scene.path(&format!("r/.git/hedgerow/images/{name}.{ending}"));
    (file(kind), file("index"))
}

#[test]
fn a_damaged_index_of_an_image_is_not_used() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.hedgerow("r", "worktree remove w").ok("remove");
    let (_, index) = image_files(&scene);
    let size = std::fs::metadata(&index).unwrap().len() as usize;
    std::fs::write(&index, vec![0; size]).unwrap();
    scene
        .hedgerow("r", "image-store verify")
        .failed(3, "verify");
    let added = scene.hedgerow("r", "worktree add --mount --detach ../v");
    assert!(
        added.stderr.contains("delete this index of an image"),
        "{}",
        added.stderr
    );
    added.ok("add");
    scene.assert_clean("v");
    assert_eq!(scene.tree("v"), scene.tree("r"));
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
    std::fs::remove_file(&index).unwrap();
    scene.add("--detach ../w");
    scene.assert_clean("w");
}

#[test]
fn the_index_of_another_image_is_not_used() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .git(&["config", "hedgerow.imageDistance", "0"]);
    scene.repository.write("a", "another\n");
    scene.repository.commit("two");
    let make = "image-store make HEAD HEAD~1";
    scene.hedgerow("r", make).ok("make");
    let images = scene.path("r/.git/hedgerow/images");
    let index = |revision: &str| {
        let tree = scene
            .by_git("r", &format!("rev-parse {revision}^{{tree}}"))
            .text();
        let files = std::fs::read_dir(&images).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        let is_it = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(tree.trim_end()) && name.ends_with(".index")
        };
        paths.find(is_it).unwrap()
    };
    std::fs::copy(index("HEAD~1"), index("HEAD")).unwrap();
    let error = scene
        .hedgerow("r", "image-store verify")
        .failed(3, "verify");
    assert!(error.contains("it is that of the tree"), "{error}");
    let added = scene.hedgerow("r", "worktree add --mount --detach ../v");
    assert!(
        added.stderr.contains("it is that of the tree")
            && added.stderr.contains("delete this index of an image"),
        "{}",
        added.stderr
    );
    added.ok("add");
    scene.assert_clean("v");
    assert_eq!(scene.read("v/a"), "another\n");
    std::fs::remove_file(index("HEAD")).unwrap();
    scene.add("--detach ../w");
    scene.assert_clean("w");
}

#[test]
fn an_image_that_is_cut_is_not_mounted_and_made_again() {
    if !can_mount() {
        return;
    }
    for kind in ["erofs", "squashfs"] {
        let scene = Scene::new();
        let git = |words: &[&str]| scene.repository.git(words);
        git(&["config", "hedgerow.imageFormat", kind]);
        scene.repository.write("large", vec![b'x'; 100_000]);
        scene.repository.write(
            "more",
            (0..50_000_u32)
                .flat_map(u32::to_le_bytes)
                .collect::<Vec<_>>(),
        );
        scene.repository.commit("large");
        scene.add("../w");
        scene.write("w/a", "changed\n");
        scene.hedgerow("r", "worktree unmount w").ok("unmount");
        let (image, _) = image_files(&scene);
        for size in [4096, 0] {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(&image)
                .unwrap();
            file.set_len(size).unwrap();
            let error = scene.hedgerow("r", "worktree mount w").failed(128, "mount");
            assert!(
                error.contains("if it is damaged, delete it"),
                "{kind}: {error}"
            );
            scene
                .hedgerow("r", "image-store verify")
                .failed(3, "verify");
        }
        std::fs::remove_file(&image).unwrap();
        scene.hedgerow("r", "worktree mount w").ok("mount");
        assert_eq!(scene.read("w/a"), "changed\n");
        scene.hedgerow("r", "image-store verify").ok("verify");
    }
}

/// The listing of the directory above leaves out what cannot be examined.
#[test]
fn what_an_image_that_is_cut_hides_is_not_deleted() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    let (image, _) = image_files(&scene);
    let image = std::fs::OpenOptions::new().write(true).open(image).unwrap();
    image.set_len(4500).unwrap();
    if std::fs::symlink_metadata(scene.path("w/d")).is_ok() {
        skip("the kernel still knows what is in the image");
        return;
    }
    let outcome = scene.hedgerow("w", "status --short");
    assert!(!outcome.stdout.contains_str(" D"), "{outcome:?}");
    let said = outcome.failed(3, "status");
    assert!(said.contains("cannot stat 'd/b'"), "{said}");
}

#[test]
fn a_mount_without_layers_is_pruned() {
    if !can_mount() {
        return;
    }
    for line in ["worktree prune", "unmount ../w"] {
        let scene = Scene::new();
        scene.add("../w");
        scene.by_git("r", "worktree unlock w").ok("unlock");
        scene.by_git("r", "worktree remove --force w");
        assert!(!scene.path("r/.git/worktrees/w").exists());
        let error = scene
            .hedgerow("r", "worktree add --mount ../w")
            .failed(128, "add");
        assert!(
            error.contains("'hedgerow worktree prune' removes it"),
            "{error}"
        );
        scene.hedgerow("r", line).ok(line);
        assert!(!scene.path("w").exists(), "{line}");
        assert_eq!(
            scene.mounted().is_empty(),
            line == "worktree prune",
            "{line}"
        );
        scene.add("../w");
        scene.assert_clean("w");
    }
}

#[test]
fn a_tree_whose_files_were_all_deleted_is_removed() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    let _ = std::fs::remove_dir_all(scene.path("w"));
    assert!(!scene.path("w/.git").exists());
    let error = scene
        .hedgerow("r", "worktree remove w")
        .failed(128, "remove");
    assert!(
        error.contains("contains modified or untracked files"),
        "{error}"
    );
    scene
        .hedgerow("r", "worktree remove --force w")
        .ok("remove");
    assert!(!scene.path("w").exists() && !scene.path("r/.git/worktrees").exists());
}

#[test]
fn a_sign_that_was_replaced_by_a_link_comes_back() {
    if !can_mount() {
        return;
    }
    for line in ["worktree mount w", "worktree repair"] {
        let scene = Scene::new();
        scene.add("../w");
        scene.write("w/a", "changed\n");
        scene.hedgerow("r", "worktree unmount w").ok("unmount");
        std::fs::remove_dir_all(scene.path("w/.git")).unwrap();
        scene.by_git("r", "worktree repair").ok("repair");
        assert!(scene.path("w/.git").is_file());
        scene.hedgerow("r", line).ok(line);
        if line.ends_with("repair") {
            scene.by_git("w", "status").failed(128, "status");
            scene.hedgerow("r", "worktree mount w").ok("mount");
        }
        let status = scene.by_git("w", "status --porcelain").ok("status");
        assert_eq!(status, b" M a\n");
    }
}

#[test]
fn advice_never_leads_to_a_loss() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("-b topic ../w");
    scene.write("w/a", "changed\n");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    std::fs::remove_dir_all(scene.path("w")).unwrap();
    let upper = scene.path("r/.git/worktrees/w/hedgerow/upper");
    for line in [
        "worktree add --mount ../w topic",
        "worktree add -f -f ../w topic",
        "worktree add -f -f --mount ../w topic",
    ] {
        let error = scene.hedgerow("r", line).failed(128, line);
        assert!(
            error.contains("'hedgerow worktree mount' brings them back"),
            "{error}"
        );
        assert!(
            error.contains(&format!("are in '{}'", upper.display())),
            "{error}"
        );
    }
    scene.by_git("r", "worktree unlock w").ok("unlock");
    for line in ["worktree prune", "worktree prune -n"] {
        let pruned = scene.hedgerow("r", line);
        assert!(
            pruned.stderr.contains("changes are in '"),
            "{}",
            pruned.stderr
        );
        pruned.ok(line);
    }
    let list = scene.hedgerow("r", "worktree list").text();
    assert!(!list.contains("prunable"), "{list}");
    scene.hedgerow("r", "worktree mount w").ok("mount");
    assert_eq!(scene.read("w/a"), "changed\n");
    // It is locked again.
    scene
        .by_git("r", "worktree remove --force w")
        .failed(128, "remove");
    // Without changes, it is as any other.
    scene.by_git("w", "checkout -q a").ok("checkout");
    scene
        .hedgerow("r", "worktree remove --force w")
        .ok("remove");
    scene.add("../w topic");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    std::fs::remove_dir_all(scene.path("w")).unwrap();
    let error = scene
        .hedgerow("r", "worktree add ../w topic")
        .failed(128, "add");
    assert!(
        error.contains("'hedgerow worktree mount' brings it back"),
        "{error}"
    );
    scene
        .hedgerow("r", "worktree add -f -f --mount ../w topic")
        .ok("add");
    scene.assert_clean("w");
}

#[test]
fn trees_within_trees_come_back() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("--detach ../a/outer");
    scene.add("--detach ../a/outer/inner");
    scene.write("a/outer/inner/a", "changed\n");
    let is_back = || {
        let status = scene.by_git("a/outer", "status --porcelain").ok("status");
        assert_eq!(status, b"?? inner/\n");
        let status = scene
            .by_git("a/outer/inner", "status --porcelain")
            .ok("status");
        assert_eq!(status, b" M a\n");
    };
    scene.lose_mounts();
    let error = scene
        .hedgerow("r", "worktree mount inner")
        .failed(128, "mount");
    assert!(error.contains("which is not mounted"), "{error}");
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    is_back();
    scene.hedgerow("r", "worktree unmount --all").ok("unmount");
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    is_back();
}

#[test]
fn a_moved_tree_keeps_the_form_of_its_links() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("--relative-paths ../w");
    assert!(scene.read("w/.git").starts_with("gitdir: ../r"));
    std::fs::create_dir(scene.path("s")).unwrap();
    scene
        .hedgerow("r", "worktree move --relative-paths w ../s/v")
        .ok("move");
    assert!(scene.read("s/v/.git").starts_with("gitdir: ../../r"));
    // Git 2.47 does not know such links.
    let status = scene.hedgerow("s/v", "status --porcelain").ok("status");
    assert_eq!(status, b"");
    scene.hedgerow("r", "worktree move v ../w").ok("move");
    assert!(scene.read("w/.git").starts_with("gitdir: /"));
    let status = scene.hedgerow("w", "status --porcelain").ok("status");
    assert_eq!(status, b"");
}

#[test]
fn a_shared_repository_is_as_open_as_it_says() {
    if !can_mount() {
        return;
    }
    for (sharing, mode) in [("0600", 0o700), ("0640", 0o2750)] {
        let scene = Scene::new();
        scene
            .repository
            .git(&["config", "core.sharedRepository", sharing]);
        let store = scene.path("store").display().to_string();
        scene
            .repository
            .git(&["config", "hedgerow.imageStore", &store]);
        scene.add("../w");
        for path in [
            "w",
            "store",
            "store/users",
            "r/.git/hedgerow",
            "r/.git/hedgerow/mounts",
            "r/.git/worktrees/w/hedgerow",
        ] {
            let found = std::fs::metadata(scene.path(path)).unwrap().permissions();
            assert_eq!(found.mode() & 0o7777, mode, "{sharing}: {path}");
        }
        let user = std::fs::read_dir(scene.path("store/users")).unwrap().next();
        let user = user.unwrap().unwrap().metadata().unwrap().permissions();
        assert_eq!(user.mode() & 0o777, mode & 0o666, "{sharing}");
    }
}

#[test]
fn directories_hand_their_group_on_as_in_an_ordinary_tree() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let modes = |place: &str| {
        ["", "/d", "/d/e", "/d/b", "/run.sh"].map(|path| {
            let path = scene.path(&format!("{place}{path}"));
            let found = std::fs::symlink_metadata(path).unwrap();
            (found.mode() & 0o7777, found.gid())
        })
    };
    let mut number = 0;
    let mut compare = |above: &str, expected: u32| {
        number += 1;
        let [ours, gits] = ["ours", "git"].map(|who| format!("{above}{who}{number}"));
        scene.add(&format!("--detach ../{ours}"));
        let line = format!("worktree add --detach ../{gits}");
        scene.by_git("r", &line).ok("git");
        assert_eq!(modes(&ours), modes(&gits), "{number}");
        assert_eq!(modes(&ours)[1].0, expected, "{number}");
        std::fs::create_dir(scene.path(&format!("{ours}/d/new"))).unwrap();
        std::fs::create_dir(scene.path(&format!("{gits}/d/new"))).unwrap();
        let new = |place: &str| std::fs::metadata(scene.path(place).join("d/new")).unwrap();
        assert_eq!(new(&ours).mode(), new(&gits).mode(), "{number}");
        scene
            .hedgerow("r", "image-store verify")
            .ok("what is in the images");
    };
    compare("", 0o755);
    for sharing in ["group", "0660"] {
        scene
            .repository
            .git(&["config", "core.sharedRepository", sharing]);
        compare("", 0o2755);
    }
    // An image that is made ahead of time is the one that is used.
    let images = scene.images();
    scene.hedgerow("r", "image-store make").ok("make");
    assert_eq!(scene.images(), images);
    scene
        .repository
        .git(&["config", "--unset", "core.sharedRepository"]);
    compare("", 0o755);
    // The directory above may do so, too.
    let above = scene.path("above");
    std::fs::create_dir(&above).unwrap();
    std::os::unix::fs::chown(&above, None, Some(4242)).unwrap();
    std::fs::set_permissions(&above, std::fs::Permissions::from_mode(0o2755)).unwrap();
    compare("above/", 0o2755);
    let line = "worktree unmount --all";
    scene.hedgerow("r", line).ok(line);
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    for image in std::fs::read_dir(scene.path("r/.git/hedgerow/images")).unwrap() {
        let path = image.unwrap().path();
        if path.is_file() {
            std::fs::remove_file(path).unwrap();
        }
    }
    let line = "worktree mount --all";
    scene.hedgerow("r", line).ok("their images are made again");
    assert_eq!(modes("above/ours5"), modes("above/git5"));
}

#[test]
fn layers_that_are_gone_are_not_said_to_hold_the_changes() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    scene.hedgerow("r", "worktree unmount w").ok("unmount");
    std::fs::remove_dir_all(scene.path("r/.git/worktrees/w/hedgerow/upper")).unwrap();
    let error = scene.hedgerow("r", "worktree mount w").failed(128, "mount");
    assert!(
        error.contains("/upper' is missing, and with it the changes of the working tree"),
        "{error}"
    );
    assert!(!error.contains("changes are in"), "{error}");
    scene
        .hedgerow("r", "worktree remove --force w")
        .ok("remove");
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
}

#[test]
fn a_repository_on_another_overlay_is_told_of() {
    if !can_mount() {
        return;
    }
    let outer = Scene::new();
    outer.add("../w");
    for is_watched in [false, true] {
        let scene = Scene::at(&outer.path("w/d"));
        if is_watched {
            scene.watch();
        }
        let added = scene.hedgerow("r", "worktree add --mount ../v");
        assert!(
            added.stderr.contains("its files are written: cannot mount")
                && added
                    .stderr
                    .contains("the kernel does not take the file system of"),
            "{}",
            added.stderr
        );
        added.ok("add");
        assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
        std::fs::remove_dir_all(scene.path("r")).unwrap();
        std::fs::remove_dir_all(scene.path("v")).unwrap();
    }
}

#[test]
fn an_image_gives_no_rights() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.add("../w");
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let top = format!(" {} ", scene.path("w").display());
    let line = table.lines().find(|line| line.contains(&top)).unwrap();
    assert!(line.contains(" rw,nosuid,nodev"), "{line}");
}

#[test]
fn an_unborn_branch_is_not_mounted_and_that_is_told() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let added = scene.hedgerow("r", "worktree add --mount --orphan -b new ../w");
    assert!(
        added
            .stderr
            .contains("is not mounted: a branch without commits has no files"),
        "{}",
        added.stderr
    );
    added.ok("add");
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
}
