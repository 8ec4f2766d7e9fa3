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
    let error = scene.hedgerow("r", "mount HEAD ../m").failed(2, "mount");
    assert!(error.contains("changes of an earlier mount"), "{error}");
    scene.hedgerow("r", "unmount -f ../m").ok("unmount");
    scene.hedgerow("r", "mount HEAD ../m").ok("mount");
    assert_eq!(scene.read("m/a"), "one\n");
}
