//! Damaged indexes of packs: a command that lists or counts ends with an error, or is right.

use super::beside_pack;
use super::midx_damage::{hash_len, seal};
use super::{hedgerow, lines, printed};
use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Storage};
use hedgerow_testkit::{git, run};
use std::path::Path;

const QUESTIONS: [&[&str]; 5] = [
    &["cat-file", "--batch-all-objects", "--batch-check"],
    &["rev-list", "--objects", "--no-object-names", "--all"],
    &[
        "rev-list",
        "--objects",
        "--no-object-names",
        "--all",
        "--use-bitmap-index",
    ],
    &["rev-list", "--all", "--count"],
    &["rev-list", "--objects", "--all", "--disk-usage"],
];

/// The objects of a pack that `pack-objects` sends.
fn sent(root: &Path, words: &[&str]) -> Option<u32> {
    let mut command = HEDGEROW.command(root);
    command
        .args(["pack-objects", "--all", "--stdout", "-q"])
        .args(words);
    command.stdin(std::process::Stdio::null());
    let outcome = run(command);
    outcome.assert_civil("pack-objects");
    let count = outcome.stdout.get(8..12)?;
    (outcome.code == 0).then(|| u32::from_be_bytes(count.try_into().unwrap()))
}

#[test]
fn no_list_is_short_and_nobody_told() {
    for (seed, format, version) in [(90, "sha1", "2"), (91, "sha1", "1"), (92, "sha256", "2")] {
        let scene = scene(seed, format, Storage::Packed, Graph::None);
        scene.git(&["config", "pack.indexVersion", version]);
        scene.git(&["repack", "-a", "-d", "-f", "-q"]);
        printed(&scene, &["bitmap", "write"]);
        let expected = QUESTIONS.map(|words| lines(printed(&scene, words).as_bytes()));
        let all = sent(&scene.root, &[]);
        let path = beside_pack(&scene, "idx");
        let whole = std::fs::read(&path).unwrap();
        let start = if version == "1" { 0 } else { 8 };
        let count = u32::from_be_bytes(whole[start + 1020..start + 1024].try_into().unwrap());
        let table = start + 1024;
        let rows = (whole.len() - table - 2 * hash_len(format)) / count as usize;
        let mut places: Vec<usize> = (0..start).collect();
        places.extend((start..table).step_by(97));
        places.extend((table..whole.len()).step_by(rows * count as usize / 24));
        places.extend([whole.len() - 1, whole.len() - hash_len(format) - 1]);
        std::fs::remove_file(&path).unwrap();
        for at in places {
            for bit in [0, 3, 7] {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(&path, &damaged).unwrap();
                for (words, expected) in QUESTIONS.iter().zip(&expected) {
                    let found = hedgerow(&scene, words);
                    let what = format!("{format} {version} byte {at} bit {bit} {words:?}");
                    let is_right = lines(&found.stdout) == *expected;
                    assert!(found.code != 0 || is_right, "{what}: {}", found.stderr);
                    assert!(found.code == 0 || !found.stderr.is_empty(), "{what}");
                }
                let found = sent(&scene.root, &[]);
                assert!(
                    found.is_none() || found == all,
                    "byte {at} bit {bit}: {found:?}"
                );
                std::fs::remove_file(&path).unwrap();
            }
        }
        // With a hash that is right, too.
        let mut damaged = whole.clone();
        damaged[start + 1020] ^= 1;
        seal(&mut damaged, format);
        std::fs::write(&path, &damaged).unwrap();
        let listed = hedgerow(&scene, QUESTIONS[0]);
        assert_ne!(listed.code, 0, "{}", listed.stderr);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &whole).unwrap();
        git(
            &scene.root,
            &["fsck", "--no-progress", "--no-dangling"],
            b"",
        );
    }
}
