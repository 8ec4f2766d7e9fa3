//! A commit that is mounted without a working tree.

use crate::scene::{can_mount, Scene};
use std::path::PathBuf;

#[test]
fn a_commit_is_looked_at_and_tried() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.repository.write("a", "second\n");
    scene.repository.commit("two");
    scene
        .hedgerow("r", "mount --read-only HEAD~1 ../look")
        .ok("mount");
    assert_eq!(scene.read("look/a"), "one\n");
    assert!(std::fs::write(scene.path("look/a"), "x").is_err());
    scene.hedgerow("r", "mount HEAD ../try").ok("mount");
    assert_eq!(scene.tree("try"), scene.tree("r"));
    scene.write("try/a", "tried\n");
    let error = scene.hedgerow("r", "unmount ../try").failed(2, "unmount");
    assert!(error.contains("use --force to discard"), "{error}");
    assert_eq!(scene.read("try/a"), "tried\n");
    scene.hedgerow("r", "unmount --force ../try").ok("unmount");
    scene.hedgerow("r", "unmount ../look").ok("unmount");
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
    scene.assert_clean("r");
}

#[test]
fn what_cannot_be_mounted_or_unmounted_is_refused() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    for (line, words) in [
        ("mount HEAD .", "is not an empty directory"),
        ("mount nonsense ../m", "nonsense"),
        ("mount HEAD:a ../m", "is not a tree object"),
        ("unmount ../r", "nothing that hedgerow has mounted"),
        ("unmount ../absent", "No such file or directory"),
    ] {
        let error = scene.hedgerow("r", line).failed(2, line);
        assert!(error.contains(words), "{line}: {error}");
    }
    // A lost mount with changes is not taken for nothing.
    scene.hedgerow("r", "mount HEAD^{tree} ../m").ok("mount");
    scene.write("m/a", "changed\n");
    scene.lose_mounts();
    scene.hedgerow("r", "unmount ../m").failed(2, "unmount");
    let line = "mount --read-only HEAD ../m";
    let error = scene.hedgerow("r", line).failed(2, "mount");
    assert!(error.contains("changes of an earlier mount"), "{error}");
    scene.hedgerow("r", "unmount -f ../m").ok("unmount");
    scene.hedgerow("r", "mount HEAD ../m").ok("mount");
    assert_eq!(scene.read("m/a"), "one\n");
}

#[test]
fn a_cut_image_is_refused_and_a_long_path_is_none() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.hedgerow("r", "mount HEAD ../m").ok("mount");
    scene.hedgerow("r", "unmount ../m").ok("unmount");
    let images = std::fs::read_dir(scene.path("r/.git/hedgerow/images")).unwrap();
    let mut images = images.map(|entry| entry.unwrap().path());
    let image = images.find(|path| {
        path.extension()
            .is_some_and(|end| end == "erofs" || end == "squashfs")
    });
    let file = std::fs::File::options().write(true).open(image.unwrap());
    file.unwrap().set_len(2048).unwrap();
    std::fs::remove_dir(scene.path("m")).unwrap();
    for line in ["mount HEAD ../m", "mount --read-only HEAD ../m"] {
        let error = scene.hedgerow("r", line).failed(2, line);
        assert!(
            error.contains("if it is damaged, delete it"),
            "{line}: {error}"
        );
        assert!(!scene.path("m").exists(), "{line}");
    }
    // The kernel takes no longer name of an image than 255 bytes.
    let long = scene.path(&format!("{0}/{0}", "l".repeat(120)));
    std::fs::create_dir_all(&long).unwrap();
    let scene = Scene::at(&long.canonicalize().unwrap()).among_others();
    scene.hedgerow("r", "mount HEAD ../m").ok("mount");
    assert_eq!(scene.tree("m"), scene.tree("r"));
    scene.hedgerow("r", "image-store verify").ok("verify");
    scene.hedgerow("r", "unmount ../m").ok("unmount");
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
}

