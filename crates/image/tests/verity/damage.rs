//! What is wrong is told, with its place; hostile trees cost no more than the file is long.

use crate::{checked, data, image, workers, BLOCK};
use hedgerow_image::verity::{check, inspect, Checked, Digest};
use hedgerow_image::{Damage, Part};

/// What was found, by part and place.
fn places(checked: &Checked) -> Vec<(Part, u64)> {
    let place = |damage: &Damage| (damage.part, damage.position);
    checked.findings.iter().map(place).collect()
}

/// With the root hash from outside, a changed block is the only one that is told, whichever it is.
#[test]
fn a_changed_block_is_told_with_its_place() {
    for blocks in [1, 2, 128, 129, 300] {
        let data = data(blocks);
        let (bytes, verity) = image(&data, b"salt");
        let size = data.len() as u64;
        for block in (0..bytes.len() / BLOCK).filter(|block| *block != blocks) {
            let mut wrong = bytes.clone();
            wrong[block * BLOCK + 5] ^= 0x80;
            let part = if block < blocks {
                Part::VerityData
            } else {
                Part::HashTree
            };
            let expected = [(part, (block * BLOCK) as u64)];
            let found = checked(&wrong, size, Some(&verity.root_hash)).unwrap();
            assert_eq!(places(&found), expected, "{blocks} blocks: {found:?}");
            // Without it, the highest block is believed, and the digest of a single data block.
            let found = checked(&wrong, size, None).unwrap();
            let top = (blocks + 1) * BLOCK;
            match block * BLOCK {
                0 if blocks == 1 => assert_eq!(places(&found), []),
                at if at == top => assert_eq!(found.findings.len(), 1, "{found:?}"),
                _ => assert_eq!(places(&found), expected, "{blocks} blocks: {found:?}"),
            }
        }
    }
}

#[test]
fn a_changed_byte_of_the_superblock_is_told() {
    let data = data(200);
    let (bytes, verity) = image(&data, b"salt");
    let size = data.len() as u64;
    for at in 0..512 {
        let mut wrong = bytes.clone();
        wrong[data.len() + at] ^= 0x41;
        let found = checked(&wrong, size, Some(&verity.root_hash)).unwrap();
        // An identifier may be any; a salt makes another tree.
        let is_uuid = (16..32).contains(&at);
        assert_eq!(found.findings.is_empty(), is_uuid, "{at}: {found:?}");
        let is_salt = at == 80 || (88..92).contains(&at);
        if !is_salt && !is_uuid {
            let place = &found.findings[0];
            assert_eq!(place.part, Part::VeritySuperblock, "{at}");
            assert!(place.position.abs_diff(size + at as u64) < 32, "{at}");
            assert!(checked(&wrong, size, None).is_some(), "{at}");
        }
    }
}

/// Data are right if they give the digest that the tree has for their hash block, even if that block
/// is damaged; if both are damaged, both are told.
#[test]
fn data_below_a_damaged_hash_block_are_told_apart() {
    let data = data(300);
    let (bytes, verity) = image(&data, b"");
    let size = data.len() as u64;
    let root = Some(&verity.root_hash);
    // The highest block stands first, then the three with the digests of the data.
    let second = (300 + 2 + 1) * BLOCK;
    let mut wrong = bytes.clone();
    wrong[second..second + BLOCK].fill(0xee);
    let found = checked(&wrong, size, root).unwrap();
    assert_eq!(places(&found), [(Part::HashTree, second as u64)]);
    wrong[130 * BLOCK] ^= 1;
    let found = checked(&wrong, size, root).unwrap();
    let expected = [
        (Part::VerityData, 128 * BLOCK as u64),
        (Part::HashTree, second as u64),
    ];
    assert_eq!(places(&found), expected);
    assert!(
        found.findings[0].what.contains("the first of 128"),
        "{found:?}"
    );
    // Another root: what is below fits.
    let found = checked(&bytes, size, Some(&[1; 32])).unwrap();
    assert_eq!(places(&found), [(Part::HashTree, (301 * BLOCK) as u64)]);
    assert!(
        found.findings[0].what.contains(&"01".repeat(32)),
        "{found:?}"
    );
}

#[test]
fn a_tree_that_is_missing_is_damage_if_it_is_demanded() {
    let data = data(3);
    let size = data.len() as u64;
    assert_eq!(checked(&data, size, None), None);
    let found = checked(&data, size, Some(&[0; 32])).unwrap();
    assert_eq!(places(&found), [(Part::VeritySuperblock, size)]);
    // Something else stands there.
    let mut other = data.clone();
    other.extend_from_slice(&[7; 8192]);
    assert_eq!(checked(&other, size, None), None);
    assert_eq!(checked(&other, size, Some(&[0; 32])).unwrap(), found);
    assert_eq!(inspect(&other, 0, Some(size)).unwrap(), None);
}

