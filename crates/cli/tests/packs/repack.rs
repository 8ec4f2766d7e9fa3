//! `hedgerow repack`: nothing is lost, and git finds the packs that it would have made.

use super::{hedgerow, lines, printed};
use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, Outcome, Program};
use std::path::{Path, PathBuf};

/// All objects, with their kinds and sizes.
pub fn objects(root: &Path) -> Vec<String> {
    let words = [
        "cat-file",
        "--batch-all-objects",
        "--unordered",
        "--batch-check",
    ];
    lines(&git(root, &words, b""))
}

/// The names in the pack directory with that extension.
pub fn packs(root: &Path, extension: &str) -> Vec<String> {
    let inner = root.join(".git");
    let git_dir = if inner.exists() {
        inner
    } else {
        root.to_owned()
    };
    let Ok(files) = std::fs::read_dir(git_dir.join("objects/pack")) else {
        return Vec::new();
    };
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(extension)).collect();
    names.sort_unstable();
    names
}

/// Git finds nothing wrong, and no file that belongs to nothing.
pub fn is_sound(root: &Path) {
    git(root, &["fsck", "--full", "--strict", "--no-dangling"], b"");
    let counted = git(root, &["count-objects", "-v"], b"");
    let counted = String::from_utf8(counted).unwrap();
    assert!(counted.contains("garbage: 0"), "{counted}");
}

pub fn repack(root: &Path, words: &[&str]) -> Outcome {
    let mut command = HEDGEROW.command(root);
    command.arg("repack").args(words);
    let outcome = hedgerow_testkit::run(command);
    outcome.assert_civil(&format!("{words:?}"));
    outcome
}

pub fn repacked(root: &Path, words: &[&str]) {
    let outcome = repack(root, words);
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
}

/// A copy of the repository of `scene`, for the other program.
pub fn copy(scene: &Scene) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("copy");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&scene.root, &target])
        .status();
    assert!(copied.unwrap().success());
    (directory, target)
}

#[test]
fn everything_is_in_one_pack_with_bitmaps() {
    for (seed, format, storage) in [
        (40, "sha1", Storage::Loose),
        (41, "sha1", Storage::Both),
        (42, "sha256", Storage::Both),
        (43, "sha256", Storage::Loose),
    ] {
        let scene = scene(seed, format, storage, Graph::None);
        let root = &scene.root;
        let (_directory, other) = copy(&scene);
        let before = objects(root);
        repacked(root, &["-a", "-d", "-b"]);
        git(&other, &["repack", "-a", "-d", "-b", "-q"], b"");
        assert_eq!(objects(root), before);
        is_sound(root);
        scene.git(&["rev-list", "--test-bitmap", "main"]);
        printed(&scene, &["bitmap", "verify"]);
        for extension in [".pack", ".idx", ".bitmap"] {
            assert_eq!(packs(root, extension).len(), 1, "{extension}");
        }
        let loose = |root| lines(&git(root, &["count-objects"], b""));
        assert_eq!(loose(root), loose(&other));
        // The same is done again, and is the same pack.
        let names = packs(root, "");
        repacked(root, &["-a", "-d", "-b"]);
        assert_eq!(packs(root, ""), names);
        // Without bitmaps, those of the equal pack are no more.
        repacked(root, &["-a", "-d"]);
        assert!(packs(root, ".bitmap").is_empty());
    }
}

#[test]
fn what_is_loose_goes_into_a_pack() {
    let scene = scene(44, "sha1", Storage::Both, Graph::None);
    let root = &scene.root;
    let (_directory, other) = copy(&scene);
    let before = objects(root);
    repacked(root, &["-d"]);
    git(&other, &["repack", "-d", "-q"], b"");
    assert_eq!(packs(root, ".pack").len(), packs(&other, ".pack").len());
    assert_eq!(objects(root), before);
    is_sound(root);
    let outcome = repack(root, &["-d"]);
    assert_eq!(outcome.stdout, b"Nothing new to pack.\n");
    assert!(repack(root, &["-d", "-q"]).stdout.is_empty());
}

