//! Repacks that are killed, that something comes between, or that run beside another.

use super::repack::{objects, packs, repacked};
use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Storage};
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, Program};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_repack_that_is_killed_leaves_a_whole_repository() {
    let scene = scene(70, "sha1", Storage::Both, Graph::None);
    let root = &scene.root;
    let mut random = Random::new(71);
    let mut was_killed = 0;
    for round in 0..21 {
        let before = objects(root);
        let words = [
            &["repack", "-a", "-d", "-b"][..],
            &["repack", "-d", "--geometric=2", "--write-midx"],
            &["repack", "-d", "--cruft"],
        ][round % 3];
        let mut command = HEDGEROW.command(root);
        // System calls that take their time make room to be killed in.
        command
            .args(words)
            .env("HEDGEROW_TEST_DELAY", format!("{}", round + 1));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(250_000) as u64));
        child.kill().unwrap();
        was_killed += u32::from(child.wait().unwrap().code().is_none());
        git(root, &["fsck", "--full", "--strict"], b"");
        assert_eq!(objects(root), before, "{words:?}");
        let strange = packs(root, "");
        let strange: Vec<_> = strange
            .iter()
            .filter(|name| name.starts_with('.'))
            .collect();
        assert!(strange.is_empty(), "{strange:?}");
        // Packs to be repacked the next time.
        let content = format!("{round}");
        let id = git(root, &["hash-object", "-w", "--stdin"], content.as_bytes());
        let id = String::from_utf8(id).unwrap();
        git(root, &["tag", "-f", "passing", id.trim()], b"");
        git(root, &["repack", "-q"], b"");
        git(root, &["tag", "-d", "passing"], b"");
        repacked(root, &["-a", "-d"]);
    }
    assert!(was_killed > 0);
}

#[test]
fn what_comes_into_use_meanwhile_is_not_lost() {
    let scene = scene(72, "sha1", Storage::Packed, Graph::None);
    let root = &scene.root;
    // In the pack, and not in use.
    let tree = scene.git(&["rev-parse", "main^{tree}"]);
    let tree = String::from_utf8(tree).unwrap();
    let lost = scene.git(&["commit-tree", "-m", "lost", tree.trim()]);
    let lost = String::from_utf8(lost).unwrap();
    let reference = root.join(".git/refs/heads/lost");
    std::fs::write(&reference, &lost).unwrap();
    scene.git(&["repack", "-a", "-d", "-q"]);
    std::fs::remove_file(&reference).unwrap();
    let mut was_needed = 0;
    for seed in 0..12 {
        let mut command = HEDGEROW.command(root);
        command
            .args(["repack", "-a", "-d", "-F"])
            .env("HEDGEROW_TEST_DELAY", format!("{}", 100 + seed))
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // Somebody gives it a name as soon as the new pack is there.
        let count = packs(root, ".pack").len();
        for _ in 0..20_000 {
            if packs(root, ".pack").len() > count {
                break;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        std::fs::write(&reference, &lost).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        let is_kept = text.contains("came meanwhile");
        was_needed += u32::from(is_kept);
        let words = ["cat-file", "-e", lost.trim()];
        let mut command = Program::Git.command(root);
        let found = command.args(words).stderr(Stdio::null()).status().unwrap();
        if !found.success() {
            // Named after the old pack was judged not needed: that window stays, as with git.
            assert!(!is_kept);
            std::fs::remove_file(&reference).unwrap();
            let again = scene.git(&["commit-tree", "-m", "lost", tree.trim()]);
            std::fs::write(&reference, again).unwrap();
        }
        scene.git(&["fsck", "--full"]);
        scene.git(&["repack", "-a", "-d", "-q"]);
        let _ = std::fs::remove_file(&reference);
    }
    assert!(was_needed > 0);
}

#[test]
fn repacks_beside_each_other_and_beside_commits_lose_nothing() {
    let scene = scene(73, "sha1", Storage::Both, Graph::None);
    let root = &scene.root;
    let tree = scene.git(&["rev-parse", "main^{tree}"]);
    let tree = String::from_utf8(tree).unwrap();
    let mut made = Vec::new();
    for round in 0..6 {
        let spawn = |program: Program, words: &[&str]| {
            let mut command = program.command(root);
            command
                .args(words)
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            command.env("HEDGEROW_TEST_DELAY", format!("{}", round + 1));
            command.spawn().unwrap()
        };
        let mut children = vec![
            spawn(HEDGEROW, &["repack", "-a", "-d", "-b"]),
            spawn(HEDGEROW, &["repack", "-d", "--geometric=2"]),
        ];
        for number in 0..10 {
            let message = format!("{round} {number}");
            let words = ["commit-tree", "-p", "main", "-m", &message, tree.trim()];
            let id = String::from_utf8(scene.git(&words)).unwrap();
            let name = format!("refs/heads/made-{round}-{number}");
            scene.git(&["update-ref", &name, id.trim()]);
            made.push(id.trim().to_owned());
        }
        children.push(spawn(Program::Git, &["repack", "-d", "-q"]));
        for child in children {
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            // Git may miss a pack that was there when it looked.
            assert!(
                output.status.success() || !text.contains("panicked"),
                "{text}"
            );
        }
        git(root, &["fsck", "--full", "--strict"], b"");
    }
    let all = objects(root);
    for id in made {
        assert!(all.iter().any(|line| line.starts_with(&id)), "{id}");
    }
}
