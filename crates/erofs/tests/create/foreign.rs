//! Images of mkfs.erofs are read.

use crate::oracle::{fsck_is_new, version_of};
use crate::trees::{make, place};
use crate::{assert_same_images, image_of, options};
use std::fs;
use std::process::Command;

/// Options that version 1.5 has.
const OLD: [&str; 6] = [
    "",
    "-E noinline_data",
    "-z lz4",
    "-z lz4hc,12 -C 65536",
    "-z lz4 -E legacy-compress",
    "-z lz4 -C 16384 -E ztailpacking",
];
/// Options that only later versions have.
const NEW: [&str; 12] = [
    // Version 1.5 fails on some trees.
    "-E force-inode-extended --chunksize=4096",
    "-z lz4 -E fragments",
    "-z lz4hc -C 65536 -E fragments",
    "-z lz4 -E all-fragments,dedupe",
    "-z lz4hc -C 32768 -E dedupe",
    "-z zstd -C 65536",
    "-z deflate -C 16384 -E ztailpacking",
    "-z lzma -C 131072 -E fragments",
    "-z zstd,10 -C 1048576 -E all-fragments",
    "-z lz4hc -C 65536 -E legacy-compress,fragments",
    "--xattr-prefix=user.na --xattr-prefix=security.name",
    "-z lz4 -E all-fragments --xattr-prefix=user.name",
];

#[test]
fn images_of_mkfs_hold_what_the_directory_holds() {
    if version_of("mkfs.erofs").is_none() {
        return hedgerow_testkit::skip("mkfs.erofs is not installed");
    }
    let new: &[&str] = if fsck_is_new() { &NEW } else { &[] };
    for (seed, words) in (200..).zip(OLD.iter().chain(new)) {
        let home = place();
        let [tree, own, other] = ["tree", "own", "other"].map(|name| home.path().join(name));
        fs::create_dir(&tree).unwrap();
        make(&tree, seed, [4096, 8192, 65_536][seed as usize % 3]);
        // Long enough for clusters of many blocks, and for those that repeat.
        let long: String = (0..200_000)
            .map(|number| format!("{} ", number % 7919))
            .collect();
        fs::write(tree.join("long"), &long).unwrap();
        fs::write(tree.join("longer"), long.repeat(3) + "end").unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut mkfs = Command::new("mkfs.erofs");
        mkfs.args(["-x", "1000", "--quiet"]).args(&words);
        if version_of("mkfs.erofs").is_some_and(|version| version < vec![1, 8]) {
            mkfs = Command::new("mkfs.erofs");
            mkfs.args(["-x", "1000"]).args(&words);
        }
        let output = mkfs.arg(&other).arg(&tree).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {told}");
        image_of(&tree, &own, &options(2)).unwrap();
        assert_same_images(&own, &other, &format!("{words:?}"));
    }
}
