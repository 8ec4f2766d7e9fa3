//! States of repositories in which something other than a reference keeps objects alive, or
//! something else has them.

use super::repack::{copy, is_sound, objects, packs, repacked};
use hedgerow_testkit::git;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use std::path::Path;

fn has(root: &Path, id: &str) -> bool {
    objects(root).iter().any(|line| line.starts_with(id))
}

fn line(output: Vec<u8>) -> String {
    String::from_utf8(output).unwrap().trim().to_owned()
}

fn commit(root: &Path, content: &str) -> String {
    std::fs::write(root.join("file"), content).unwrap();
    git(root, &["add", "file"], b"");
    git(root, &["commit", "-q", "-m", content], b"");
    line(git(root, &["rev-parse", "HEAD"], b""))
}

/// A repository with commits that only logs, indexes and a detached working tree know, each of
/// them packed, and an object that nothing knows.
struct Hidden {
    scene: Scene,
    alive: Vec<String>,
    dead: String,
}

fn hidden(seed: u64, format: &str) -> Hidden {
    let scene = scene(seed, format, Storage::Packed, Graph::None);
    let root = scene.root.clone();
    scene.git(&["checkout", "-q", "-f", "main"]);
    let mut alive = vec![commit(&root, "in a log")];
    scene.git(&["reset", "-q", "--hard", "HEAD^"]);
    let tree = root.with_file_name(format!("linked{seed}"));
    let linked = tree.to_str().unwrap();
    scene.git(&["worktree", "add", "-q", "--detach", linked]);
    let detached = commit(&tree, "detached");
    alive.push(detached);
    std::fs::write(tree.join("staged"), "staged there").unwrap();
    git(&tree, &["add", "staged"], b"");
    alive.push(line(git(&tree, &["rev-parse", ":staged"], b"")));
    std::fs::write(root.join("staged"), "staged here").unwrap();
    scene.git(&["add", "staged"]);
    alive.push(line(scene.git(&["rev-parse", ":staged"])));
    let dead = line(git(&root, &["hash-object", "-w", "--stdin"], b"dead"));
    let all = scene.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ]);
    let base = root.join(".git/objects/pack/pack");
    git(&root, &["pack-objects", "-q", base.to_str().unwrap()], &all);
    scene.git(&["prune-packed"]);
    // The log of the linked working tree alone knows what it left.
    git(&tree, &["rm", "-q", "-f", "--cached", "file"], b"");
    Hidden { scene, alive, dead }
}

#[test]
fn what_is_in_use_stays_and_what_is_not_goes_as_with_git() {
    for (seed, format) in [(60, "sha1"), (61, "sha256")] {
        for words in [
            &["-a", "-d"][..],
            &["-A", "-d"],
            &["-a", "-d", "-k"],
            &["-A", "-d", "--unpack-unreachable=now"],
            &["--cruft", "-d"],
        ] {
            let Hidden { scene, alive, dead } = hidden(seed, format);
            let root = &scene.root;
            let (_directory, other) = copy(&scene);
            repacked(root, words);
            // The linked working tree of the copy is that of the original.
            let repack = [&["repack", "-q"], words].concat();
            git(&other, &repack, b"");
            for id in &alive {
                assert!(has(root, id), "{words:?}: {id}");
            }
            assert_eq!(has(root, &dead), has(&other, &dead), "{words:?}");
            assert_eq!(objects(root), objects(&other), "{words:?}");
            let count = packs(root, ".pack").len();
            assert_eq!(count, packs(&other, ".pack").len(), "{words:?}");
            assert_eq!(packs(root, ".mtimes").len(), packs(&other, ".mtimes").len());
            is_sound(root);
        }
    }
}

#[test]
fn a_linked_working_tree_repacks_for_all() {
    let Hidden { scene, alive, dead } = hidden(67, "sha1");
    let linked = scene.root.with_file_name("linked67");
    repacked(&linked, &["-a", "-d"]);
    for id in &alive {
        assert!(has(&scene.root, id), "{id}");
    }
    assert!(!has(&scene.root, &dead));
    is_sound(&scene.root);
}

