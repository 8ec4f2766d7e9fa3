//! Any bytes as a multi-pack-index: checking it and rewriting it end without a panic.
#![no_main]

use hedgerow_pack::{verify_midx, write_midx, HashKind, MidxOptions};
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;

fuzz_target!(|data: &[u8]| {
    let directory = tempfile::tempdir().unwrap();
    let packs = directory.path().join("pack");
    std::fs::create_dir(&packs).unwrap();
    std::fs::write(packs.join("multi-pack-index"), data).unwrap();
    let one = NonZeroUsize::MIN;
    verify_midx(directory.path(), HashKind::Sha1, one, &mut |_| {}).unwrap();
    let options = MidxOptions {
        hash: HashKind::Sha1,
        version: 1,
        preferred_pack: None,
        packs: None,
        for_bitmap: true,
        threads: one,
    };
    let _ = write_midx(directory.path(), &options, &mut |_| {});
});
