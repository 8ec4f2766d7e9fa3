//! `pack-objects` with packs, logs and indexes for a list: as git makes them.

use super::lines;
use super::repack::packs;
use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, Outcome, Program};
use std::path::Path;
use std::process::Stdio;

/// Runs `program` with standard input.
fn pack(program: Program, root: &Path, words: &[&str], input: &str) -> Outcome {
    let mut command = program.command(root);
    command.arg("pack-objects").args(words);
    let path = root.with_file_name("input");
    std::fs::write(&path, input).unwrap();
    command.stdin(Stdio::from(std::fs::File::open(&path).unwrap()));
    hedgerow_testkit::run(command)
}

/// The objects of the packs whose checksums `outcome` lists.
fn contents(root: &Path, outcome: &Outcome) -> Vec<String> {
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let mut ids = Vec::new();
    for checksum in lines(&outcome.stdout) {
        let index = std::fs::read(root.join(format!("made-{checksum}.idx"))).unwrap();
        let pack = format!("made-{checksum}.pack");
        git(root, &["index-pack", "-o", "checked.idx", &pack], b"");
        assert_eq!(std::fs::read(root.join("checked.idx")).unwrap(), index);
        let shown = lines(&git(root, &["show-index"], &index));
        ids.extend(
            shown
                .iter()
                .map(|line| line.split(' ').nth(1).unwrap().to_owned()),
        );
    }
    ids.sort_unstable();
    ids
}

/// What both pack must be the same.
fn compare(scene: &Scene, words: &[&str], input: &str) -> usize {
    let words = [words, &["made"]].concat();
    let of = |program| {
        let outcome = pack(program, &scene.root, &words, input);
        contents(&scene.root, &outcome)
    };
    let (ours, gits) = (of(HEDGEROW), of(Program::Git));
    assert_eq!(ours, gits, "{words:?}\n{input}");
    ours.len()
}

/// A scene with several packs that overlap, and loose objects.
fn packed_scene(seed: u64, format: &str) -> Scene {
    let scene = scene(seed, format, Storage::Loose, Graph::None);
    let base = scene.root.join(".git/objects/pack/pack");
    let all = lines(&scene.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ]));
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let some: String = all
            .iter()
            .filter(|_| random.chance(40))
            .map(|id| format!("{id}\n"))
            .collect();
        let words = ["pack-objects", "-q", base.to_str().unwrap()];
        git(&scene.root, &words, some.as_bytes());
    }
    scene.git(&["prune-packed"]);
    scene
}

#[test]
fn packs_on_standard_input_are_joined_without_others() {
    for (seed, format) in [(90, "sha1"), (91, "sha256"), (92, "sha1")] {
        let scene = packed_scene(seed, format);
        let names = packs(&scene.root, ".pack");
        let mut random = Random::new(seed);
        for _ in 0..6 {
            let mut input = String::new();
            for name in &names {
                input += match random.below(3) {
                    0 => "",
                    1 => "^",
                    _ => "\n",
                };
                input += name;
                input += "\n";
            }
            compare(&scene, &["--stdin-packs"], &input);
            compare(&scene, &["--stdin-packs", "--unpacked"], &input);
        }
        let unknown = pack(
            HEDGEROW,
            &scene.root,
            &["--stdin-packs", "made"],
            "pack-x.pack\n",
        );
        assert_eq!(unknown.code, 128);
        assert_eq!(unknown.stderr, "fatal: could not find pack 'pack-x.pack'\n");
    }
}

#[test]
fn what_is_left_out_goes_by_object() {
    let is_old = !hedgerow_testkit::git_is_at_least(
        2,
        47,
        "what --unpacked and --filter of pack-objects do",
    );
    for (seed, format) in [(93, "sha1"), (94, "sha256")] {
        let scene = packed_scene(seed, format);
        let names = packs(&scene.root, ".pack");
        let directory = scene.root.join(".git/objects/pack");
        let all = ["--all", "--reflog", "--indexed-objects"];
        let whole = compare(&scene, &all, "");
        let keep = format!("--keep-pack={}", names[0]);
        assert!(compare(&scene, &[&all[..], &[&keep]].concat(), "") < whole);
        assert!(compare(&scene, &[&all[..], &["--incremental"]].concat(), "") < whole);
        if !is_old {
            compare(&scene, &[&all[..], &["--unpacked"]].concat(), "");
        }
        compare(
            &scene,
            &[&all[..], &["--unpacked", "--incremental"]].concat(),
            "",
        );
        let kept = directory.join(&names[1]).with_extension("keep");
        std::fs::write(&kept, "").unwrap();
        assert!(compare(&scene, &[&all[..], &["--honor-pack-keep"]].concat(), "") < whole);
        compare(&scene, &["--revs", "--honor-pack-keep"], "main\n^b1\n");
        if !is_old {
            compare(&scene, &["--revs", "--filter=tree:2"], "main\n");
            compare(&scene, &["--revs", "--filter=tree:1"], "b0\nb1\n");
        }
        let everything = [&all[..], &["--keep-unreachable"]].concat();
        compare(&scene, &everything, "");
        compare(
            &scene,
            &[&everything[..], &["--pack-loose-unreachable"]].concat(),
            "",
        );
        compare(&scene, &[&all[..], &["--no-reuse-object"]].concat(), "");
        compare(
            &scene,
            &[&all[..], &["--no-reuse-delta", "--compression=0"]].concat(),
            "",
        );
        let none = [&all[..], &["--incremental", "--non-empty", "made"]].concat();
        scene.git(&["repack", "-a", "-d", "-q"]);
        let outcome = pack(HEDGEROW, &scene.root, &none, "");
        assert_eq!((outcome.code, outcome.stdout.len()), (0, 0));
    }
}

#[test]
fn options_that_do_not_go_together_are_refused_as_by_git() {
    let scene = scene(95, "sha1", Storage::Packed, Graph::None);
    for words in [
        &["--stdin-packs", "--stdout", "--filter=blob:none"][..],
        &["--stdin-packs", "--revs", "made"],
        &["--stdin-packs", "--all", "made"],
        &["--thin", "--revs", "made"],
        &["--stdout", "--revs", "--max-pack-size=2m"],
    ] {
        let of = |program| {
            let outcome = pack(program, &scene.root, words, "");
            (outcome.code, outcome.stderr)
        };
        // Words differ between versions of git.
        let (ours, gits) = (of(HEDGEROW), of(Program::Git));
        assert_eq!(ours.0, gits.0, "{words:?}");
        assert!(ours.1.starts_with("fatal: "), "{}", ours.1);
    }
}

#[test]
fn replacements_are_packed_as_what_they_are() {
    let scene = scene(96, "sha1", Storage::Packed, Graph::None);
    let tree = String::from_utf8(scene.git(&["rev-parse", "b0^{tree}"])).unwrap();
    let other = scene.git(&["commit-tree", "-m", "another root", tree.trim()]);
    let other = String::from_utf8(other).unwrap();
    scene.git(&["replace", "main", other.trim()]);
    let whole = compare(&scene, &["--all"], "");
    let bytes = pack(HEDGEROW, &scene.root, &["--all", "--stdout", "-q"], "");
    let target = scene.root.join("sent.pack");
    std::fs::write(&target, bytes.stdout).unwrap();
    git(&scene.root, &["index-pack", target.to_str().unwrap()], b"");
    let index = std::fs::read(scene.root.join("sent.idx")).unwrap();
    assert_eq!(
        lines(&git(&scene.root, &["show-index"], &index)).len(),
        whole
    );
}
