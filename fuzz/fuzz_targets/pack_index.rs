//! Any bytes as the index of a pack that is right, with sound checksums: whatever it says, what is
//! read and verified is what its id names.
#![no_main]

mod packed;

use hedgerow_pack::{apply_delta, EntryForm, HashKind, ObjectStore, Reader, StoreOptions};
use libfuzzer_sys::fuzz_target;
use packed::{packed, seal};

fuzz_target!(|input: (bool, u8, &[u8], Vec<(u16, u32)>)| {
    let (is_whole, version, content, changes) = input;
    let good = packed();
    // Either any bytes at all behind the signature, or the true index with a few other numbers.
    let body = match is_whole {
        true => [b"\xfftOc\0\0\0".as_slice(), &[version], content].concat(),
        false => {
            let mut body = good.index[..good.index.len() - 2 * good.checksum.as_slice().len()].to_vec();
            for (at, value) in changes {
                let at = (usize::from(at) * 4 % (body.len() - 4)) & !3;
                body[at..at + 4].copy_from_slice(&value.to_be_bytes());
            }
            body
        }
    };
    let index = seal(body, Some(&good.checksum));
    let directory = tempfile::tempdir().expect("a temporary directory");
    good.write(directory.path(), &[("idx", &index)]);
    let options = StoreOptions { hash: HashKind::Sha1, ..StoreOptions::default() };
    let Ok(store) = ObjectStore::open(directory.path(), options) else { return };
    let mut reader = Reader::new(&store);
    for id in &good.ids {
        let Ok(Some(location)) = store.locate(id) else { continue };
        let _ = (reader.header(id, location), store.size_on_disk(id, location));
        let _ = (store.delta_base(id, location), reader.verify(id, location));
        if let Ok((_, content)) = reader.read_verified(id, location) {
            assert!(content.len() <= 1000);
        }
    }
    let count = store.pack_object_count(0).min(300);
    for position in 0..count {
        let _ = store.pack_object_id(0, position).map(|id| store.locate(id));
    }
    let _ = store.sizes_in_pack(0);
    if let Ok(entries) = store.pack_entries(0) {
        for order in (0..entries.count().min(300)).chain([u32::MAX]) {
            let _ = (entries.id(order), entries.crc32(order), entries.offset(order));
            if let Ok(raw) = entries.entry(order) {
                let _ = matches!(raw.kind, EntryForm::Whole(_));
                let _ = apply_delta(raw.compressed(), raw.compressed());
            }
        }
    }
});
