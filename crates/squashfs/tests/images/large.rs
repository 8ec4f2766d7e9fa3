//! A directory so large that it has an index, and a tail of the walk through it.

use super::compare::{gensquashfs, mksquashfs, verified};
use super::support::*;
use hedgerow_squashfs::Image;
use std::fs;

#[test]
fn a_directory_of_70_000_entries_is_listed_and_searched() {
    if !require("mksquashfs") || !require("gensquashfs") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    fs::create_dir_all(source.join("d")).unwrap();
    for number in 0..70_000 {
        fs::write(source.join(format!("d/{number:05}-entry")), b"").unwrap();
    }
    for pack in [0, 1] {
        match pack {
            0 => assert!(mksquashfs(&source, &image, &[])),
            _ => assert!(gensquashfs(&source, &image, &["-c", "lz4", "-e"])),
        }
        let opened = Image::open(&image, 0).unwrap();
        let ours = of_image(&opened);
        assert_eq!(ours.len(), 70_001);
        mounted(&image, "70,000 entries", |place| {
            assert_same(&ours, &of_directory(place), "70,000 entries");
        });
        for name in ["d/00000-entry", "d/69999-entry", "d/31337-entry"] {
            let number = opened.find(name.as_bytes()).unwrap().number;
            assert_ne!(number, 0);
        }
        assert!(opened.find(b"d/70000-entry").is_err());
        assert_eq!(verified(&image, 2).findings, []);
    }
}
