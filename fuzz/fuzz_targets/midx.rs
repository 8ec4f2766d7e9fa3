//! A multi-pack-index of any bytes, or a true one with a few other numbers, with a sound checksum:
//! objects are read as without it, and checking and rewriting it end without a panic.
#![no_main]

mod packed;

use hedgerow_pack::{
    verify_midx, write_midx, HashKind, MidxOptions, ObjectStore, Reader,
    StoreOptions,
};
use libfuzzer_sys::fuzz_target;
use packed::{packed, seal};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;

fuzz_target!(|input: (bool, &[u8], Vec<(u16, u32)>)| {
    let (is_any, content, changes) = input;
    let mut body = match is_any {
        true => content.to_vec(),
        false => sound()[..sound().len() - packed().checksum.as_slice().len()].to_vec(),
    };
    for (at, value) in changes {
        if body.len() >= 4 {
            let at = (usize::from(at) * 4 % (body.len() - 3)) & !3;
            body[at..at + 4].copy_from_slice(&value.to_be_bytes());
        }
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let objects = directory.path();
    packed().write(objects, &[]);
    let path = objects.join("pack/multi-pack-index");
    std::fs::write(path, seal(body, None)).expect("a file");
    verify_midx(objects, HashKind::Sha1, &hedgerow_engine::Execution::default(), &mut |_| {})
        .expect("an answer");
    let options = StoreOptions { hash: HashKind::Sha1, ..StoreOptions::default() };
    let store = ObjectStore::open(objects, options).expect("a store");
    let mut reader = Reader::new(&store);
    for id in &packed().ids {
        let location = store.locate(id).expect("an index").expect("an object");
        if reader.read_verified(id, location).is_err() {
            // Another place of the same pack, which is no object, or another one.
            assert_eq!(store.all_copies(id).count(), 1);
        }
    }
    let _ = write(objects);
});

fn write(objects: &Path) -> hedgerow_pack::Result<()> {
    let options = MidxOptions {
        hash: HashKind::Sha1,
        version: 1,
        preferred_pack: None,
        packs: None,
        for_bitmap: true,
        threads: NonZeroUsize::MIN,
        sync: false,
    };
    match write_midx(objects, &options, &mut |_| {})? {
        Some(written) => written.commit().map(drop),
        None => Ok(()),
    }
}

/// The multi-pack-index of the pack.
fn sound() -> &'static [u8] {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a temporary directory");
        packed().write(directory.path(), &[]);
        write(directory.path()).expect("a file");
        std::fs::read(directory.path().join("pack/multi-pack-index")).expect("a file")
    })
}
