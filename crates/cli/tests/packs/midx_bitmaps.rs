//! Bitmaps of multi-pack-indexes beside git's.

use super::bitmaps::{compare, difference};
use super::several::{
    add_versions, all_objects, beside_packs, clear, midx, pack, packs, several_packs,
};
use super::{hedgerow, lines, printed};
use crate::HEDGEROW;
use hedgerow_testkit::git;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;

const WRITE: [&str; 3] = ["multi-pack-index", "write", "--bitmap"];

fn branches(scene: &Scene) -> Vec<String> {
    lines(&scene.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]))
}

/// Has git check what was written, and the bitmaps of `commits`; of all branches for none.
fn is_accepted_by_git(scene: &Scene, commits: &[&str]) {
    scene.git(&["fsck", "--no-progress"]);
    let all = branches(scene);
    let all = all
        .iter()
        .map(String::as_str)
        .filter(|_| commits.is_empty());
    for commit in all.chain(commits.iter().copied()) {
        scene.git(&["rev-list", "--test-bitmap", commit]);
    }
}

/// Whether what packs are asked for comes, all of it and nothing else.
fn compare_packs(scene: &Scene, random: &mut Random, questions: usize) {
    for number in 0..questions {
        let (want, have) = (random.pick(&scene.commits), random.pick(&scene.commits));
        let (input, mut expected) = match number % 3 {
            0 => {
                let all = scene.git(&["rev-list", "--objects", "--no-object-names", "--all"]);
                (tips(scene), lines(&all))
            }
            _ => (format!("{want}\n^{have}\n"), difference(scene, want, have)),
        };
        expected.sort_unstable();
        let reuse = ["false", "single", "multi"][number % 3];
        scene.git(&["config", "pack.allowPackReuse", reuse]);
        let mut words = vec!["pack-objects", "--revs", "--stdout"];
        words.extend((number % 2 == 0).then_some("--delta-base-offset"));
        let made = with_input(scene, &words, input.as_bytes());
        let format = scene.git(&["rev-parse", "--show-object-format"]);
        let format = String::from_utf8(format).unwrap();
        let other = tempfile::tempdir().unwrap();
        let file = other.path().join("it.pack");
        std::fs::write(&file, made).unwrap();
        let format = format!("--object-format={}", format.trim());
        git(other.path(), &["index-pack", &format, "it.pack"], b"");
        let index = std::fs::read(other.path().join("it.idx")).unwrap();
        let shown = git(other.path(), &["show-index", &format], &index);
        let ids = lines(&shown);
        let mut ids: Vec<&str> = ids.iter().filter_map(|l| l.split(' ').nth(1)).collect();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{words:?} {input} {reuse}");
    }
    scene.git(&["config", "--unset-all", "pack.allowPackReuse"]);
}

/// What all references name, one a line.
pub fn tips(scene: &Scene) -> String {
    let named = scene.git(&["for-each-ref", "--format=%(objectname)"]);
    let named = String::from_utf8(named).unwrap();
    format!("HEAD\n{named}")
}

/// What hedgerow writes to standard output when it reads `input`.
fn with_input(scene: &Scene, words: &[&str], input: &[u8]) -> Vec<u8> {
    let outcome = super::answer(scene, words, input);
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
    outcome.stdout
}

#[test]
fn we_read_what_git_writes() {
    let mut random = Random::new(40);
    for (seed, format) in [(40, "sha1"), (41, "sha256"), (42, "sha1")] {
        let scene = several_packs(seed, format);
        for table in ["false", "true"] {
            scene.git(&["config", "pack.writeBitmapLookupTable", table]);
            let preferred = random.pick(&packs(&scene)).clone();
            let preferred = preferred.file_name().unwrap().to_str().unwrap().to_owned();
            clear(&scene);
            scene.git(&[&WRITE[..], &[&format!("--preferred-pack={preferred}")]].concat());
            let verified = hedgerow(&scene, &["bitmap", "verify"]);
            assert_eq!((verified.code, verified.stderr.as_str()), (0, ""));
            let explained = printed(&scene, &["bitmap", "explain", "main"]);
            assert!(explained.contains("/multi-pack-index'"), "{explained}");
            compare(&scene, &mut random, 10);
            compare_packs(&scene, &mut random, 9);
        }
        // Beside it, that of a pack is not looked at.
        scene.git(&["config", "core.multiPackIndex", "false"]);
        let none = hedgerow(&scene, &["bitmap", "list"]);
        assert_eq!(none.code, 1);
    }
}