/// A tree is found by the length of the file where the image does not tell its own.
#[test]
fn the_tree_of_a_damaged_image_is_found() {
    let data = data(150);
    let (mut bytes, verity) = image(&data, b"");
    bytes[0] ^= 1;
    for size in [None, Some(0), Some(4096), Some(u64::MAX)] {
        let found = check(&bytes, 0, size, Some(&verity.root_hash), &workers(2)).unwrap();
        let places = places(&found.unwrap());
        assert_eq!(places, [(Part::VerityData, 0)], "{size:?}");
    }
}

/// What looks like a tree, and is content of the image, is none: it would cover a part of it only.
#[test]
fn a_tree_within_an_image_is_content() {
    let (bytes, inner) = image(&data(150), b"");
    let size = bytes.len() as u64;
    assert_eq!(checked(&bytes, size, None), None);
    let found = checked(&bytes, size, Some(&inner.root_hash)).unwrap();
    assert_eq!(places(&found), [(Part::VeritySuperblock, size)]);
    // Around it, its own tree counts.
    let (mut outer, verity) = image(&bytes, b"salt");
    let found = checked(&outer, size, Some(&verity.root_hash)).unwrap();
    assert_eq!(places(&found), []);
    outer[150 * BLOCK + 600] ^= 1;
    let found = checked(&outer, size, Some(&verity.root_hash)).unwrap();
    assert_eq!(places(&found), [(Part::VerityData, 150 * BLOCK as u64)]);
}

#[test]
fn a_size_that_no_file_has_is_no_reason_to_fail() {
    let found = checked(&data(3), u64::MAX, Some(&[0; 32])).unwrap();
    assert_eq!(places(&found), [(Part::VeritySuperblock, u64::MAX)]);
}

/// The digest of a single block is the root hash: without one from outside, nothing is checked.
#[test]
fn nothing_vouches_for_a_single_block() {
    let (bytes, verity) = image(&data(1), b"");
    let sums = |root: Option<&Digest>| {
        let coverage = checked(&bytes, BLOCK as u64, root).unwrap().coverage;
        (coverage[0].checksummed_bytes, coverage[0].unchecked_bytes)
    };
    assert_eq!(sums(None), (0, BLOCK as u64));
    assert_eq!(sums(Some(&verity.root_hash)), (BLOCK as u64, 0));
}

#[test]
fn hostile_trees_are_refused_by_name() {
    let data = data(200);
    let (bytes, _) = image(&data, b"");
    let size = data.len() as u64;
    let start = data.len();
    let changed = |at: usize, value: &[u8]| {
        let mut wrong = bytes.clone();
        wrong[start + at..start + at + value.len()].copy_from_slice(value);
        let found = checked(&wrong, size, None).unwrap();
        assert_eq!(inspect(&wrong, 0, Some(size)).unwrap().unwrap().err(), {
            found.findings.first().cloned()
        });
        found.findings[0].to_string()
    };
    for (at, value, expected) in [
        (8, &7u32.to_le_bytes()[..], "version 7: only 1"),
        (12, &[0; 4], "hash type 0: only 1"),
        (32, b"sha512", "the algorithm 'sha512': only sha256"),
        (64, &1024u32.to_le_bytes(), "data blocks of 1024 bytes"),
        (68, &u32::MAX.to_le_bytes(), "hash blocks of 4294967295"),
        (72, &0u64.to_le_bytes(), "0 data blocks before byte 819200"),
        (
            72,
            &201u64.to_le_bytes(),
            "201 data blocks before byte 819200",
        ),
        (
            72,
            &199u64.to_le_bytes(),
            "only 815104 bytes are covered, of an image of 819200",
        ),
        (
            72,
            &u64::MAX.to_le_bytes(),
            "18446744073709551615 data blocks",
        ),
        (
            72,
            &(1u64 << 52).to_le_bytes(),
            "4503599627370496 data blocks",
        ),
        (80, &257u16.to_le_bytes(), "a salt of 257 bytes"),
        (80, &u16::MAX.to_le_bytes(), "a salt of 65535 bytes"),
        (82, &[1], "bytes that are unused, but not zero"),
        (400, &[1], "bytes that are unused, but not zero"),
    ] {
        let found = changed(at, value);
        let start = format!("dm-verity superblock at {}: {expected}", start + at);
        assert!(found.starts_with(&start), "{found} is not {start}");
    }
    // A file that ends too early: in the tree, or in the superblock.
    for length in [start + 512, start + BLOCK, bytes.len() - 1] {
        let found = checked(&bytes[..length], size, None).unwrap();
        let found = found.findings[0].to_string();
        let expected = format!("a tree that ends at byte {}, of {length}", bytes.len());
        assert!(found.contains(&expected), "{found}");
    }
    assert_eq!(checked(&bytes[..start + 511], size, None), None);
}

/// A digest behind the last one is not used; it is told because nothing else may stand there.
#[test]
fn bytes_behind_the_digests_are_told() {
    let data = data(2);
    let (mut bytes, _) = image(&data, b"");
    let last = bytes.len() - 1;
    bytes[last] = 1;
    let found = checked(&bytes, data.len() as u64, None).unwrap();
    assert_eq!(places(&found), [(Part::HashTree, 3 * BLOCK as u64)]);
}
