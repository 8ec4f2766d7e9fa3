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

/// Clusters have no holes, but long zeros in them are told as holes, so that they are extracted as such.
#[test]
fn zeros_in_clusters_are_holes() {
    let home = trees::place();
    let (tree, image) = (home.path().join("tree"), home.path().join("image"));
    std::fs::create_dir(&tree).unwrap();
    let data = |bytes: usize, seed: usize| (0..bytes).map(move |at| (at * seed % 251 + 1) as u8);
    let mut content: Vec<u8> = vec![0; 40 << 20];
    content.extend(data(100_001, 7));
    content.extend(vec![0; 60_000]);
    content.extend(data(3, 1));
    content.extend(vec![0; 300_000]);
    content.extend(data(70_000, 5));
    content.extend(vec![0; 5 << 20]);
    std::fs::write(tree.join("file"), &content).unwrap();
    for given in variants() {
        image_of(&tree, &image, &given).unwrap();
        let opened = Arc::new(Image::open(&image, 0).unwrap());
        let mut nodes = nodes_of_image(&opened, &[]).unwrap();
        let node = nodes.find_map(|node| {
            let node = node.unwrap();
            (node.path == b"file").then_some(node)
        });
        let mut read = node.unwrap().handle.open().unwrap();
        let (mut whole, mut holes) = (Vec::new(), 0);
        let mut buffer = vec![1; 100_000];
        loop {
            let hole = read.skip_hole().unwrap() as usize;
            holes += hole;
            whole.resize(whole.len() + hole, 0);
            match read.read(&mut buffer).unwrap() {
                0 => break,
                count => whole.extend_from_slice(&buffer[..count]),
            }
        }
        assert!(whole == content, "{given:?}");
        // Some are at the ends of clusters, where they are too few.
        let zeros = (40 << 20) + 300_000 + (5 << 20);
        assert!(holes >= zeros - 6 * (64 << 10), "{holes} {given:?}");
        assert!(holes <= zeros + 60_000, "{holes} {given:?}");
    }
}
