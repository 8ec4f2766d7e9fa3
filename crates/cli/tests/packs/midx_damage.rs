//! Damaged and unusual bitmaps of multi-pack-indexes: no answer becomes wrong.

use super::several::{beside_packs, midx, several_packs};
use super::{answer, hedgerow, lines, printed};
use hedgerow::plumbing::pack::{HashKind, TrailerHasher};
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, run, Program};
use std::path::{Path, PathBuf};

const WORDS: [&str; 6] = [
    "rev-list",
    "--objects",
    "--no-object-names",
    "--use-bitmap-index",
    "main",
    "^b1",
];

fn kind(format: &str) -> HashKind {
    match format {
        "sha256" => HashKind::Sha256,
        _ => HashKind::Sha1,
    }
}

pub fn hash_len(format: &str) -> usize {
    kind(format).len_in_bytes()
}

/// Makes the hash at the end that of what comes before.
pub fn seal(bytes: &mut [u8], format: &str) {
    let end = bytes.len() - hash_len(format);
    let mut hasher = TrailerHasher::new(kind(format));
    hasher.update(&bytes[..end]);
    let hash = hasher.finish();
    bytes[end..].copy_from_slice(hash.as_bytes());
}

fn replace(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn flipped_bits_give_no_wrong_answer() {
    for (seed, format) in [(60, "sha1"), (61, "sha256")] {
        let scene = several_packs(seed, format);
        scene.git(&["config", "pack.writeBitmapLookupTable", "true"]);
        scene.git(&["config", "pack.allowPackReuse", "multi"]);
        printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
        // Without bitmaps, some objects are listed that trees before the boundary have.
        let plain: Vec<&str> = WORDS
            .iter()
            .copied()
            .filter(|w| !w.contains("bitmap"))
            .collect();
        let expected = [lines(&scene.git(&WORDS)), lines(&scene.git(&plain))];
        let packing = ["pack-objects", "--revs", "--stdout", "--delta-base-offset"];
        let mut random = Random::new(seed);
        let all = super::midx_bitmaps::tips(&scene);
        for path in [midx(&scene), beside_packs(&scene, "bitmap").remove(0)] {
            let whole = std::fs::read(&path).unwrap();
            for round in 0..150 {
                let mut damaged = whole.clone();
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
                replace(&path, &damaged);
                let found = hedgerow(&scene, &WORDS);
                assert_eq!(found.code, 0, "byte {at} of {path:?}: {}", found.stderr);
                let is_right = expected.contains(&lines(&found.stdout));
                assert!(is_right, "byte {at} of {path:?}");
                // By the hash at the end of the one, the other is found.
                let is_name = path == midx(&scene) && at >= whole.len() - hash_len(format);
                let is_told = found.stderr.contains("warning");
                assert!(is_told || is_name, "byte {at} of {path:?}");
                if round % 10 == 0 {
                    let made = answer(&scene, &packing, all.as_bytes());
                    assert_eq!(made.code, 0, "byte {at}: {}", made.stderr);
                    let target = tempfile::tempdir().unwrap();
                    std::fs::write(target.path().join("it.pack"), made.stdout).unwrap();
                    let format = format!("--object-format={format}");
                    git(target.path(), &["index-pack", &format, "it.pack"], b"");
                }
            }
            replace(&path, &whole);
        }
    }
}

/// Eight bytes are swapped with eight others, and the hash is right again: what shows that is named,
/// and gives no wrong count where it does not show to git either.
#[test]
fn damage_under_a_right_hash_gives_no_count_that_git_does_not_give() {
    let count = [
        &["rev-list", "--objects", "--count"],
        &WORDS[3..4],
        &["--all"],
    ]
    .concat();
    for (seed, lookup) in [(64, "false"), (65, "true")] {
        let scene = several_packs(seed, "sha1");
        scene.git(&["config", "pack.writeBitmapLookupTable", lookup]);
        printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
        let path = beside_packs(&scene, "bitmap").remove(0);
        let whole = std::fs::read(&path).unwrap();
        let expected = hedgerow(&scene, &count).stdout;
        let mut random = Random::new(seed);
        let mut told = 0;
        for round in 0..120 {
            let mut damaged = whole.clone();
            let [a, b] = [(); 2].map(|()| 32 + random.below(damaged.len() - 60));
            for at in 0..8 {
                damaged.swap(a + at, b + at);
            }
            seal(&mut damaged, "sha1");
            replace(&path, &damaged);
            let found = hedgerow(&scene, &count);
            assert_eq!(found.code, 0, "{}", found.stderr);
            told += usize::from(found.stderr.contains("warning"));
            if found.stdout != expected {
                let mut command = Program::Git.command(&scene.root);
                command.args(&count);
                let theirs = run(command);
                let what = format!("round {round}: bytes {a} and {b}: {}", theirs.stderr);
                assert!(theirs.code != 0 || theirs.stdout == found.stdout, "{what}");
            }
        }
        assert!(told > 20, "{told}");
    }
}

/// A repository whose multi-pack-index has no chunk RIDX, and where that was.
fn without_order(seed: u64, format: &str) -> (hedgerow_testkit::history::Scene, Vec<u8>, PathBuf) {
    let scene = several_packs(seed, format);
    printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
    let mut bytes = std::fs::read(midx(&scene)).unwrap();
    let row = bytes.windows(4).position(|name| name == b"RIDX").unwrap();
    let offset = |row: usize| {
        let bytes: [u8; 8] = bytes[row + 4..row + 12].try_into().unwrap();
        u64::from_be_bytes(bytes) as usize
    };
    let order = bytes[offset(row)..offset(row + 12)].to_vec();
    bytes[row..row + 4].copy_from_slice(b"NONE");
    seal(&mut bytes, format);
    replace(&midx(&scene), &bytes);
    let checksum = &bytes[bytes.len() - hash_len(format)..];
    let old = beside_packs(&scene, "bitmap").remove(0);
    let mut bitmap = std::fs::read(&old).unwrap();
    bitmap[12..12 + checksum.len()].copy_from_slice(checksum);
    seal(&mut bitmap, format);
    std::fs::remove_file(&old).unwrap();
    let hex: String = checksum.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = old.with_file_name(format!("multi-pack-index-{hex}.bitmap"));
    replace(&path, &bitmap);
    (scene, order, path.with_extension("rev"))
}

#[test]
fn the_order_is_found_without_its_chunk() {
    for (seed, format) in [(62, "sha1"), (63, "sha256")] {
        let (scene, order, reverse) = without_order(seed, format);
        let whole = &WORDS[..5];
        let expected = lines(&scene.git(&["rev-list", "--objects", "--no-object-names", "main"]));
        // Computed.
        let found = hedgerow(&scene, whole);
        assert_eq!(lines(&found.stdout), expected);
        assert!(found.stderr.contains(".rev'"), "{}", found.stderr);
        printed(&scene, &["bitmap", "verify"]);
        // In the file that git wrote before there was such a chunk.
        let mut bytes = [
            b"RIDX".as_slice(),
            &[0, 0, 0, 1, 0, 0, 0, if format == "sha1" { 1 } else { 2 }],
            &order,
        ]
        .concat();
        let midx = std::fs::read(midx(&scene)).unwrap();
        bytes.extend_from_slice(&midx[midx.len() - hash_len(format)..]);
        bytes.extend(vec![0; hash_len(format)]);
        seal(&mut bytes, format);
        replace(&reverse, &bytes);
        let found = hedgerow(&scene, whole);
        assert_eq!(lines(&found.stdout), expected);
        assert_eq!(found.stderr, "");
        scene.git(&["rev-list", "--test-bitmap", "main"]);
        // And there, damaged.
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        replace(&reverse, &bytes);
        let found = hedgerow(&scene, whole);
        assert_eq!(lines(&found.stdout), expected);
        assert!(
            found.stderr.contains("its checksum is wrong"),
            "{}",
            found.stderr
        );
    }
}
