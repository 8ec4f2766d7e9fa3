//! Images with any bytes changed are read to their end, with errors or without, and soon.

use crate::image_of;
use crate::oracle::variants;
use crate::trees::{make, place, Random};
use hedgerow_engine::Execution;
use hedgerow_erofs::{nodes_of_image, verify, Image};
use hedgerow_tree::NodeKind;
use std::sync::Arc;

/// Changed images for each kind of image. HEDGEROW_TREES=500 makes it a long run.
const CHANGES: u64 = 40;

#[test]
fn changed_images_are_read_to_their_end() {
    let changes = std::env::var("HEDGEROW_TREES").map_or(CHANGES, |count| count.parse().unwrap());
    for (seed, given) in (40..).zip(variants()) {
        let home = place();
        let (tree, path) = (home.path().join("tree"), home.path().join("image"));
        std::fs::create_dir(&tree).unwrap();
        make(&tree, seed, 4096);
        image_of(&tree, &path, &given).unwrap();
        let image = std::fs::read(&path).unwrap();
        let mut random = Random::new(seed);
        for _ in 0..changes {
            let mut bytes = image.clone();
            for _ in 0..1 + random.below(20) {
                // Mostly what is not content: at the start and at the end.
                let length = bytes.len() as u64;
                let at = match random.below(3) {
                    0 => 1024 + random.below(3072.min(length - 1024)),
                    1 => length - 1 - random.below(length.min(20_000)),
                    _ => random.below(length),
                };
                let value = [0, 0xff, 1 << random.below(8), random.below(256) as u8];
                bytes[at as usize] = value[random.below(4) as usize];
            }
            if random.below(10) == 0 {
                bytes.truncate(random.below(bytes.len() as u64) as usize);
            }
            // A wrong checksum would hide all else.
            if let Some(features) = bytes.get_mut(1032) {
                *features &= !1;
            }
            read(bytes);
        }
    }
}

/// Reads all that can be read. If the check finds nothing, all can.
fn read(bytes: Vec<u8>) {
    let report = verify(Box::new(bytes.clone()), 0, &Execution::default());
    let is_sound = report.is_ok_and(|report| report.findings.is_empty());
    let Ok(image) = Image::new(Box::new(bytes), 0) else {
        assert!(!is_sound);
        return;
    };
    let Ok(nodes) = nodes_of_image(&Arc::new(image), &[]) else {
        assert!(!is_sound);
        return;
    };
    let mut buffer = vec![0; 70_000];
    for node in nodes {
        let Ok(mut node) = node else {
            assert!(!is_sound);
            continue;
        };
        assert!(node.handle.xattrs().is_ok() || !is_sound);
        match node.kind {
            NodeKind::Symlink => assert!(node.handle.target().is_ok() || !is_sound),
            NodeKind::File => {
                let mut content = node.handle.open().unwrap();
                // A size may be made large by a changed byte.
                for _ in 0..100 {
                    match content.skip_hole().and_then(|_| content.read(&mut buffer)) {
                        Ok(0) => break,
                        Ok(_) => {}
                        Err(_) => {
                            assert!(!is_sound);
                            break;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
