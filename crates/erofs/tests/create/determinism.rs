//! The same bytes, whoever did the work.

use crate::trees::make;
use crate::{image_of, options};
use hedgerow_erofs::{ClusterSettings, Compression, CreateOptions};

#[test]
fn any_number_of_workers_writes_the_same_image() {
    for seed in 100..106 {
        let place = crate::trees::place();
        let (tree, image) = (place.path().join("tree"), place.path().join("image"));
        std::fs::create_dir(&tree).unwrap();
        make(&tree, seed, 4096);
        let mut first = None;
        for workers in [1, 2, 3, 4, 8, 16, 64] {
            image_of(&tree, &image, &options(workers)).unwrap();
            let bytes = std::fs::read(&image).unwrap();
            let first = first.get_or_insert_with(|| bytes.clone());
            assert!(*first == bytes, "seed {seed} with {workers} workers");
        }
    }
}

/// Compressed by each compressor, in segments that are short enough for several workers.
#[test]
fn any_number_of_workers_writes_the_same_compressed_image() {
    for (seed, compression) in (120..).zip(compressions()) {
        let place = crate::trees::place();
        let (tree, image) = (place.path().join("tree"), place.path().join("image"));
        std::fs::create_dir(&tree).unwrap();
        make(&tree, seed, 65_536);
        let large = crate::trees::Random::new(seed).bytes(3 << 20, true);
        std::fs::write(tree.join("large"), large).unwrap();
        let mut first = None;
        for workers in [1, 2, 5] {
            let given = CreateOptions {
                compression: Some(compression),
                ..options(workers)
            };
            image_of(&tree, &image, &given).unwrap();
            let bytes = std::fs::read(&image).unwrap();
            let first = first.get_or_insert_with(|| bytes.clone());
            assert!(*first == bytes, "{compression:?} with {workers} workers");
        }
    }
}

fn compressions() -> impl Iterator<Item = Compression> {
    let names = ["lz4", "lz4hc", "deflate", "zstd", "lzma"];
    names.into_iter().map(|name| Compression {
        settings: ClusterSettings::parse(name, None).unwrap(),
        segment_bytes: 1 << 17,
        ..Compression::default()
    })
}
