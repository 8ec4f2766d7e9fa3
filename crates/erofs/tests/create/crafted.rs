//! Images that lie in one place, with a right checksum or none: the check says so.

use crate::trees::place;
use crate::{image_of, options};
use hedgerow_engine::Execution;
use hedgerow_erofs::{nodes_of_image, verify, CreateOptions, Image, Stored};
use hedgerow_image::ReadAt;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Where fields of the superblock are in the image, in bytes.
const COMPAT: usize = 1024 + 8;
const COMPRESSORS: usize = 1024 + 84;
const PREFIXES: usize = 1024 + 91;
/// Where features may be ignored: the first says that there is a checksum.
const CHECKSUM: u8 = 1;
const XATTRS_IN_METADATA: u8 = 8;

/// An image without a checksum; `squeezed` with a compressed file.
fn image(squeezed: bool) -> Vec<u8> {
    let home = place();
    let (tree, path) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir_all(tree.join("inner")).unwrap();
    for name in ["inner/aa", "inner/bb", "empty"] {
        fs::write(tree.join(name), if name == "empty" { "" } else { name }).unwrap();
    }
    let mut given = options(1);
    if squeezed {
        fs::write(tree.join("long"), "again and again ".repeat(9000)).unwrap();
        given = CreateOptions {
            compression: crate::oracle::variants()
                .into_iter()
                .find_map(|it| it.compression),
            ..given
        };
        assert!(given.compression.is_some());
    }
    image_of(&tree, &path, &given).unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[COMPAT] &= !CHECKSUM;
    assert_eq!(findings(&bytes), [""; 0]);
    bytes
}

fn findings(bytes: &[u8]) -> Vec<String> {
    let report = verify(Box::new(bytes.to_vec()), 0, &Execution::default()).unwrap();
    report.findings.iter().map(ToString::to_string).collect()
}

fn assert_noticed(bytes: &[u8], what: &str) {
    let found = findings(bytes);
    assert!(
        found.iter().any(|it| it.contains(what)),
        "{what}: {found:?}"
    );
}

#[test]
fn directories_name_themselves_and_those_above() {
    let sound = image(false);
    let open = Image::new(Box::new(sound.clone()), 0).unwrap();
    let (root, inner) = (
        open.root().unwrap().number,
        open.find(b"inner").unwrap().number,
    );
    for (number, times) in [(inner, 2), (root, 3)] {
        // The entries of a directory begin with the number; the kind is in the eleventh byte.
        let places: Vec<usize> = (0..sound.len() - 12)
            .filter(|at| sound[*at..*at + 8] == number.to_le_bytes() && sound[*at + 10] == 2)
            .collect();
        assert_eq!(places.len(), times);
        for place in places {
            let mut changed = sound.clone();
            let other = if number == root { inner } else { root };
            changed[place..place + 8].copy_from_slice(&other.to_le_bytes());
            assert_ne!(findings(&changed), [""; 0], "{number} at {place}");
            let mut changed = sound.clone();
            changed[place + 10] = 1;
            assert_ne!(findings(&changed), [""; 0], "{number} at {place}");
        }
    }
}

#[test]
fn a_name_that_is_that_of_the_directory_above_is_told() {
    let mut bytes = image(false);
    let at = bytes.windows(4).position(|it| it == b"aabb").unwrap();
    bytes[at..at + 2].copy_from_slice(b"..");
    assert_noticed(&bytes, "that is there twice, or is no directory");
    let open = Arc::new(Image::new(Box::new(bytes), 0).unwrap());
    let nodes = nodes_of_image(&open, &[]).unwrap();
    assert_eq!(nodes.filter(Result::is_err).count(), 1);
}

#[test]
fn what_the_kernel_refuses_in_the_superblock_is_told() {
    let mut bytes = image(true);
    bytes[COMPRESSORS..COMPRESSORS + 2].fill(0);
    assert_noticed(&bytes, "which the superblock does not name");
    let mut bytes = image(false);
    bytes[PREFIXES] = 3;
    assert_noticed(&bytes, "long prefix");
    let mut bytes = image(false);
    bytes[COMPAT] |= XATTRS_IN_METADATA;
    assert_noticed(&bytes, "which is not there");
}

#[test]
fn chunks_of_an_unknown_form_are_told_in_empty_files_too() {
    let mut bytes = image(false);
    let open = Image::new(Box::new(bytes.clone()), 0).unwrap();
    let at = open.find(b"empty").unwrap().position as usize;
    bytes[at] = bytes[at] & 1 | 4 << 1;
    bytes[at + 16..at + 18].fill(0xff);
    assert_noticed(&bytes, "chunks of the form");
}