#[test]
fn git_reads_what_we_write() {
    let is_old = !hedgerow_testkit::git_is_at_least(2, 47, "the file of a multi-pack-index");
    let mut random = Random::new(43);
    for (seed, format) in [(43, "sha1"), (44, "sha256"), (45, "sha1")] {
        let scene = several_packs(seed, format);
        for table in ["false", "true"] {
            scene.git(&["config", "pack.writeBitmapLookupTable", table]);
            clear(&scene);
            scene.git(&WRITE);
            let expected = std::fs::read(midx(&scene)).unwrap();
            let names = beside_packs(&scene, "");
            clear(&scene);
            printed(&scene, &WRITE);
            assert!(is_old || std::fs::read(midx(&scene)).unwrap() == expected);
            assert!(is_old || beside_packs(&scene, "") == names);
            is_accepted_by_git(&scene, &[]);
            printed(&scene, &["bitmap", "verify"]);
            compare(&scene, &mut random, 10);
            compare_packs(&scene, &mut random, 9);
            let first = std::fs::read(&beside_packs(&scene, "bitmap")[0]).unwrap();
            clear(&scene);
            printed(&scene, &[&["-j", "7"], &WRITE[..]].concat());
            assert!(std::fs::read(&beside_packs(&scene, "bitmap")[0]).unwrap() == first);
        }
    }
}

#[test]
fn a_later_one_replaces_it_and_knows_what_it_knew() {
    for (seed, format) in [(46, "sha1"), (47, "sha256")] {
        let scene = several_packs(seed, format);
        printed(&scene, &WRITE);
        let old = beside_packs(&scene, "bitmap");
        mark_name_hashes(&old[0], all_objects(&scene).len(), format);
        add_versions(&scene, "later", 100..110);
        let more = lines(&scene.git(&["rev-list", "--objects", "--no-object-names", "later"]));
        pack(&scene, &more, true);
        printed(&scene, &[&["-j", "1"], &WRITE[..]].concat());
        let new = beside_packs(&scene, "bitmap");
        assert!(new.len() == 1 && new != old, "{new:?}");
        let first = std::fs::read(&new[0]).unwrap();
        // Most objects were not met again: what is said of them comes from before.
        let count = first.windows(4).filter(|bytes| *bytes == MARK).count();
        assert!(count > all_objects(&scene).len() / 2, "{count}");
        is_accepted_by_git(&scene, &[]);
        let listed = printed(&scene, &["bitmap", "list"]);
        printed(&scene, &["bitmap", "verify"]);
        clear(&scene);
        printed(&scene, &WRITE);
        assert_eq!(printed(&scene, &["bitmap", "list"]), listed);
        // There is nothing to do.
        let before = std::fs::metadata(midx(&scene)).unwrap().modified().unwrap();
        printed(&scene, &WRITE);
        let after = std::fs::metadata(midx(&scene)).unwrap().modified().unwrap();
        assert_eq!(before, after);
    }
}

/// A hash of a path that no path has here.
const MARK: [u8; 4] = [0xde, 0xad, 0xbe, 0xef];