#[test]
fn geometric_repacks_leave_as_many_packs_as_those_of_git() {
    let mut random = Random::new(45);
    for round in 0..6 {
        let format = ["sha1", "sha256"][round % 2];
        let scene = scene(46 + round as u64, format, Storage::Both, Graph::None);
        let root = &scene.root;
        for number in 0..random.below(9) {
            for object in 0..=random.below(40) {
                let content = format!("{round} {number} {object}");
                let id = git(root, &["hash-object", "-w", "--stdin"], content.as_bytes());
                let list = root.join(".git/objects/pack/pack");
                let words = ["pack-objects", "-q", list.to_str().unwrap()];
                if object % 7 == 0 {
                    git(root, &words, &id);
                }
            }
        }
        let factor = ["2", "3", "5"][random.below(3)];
        let (_directory, other) = copy(&scene);
        let before = objects(root);
        let midx = random.chance(50);
        let mut words = vec!["--geometric", factor, "-d"];
        words.extend(midx.then_some("--write-midx"));
        let expected = repack(root, &[&words[..], &["--dry-run"]].concat());
        assert_eq!(objects(root), before);
        repacked(root, &words);
        let mut repack = vec!["repack", "-q", "-d", "--geometric", factor];
        repack.extend(midx.then_some("--write-midx"));
        git(&other, &repack, b"");
        assert_eq!(
            packs(root, ".pack").len(),
            packs(&other, ".pack").len(),
            "{factor} {round}"
        );
        assert_eq!(objects(root), before);
        is_sound(root);
        assert_eq!(
            root.join(".git/objects/pack/multi-pack-index").exists(),
            midx
        );
        if midx {
            scene.git(&["multi-pack-index", "verify"]);
        }
        let told = String::from_utf8(expected.stdout).unwrap();
        let rolled_up = told.matches("would roll up").count();
        let (kept, new) = (told.matches("would keep").count(), 1);
        assert_eq!(kept + new, packs(root, ".pack").len(), "{told}");
        assert!(rolled_up + kept > 0);
        // What was loose may be too much for the progression: then it is made one now.
        repacked(root, &words);
        git(&other, &repack, b"");
        assert_eq!(packs(root, ".pack").len(), packs(&other, ".pack").len());
    }
}

#[test]
fn kept_packs_stay() {
    let scene = scene(52, "sha1", Storage::Packed, Graph::None);
    let root = &scene.root;
    let kept = packs(root, ".pack").remove(0);
    let mark = root.join(".git/objects/pack").join(&kept);
    std::fs::write(mark.with_extension("keep"), "").unwrap();
    scene.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    let before = objects(root);
    repacked(root, &["-a", "-d"]);
    assert_eq!(packs(root, ".pack").len(), 2);
    assert!(packs(root, ".pack").contains(&kept));
    assert_eq!(objects(root), before);
    is_sound(root);
    // For bitmaps, the new pack has all of it.
    repacked(root, &["-a", "-d", "-b"]);
    assert!(packs(root, ".pack").contains(&kept));
    assert_eq!(packs(root, ".bitmap").len(), 1);
    scene.git(&["rev-list", "--test-bitmap", "HEAD"]);
    let outcome = repack(root, &["-a", "-d", "-b", "--no-pack-kept-objects"]);
    assert!(outcome.stderr.contains("disabling bitmap writing"));
    assert!(packs(root, ".bitmap").is_empty());
    // Named on the command line, a pack stays, too.
    std::fs::remove_file(mark.with_extension("keep")).unwrap();
    scene.git(&["commit", "-q", "--allow-empty", "-m", "still more"]);
    repacked(root, &["-a", "-d", "--keep-pack", &kept]);
    assert!(packs(root, ".pack").contains(&kept));
    assert_eq!(packs(root, ".pack").len(), 2);
    repacked(root, &["-a", "-d"]);
    assert_eq!(packs(root, ".pack").len(), 1);
    is_sound(root);
}

#[test]
fn a_full_disk_loses_nothing_and_leaves_no_half_file() {
    let scene = scene(53, "sha1", Storage::Both, Graph::None);
    let before = (objects(&scene.root), packs(&scene.root, ""));
    for operation in ["write", "create", "rename", "mkdir"] {
        for number in 1.. {
            let (_directory, root) = copy(&scene);
            let mut command = HEDGEROW.command(&root);
            command.args(["repack", "-a", "-d", "-b"]);
            // No space left on device.
            let fault = format!("{operation}:{number}-{}:28", u64::MAX);
            command.env("HEDGEROW_TEST_FAULT", fault);
            let outcome = hedgerow_testkit::run(command);
            outcome.assert_civil(operation);
            if outcome.code == 0 {
                break;
            }
            assert_eq!(outcome.code, 128, "{}", outcome.stderr);
            assert!(outcome.stderr.contains("No space left on device"));
            assert_eq!(objects(&root), before.0, "{operation} {number}");
            is_sound(&root);
            let count = |extension| packs(&root, extension).len();
            assert_eq!(count(".pack"), count(".idx"), "{operation} {number}");
            let now = packs(&root, "");
            assert!(now.iter().all(|name| name.starts_with("pack-")), "{now:?}");
            // What was there goes only when the new pack is whole.
            let is_unchanged = before.1.iter().all(|name| now.contains(name));
            assert!(is_unchanged || count(".bitmap") == 1, "{now:?}");
        }
    }
}

