//! An image is as good a source as the directory it was made of.

use crate::{image_of, options};
use hedgerow_codec::block::Compressor;
use hedgerow_squashfs::{create, nodes_of_image, Error, Image};
use hedgerow_testkit::image_trees as trees;
use std::sync::Arc;

#[test]
fn an_image_of_an_image_has_the_same_bytes() {
    for (seed, compressor) in [
        (11, Compressor::Gzip),
        (12, Compressor::Zstd),
        (13, Compressor::Lz4),
        (14, Compressor::Lzo),
    ] {
        let home = tempfile::tempdir().unwrap();
        let (tree, first) = (home.path().join("tree"), home.path().join("first"));
        std::fs::create_dir(&tree).unwrap();
        trees::make(&tree, seed, 4096);
        let options = options(compressor, 4096, 3);
        image_of(&tree, &first, &options).unwrap();
        let image = Arc::new(Image::open(&first, 0).unwrap());
        let second = home.path().join("second");
        let nodes = nodes_of_image(&image, &[]).unwrap();
        create(nodes, &second, &options).unwrap();
        let (first, second) = (
            std::fs::read(first).unwrap(),
            std::fs::read(second).unwrap(),
        );
        assert!(first == second, "seed {seed}");
    }
}

#[test]
fn some_paths_come_with_what_is_in_them_and_above_them() {
    let home = tempfile::tempdir().unwrap();
    let (tree, image) = (home.path().join("tree"), home.path().join("image"));
    for directory in ["a/b/c", "a/d", "e"] {
        std::fs::create_dir_all(tree.join(directory)).unwrap();
    }
    for file in ["a/b/c/file", "a/b/file", "a/file", "e/file", "file"] {
        std::fs::write(tree.join(file), file).unwrap();
    }
    image_of(&tree, &image, &options(Compressor::Lz4, 4096, 1)).unwrap();
    let image = Arc::new(Image::open(&image, 0).unwrap());
    let paths = |wanted: &[&str]| {
        let wanted: Vec<&[u8]> = wanted.iter().map(|path| path.as_bytes()).collect();
        let nodes = nodes_of_image(&image, &wanted).unwrap();
        let paths = nodes.map(|node| String::from_utf8(node.unwrap().path).unwrap());
        paths.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(paths(&["a/b"]), " a a/b a/b/c a/b/c/file a/b/file");
    assert_eq!(paths(&["/e/file", "./a/file"]), " a a/file e e/file");
    assert_eq!(paths(&["file", "/"]), paths(&[]));
    let missing = nodes_of_image(&image, &[b"a", b"none"]);
    assert!(matches!(missing.err(), Some(Error::NotFound(path)) if path == "none"));
}
