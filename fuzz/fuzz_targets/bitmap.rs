//! Bitmaps of any bytes beside a pack that is right, with sound checksums: the sections at the end
//! (pseudo-merges, lookup table, name-hash cache) may lie about everything. Every question ends.
#![no_main]

mod packed;

use hedgerow_pack::{Bitmaps, HashKind, ObjectKind, ObjectStore, StoreOptions};
use libfuzzer_sys::fuzz_target;
use packed::{packed, seal};

fuzz_target!(|input: (u8, u8, Vec<Vec<u64>>, Vec<(u8, u8, u8)>, &[u8], Vec<(u16, u8)>)| {
    let (flags, more, sets, commits, sections, changes) = input;
    let good = packed();
    let mut sets = sets.into_iter().chain(std::iter::repeat_with(|| vec![0]));
    let mut body = b"BITM\0\x01\0".to_vec();
    body.push(flags & 0x34 | 1);
    body.extend((commits.len() as u32 + u32::from(more / 250)).to_be_bytes());
    body.extend_from_slice(good.checksum.as_slice());
    for _ in 0..4 {
        body.extend(ewah(&sets.next().expect("endless")));
    }
    let mut offsets = Vec::new();
    for (row, distance, _) in &commits {
        offsets.push((u32::from(*row), body.len() as u64));
        body.extend(u32::from(*row).to_be_bytes());
        body.extend([*distance % 12, 0]);
        body.extend(ewah(&sets.next().expect("endless")));
    }
    if flags & 0x20 != 0 {
        pseudo_merges(&mut body, more, &mut sets);
    }
    if flags & 0x10 != 0 {
        offsets.sort_unstable();
        for ((row, offset), (_, _, base)) in offsets.iter().zip(&commits) {
            body.extend(row.to_be_bytes());
            body.extend(offset.to_be_bytes());
            let base = if *base > 127 { u32::MAX } else { u32::from(*base) };
            body.extend(base.to_be_bytes());
        }
    }
    body.extend_from_slice(sections);
    if flags & 0x4 != 0 && sections.is_empty() {
        body.resize(body.len() + good.ids.len() * 4, 7);
    }
    for (at, value) in changes {
        // The header stays: what is behind it is the subject.
        let range = body.len() - 32;
        if range > 0 {
            body[32 + usize::from(at) % range] ^= value;
        }
    }
    let bitmap = seal(body, None);
    let directory = tempfile::tempdir().expect("a temporary directory");
    good.write(directory.path(), &[("bitmap", &bitmap)]);
    let options = StoreOptions { hash: HashKind::Sha1, ..StoreOptions::default() };
    let store = ObjectStore::open(directory.path(), options).expect("a store");
    let Some(bitmaps) = Bitmaps::open(&store) else { return };
    let mut tips = bitmaps.empty();
    for kind in [ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob, ObjectKind::Tag] {
        if let Ok(words) = bitmaps.of_kind(kind) {
            tips.union(words);
        }
    }
    let mut reached = bitmaps.empty();
    for id in &good.ids {
        let _ = bitmaps.add_reachable(id, &mut reached);
    }
    for bit in (0..good.ids.len() as u32 + 2).chain([u32::MAX]) {
        let _ = (bitmaps.kind(bit), bitmaps.name_hash(bit));
        let _ = bitmaps.add_reachable_from(bit, &mut reached);
    }
    let _ = (bitmaps.commits(), bitmaps.commit_count());
    if bitmaps.pseudo_merge_count() < 1000 {
        let _ = bitmaps.add_pseudo_merges(&tips, &mut reached);
    }
    assert!(reached.as_slice().len() <= good.ids.len().div_ceil(64));
});

/// The words, which hold markers, as a set of bits.
fn ewah(words: &[u64]) -> Vec<u8> {
    let mut bytes = (words.len() as u32 * 64).to_be_bytes().to_vec();
    bytes.extend((words.len() as u32).to_be_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    bytes.extend([0; 4]);
    bytes
}

/// A section with sound numbers at its end.
fn pseudo_merges(body: &mut Vec<u8>, more: u8, sets: &mut impl Iterator<Item = Vec<u64>>) {
    let start = body.len() as u64;
    let count = u32::from(more % 4);
    let mut offsets = Vec::new();
    for _ in 0..count {
        offsets.push(body.len() as u64);
        body.extend(ewah(&sets.next().expect("endless")));
        body.extend(ewah(&sets.next().expect("endless")));
    }
    let table = body.len() as u64 - start;
    body.extend(u32::from(more).to_be_bytes());
    body.extend(start.to_be_bytes());
    body.extend(offsets.iter().flat_map(|offset| offset.to_be_bytes()));
    body.extend(count.to_be_bytes());
    body.extend(1_u32.to_be_bytes());
    body.extend(table.to_be_bytes());
    let length = body.len() as u64 - start + 8;
    body.extend(length.to_be_bytes());
}
