//! The same bytes, whoever did the work.

use crate::trees::make;
use crate::{image_of, options};

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
