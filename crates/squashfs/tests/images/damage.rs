//! Flipped bits in images of every compressor.
//!
//! Where `verify` finds nothing, the tree and the contents are as they were. This does not hold for
//! what is stored without a checksum and makes sense with any value: contents, names, times, modes,
//! owners, attributes. Nor is anything promised of the time of the image, of flags that only tell
//! how it was made, of padding, and of bits that the compressor does not read. And Adler-32, the
//! checksum of gzip, is weak in short blocks: of the flips there, it misses one in a thousand.

use super::compare::{gensquashfs, mksquashfs};
use super::support::*;
use super::tree::{content, Random};
use hedgerow_engine::{Execution, Jobs};
use hedgerow_squashfs::format::{flags, Superblock};
use hedgerow_squashfs::{verify, Body, Image, ImageSource};
use std::fs;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// A tree that compresses to a few thousand bytes.
fn small_tree(root: &Path) {
    let mut random = Random(77);
    fs::create_dir_all(root.join("directory/within")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    for number in 0..12 {
        let bytes = content(&mut random, number * 40);
        fs::write(root.join(format!("directory/file-{number}")), bytes).unwrap();
    }
    let text: Vec<u8> = content(&mut random, 400).repeat(25);
    fs::write(root.join("blocks"), text).unwrap();
    fs::File::create(root.join("hole"))
        .unwrap()
        .set_len(9000)
        .unwrap();
    fs::hard_link(root.join("blocks"), root.join("directory/within/link")).unwrap();
    std::os::unix::fs::symlink("blocks", root.join("symlink")).unwrap();
    let value = "0x".to_owned() + &"61".repeat(200);
    for path in ["blocks", "empty", "hole"] {
        let path = root.join(path);
        let words = ["-n", "user.attribute", "-v", &value, path.to_str().unwrap()];
        if let Err(reason) = run("setfattr", &words) {
            skip(&format!("no attributes: {}", reason.trim()));
        }
    }
}

pub fn options() -> Execution {
    Execution {
        jobs: Jobs::Fixed(NonZeroUsize::MIN),
        ..Execution::default()
    }
}

fn is_sound(bytes: &[u8]) -> bool {
    let report = verify(Box::new(bytes.to_vec()), 0, &options());
    report.is_ok_and(|report| report.findings.is_empty())
}

fn snapshot(bytes: &[u8]) -> Snapshot {
    of_image(&Image::new(Box::new(bytes.to_vec()), 0).unwrap())
}

/// Reads all that can be read, and does not mind errors.
fn read_all(bytes: &[u8]) {
    let Ok(image) = Image::new(Box::new(bytes.to_vec()), 0) else {
        return;
    };
    let _ = image.info();
    let Ok(source) = ImageSource::new(&image) else {
        return;
    };
    let mut content = Vec::new();
    source.entries(&mut |found| {
        if let Body::File(file) = &found.inode.body {
            for piece in image.pieces(file).into_iter().flatten().take(100).flatten() {
                let _ = image.read_piece(&piece, &mut content);
            }
        }
        if let Some(Ok(xattrs)) = found.inode.xattrs.map(|index| image.xattrs(index)) {
            xattrs.take(100).for_each(drop);
        }
        ControlFlow::Continue(())
    });
}

/// Where every flip must be found, unless it changes nothing.
fn strict(bytes: &[u8], checksums: bool) -> Vec<Range<u64>> {
    let superblock = Superblock::from_bytes(bytes.first_chunk().unwrap());
    let word = |at: u64| {
        let bytes = bytes[at as usize..].first_chunk().unwrap();
        u64::from_le_bytes(*bytes)
    };
    let ids = superblock.id_table_start;
    let first_id = word(ids);
    if checksums {
        // The owners are so few that they are not compressed. Everything else is.
        return vec![0..first_id, ids..superblock.bytes_used];
    }
    let mut ranges = vec![0..96, ids..ids + 8];
    if superblock.has(flags::COMPRESSOR_OPTIONS) {
        ranges.push(96..98);
    }
    if superblock.fragment_count > 0 {
        ranges.push(superblock.fragment_table_start..superblock.fragment_table_start + 8);
    }
    let (export, xattrs) = (
        superblock.export_table_start,
        superblock.xattr_id_table_start,
    );
    if export != u64::MAX {
        ranges.push(export..export + 8);
    }
    if xattrs != u64::MAX {
        ranges.push(xattrs..superblock.bytes_used);
    }
    ranges
}

/// Flips a bit of each byte in which that must be found.
fn every_flip_is_found(bytes: &[u8], checksums: bool, what: &str) {
    assert!(is_sound(bytes), "{what}");
    let expected = snapshot(bytes);
    let mut random = Random(5);
    let (mut flips, mut found, mut missed) = (0, 0, 0);
    for position in strict(bytes, checksums).into_iter().flatten() {
        let mut damaged = bytes.to_vec();
        damaged[position as usize] ^= 1 << random.below(8);
        flips += 1;
        match is_sound(&damaged) {
            false => found += 1,
            true if what == "gzip" => missed += usize::from(snapshot(&damaged) != expected),
            true => assert_same(
                &snapshot(&damaged),
                &expected,
                &format!("{what}: {position}"),
            ),
        }
    }
    // What is not found is the time of the image, and flags.
    assert!(missed * 200 <= flips, "{what}: {missed} of {flips} missed");
    assert!(found * 100 >= flips * 90, "{what}: {found} of {flips}");
}

/// Flips bits anywhere, a few at a time, and cuts images off: nothing panics.
fn nothing_panics(bytes: &[u8], rounds: usize) {
    let mut random = Random(6);
    for _ in 0..rounds {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.below(8) {
            let at = random.below(damaged.len());
            damaged[at] ^= random.below(255) as u8 + 1;
        }
        if random.below(10) == 0 {
            damaged.truncate(random.below(damaged.len()));
        }
        let _ = is_sound(&damaged);
        read_all(&damaged);
    }
}

#[test]
fn flips_are_found_and_nothing_panics() {
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    small_tree(&source);
    let mut images = Vec::new();
    if require("mksquashfs") {
        for words in [
            &["-comp", "gzip", "-b", "4096"][..],
            &["-comp", "xz", "-b", "4096"],
            &["-comp", "lzo", "-b", "4096", "-no-exports"],
            &["-comp", "lz4", "-b", "4096"],
            &["-comp", "zstd", "-b", "4096", "-Xcompression-level", "3"],
            &["-noI", "-noD", "-noF", "-noX", "-b", "4096"],
        ] {
            if mksquashfs(&source, &image, words) {
                images.push((words[1], fs::read(&image).unwrap()));
            }
        }
    }
    if require("gensquashfs") {
        for compressor in ["gzip", "xz", "lzma", "zstd"] {
            let words = ["-c", compressor, "-b", "4096", "-x", "-e"];
            if gensquashfs(&source, &image, &words) {
                images.push((compressor, fs::read(&image).unwrap()));
            }
        }
    }
    for (compressor, bytes) in images {
        let used = Superblock::from_bytes(bytes.first_chunk().unwrap()).bytes_used;
        let bytes = &bytes[..used as usize];
        let checksums = ["gzip", "xz"].contains(&compressor);
        every_flip_is_found(bytes, checksums, compressor);
        nothing_panics(bytes, 300);
    }
}
