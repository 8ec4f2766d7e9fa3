//! An image is as good a source as the directory it was made of.

use crate::oracle::variants;
use crate::{image_of, trees, ASPECTS};
use hedgerow_engine::Execution;
use hedgerow_erofs::{create, nodes_of_image, verify, Image};
use hedgerow_image::compare::{diff, Aspects};
use std::sync::Arc;

#[test]
fn an_image_of_an_image_has_the_same_bytes() {
    for (seed, given) in (11..25).zip(variants().into_iter().cycle()) {
        let home = trees::place();
        let (tree, first) = (home.path().join("tree"), home.path().join("first"));
        std::fs::create_dir(&tree).unwrap();
        trees::make(&tree, seed, 4096);
        let options = given;
        image_of(&tree, &first, &options).unwrap();
        let file = hedgerow_fs::ReadFile::open(&first).unwrap();
        let report = verify(Box::new(file), 0, &Execution::default()).unwrap();
        assert_eq!(report.findings, [], "seed {seed}");
        let image = Arc::new(Image::open(&first, 0).unwrap());
        let second = home.path().join("second");
        let nodes = nodes_of_image(&image, &[]).unwrap();
        create(nodes, &second, &options).unwrap();
        let same = std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap();
        assert!(same, "seed {seed}");
        let other = Arc::new(Image::open(&second, 0).unwrap());
        let aspects = Aspects {
            inodes: true,
            ..ASPECTS
        };
        let mut found = Vec::new();
        let tell = |path: &[u8], told| found.push(format!("{path:?} {told:?}"));
        diff([&image, &other], aspects, &Execution::default(), tell).unwrap();
        assert_eq!(found, [""; 0]);
    }
}