/// Makes all name hashes of the file of bitmaps, of `count` objects, the same.
fn mark_name_hashes(path: &std::path::Path, count: usize, format: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let end = bytes.len() - super::midx_damage::hash_len(format);
    for at in (end - count * 4..end).step_by(4) {
        bytes[at..at + 4].copy_from_slice(&MARK);
    }
    super::midx_damage::seal(&mut bytes, format);
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn bitmaps_of_a_pack_are_taken_over() {
    let scene = scene(48, "sha1", Storage::Packed, Graph::None);
    printed(&scene, &["bitmap", "write"]);
    add_versions(&scene, "later", 0..5);
    scene.git(&["repack", "-dq"]);
    printed(&scene, &WRITE);
    is_accepted_by_git(&scene, &[]);
    printed(&scene, &["bitmap", "verify"]);
    let listed = printed(&scene, &["bitmap", "list"]);
    for bitmap in beside_packs(&scene, "bitmap") {
        std::fs::remove_file(bitmap).unwrap();
    }
    clear(&scene);
    printed(&scene, &WRITE);
    assert_eq!(printed(&scene, &["bitmap", "list"]), listed);
}

#[test]
fn what_is_elsewhere_can_be_left_out() {
    let scene = several_packs(56, "sha1");
    printed(&scene, &WRITE);
    add_versions(&scene, "more", 50..53);
    let loose = scene.git(&["rev-list", "--objects", "--no-object-names", "more"]);
    let kept = packs(&scene)[0].with_extension("keep");
    std::fs::write(kept, "").unwrap();
    for option in ["--honor-pack-keep", "--incremental", "--local"] {
        let pack_of = |program: super::Program| {
            let mut command = program.command(&scene.root);
            command.args(["pack-objects", "--all", "--stdout", option]);
            super::run(command).stdout
        };
        let ids = |pack: Vec<u8>| {
            let other = tempfile::tempdir().unwrap();
            std::fs::write(other.path().join("it.pack"), pack).unwrap();
            git(
                other.path(),
                &["index-pack", "--object-format=sha1", "it.pack"],
                b"",
            );
            let index = std::fs::read(other.path().join("it.idx")).unwrap();
            let shown = lines(&git(
                other.path(),
                &["show-index", "--object-format=sha1"],
                &index,
            ));
            let ids = shown.iter().filter_map(|line| line.split(' ').nth(1));
            ids.map(str::to_owned)
                .collect::<std::collections::BTreeSet<_>>()
        };
        let expected = ids(pack_of(super::Program::Git));
        assert!(option != "--incremental" || expected.len() == lines(&loose).len());
        assert_eq!(ids(pack_of(HEDGEROW)), expected, "{option}");
    }
}

#[test]
fn commits_that_had_a_bitmap_keep_it() {
    let scene = scene(55, "sha1", Storage::Packed, Graph::None);
    add_versions(&scene, "long", 0..600);
    scene.git(&["repack", "-adq"]);
    printed(&scene, &["bitmap", "write"]);
    let commits = || {
        let listed = printed(&scene, &["bitmap", "list"]);
        let ids = listed.lines().filter_map(|line| line.split(' ').next());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    let old = commits();
    let end = lines(&scene.git(&["rev-parse", "long"])).remove(0);
    add_versions(&scene, "longer", 700..720);
    scene.git(&["repack", "-dq"]);
    printed(&scene, &WRITE);
    let newest = scene.git(&["rev-list", "--all", "--date-order", "--max-count=100"]);
    let newest = lines(&newest);
    let (kept, new): (Vec<String>, Vec<String>) =
        commits().into_iter().partition(|id| old.contains(id));
    // All of the newest hundred have one; of the others, those that had one.
    assert!(kept.len() > 80 && kept.contains(&end), "{}", kept.len());
    let surplus = new.iter().filter(|id| newest.binary_search(id).is_err());
    assert_eq!(surplus.count(), 0);
    is_accepted_by_git(&scene, &["long", "longer"]);
    printed(&scene, &["bitmap", "verify"]);
}

#[test]
fn what_is_not_closed_is_refused() {
    for format in ["sha1", "sha256"] {
        let scene = scene(49, format, Storage::Packed, Graph::None);
        add_versions(&scene, "later", 0..5);
        // The newest commit and its tree are packed, what they lead to is not.
        let some = lines(&scene.git(&["rev-parse", "later", "later^{tree}"]));
        pack(&scene, &some, true);
        let before = beside_packs(&scene, "");
        let refused = hedgerow(&scene, &WRITE);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(
            refused.stderr.contains("could not write multi-pack bitmap"),
            "{}",
            refused.stderr
        );
        assert_eq!(beside_packs(&scene, ""), before);
        // What no reference reaches need not be closed, for git neither.
        scene.git(&["branch", "-qD", "later"]);
        scene.git(&WRITE);
        clear(&scene);
        printed(&scene, &WRITE);
        is_accepted_by_git(&scene, &[]);
        printed(&scene, &["bitmap", "verify"]);
    }
}

#[test]
fn a_snapshot_stands_for_the_references() {
    let scene = several_packs(50, "sha1");
    let tip = lines(&scene.git(&["rev-parse", "deltas~10"])).remove(0);
    std::fs::write(scene.root.join("snapshot"), format!("+{tip}\n")).unwrap();
    printed(
        &scene,
        &[&WRITE[..], &["--refs-snapshot=snapshot"]].concat(),
    );
    let listed = printed(&scene, &["bitmap", "list"]);
    let mut listed: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, lines(&scene.git(&["rev-list", &tip])));
    for (line, what) in [
        ("xyz", "could not parse line: xyz"),
        (&format!("{tip}x"), "malformed line: "),
    ] {
        std::fs::write(scene.root.join("snapshot"), line).unwrap();
        clear(&scene);
        let refused = hedgerow(
            &scene,
            &[&WRITE[..], &["--refs-snapshot=snapshot"]].concat(),
        );
        assert_eq!(refused.code, 128);
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
        assert!(!midx(&scene).exists());
    }
}

#[test]
fn tips_outside_of_packs_lead_into_them() {
    let scene = several_packs(51, "sha1");
    let expected = scene.git(&["rev-list", "deltas"]);
    scene.git(&["checkout", "-q", "-f", "deltas"]);
    scene.git(&["commit", "-q", "--allow-empty", "-m", "loose"]);
    for branch in branches(&scene) {
        if branch != "refs/heads/deltas" {
            scene.git(&["update-ref", "-d", &branch]);
        }
    }
    let tags = lines(&scene.git(&["for-each-ref", "--format=%(refname)", "refs/tags"]));
    tags.iter()
        .for_each(|tag| drop(scene.git(&["update-ref", "-d", tag])));
    printed(&scene, &WRITE);
    let listed = printed(&scene, &["bitmap", "list"]);
    let mut listed: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, lines(&expected));
}