#[test]
fn a_multi_pack_index_goes_with_its_packs() {
    let scene = scene(68, "sha1", Storage::Both, Graph::None);
    let root = &scene.root;
    let midx = root.join(".git/objects/pack/multi-pack-index");
    repacked(root, &["-d", "--geometric=2", "--write-midx"]);
    assert!(midx.exists());
    repacked(root, &["-a", "-d"]);
    assert!(!midx.exists());
    is_sound(root);
    scene.git(&["repack", "-a", "-d", "-q", "-b", "--write-midx"]);
    scene.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    repacked(root, &["-a", "-d", "-m"]);
    let files = packs(root, "");
    let of_midx = files
        .iter()
        .filter(|name| name.starts_with("multi-pack-index"));
    assert_eq!(of_midx.collect::<Vec<_>>(), ["multi-pack-index"]);
    scene.git(&["multi-pack-index", "verify"]);
    is_sound(root);
    // With bitmaps of all packs, none is left of one.
    scene.git(&["repack", "-a", "-d", "-q", "-b"]);
    scene.git(&["commit", "-q", "--allow-empty", "-m", "still more"]);
    repacked(root, &["-d", "--geometric=2", "--write-midx", "-b"]);
    let bitmaps = packs(root, ".bitmap");
    assert!(bitmaps.len() == 1 && bitmaps[0].starts_with("multi-pack-index-"));
    scene.git(&["rev-list", "--test-bitmap", "HEAD"]);
    is_sound(root);
    // Nothing is left to list.
    let empty = tempfile::tempdir().unwrap();
    git(empty.path(), &["init", "-q"], b"");
    let blob = git(empty.path(), &["hash-object", "-w", "--stdin"], b"x");
    let base = empty.path().join(".git/objects/pack/pack");
    let words = ["pack-objects", "-q", base.to_str().unwrap()];
    git(empty.path(), &words, &blob);
    git(empty.path(), &["multi-pack-index", "write"], b"");
    git(empty.path(), &["prune-packed"], b"");
    repacked(empty.path(), &["-a", "-d", "-m"]);
    assert_eq!(packs(empty.path(), ""), [""; 0]);
    git(empty.path(), &["fsck", "--full"], b"");
}