#[test]
fn changes_of_a_lost_mount_come_back_or_are_discarded() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.hedgerow("r", "mount HEAD ../t").ok("mount");
    scene.write("t/a", "precious\n");
    scene.repository.write("a", "second\n");
    scene.repository.commit("two");
    scene.lose_mounts();
    let notes = scene.images();
    assert!(
        notes.len() == 1 && notes[0].ends_with(" needed"),
        "{notes:?}"
    );
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(scene.images(), notes);
    for line in ["mount HEAD ../t", "mount --read-only HEAD~ ../t"] {
        let error = scene.hedgerow("r", line).failed(2, line);
        assert!(error.contains("/hedgerow/plain/"), "{error}");
        assert!(error.contains("brings them back"), "{error}");
    }
    std::fs::remove_dir(scene.path("t")).unwrap();
    // Also where its image was deleted.
    std::fs::remove_dir_all(scene.path("r/.git/hedgerow/images")).unwrap();
    let told = scene.hedgerow("r", "mount HEAD~ ../t");
    assert!(
        told.stderr.contains("changes of an earlier mount again"),
        "{}",
        told.stderr
    );
    told.ok("mount");
    assert_eq!(
        (scene.read("t/a"), scene.read("t/d/b")),
        ("precious\n".into(), "two\n".into())
    );
    scene.lose_mounts();
    std::fs::remove_dir(scene.path("t")).unwrap();
    let error = scene
        .hedgerow(".", "unmount -f t")
        .failed(2, "unmount elsewhere");
    assert!(error.contains("its repository knows"), "{error}");
    scene.hedgerow("r", "unmount ../t").failed(2, "unmount");
    scene.hedgerow("r", "unmount -f ../t").ok("unmount");
    let left = std::fs::read_dir(scene.path("r/.git/hedgerow/plain")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn the_image_of_a_look_stays() {
    if !can_mount() {
        return;
    }
    let scene = Scene::on_disk();
    for kind in ["erofs", "squashfs"] {
        scene
            .repository
            .git(&["config", "hedgerow.imageFormat", kind]);
        scene.repository.write("a", kind);
        scene.repository.commit(kind);
        scene
            .hedgerow("r", "mount --read-only HEAD ../m")
            .ok("mount");
        let images = scene.images();
        assert!(
            images.len() == 1 && images[0].ends_with(" mounted"),
            "{images:?}"
        );
        scene.hedgerow("r", "image-store prune --all").ok("prune");
        assert_eq!(scene.images(), images, "{kind}");
        scene
            .repository
            .git(&["config", "hedgerow.imageStoreSize", "1"]);
        scene.hedgerow("r", "image-store prune").ok("prune");
        assert_eq!(scene.images(), images, "{kind}");
        // The system still says its old name.
        std::fs::rename(scene.path("r"), scene.path("moved")).unwrap();
        scene.hedgerow("moved", "image-store prune").ok("prune");
        std::fs::rename(scene.path("moved"), scene.path("r")).unwrap();
        assert_eq!(scene.images(), images, "{kind}");
        scene.hedgerow("r", "unmount ../m").ok("unmount");
        scene.hedgerow("r", "image-store prune").ok("prune");
        assert_eq!(scene.images(), Vec::<String>::new());
    }
}

#[test]
fn it_is_unmounted_from_anywhere() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene.hedgerow("r", "mount HEAD ../t").ok("mount");
    scene
        .hedgerow("r", "mount --read-only HEAD ../m")
        .ok("mount");
    scene.write("t/a", "tried\n");
    let error = scene.hedgerow(".", "unmount t").failed(2, "unmount");
    assert!(error.contains("use --force to discard"), "{error}");
    scene.hedgerow(".", "unmount -f t").ok("unmount");
    scene.hedgerow(".", "unmount m").ok("unmount");
    assert_eq!(scene.mounted(), Vec::<PathBuf>::new());
    // What is no such mount stays.
    scene.add("../w");
    for place in [".", "r"] {
        let top = scene.path("w");
        let line = format!("unmount {}", top.display());
        scene.hedgerow(place, &line).failed(2, "a working tree");
    }
    assert_eq!(scene.read("w/a"), "one\n");
}
