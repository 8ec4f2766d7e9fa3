//! EWAH: any words as a compressed set are what a second decoder, written for this, makes of them,
//! or refused; and any set that is written is read again.
#![no_main]

mod packed;

use hedgerow_pack::{
    BitmapContents, Bitmaps, CommitBitmap, HashKind, ObjectKind, ObjectStore, StoreOptions, Words,
};
use libfuzzer_sys::fuzz_target;
use packed::{packed, seal};

fuzz_target!(|input: (Vec<(bool, u8, u8, Vec<u64>)>, u16, Vec<Vec<u64>>)| {
    let (runs, cut, sets) = input;
    decode(&runs, cut);
    encode(&sets);
});

fn decode(runs: &[(bool, u8, u8, Vec<u64>)], cut: u16) {
    let good = packed();
    let mut words: Vec<u64> = Vec::new();
    for (bit, length, surplus, literals) in runs {
        // Now and then more literals are promised than there are.
        let promised = literals.len() as u64 + u64::from(surplus / 250);
        words.push(u64::from(*bit) | u64::from(*length % 4) << 1 | promised << 33);
        words.extend(literals);
    }
    words.truncate(words.len().saturating_sub(usize::from(cut / 60_000)));
    let mut body = b"BITM\0\x01\0\x01\0\0\0\0".to_vec();
    body.extend_from_slice(good.checksum.as_slice());
    body.extend((words.len() as u32 * 64).to_be_bytes());
    body.extend((words.len() as u32).to_be_bytes());
    body.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    body.extend([0; 4]);
    let count = good.ids.len();
    let all = limited(vec![u64::MAX; count.div_ceil(64)], count);
    let expected = plainly(&words, all.len());
    // Each object is of one kind: those that are no commits are trees.
    let is_sound = |set: &Vec<u64>| set.iter().zip(&all).all(|(own, all)| own & !all == 0);
    let expected = expected.filter(is_sound);
    let trees = all.iter().enumerate().map(|(at, all)| {
        all & !expected.as_ref().map_or(0, |set| set[at])
    });
    body.extend((all.len() as u32 * 64).to_be_bytes());
    body.extend((all.len() as u32 + 1).to_be_bytes());
    body.extend(((all.len() as u64) << 33).to_be_bytes());
    body.extend(trees.flat_map(u64::to_be_bytes));
    body.extend([0; 4]);
    let empty = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    (0..2).for_each(|_| body.extend(empty));
    let directory = tempfile::tempdir().expect("a temporary directory");
    good.write(directory.path(), &[("bitmap", &seal(body, None))]);
    let store = open(&directory);
    let bitmaps = Bitmaps::open(&store);
    let found = bitmaps.as_ref().and_then(|bitmaps| bitmaps.of_kind(ObjectKind::Commit).ok());
    assert_eq!(found.map(Words::as_slice), expected.as_deref());
}

/// `words` without bits from `count` on.
fn limited(mut words: Vec<u64>, count: usize) -> Vec<u64> {
    words.resize(count.div_ceil(64), 0);
    if let Some(last) = words.last_mut().filter(|_| !count.is_multiple_of(64)) {
        *last &= (1 << (count % 64)) - 1;
    }
    words
}

/// The set word by word; `None` if it is longer than `room` words or ends within a run.
fn plainly(words: &[u64], room: usize) -> Option<Vec<u64>> {
    let mut set = Vec::new();
    let mut words = words.iter();
    while let Some(marker) = words.next() {
        let run = if marker & 1 == 1 { u64::MAX } else { 0 };
        let length = (marker >> 1 & 0xffff_ffff) as usize;
        if set.len() + length > room {
            return None;
        }
        set.resize(set.len() + length, run);
        for _ in 0..marker >> 33 {
            set.push(*words.next()?);
        }
    }
    let fits = set.len() <= room;
    set.resize(room, 0);
    fits.then_some(set)
}

fn encode(sets: &[Vec<u64>]) {
    let good = packed();
    let directory = tempfile::tempdir().expect("a temporary directory");
    good.write(directory.path(), &[]);
    let store = open(&directory);
    let order = store.pack_order(0).expect("a sound pack");
    let count = good.ids.len();
    let limit = |words: &[u64]| Words::from_words(limited(words.to_vec(), count));
    // Each object is of the first kind whose set has it, or else of the last one.
    let mut left = limited(vec![u64::MAX; count.div_ceil(64)], count);
    let kinds = [0, 1, 2, 3].map(|at| {
        let own = sets.get(at).filter(|_| at < 3);
        let own = own.map_or_else(|| vec![if at < 3 { 0 } else { u64::MAX }; left.len()], Vec::clone);
        let mut own = limited(own, count);
        own.iter_mut().zip(&mut left).for_each(|(own, left)| {
            *own &= *left;
            *left &= !*own;
        });
        Words::from_words(own)
    });
    let commits = sets.iter().skip(4).zip(0..count as u32).map(|(set, commit)| {
        let mut set = limit(set);
        set.insert(commit);
        (commit, set)
    });
    let commits: Vec<(u32, Words)> = commits.collect();
    let contents = BitmapContents {
        order: &order,
        kinds: kinds.clone(),
        commits: commits.iter().map(|(commit, set)| CommitBitmap::new(*commit, set)).collect(),
        pseudo_merges: Vec::new(),
        name_hashes: Vec::new(),
        lookup_table: sets.len().is_multiple_of(2),
    };
    contents.write(1, false).expect("a file");
    let bitmaps = Bitmaps::open(&store).expect("a sound bitmap");
    let names = [ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob, ObjectKind::Tag];
    for (kind, words) in names.iter().zip(&kinds) {
        assert_eq!(bitmaps.of_kind(*kind).expect("its set").as_slice(), words.as_slice());
    }
    for (commit, set) in &commits {
        let mut reached = bitmaps.empty();
        assert!(bitmaps.add_reachable_from(*commit, &mut reached).expect("its bitmap"));
        assert_eq!(reached.as_slice(), set.as_slice());
    }
}

fn open(directory: &tempfile::TempDir) -> ObjectStore {
    let options = StoreOptions { hash: HashKind::Sha1, ..StoreOptions::default() };
    ObjectStore::open(directory.path(), options).expect("a store")
}
