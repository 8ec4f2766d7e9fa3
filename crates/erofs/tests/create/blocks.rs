//! Blocks larger than 4 KiB. The kernel takes those that are not larger than a page of memory, and so
//! does fsck.erofs: our reader, which reads images of mkfs.erofs, stands for them here.

use crate::trees::{make, place};
use crate::{image_of, options, ASPECTS};
use hedgerow_engine::Execution;
use hedgerow_erofs::{verify, ClusterSettings, Compression, CreateOptions, Image};
use hedgerow_image::compare::diff;
use std::fs;
use std::sync::Arc;

#[test]
fn images_of_large_blocks_hold_the_same() {
    let compressed = |settings| Compression {
        settings,
        ..Compression::default()
    };
    let compressions = [
        None,
        Some(compressed(ClusterSettings::Lz4)),
        Some(compressed(ClusterSettings::Zstd(3))),
    ];
    for (seed, block_bytes) in (300..).zip([8192, 16_384, 65_536]) {
        let own = place();
        let [tree, small, large] = ["tree", "small", "large"].map(|name| own.path().join(name));
        fs::create_dir(&tree).unwrap();
        make(&tree, seed, block_bytes as usize);
        image_of(&tree, &small, &options(2)).unwrap();
        for compression in compressions {
            let what = format!("blocks of {block_bytes} bytes, {compression:?}");
            let mut first = None;
            for workers in [1, 3] {
                let given = CreateOptions {
                    block_bytes,
                    compression,
                    ..options(workers)
                };
                image_of(&tree, &large, &given).unwrap();
                let bytes = fs::read(&large).unwrap();
                let first = first.get_or_insert_with(|| bytes.clone());
                assert!(*first == bytes, "{what}");
            }
            let bytes = first.unwrap();
            assert!(bytes.len().is_multiple_of(block_bytes as usize), "{what}");
            let report = verify(Box::new(bytes), 0, &Execution::default()).unwrap();
            assert_eq!(report.findings, [], "{what}");
            let [small, image] =
                [&small, &large].map(|path| Arc::new(Image::open(path, 0).unwrap()));
            assert_eq!(image.info().block_bytes, u64::from(block_bytes));
            let mut found = Vec::new();
            let tell = |path: &[u8], told| found.push(format!("{path:?} {told:?}"));
            diff([&small, &image], ASPECTS, &Execution::default(), tell).unwrap();
            assert_eq!(found, [""; 0], "{what}");
        }
    }
}