#[test]
fn loosened_objects_are_as_old_as_their_pack() {
    let Hidden { scene, dead, .. } = hidden(62, "sha1");
    let directory = scene.root.join(".git/objects/pack");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for name in packs(&scene.root, ".pack") {
        let file = std::fs::File::open(directory.join(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    repacked(&scene.root, &["-A", "-d"]);
    let (first, rest) = dead.split_at(2);
    let path = scene.root.join(".git/objects").join(first).join(rest);
    assert_eq!(path.metadata().unwrap().modified().unwrap(), old);
    assert!(has(&scene.root, &dead));
}

#[test]
fn cruft_packs_know_ages_and_forget_what_is_too_old() {
    let Hidden { scene, dead, alive } = hidden(63, "sha1");
    let root = &scene.root;
    let directory = root.join(".git/objects/pack");
    let seconds = 1_500_000_000;
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    for name in packs(root, ".pack") {
        let file = std::fs::File::open(directory.join(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    repacked(root, &["--cruft", "-d"]);
    assert_eq!(packs(root, ".mtimes").len(), 1);
    let young = line(git(root, &["hash-object", "-w", "--stdin"], b"young"));
    // Its age is kept from pack to pack, whenever those were written.
    for _ in 0..2 {
        repacked(root, &["--cruft", "-d", "--cruft-expiration=never"]);
        assert!(has(root, &dead) && has(root, &young));
        let mtimes = std::fs::read(directory.join(&packs(root, ".mtimes")[0])).unwrap();
        let expected = u32::try_from(seconds).unwrap().to_be_bytes();
        assert!(mtimes.windows(4).any(|bytes| bytes == expected));
        is_sound(root);
    }
    let (_directory, other) = copy(&scene);
    let expiration = "--cruft-expiration=2020-01-01";
    repacked(root, &["--cruft", "-d", expiration]);
    git(&other, &["repack", "-q", "--cruft", "-d", expiration], b"");
    assert!(!has(root, &dead) && has(root, &young));
    assert_eq!(objects(root), objects(&other));
    assert!(alive.iter().all(|id| has(root, id)));
    is_sound(root);
}

#[test]
fn what_an_alternate_has_is_borrowed_or_copied() {
    let scene = scene(64, "sha1", Storage::Alternate, Graph::None);
    let root = &scene.root;
    let empty_tree = line(git(root, &["write-tree"], b""));
    let new = line(git(root, &["commit-tree", "-m", "x", &empty_tree], b""));
    git(root, &["update-ref", "refs/heads/own", &new], b"");
    let before = objects(root);
    repacked(root, &["-a", "-d", "-l"]);
    assert_eq!(objects(root), before);
    let own = |root: &Path| {
        let mut count = 0;
        for name in packs(root, ".idx") {
            let index = std::fs::read(root.join("objects/pack").join(name)).unwrap();
            count += super::lines(&git(root, &["show-index"], &index)).len();
        }
        count
    };
    assert!(own(root) <= 2);
    is_sound(root);
    repacked(root, &["-a", "-d"]);
    assert_eq!(objects(root), before);
    std::fs::remove_file(root.join("objects/info/alternates")).unwrap();
    is_sound(root);
    assert!(own(root) > 20);
}

#[test]
fn shallow_clones_stay_whole() {
    let scene = scene(65, "sha1", Storage::Packed, Graph::None);
    let clone = scene.root.with_file_name("shallow.git");
    let url = format!("file://{}", scene.root.display());
    scene.git(&[
        "clone",
        "-q",
        "--bare",
        "--depth=2",
        "--no-single-branch",
        &url,
        clone.to_str().unwrap(),
    ]);
    let before = objects(&clone);
    repacked(&clone, &["-a", "-d", "-b"]);
    assert_eq!(objects(&clone), before);
    is_sound(&clone);
    git(&clone, &["rev-list", "--test-bitmap", "main"], b"");
    // Without what needs them, lines of the boundary go with their commits.
    let references = git(&clone, &["for-each-ref", "--format=%(refname)"], b"");
    for name in super::lines(&references) {
        if name != "refs/heads/main" {
            git(&clone, &["update-ref", "-d", &name], b"");
        }
    }
    repacked(&clone, &["-a", "-d"]);
    git(&clone, &["fsck", "--full", "--strict"], b"");
    let boundary = std::fs::read(clone.join("shallow")).unwrap_or_default();
    for id in super::lines(&boundary) {
        assert!(has(&clone, &id), "{id}");
    }
}

#[test]
fn promised_objects_stay_apart() {
    let scene = scene(66, "sha1", Storage::Packed, Graph::None);
    scene.git(&["config", "uploadpack.allowFilter", "true"]);
    scene.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let clone = scene.root.with_file_name("partial");
    let url = format!("file://{}", scene.root.display());
    let clone_name = clone.to_str().unwrap();
    scene.git(&[
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        &url,
        clone_name,
    ]);
    let tree = line(git(&clone, &["rev-parse", "HEAD^{tree}"], b""));
    let own = line(git(
        &clone,
        &["commit-tree", "-p", "HEAD", "-m", "own", &tree],
        b"",
    ));
    git(&clone, &["update-ref", "refs/heads/own", &own], b"");
    let before = objects(&clone);
    for words in [
        &["-a", "-d"][..],
        &["-A", "-d"],
        &["--geometric=2", "-d"],
        &["--cruft", "-d"],
    ] {
        repacked(&clone, words);
        assert_eq!(objects(&clone), before, "{words:?}");
        let promised = packs(&clone, ".promisor");
        assert_eq!(promised.len(), 1, "{words:?}");
        assert_eq!(packs(&clone, ".pack").len(), 2, "{words:?}");
        is_sound(&clone);
    }
    for words in [&["-a", "-d", "-b"][..], &["-a", "-d", "-b", "-m"]] {
        let outcome = super::repack::repack(&clone, words);
        assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("disabling bitmap writing"));
        assert_eq!(objects(&clone), before);
        assert_eq!(packs(&clone, ".bitmap"), packs(&clone, ".none"));
        is_sound(&clone);
    }
}

/// A directory in the place of the file that marks a pack as promised stays where the pack goes, as with git.
#[test]
fn a_directory_in_the_place_of_a_mark_stays() {
    let scene = scene(67, "sha1", Storage::Packed, Graph::None);
    scene.git(&["config", "uploadpack.allowFilter", "true"]);
    scene.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let clone = scene.root.with_file_name("partial");
    let url = format!("file://{}", scene.root.display());
    let words = ["clone", "-q", "--filter=blob:none", "--no-checkout", &url];
    scene.git(&[&words[..], &[clone.to_str().unwrap()]].concat());
    let directory = clone.join(".git/objects/pack");
    let mark = directory.join(&packs(&clone, ".promisor")[0]);
    std::fs::remove_file(&mark).unwrap();
    std::fs::create_dir(&mark).unwrap();
    git(&clone, &["cat-file", "-p", &scene.blobs[0]], b"");
    let outcome = super::repack::repack(&clone, &["-a", "-d"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(mark.is_dir() && !mark.with_extension("pack").exists());
    assert_eq!(packs(&clone, ".pack").len(), 1);
}
