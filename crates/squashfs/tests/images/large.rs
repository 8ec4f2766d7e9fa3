//! A directory so large that it has an index, and a tail of the walk through it.

use super::compare::{gensquashfs, mksquashfs, verified};
use super::support::*;
use hedgerow_squashfs::Image;
use std::fs;
use std::path::Path;

#[test]
fn a_directory_of_70_000_entries_is_listed_and_searched() {
    if require("mksquashfs") {
        is_listed_and_searched(70_000, |source, image| mksquashfs(source, image, &[]));
    }
}

/// Fewer, because gensquashfs compares each name with all others.
#[test]
fn a_directory_of_15_000_entries_is_listed_and_searched() {
    if require("gensquashfs") {
        is_listed_and_searched(15_000, |source, image| {
            gensquashfs(source, image, &["-c", "lz4", "-e"])
        });
    }
}

fn is_listed_and_searched(count: usize, pack: impl FnOnce(&Path, &Path) -> bool) {
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir_all(source.join("d")).unwrap();
    for number in 0..count {
        fs::write(source.join(format!("d/{number:05}-entry")), b"").unwrap();
    }
    assert!(pack(&source, &image));
    let opened = Image::open(&image, 0).unwrap();
    let ours = of_image(&opened);
    assert_eq!(ours.len(), count + 1);
    mounted(&image, "many entries", |place| {
        assert_same(&ours, &of_directory(place), "many entries");
    });
    for number in [0, count / 2, count - 1] {
        let name = format!("d/{number:05}-entry");
        assert_ne!(opened.find(name.as_bytes()).unwrap().number, 0);
    }
    let beyond = format!("d/{count:05}-entry");
    assert!(opened.find(beyond.as_bytes()).is_err());
    assert_eq!(verified(&image, 2).findings, []);
}