#[test]
fn an_empty_repository_has_nothing_to_pack() {
    for words in [&["-a", "-d"][..], &["-d"], &["--geometric=2", "-d"]] {
        let directory = tempfile::tempdir().unwrap();
        git(directory.path(), &["init", "-q"], b"");
        let outcome = repack(directory.path(), words);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert_eq!(outcome.stdout, b"Nothing new to pack.\n");
        assert!(packs(directory.path(), "").is_empty());
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_gits_words() {
    let is_old = !hedgerow_testkit::git_is_at_least(2, 47, "the words of repack");
    let scene = scene(54, "sha1", Storage::Packed, Graph::None);
    for words in [
        &["repack", "-a", "--geometric=2"][..],
        &["repack", "-d", "-b"],
        &["repack", "-A", "-k"],
        &["repack", "-a", "-k", "--cruft"],
    ] {
        let ours = hedgerow(&scene, words);
        let mut command = Program::Git.command(&scene.root);
        command.args(words);
        let gits = hedgerow_testkit::run(command);
        assert_eq!(ours.code, gits.code);
        assert!(is_old || ours.stderr == gits.stderr, "{}", ours.stderr);
    }
    assert_eq!(hedgerow(&scene, &["repack", "--no-such-option"]).code, 129);
    // Git dies of it, too: what it reaches is not known.
    let broken = scene.root.join(".git/refs/heads/broken");
    std::fs::write(&broken, "no id\n").unwrap();
    let before = packs(&scene.root, "");
    assert_eq!(hedgerow(&scene, &["repack", "-a", "-d"]).code, 128);
    std::fs::write(&broken, format!("{}\n", "1".repeat(40))).unwrap();
    assert_eq!(hedgerow(&scene, &["repack", "-a", "-d"]).code, 128);
    assert_eq!(packs(&scene.root, ""), before);
}

#[test]
fn long_packs_are_split() {
    let scene = scene(55, "sha1", Storage::Packed, Graph::None);
    let mut random = Random::new(56);
    for number in 0..5 {
        let content: Vec<u8> = (0..600_000).map(|_| random.below(256) as u8).collect();
        std::fs::write(scene.root.join(format!("f{number}")), content).unwrap();
    }
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "large"]);
    let before = objects(&scene.root);
    let outcome = repack(&scene.root, &["-a", "-d", "-b", "--max-pack-size=1m"]);
    assert!(
        outcome.stderr.contains("packs are split"),
        "{}",
        outcome.stderr
    );
    assert_eq!(objects(&scene.root), before);
    is_sound(&scene.root);
    let names = packs(&scene.root, ".pack");
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let path = scene.root.join(".git/objects/pack").join(name);
        assert!(path.metadata().unwrap().len() <= 1 << 20);
    }
}

#[test]
fn dumb_servers_have_what_they_need() {
    let scene = scene(57, "sha1", Storage::Both, Graph::None);
    repacked(&scene.root, &["-a", "-d"]);
    let read = |name: &str| std::fs::read(scene.root.join(".git").join(name)).unwrap_or_default();
    let ours = (read("info/refs"), read("objects/info/packs"));
    scene.git(&["update-server-info", "--force"]);
    assert_eq!(ours.0, read("info/refs"));
    assert_eq!(ours.1, read("objects/info/packs"));
    scene.git(&["tag", "later", "main"]);
    repacked(&scene.root, &["-a", "-d", "-n"]);
    assert_eq!(read("info/refs"), ours.0);
    scene.git(&["config", "repack.updateServerInfo", "false"]);
    repacked(&scene.root, &["-a", "-d"]);
    assert_eq!(read("info/refs"), ours.0);
}