/// mkfs.erofs fills the room that was asked for with `--root-xattr-isize` with heads of zeros.
#[test]
fn heads_of_zeros_among_attributes_are_padding() {
    let home = place();
    let (tree, path) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir(&tree).unwrap();
    let value = [b'V'; 35];
    for (name, value) in [("user.a", &value[..]), ("user.b", b"kept")] {
        let value = std::str::from_utf8(value).unwrap();
        let mut set = std::process::Command::new("setfattr");
        set.args(["-n", name, "-v", value]).arg(&tree);
        assert!(set.status().unwrap().success());
    }
    image_of(&tree, &path, &options(1)).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[COMPAT] &= !CHECKSUM;
    let at = bytes.windows(35).position(|it| *it == value).unwrap() - 5;
    bytes[at..at + 40].fill(0);
    assert_eq!(findings(&bytes), [""; 0]);
    let open = Image::new(Box::new(bytes), 0).unwrap();
    let xattrs = open.xattrs(&open.root().unwrap()).unwrap();
    let names: Vec<String> = xattrs.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["user.b"]);
}

#[test]
fn causes_are_told_before_counts_that_follow_from_them() {
    let mut bytes = image(false);
    let at = bytes.windows(5).position(|it| it == b"inner").unwrap();
    bytes[at] = b'/';
    let found = findings(&bytes);
    let last: Vec<&String> = found.iter().rev().take(2).collect();
    assert!(found.len() > 2, "{found:?}");
    assert!(last[0].contains("were found"), "{found:?}");
    assert!(last[1].contains("are in the tree"), "{found:?}");
}

/// Counts how often something is read.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl ReadAt for Counted {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> hedgerow_fs::Result<usize> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_at(buffer, position)
    }

    fn length(&self) -> hedgerow_fs::Result<u64> {
        self.0.length()
    }
}

/// A long hole in a compressed image is one cluster of zeros again and again: it is read once.
#[test]
fn a_long_hole_of_a_compressed_content_is_passed_without_reading_it() {
    const HOLE: u64 = 1 << 30;
    let home = place();
    let (tree, path) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir(&tree).unwrap();
    let mut file = fs::File::create(tree.join("file")).unwrap();
    file.write_all(b"start").unwrap();
    file.seek(SeekFrom::Start(HOLE)).unwrap();
    file.write_all(b"end").unwrap();
    let compression = crate::oracle::variants();
    let compression = compression.into_iter().find_map(|it| it.compression);
    let given = CreateOptions {
        compression,
        ..options(2)
    };
    image_of(&tree, &path, &given).unwrap();
    let reads = Arc::new(AtomicUsize::new(0));
    let source = Counted(fs::read(&path).unwrap(), reads.clone());
    let open = Arc::new(Image::new(Box::new(source), 0).unwrap());
    let mut first = None;
    for _ in 0..2 {
        let nodes = nodes_of_image(&open, &[]).unwrap();
        let mut node = nodes.last().unwrap().unwrap();
        let mut content = node.handle.open().unwrap();
        let (mut holes, mut data, mut buffer) = (Vec::new(), Vec::new(), vec![0; 1 << 20]);
        let mut at = 0;
        loop {
            let hole = content.skip_hole().unwrap();
            holes.push((at, hole));
            let count = content.read(&mut buffer).unwrap();
            data.extend_from_slice(&buffer[..count]);
            at += hole + count as u64;
            if count == 0 {
                break;
            }
        }
        assert_eq!(at, HOLE + 3);
        let longest = holes.iter().map(|(_, hole)| *hole).max().unwrap();
        assert!(longest > HOLE - (4 << 20), "{holes:?}");
        data.retain(|byte| *byte != 0);
        assert_eq!(data, b"startend");
        // Whether a cluster is known to be zeros makes no difference.
        assert_eq!(*first.get_or_insert_with(|| holes.clone()), holes);
    }
    let reads = reads.load(Ordering::Relaxed);
    assert!(reads < 200, "{reads} reads");
}

#[test]
fn a_long_hole_is_cut_where_it_would_not_fit_into_memory() {
    let home = place();
    let (tree, path) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir(&tree).unwrap();
    let file = fs::File::create(tree.join("file")).unwrap();
    file.set_len(1 << 40).unwrap();
    image_of(&tree, &path, &options(1)).unwrap();
    let open = Image::open(&path, 0).unwrap();
    let inode = open.find(b"file").unwrap();
    let hole = open.pieces(&inode).next().unwrap().unwrap();
    assert_eq!(hole.stored, Stored::Hole);
    let mut end = hole.start;
    for part in hole.parts().take(5) {
        assert_eq!((part.start, part.stored), (end, Stored::Hole));
        assert!(part.length > 0 && part.length <= 1 << 20);
        end += part.length;
    }
    assert_eq!(hole.parts().map(|it| it.length).sum::<u64>(), hole.length);
}
