//! Any bytes as the reverse index of a pack that is right, with sound checksums: objects are read
//! as without it, and what else is asked ends.
#![no_main]

mod packed;

use hedgerow_pack::{HashKind, ObjectStore, Reader, StoreOptions};
use libfuzzer_sys::fuzz_target;
use packed::{packed, seal};

fuzz_target!(|input: (bool, &[u8], Vec<(u8, u32)>)| {
    let (is_any, content, changes) = input;
    let good = packed();
    let count = good.ids.len();
    let mut body = b"RIDX\0\0\0\x01\0\0\0\x01".to_vec();
    match is_any {
        true => body.extend_from_slice(content),
        false => {
            // A row of all numbers in some order, a few of them something else.
            let mut rows: Vec<u32> = (0..count as u32).collect();
            for (at, value) in changes {
                let at = usize::from(at) % count;
                match (value as usize) < count {
                    true => rows.swap(at, value as usize),
                    false => rows[at] = value,
                }
            }
            body.extend(rows.iter().flat_map(|row| row.to_be_bytes()));
        }
    }
    let reverse = seal(body, Some(&good.checksum));
    let directory = tempfile::tempdir().expect("a temporary directory");
    good.write(directory.path(), &[("rev", &reverse)]);
    let open = |read_reverse_index| {
        let options = StoreOptions {
            hash: HashKind::Sha1,
            read_reverse_index,
            ..StoreOptions::default()
        };
        ObjectStore::open(directory.path(), options).expect("a store")
    };
    let (store, without) = (open(true), open(false));
    let mut reader = Reader::new(&store);
    let mut sure = Reader::new(&without);
    for id in &good.ids {
        let location = store.locate(id).expect("an index").expect("an object");
        let (kind, content) = sure.read(id, location).expect("a sound object");
        let read = reader.read(id, location).expect("a sound object");
        assert_eq!(read, (kind, content));
        reader.verify(id, location).expect("a sound object");
        let _ = (store.size_on_disk(id, location), store.delta_base(id, location));
    }
    let _ = store.sizes_in_pack(0);
    if let Ok(order) = store.pack_order(0) {
        for bit in (0..order.count()).chain([u32::MAX]) {
            let _ = order.id(bit).map(|id| order.bit(id));
            let _ = order.location(bit);
        }
    }
    if let Ok(entries) = store.pack_entries(0) {
        for order in (0..entries.count()).chain([u32::MAX]) {
            let _ = (entries.entry(order), entries.id(order), entries.crc32(order));
        }
    }
});
