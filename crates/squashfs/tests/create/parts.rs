//! Parts that are stored without being compressed, holes that are stored as data, and an offset.

use crate::{image_of, options};
use hedgerow_codec::block::Compressor;
use hedgerow_squashfs::{verify, CreateOptions, Image, Uncompressed};
use hedgerow_testkit::image_trees as trees;
use hedgerow_testkit::require;
use std::fs;
use std::path::Path;
use std::process::Command;

const OFFSET: u64 = 12_345;

/// What the tool prints about an image, sorted by name as we do.
fn told(image: &Path, offset: u64, words: &[&str]) -> String {
    let mut command = Command::new("unsquashfs");
    command.env("TZ", "UTC").args(["-o", &offset.to_string()]);
    let output = command.args(words).arg(image).output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn parts_are_stored_as_they_are_where_asked() {
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir(&tree).unwrap();
    trees::make(&tree, 5, 4096);
    // Something that is smaller when it is compressed, in every part.
    fs::write(tree.join("large"), vec![b'x'; 70_000]).unwrap();
    for name in ["first", "second"] {
        fs::write(tree.join(name), [name.as_bytes(); 100].concat()).unwrap();
    }
    type Set = fn(&mut Uncompressed);
    let parts: [(&str, Set); 5] = [
        ("Data is uncompressed", |parts| parts.data = true),
        ("Fragments are uncompressed", |parts| parts.fragments = true),
        ("Inodes are uncompressed", |parts| parts.inodes = true),
        ("Uids/Gids (Id table) are uncompressed", |parts| {
            parts.ids = true
        }),
        ("Xattrs are uncompressed", |parts| parts.xattrs = true),
    ];
    let plain = options(Compressor::Gzip, 4096, 2);
    let first = home.path().join("first.sqfs");
    let smallest = image_of(&tree, &first, &plain).unwrap().bytes;
    for (number, (said, set)) in parts.into_iter().enumerate() {
        let mut uncompressed = Uncompressed::default();
        set(&mut uncompressed);
        let image = home.path().join(format!("{number}.sqfs"));
        let options = CreateOptions {
            uncompressed,
            offset_bytes: OFFSET,
            ..plain.clone()
        };
        let created = image_of(&tree, &image, &options).unwrap();
        let content = fs::read(&image).unwrap();
        assert_eq!(content.len() as u64, created.bytes, "{said}");
        assert!(content[..OFFSET as usize].iter().all(|byte| *byte == 0));
        if number < 3 {
            assert!(created.bytes > smallest + OFFSET, "{said}");
        }
        let file = hedgerow_fs::ReadFile::open(&image).unwrap();
        let report = verify(Box::new(file), OFFSET, &options.execution).unwrap();
        assert_eq!(report.findings.len(), 0, "{said}: {:?}", report.findings);
        assert!(Image::open(&image, 0).is_err(), "{said}");
        if require("unsquashfs") {
            let statistics = told(&image, OFFSET, &["-s"]);
            let words = said.to_lowercase();
            assert!(statistics.to_lowercase().contains(&words), "{statistics}");
            let listed = told(&image, OFFSET, &["-lls"]);
            assert_eq!(listed, told(&first, 0, &["-lls"]), "{said}");
        }
    }
}

#[test]
fn zeros_are_stored_where_holes_are_not_wanted() {
    let home = tempfile::tempdir().unwrap();
    let (tree, image) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir(&tree).unwrap();
    let sparse = fs::File::create(tree.join("sparse")).unwrap();
    sparse.set_len(3 << 20).unwrap();
    let options = CreateOptions {
        holes: false,
        uncompressed: Uncompressed {
            data: true,
            ..Uncompressed::default()
        },
        dedup: false,
        ..options(Compressor::Gzip, 131_072, 2)
    };
    let created = image_of(&tree, &image, &options).unwrap();
    assert!(created.bytes > 3 << 20, "{}", created.bytes);
    let created = image_of(
        &tree,
        &image,
        &CreateOptions {
            holes: true,
            ..options
        },
    )
    .unwrap();
    assert!(created.bytes < 1 << 20, "{}", created.bytes);
}
