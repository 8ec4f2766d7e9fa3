//! `hedgerow maintenance run`: what it does, and that it says why.

use super::repack::{is_sound, objects, packs};
use super::{hedgerow, printed};
use hedgerow_testkit::git;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};

fn maintained(scene: &Scene, words: &[&str]) -> String {
    let words = [&["maintenance", "run"], words].concat();
    let outcome = hedgerow(scene, &words);
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
    assert!(outcome.stdout.is_empty());
    outcome.stderr
}

/// A scene without loose objects.
fn tidy_scene(seed: u64, format: &str) -> Scene {
    let scene = scene(seed, format, Storage::Packed, Graph::None);
    scene.git(&["prune", "--expire=now"]);
    scene
}

/// A pack of so many new blobs.
fn add_pack(scene: &Scene, name: &str, count: usize) {
    let mut ids = Vec::new();
    for number in 0..count {
        let content = format!("{name} {number}");
        let words = ["hash-object", "-w", "--stdin"];
        ids.extend(git(&scene.root, &words, content.as_bytes()));
    }
    let base = scene.root.join(".git/objects/pack/pack");
    let words = ["pack-objects", "-q", base.to_str().unwrap()];
    git(&scene.root, &words, &ids);
    scene.git(&["prune-packed"]);
}

#[test]
fn packs_that_pile_up_are_joined() {
    let scene = tidy_scene(80, "sha1");
    let nothing = maintained(&scene, &[]);
    assert!(nothing.starts_with("nothing to do: 1 pack, "), "{nothing}");
    assert_eq!(maintained(&scene, &["--auto"]), "");
    for name in ["a", "b", "c"] {
        add_pack(&scene, name, 2);
    }
    let before = (objects(&scene.root), packs(&scene.root, ""));
    let told = printed(&scene, &["maintenance", "run", "--dry-run"]);
    assert!(told.starts_with("geometric-repack: 3 of 4 packs are to be joined\n"));
    assert_eq!(told.matches("would roll up").count(), 3, "{told}");
    assert_eq!((objects(&scene.root), packs(&scene.root, "")), before);
    let said = maintained(&scene, &["--auto"]);
    assert_eq!(said, "geometric-repack: 3 of 4 packs are to be joined\n");
    assert_eq!(packs(&scene.root, ".pack").len(), 2);
    assert!(scene
        .root
        .join(".git/objects/pack/multi-pack-index")
        .exists());
    assert_eq!(objects(&scene.root), before.0);
    is_sound(&scene.root);
    assert_eq!(maintained(&scene, &["--auto"]), "");
}

#[test]
fn many_loose_objects_are_packed_and_few_are_not() {
    let scene = tidy_scene(81, "sha1");
    let blob = |number: usize| {
        let content = format!("loose {number}");
        git(
            &scene.root,
            &["hash-object", "-w", "--stdin"],
            content.as_bytes(),
        );
    };
    (0..99).for_each(blob);
    assert!(maintained(&scene, &[]).starts_with("nothing to do"));
    blob(99);
    let said = maintained(&scene, &[]);
    assert_eq!(said, "geometric-repack: 100 objects are loose\n");
    assert_eq!(packs(&scene.root, ".pack").len(), 2);
    let counted = String::from_utf8(scene.git(&["count-objects"])).unwrap();
    assert!(counted.starts_with("0 objects"), "{counted}");
    is_sound(&scene.root);
}

#[test]
fn missing_bitmaps_are_made() {
    let scene = tidy_scene(82, "sha256");
    scene.git(&["config", "repack.writeBitmaps", "true"]);
    let said = maintained(&scene, &[]);
    assert_eq!(said, "full-repack: there are no bitmaps\n");
    assert_eq!(packs(&scene.root, ".bitmap").len(), 1);
    scene.git(&["rev-list", "--test-bitmap", "main"]);
    assert_eq!(maintained(&scene, &["--auto"]), "");
    // Packs that are joined get them together, of their multi-pack-index.
    add_pack(&scene, "few", 2);
    add_pack(&scene, "few more", 2);
    let said = maintained(&scene, &[]);
    assert_eq!(said, "geometric-repack: 2 of 3 packs are to be joined\n");
    scene.git(&["rev-list", "--test-bitmap", "main"]);
    let of_midx = packs(&scene.root, ".bitmap");
    assert!(of_midx[0].starts_with("multi-pack-index-"), "{of_midx:?}");
    assert_eq!((of_midx.len(), packs(&scene.root, ".pack").len()), (1, 2));
    assert_eq!(maintained(&scene, &["--auto"]), "");
    let known = objects(&scene.root).len();
    add_pack(&scene, "many", 2 * known);
    let said = maintained(&scene, &["-q"]);
    assert_eq!(said, "");
    // Nothing reaches them: they are in a pack of their own, with their age.
    assert_eq!(packs(&scene.root, ".mtimes").len(), 1);
    assert_eq!(objects(&scene.root).len(), 3 * known);
    is_sound(&scene.root);
}

#[test]
fn the_lock_is_that_of_git() {
    let scene = tidy_scene(83, "sha1");
    add_pack(&scene, "a", 1);
    add_pack(&scene, "b", 1);
    let lock = scene.root.join(".git/objects/maintenance.lock");
    std::fs::write(&lock, "").unwrap();
    let before = packs(&scene.root, "");
    let said = maintained(&scene, &[]);
    assert!(said.contains("exists, skipping maintenance"), "{said}");
    assert_eq!(maintained(&scene, &["--auto"]), "");
    assert_eq!(packs(&scene.root, ""), before);
    std::fs::remove_file(&lock).unwrap();
    maintained(&scene, &[]);
    assert!(!lock.exists());
    assert_ne!(packs(&scene.root, ""), before);
}

#[test]
fn tasks_are_done_when_asked_and_those_of_git_are_not_pretended() {
    let scene = scene(84, "sha1", Storage::Both, Graph::None);
    scene.git(&["prune", "--expire=now"]);
    let said = maintained(&scene, &["--task=full-repack"]);
    assert_eq!(said, "full-repack: as asked\n");
    assert_eq!(packs(&scene.root, ".pack").len(), 1);
    for (task, words) in [
        (
            "commit-graph",
            "git maintenance run --task=commit-graph does",
        ),
        ("nonsense", "'nonsense' is not a valid task"),
    ] {
        let outcome = hedgerow(&scene, &["maintenance", "run", "--task", task]);
        assert_eq!(outcome.code, 129);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}
