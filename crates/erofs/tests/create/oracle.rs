//! Readers that we did not write give back the tree.

use crate::trees::{assert_same, is_root, make, mounted, place, Random};
use crate::{image_of, listing, options};
use hedgerow_erofs::{ClusterSettings, Compression, CreateOptions};
use hedgerow_image::FragmentPolicy;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Once;

/// Trees that are made. HEDGEROW_TREES=500 makes it a long run.
const TREES: u64 = 12;

#[test]
fn everybody_reads_the_same_tree() {
    let trees = std::env::var("HEDGEROW_TREES").map_or(TREES, |count| count.parse().unwrap());
    let next = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < trees)
                {
                    tree(seed);
                }
            });
        }
    });
}

/// Makes a tree, and images of it.
fn tree(seed: u64) {
    let block = match seed % 20 {
        19 => 1 << 20,
        9 => 131_072,
        other => 4096 << (other % 3),
    };
    let own = place();
    let tree = own.path().join("tree");
    fs::create_dir(&tree).unwrap();
    make(&tree, seed, block);
    let expected = listing(&tree);
    for (number, given) in variants().into_iter().enumerate() {
        let image = own.path().join("image");
        let (_, numbers) = image_of(&tree, &image, &given).unwrap();
        let what = format!("variant {number}, seed {seed}");
        if given.compression.is_none() || fsck_is_new() {
            fsck(&image, &what);
        }
        if is_root() {
            mounted(&image, "erofs", "ro", |mounted| {
                assert_same(&listing(mounted), &expected, &format!("mounted: {what}"));
                for (path, number) in &numbers {
                    let path = Path::new(OsStr::from_bytes(path));
                    let stat = fs::symlink_metadata(mounted.join(path)).unwrap();
                    let source = fs::symlink_metadata(tree.join(path)).unwrap();
                    assert_eq!(stat.ino(), *number, "{path:?}: {what}");
                    assert_eq!(stat.mtime_nsec(), source.mtime_nsec(), "{path:?}: {what}");
                }
            });
        }
    }
}

pub fn variants() -> Vec<CreateOptions> {
    let compressed = |settings, cluster_bytes, segment_bytes, fragments| CreateOptions {
        compression: Some(Compression {
            settings,
            cluster_bytes,
            segment_bytes,
            fragments,
        }),
        ..options(2)
    };
    let whole = FragmentPolicy::Always;
    vec![
        compressed(ClusterSettings::Lz4, 65_536, 1 << 18, whole),
        compressed(
            ClusterSettings::Lz4Hc(9),
            4096,
            1 << 16,
            FragmentPolicy::SmallFiles,
        ),
        compressed(ClusterSettings::Zstd(3), 16_384, 1 << 16, whole),
        compressed(
            ClusterSettings::Deflate(6),
            65_536,
            1 << 17,
            FragmentPolicy::Never,
        ),
        compressed(ClusterSettings::Lzma(1), 1 << 20, 1 << 20, whole),
        options(2),
        CreateOptions {
            inline: false,
            mtime_s: Some(1_000_000_000),
            ..options(2)
        },
        CreateOptions {
            dedup: false,
            holes: false,
            ..options(3)
        },
    ]
}

/// What fsck.erofs of erofs-utils finds: nothing.
pub fn fsck(image: &Path, what: &str) {
    if !hedgerow_testkit::require("fsck.erofs") {
        return;
    }
    let output = Command::new("fsck.erofs")
        .args(["--extract"])
        .arg(image)
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{what}: {output:?}");
}

/// Whether the programs of erofs-utils know all that we write: from version 1.8 on.
pub fn fsck_is_new() -> bool {
    static TOLD: Once = Once::new();
    let is_new = version_of("fsck.erofs").is_some_and(|version| version >= vec![1, 8]);
    if !is_new {
        TOLD.call_once(|| hedgerow_testkit::skip("fsck.erofs is missing, or older than 1.8"));
    }
    is_new
}

/// The first two numbers of a program's version, if it is there.
pub fn version_of(program: &str) -> Option<Vec<u32>> {
    let argument = if program.starts_with("mkfs") {
        "-V"
    } else {
        "--version"
    };
    let output = Command::new(program).arg(argument).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = text.split(|character: char| !character.is_ascii_digit());
    let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
    numbers.get(..2).map(<[u32]>::to_vec)
}

#[test]
fn a_directory_of_many_names_is_found_in() {
    let own = place();
    let (tree, image) = (own.path().join("tree"), own.path().join("image"));
    fs::create_dir_all(tree.join("large")).unwrap();
    let name = |number: u32| format!("large/{:x}-{number}", number * 7919 % 65_537);
    for number in 0..100_000 {
        fs::write(tree.join(name(number)), format!("{number:06}")).unwrap();
    }
    image_of(&tree, &image, &options(2)).unwrap();
    fsck(&image, "many names");
    if is_root() {
        mounted(&image, "erofs", "ro", |mounted| {
            for number in (0..100_000).step_by(137) {
                let content = fs::read(mounted.join(name(number))).unwrap();
                assert_eq!(content, format!("{number:06}").as_bytes());
            }
            assert!(!mounted.join("large/nothing").exists());
            assert_eq!(
                fs::read_dir(mounted.join("large")).unwrap().count(),
                100_000
            );
        });
    }
}

/// Files that share some of their blocks: once as chunks, once as segments.
#[test]
fn equal_parts_of_files_are_stored_once() {
    let own = place();
    let (tree, image) = (own.path().join("tree"), own.path().join("image"));
    fs::create_dir(&tree).unwrap();
    let mut random = Random::new(7);
    let common = random.bytes(512 << 10, false);
    for number in 0..8 {
        let mut content = random.bytes(128 << 10, false);
        content.extend_from_slice(&common);
        content.extend_from_slice(&random.bytes(64 << 10, false));
        fs::write(tree.join(number.to_string()), content).unwrap();
    }
    let compressed = CreateOptions {
        compression: Some(Compression {
            segment_bytes: 1 << 17,
            ..Compression::default()
        }),
        ..options(2)
    };
    for given in [options(2), compressed] {
        image_of(&tree, &image, &given).unwrap();
        let bytes = fs::metadata(&image).unwrap().len();
        assert!(bytes < (512 + 8 * 192 + 100) << 10, "{bytes}");
        let expected = listing(&tree);
        mounted(&image, "erofs", "ro", |mounted| {
            assert_same(&listing(mounted), &expected, "equal parts");
        });
        let whole = CreateOptions {
            dedup: false,
            ..given
        };
        image_of(&tree, &image, &whole).unwrap();
        assert!(fs::metadata(&image).unwrap().len() > (8 * 704) << 10);
    }
}
