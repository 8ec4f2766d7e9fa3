//! Files that share parts: every byte of each is its own.

use crate::trees::{place, Random};
use crate::{assert_same_images, image_of, options};
use hedgerow_erofs::{ClusterSettings, Compression, CreateOptions};
use std::fs;
use std::path::Path;

const FILES: u64 = 14;
/// Length of the unit in which files are the same, and how many trees are made of it; with
/// HEDGEROW_TREES=500, so many. Files are gathered in pieces of 1 MiB.
const TREES: [(usize, u64); 4] = [(4096, 16), (65_536, 4), (131_072, 2), (1 << 20, 2)];

#[test]
fn files_that_share_parts_keep_their_bytes() {
    let compressed = |segment_bytes| CreateOptions {
        compression: Some(Compression {
            settings: ClusterSettings::Lz4,
            segment_bytes,
            ..Compression::default()
        }),
        ..options(2)
    };
    let large_blocks = CreateOptions {
        block_bytes: 65_536,
        ..options(2)
    };
    let given = [
        options(2),
        CreateOptions {
            inline: false,
            ..options(2)
        },
        large_blocks,
        compressed(1 << 16),
        compressed(1 << 20),
    ];
    let wish = std::env::var("HEDGEROW_TREES").ok();
    for (unit, trees) in TREES {
        let trees = wish.as_ref().map_or(trees, |count| count.parse().unwrap());
        for seed in 0..trees {
            let home = place();
            let tree = home.path().join("tree");
            fs::create_dir(&tree).unwrap();
            make(&tree, unit, seed);
            for (number, given) in given.iter().enumerate() {
                check(&tree, given, &format!("{unit} {seed} {number}"));
            }
        }
    }
}

/// Files of units from a small pool, of fresh ones, and of stretches of the files before.
fn make(tree: &Path, unit: usize, seed: u64) {
    let mut random = Random::new(seed);
    let pool: Vec<Vec<u8>> = (0..6).map(|_| random.bytes(unit, false)).collect();
    let longest = if unit == 1 << 20 { 4 } else { 40 };
    let mut before: Vec<Vec<u8>> = Vec::new();
    for number in 0..FILES {
        let mut content = Vec::new();
        let target = unit * (1 + random.below(longest) as usize);
        while content.len() < target {
            match random.below(8) {
                0 => content.extend(random.bytes(unit, false)),
                1 => content.resize(content.len() + unit, 0),
                2 | 3 => content.extend_from_slice(&pool[random.below(6) as usize]),
                _ if before.is_empty() => {}
                _ => {
                    let other = &before[random.below(before.len() as u64) as usize];
                    let units = (other.len() / unit) as u64;
                    let from = random.below(units.max(1)) as usize * unit;
                    let count = unit * (1 + random.below(units.max(1)) as usize);
                    content.extend(other.iter().skip(from).take(count));
                    content.truncate(content.len() - content.len() % unit);
                }
            }
        }
        if random.below(4) == 0 {
            content.extend(random.bytes(unit / 3, false));
        }
        fs::write(tree.join(format!("{number:02}")), &content).unwrap();
        before.push(content);
    }
}

/// Compares an image with one in which nothing is shared.
fn check(tree: &Path, given: &CreateOptions, what: &str) {
    let [own, other] = ["own", "other"].map(|name| tree.with_file_name(name));
    image_of(tree, &own, given).unwrap();
    let apart = CreateOptions {
        dedup: false,
        ..options(2)
    };
    image_of(tree, &other, &apart).unwrap();
    assert_same_images(&other, &own, what);
}
