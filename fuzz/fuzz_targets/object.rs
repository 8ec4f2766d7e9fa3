//! Any bytes as an object of each kind, as headers and as a compressed set: read or refused, never
//! beyond their end; and what is written of what was read is read again as the same.
#![no_main]

use gix_hash::{Kind, ObjectId};
use hedgerow_object::ewah::{encode_positions, Change, Ewah};
use hedgerow_object::pack_entry::EntryHeader;
use hedgerow_object::{
    offset_encoding, CommitRef, ObjectHeader, RawTreeEntries, TagRef, TreeEntries,
};
use libfuzzer_sys::fuzz_target;

const LIMIT: u32 = 10_000;

fuzz_target!(|input: (bool, u64, &[u8])| {
    let (is_sha1, offset, data) = input;
    let hash = if is_sha1 { Kind::Sha1 } else { Kind::Sha256 };
    trees(data, hash);
    commits_and_tags(data, hash);
    headers(data, offset, hash);
    sets(data);
});

fn trees(data: &[u8], hash: Kind) {
    let raw: Vec<_> = RawTreeEntries::new(data, hash).collect();
    let mut entries = TreeEntries::new(data, hash);
    for raw in &raw {
        let start = entries.offset();
        match entries.next_entry() {
            Ok(Some(entry)) => {
                let raw = raw.as_ref().expect("what is read strictly is whole");
                assert_eq!((raw.name, raw.id), (entry.name, entry.id));
                assert!(!entry.name.is_empty());
            }
            Ok(None) => panic!("the strict reader ends before the other"),
            Err(fault) => {
                assert_eq!(fault.offset, start);
                break;
            }
        }
    }
    if let Some(Err(fault)) = raw.last() {
        assert!(fault.offset < data.len());
    }
    // What is common to a tree and a part of it is the part.
    let (mut whole, mut part) = (TreeEntries::new(data, hash), TreeEntries::new(data, hash));
    whole.skip_common(&mut part);
    assert_eq!(whole.offset(), data.len());
}

fn commits_and_tags(data: &[u8], hash: Kind) {
    let id = ObjectId::null(hash);
    if let Ok(commit) = CommitRef::parse(&id, data) {
        assert_eq!(commit.tree().kind(), hash);
        assert!(commit.parents().all(|parent| parent.kind() == hash));
        let _ = (commit.seconds(), commit.author_seconds());
    }
    if let Ok(tag) = TagRef::parse(&id, data) {
        assert_eq!(TagRef::leading(&id, data), Some((tag.target, tag.kind)));
    }
}

fn headers(data: &[u8], offset: u64, hash: Kind) {
    let hash_len = hash.len_in_bytes();
    if let Ok((header, length)) = EntryHeader::parse(data, offset, hash_len) {
        assert!(length <= data.len());
        let encoded = header.encode();
        let again = EntryHeader::parse(encoded.as_bytes(), offset, hash_len);
        assert_eq!(again, Ok((header, encoded.as_bytes().len())));
    }
    if let Some((header, length)) = ObjectHeader::parse(data) {
        assert_eq!(header.encode().as_bytes(), &data[..length]);
    }
    if let Ok((number, length)) = offset_encoding::decode(data, u64::MAX) {
        let mut buffer = [0; offset_encoding::MAX_BYTES];
        assert_eq!(offset_encoding::encode(number, &mut buffer), &data[..length]);
    }
}

fn sets(data: &[u8]) {
    let Some((set, length)) = Ewah::parse(data) else { return };
    assert!(length <= data.len());
    let mut words = vec![0; LIMIT as usize / 64 + 1];
    let is_applied = set.apply(Change::Or, &mut words).is_some();
    let Ok(positions) = set.positions(LIMIT) else { return };
    assert!(positions.iter().all(|position| *position < LIMIT));
    if is_applied {
        let found = words.iter().map(|word| word.count_ones() as usize);
        assert_eq!(found.sum::<usize>(), positions.len());
    }
    let bytes = encode_positions(positions.iter().copied());
    let (again, _) = Ewah::parse(&bytes).expect("what was written is whole");
    assert_eq!(again.positions(LIMIT), Ok(positions));
}
