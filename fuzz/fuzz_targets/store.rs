//! A pack, its index, a reverse index and a multi-pack-index from any bytes: whatever can be found
//! in them is read or refused.
#![no_main]

use hedgerow_pack::{HashKind, ObjectId, ObjectStore, StoreOptions};
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|input: (&[u8], &[u8], &[u8], &[u8])| {
    let (pack, index, reverse, multi) = input;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let packs = directory.path().join("pack");
    fs::create_dir(&packs).expect("a directory");
    for (name, content) in [
        ("pack-1.pack", pack),
        ("pack-1.idx", index),
        ("pack-1.rev", reverse),
        ("multi-pack-index", multi),
    ] {
        fs::write(packs.join(name), content).expect("a file");
    }
    let options = StoreOptions { hash: HashKind::Sha1, ..StoreOptions::default() };
    let Ok(store) = ObjectStore::open(directory.path(), options) else { return };
    for id in index.windows(20).chain(multi.windows(20)).take(64) {
        let id = ObjectId::from_bytes_or_panic(id);
        if store.locate(&id).is_ok_and(|location| location.is_some()) {
            let _ = store.read(&id);
        }
    }
});