#[test]
fn pseudo_merges_are_written_and_used() {
    for (format, command) in [("sha1", &WRITE[..]), ("sha256", &["bitmap", "write"])] {
        let scene = scene(52, format, Storage::Packed, Graph::None);
        add_versions(&scene, "long", 0..400);
        for number in 0..20 {
            scene.git(&[
                "branch",
                &format!("g{}/x{number}", number % 2),
                &format!("long~{}", 120 + number * 11),
            ]);
        }
        scene.git(&["repack", "-adq"]);
        for (key, value) in [
            ("pattern", "refs/heads/(g[0-9])/"),
            ("threshold", "now"),
            ("stableThreshold", "1.hour.ago"),
        ] {
            scene.git(&["config", &format!("bitmapPseudoMerge.all.{key}"), value]);
        }
        printed(&scene, command);
        is_accepted_by_git(&scene, &["long"]);
        printed(&scene, &["bitmap", "verify"]);
        let globs = ["--branches=g0/*", "--branches=g1/*"];
        for glob in globs {
            let json = printed(&scene, &["--json", "bitmap", "explain", glob]);
            let json: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(json["bitmaps"]["pseudo_merges"], 2);
            assert_eq!(json["wants"]["pseudo_merges"], 1, "{json}");
            let words = ["rev-list", "--objects", "--no-object-names", glob];
            let walked = lines(&scene.git(&words));
            let with = [&words[..], &["--use-bitmap-index"]].concat();
            assert_eq!(lines(printed(&scene, &with).as_bytes()), walked);
            assert_eq!(lines(&scene.git(&with)), walked);
        }
    }
}

#[test]
fn small_packs_are_put_together() {
    for (seed, format) in [(53, "sha1"), (54, "sha256")] {
        for batch in [
            "",
            "--batch-size=1k",
            "--batch-size=6000",
            "--batch-size=100m",
        ] {
            let ours = several_packs(seed, format);
            // What git chooses depends on the times of packs, which a copy keeps.
            let kept = packs(&ours).remove(1).with_extension("keep");
            std::fs::write(&kept, "").unwrap();
            ours.git(&["multi-pack-index", "write"]);
            let theirs = ours.root.with_file_name("theirs");
            let copied = std::process::Command::new("cp")
                .arg("-a")
                .arg(&ours.root)
                .arg(&theirs)
                .status();
            assert!(copied.unwrap().success());
            let mut words = vec!["multi-pack-index", "repack"];
            words.extend(Some(batch).filter(|batch| !batch.is_empty()));
            git(&theirs, &words, b"");
            let before = packs(&ours);
            printed(&ours, &words);
            let added = |root: &std::path::Path| {
                let files = std::fs::read_dir(root.join(".git/objects/pack")).unwrap();
                let paths = files.map(|file| file.unwrap().path());
                let is_new = |path: &std::path::PathBuf| {
                    path.extension().is_some_and(|e| e == "idx")
                        && !before.iter().any(|old| old.file_stem() == path.file_stem())
                };
                let new: Vec<_> = paths.filter(is_new).collect();
                new.iter()
                    .flat_map(|index| {
                        let shown = git(root, &["show-index"], &std::fs::read(index).unwrap());
                        let ids = lines(&shown).into_iter();
                        ids.map(|line| line.split(' ').nth(1).unwrap().to_owned())
                            .collect::<Vec<_>>()
                    })
                    .collect::<std::collections::BTreeSet<String>>()
            };
            assert_eq!(added(&ours.root), added(&theirs), "{batch}");
            ours.git(&["multi-pack-index", "verify"]);
            printed(&ours, &["multi-pack-index", "expire"]);
            git(&theirs, &["multi-pack-index", "expire"], b"");
            let left = |root: &std::path::Path| {
                let files = std::fs::read_dir(root.join(".git/objects/pack")).unwrap();
                files
                    .filter(|file| {
                        file.as_ref()
                            .unwrap()
                            .path()
                            .extension()
                            .is_some_and(|e| e == "pack")
                    })
                    .count()
            };
            assert_eq!(left(&ours.root), left(&theirs), "{batch}");
            ours.git(&["fsck", "--no-progress"]);
        }
    }
}
