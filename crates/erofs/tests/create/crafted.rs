//! Images that lie in one place, with a right checksum or none: the check says so.

use crate::trees::place;
use crate::{image_of, options};
use hedgerow_engine::Execution;
use hedgerow_erofs::{nodes_of_image, verify, CreateOptions, Image};
use std::fs;
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
