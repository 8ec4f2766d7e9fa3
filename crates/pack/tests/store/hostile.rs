//! Packs that were made to hurt: each fault is told for what it is, with bounded work and memory.

use crate::craft::{self, delta, distance, made_up, Craft};
use crate::open;
use hedgerow_pack::{Error, Fault, Location, ObjectId, ObjectStore, Reader, SharedBases};
use hedgerow_pack::{Result, StoreOptions};
use hedgerow_testkit::{blob_id, Repository};

/// Copies the whole of a base of five bytes.
const COPY_5: &[u8] = &[0x90, 5];

/// The fault that reading `id` meets; planning, header and stream must not fare worse than that.
fn fault(store: &ObjectStore, id: ObjectId) -> Fault {
    let location = store.locate(&id).unwrap().unwrap();
    let bases = SharedBases::plan(store, &[location, location], 1 << 20).unwrap();
    let mut reader = Reader::with_bases(store, &bases);
    let _ = reader.header(&id, location);
    assert!(reader.stream(&id, location, &mut |_| Ok(())).is_err());
    fault_of(reader.read(&id, location).map(|_| ()))
}

fn fault_of(outcome: Result<()>) -> Fault {
    match outcome.unwrap_err() {
        Error::CorruptEntry { fault, .. } | Error::CorruptLoose { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

/// The fault of a delta against the blob `hello`.
fn fault_of_delta(content: &[u8]) -> Fault {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    let (_, base) = craft.add_blob(b"hello");
    let back = distance(craft.end() - base);
    craft.add(
        made_up(1),
        craft::OFFSET_DELTA,
        content.len() as u64,
        &back,
        content,
    );
    craft.write(&repository.objects(), "1");
    fault(&open(&repository), made_up(1))
}

/// The fault of an entry whose bytes are `entry`.
fn fault_of_entry(entry: &[u8]) -> Fault {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    craft.add_raw(made_up(1), entry);
    craft.write(&repository.objects(), "1");
    fault(&open(&repository), made_up(1))
}

#[test]
fn bad_deltas() {
    use Fault::{DeltaCopy, DeltaInstruction, DeltaResult, DeltaSource, DeltaTruncated};
    let source = DeltaSource {
        declared: 6,
        actual: 5,
    };
    assert_eq!(fault_of_delta(&delta(6, 5, COPY_5)), source);
    assert_eq!(fault_of_delta(&delta(5, 5, &[0x90, 6])), DeltaCopy);
    assert_eq!(fault_of_delta(&delta(5, 5, &[0x91, 1, 5])), DeltaCopy);
    assert_eq!(
        fault_of_delta(&delta(5, 5, &[0xff, 255, 255, 255, 255, 255, 255, 255])),
        DeltaCopy
    );
    assert_eq!(
        fault_of_delta(&delta(5, 4, COPY_5)),
        DeltaResult { declared: 4 }
    );
    assert_eq!(
        fault_of_delta(&delta(5, 6, COPY_5)),
        DeltaResult { declared: 6 }
    );
    assert_eq!(fault_of_delta(&delta(5, 5, &[0, 0])), DeltaInstruction);
    assert_eq!(fault_of_delta(&delta(5, 5, &[0x90])), DeltaTruncated);
    assert_eq!(fault_of_delta(&delta(5, 5, &[3, b'a'])), DeltaTruncated);
    assert_eq!(fault_of_delta(&[0x85]), DeltaTruncated);
    assert_eq!(fault_of_delta(&[0xff; 12]), Fault::LengthOverflow);
}

#[test]
fn a_declared_size_must_be_plausible() {
    let tiny = craft::deflate(b"tiny");
    let huge = (4 << 30) - 1;
    let entry = [craft::header(craft::BLOB, huge), tiny.clone()].concat();
    assert_eq!(fault_of_entry(&entry), Fault::Implausible(huge));
    let over = [craft::header(craft::BLOB, u64::MAX), tiny.clone()].concat();
    let limit = 4 << 30;
    let too_large = Fault::TooLarge {
        size: u64::MAX,
        limit,
    };
    assert_eq!(fault_of_entry(&over), too_large);
    let declared = 3 << 30;
    assert_eq!(
        fault_of_delta(&delta(5, declared, COPY_5)),
        Fault::DeltaResult { declared }
    );
    // The length of the pack does not make it plausible: the length of the entry counts.
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    craft.add_raw(made_up(1), &entry);
    let noise: Vec<u8> = (0..6_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    craft.add_raw(made_up(2), &noise);
    craft.write(&repository.objects(), "1");
    assert_eq!(
        fault(&open(&repository), made_up(1)),
        Fault::Implausible(huge)
    );
}

#[test]
fn bad_entry_headers() {
    let with_type = |kind| [craft::header(kind, 4), craft::deflate(b"data")].concat();
    assert_eq!(fault_of_entry(&with_type(0)), Fault::EntryType(0));
    assert_eq!(fault_of_entry(&with_type(5)), Fault::EntryType(5));
    assert_eq!(fault_of_entry(&[0xff; 30]), Fault::LengthOverflow);
    assert_eq!(fault_of_entry(&[0xbf]), Fault::TruncatedHeader);
    let offset = |back: &[u8]| [&[craft::OFFSET_DELTA << 4 | 5], back, &[0; 9]].concat();
    assert_eq!(fault_of_entry(&offset(&[0])), Fault::BaseOffset);
    assert_eq!(fault_of_entry(&offset(&[1])), Fault::BaseOffset);
    assert_eq!(fault_of_entry(&offset(&[0xff; 12])), Fault::BaseOffset);
    assert_eq!(
        fault_of_entry(&[craft::REFERENCE_DELTA << 4, 1, 2]),
        Fault::TruncatedHeader
    );
    let wrong_size = |size| [craft::header(craft::BLOB, size), craft::deflate(b"data")].concat();
    assert_eq!(
        fault_of_entry(&wrong_size(3)).to_string(),
        zlib_error("longer")
    );
    assert_eq!(
        fault_of_entry(&wrong_size(5)).to_string(),
        zlib_error("shorter")
    );
}

fn zlib_error(comparative: &str) -> String {
    format!("zlib stream is {comparative} than declared")
}

#[test]
fn offsets_outside_the_pack() {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    craft.add_blob(b"inside");
    let end = craft.end();
    for (number, offset) in [
        (1, 0),
        (2, 11),
        (3, end),
        (4, end + 19),
        (5, u64::MAX),
        (6, 1 << 40),
    ] {
        craft.list(made_up(number), offset);
    }
    craft.write(&repository.objects(), "1");
    let store = open(&repository);
    for number in 1..=6 {
        assert_eq!(fault(&store, made_up(number)), Fault::Outside);
    }
    assert_eq!(store.read(&blob_id(b"inside")).unwrap().1, b"inside");
}

#[test]
fn reference_deltas_that_loop_or_lead_nowhere() {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    let content = delta(5, 5, COPY_5);
    let mut add = |id: u32, base: u32| {
        let base = made_up(base);
        let size = content.len() as u64;
        craft.add(
            made_up(id),
            craft::REFERENCE_DELTA,
            size,
            base.as_slice(),
            &content,
        );
    };
    add(1, 1);
    add(2, 3);
    add(3, 4);
    add(4, 3);
    add(5, 99);
    craft.write(&repository.objects(), "1");
    let store = open(&repository);
    for looping in 1..=4 {
        assert_eq!(fault(&store, made_up(looping)), Fault::Loop);
    }
    assert_eq!(fault(&store, made_up(5)), Fault::BaseMissing(made_up(99)));
    let text = store.read(&made_up(5)).unwrap_err().to_string();
    assert!(text.contains(&made_up(5).to_string()), "{text}");
    assert!(text.contains("pack-1.pack' at offset "), "{text}");
    assert!(
        text.ends_with(&format!("delta base {} is missing", made_up(99))),
        "{text}"
    );
}

#[test]
fn bases_are_found_in_other_packs_and_loose() {
    let repository = Repository::bare("sha1");
    let loose = repository.add_loose(b"hello", 6);
    let mut other = Craft::new();
    let (packed, _) = other.add_blob(b"world");
    other.write(&repository.objects(), "other");
    let mut craft = Craft::new();
    for (number, base) in [(1, loose), (2, packed)] {
        let content = delta(5, 6, &[0x90, 5, 1, b'!']);
        let size = content.len() as u64;
        craft.add(
            made_up(number),
            craft::REFERENCE_DELTA,
            size,
            base.as_slice(),
            &content,
        );
    }
    craft.write(&repository.objects(), "1");
    let store = open(&repository);
    let locations = store.locate_all(&[made_up(1), made_up(2)]).unwrap();
    let locations: Vec<Location> = locations.into_iter().flatten().collect();
    let bases = SharedBases::plan(&store, &locations, 1 << 20).unwrap();
    let mut reader = Reader::with_bases(&store, &bases);
    assert_eq!(reader.read(&made_up(1), locations[0]).unwrap().1, b"hello!");
    assert_eq!(reader.header(&made_up(1), locations[0]).unwrap().size, 6);
    assert_eq!(reader.read(&made_up(2), locations[1]).unwrap().1, b"world!");
}

#[test]
fn a_chain_of_a_hundred_thousand_deltas() {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    let (_, mut last) = craft.add_blob(b"hello");
    let content = delta(5, 5, COPY_5);
    let stream = craft::deflate(&content);
    let head = craft::header(craft::OFFSET_DELTA, content.len() as u64);
    for number in 0..100_000 {
        let back = distance(craft.end() - last);
        last = craft.add_raw(made_up(number), &[&head, &back, &stream[..]].concat());
    }
    craft.write(&repository.objects(), "1");
    let store = open(&repository);
    let top = made_up(99_999);
    assert_eq!(store.read(&top).unwrap().1, b"hello");
    let location = store.locate(&top).unwrap().unwrap();
    let mut reader = Reader::new(&store);
    assert_eq!(reader.header(&top, location).unwrap().size, 5);
    let bases = SharedBases::plan(&store, &[location, location], 1 << 20).unwrap();
    assert_eq!(bases.shared_count(), 1);
}

#[test]
fn the_size_limit_is_kept_and_streams_may_exceed_it() {
    let repository = Repository::bare("sha1");
    let content = hedgerow_testkit::text(1, 20_000);
    let mut craft = Craft::new();
    let (id, _) = craft.add_blob(&content);
    craft.write(&repository.objects(), "1");
    let options = StoreOptions {
        object_size_limit: 1000,
        ..StoreOptions::default()
    };
    let store = ObjectStore::open(&repository.objects(), options).unwrap();
    let location = store.locate(&id).unwrap().unwrap();
    let mut reader = Reader::new(&store);
    let too_large = Fault::TooLarge {
        size: content.len() as u64,
        limit: 1000,
    };
    assert_eq!(fault_of(reader.read(&id, location).map(|_| ())), too_large);
    let mut streamed = Vec::new();
    let mut sink = |piece: &[u8]| {
        streamed.extend_from_slice(piece);
        Ok(())
    };
    reader.stream(&id, location, &mut sink).unwrap();
    assert!(streamed == content);
}

#[test]
fn a_read_within_a_limit_builds_nothing_larger_and_the_next_one_does() {
    let repository = Repository::bare("sha1");
    let content = hedgerow_testkit::text(1, 20_000);
    let size = content.len() as u64;
    let mut craft = Craft::new();
    let (packed, _) = craft.add_blob(&content);
    craft.write(&repository.objects(), "1");
    let loose = repository.add_loose(&content[1..], 6);
    let store = open(&repository);
    let mut reader = Reader::new(&store);
    for (id, size) in [(packed, size), (loose, size - 1)] {
        let location = store.locate(&id).unwrap().unwrap();
        let limit = size - 1;
        let read = reader.read_within(&id, location, limit).map(|_| ());
        assert_eq!(fault_of(read), Fault::TooLarge { size, limit });
        let read = reader.read_within(&id, location, size).unwrap().1.len();
        assert_eq!(read as u64, size);
        assert_eq!(reader.read(&id, location).unwrap().1.len() as u64, size);
    }
}

#[test]
fn content_that_is_not_what_the_id_names_is_told_by_verify() {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    craft.add(made_up(1), craft::BLOB, 5, &[], b"hello");
    craft.write(&repository.objects(), "1");
    let store = open(&repository);
    let location = store.locate(&made_up(1)).unwrap().unwrap();
    match Reader::new(&store).verify(&made_up(1), location) {
        Err(Error::HashMismatch { actual, .. }) => assert_eq!(actual, blob_id(b"hello")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn offsets_past_four_gibibytes() {
    use std::os::unix::fs::FileExt;
    let repository = Repository::bare("sha1");
    let far = (5 << 30) + 7;
    let content = delta(5, 6, &[0x90, 5, 1, b'!']);
    let head = craft::header(craft::OFFSET_DELTA, content.len() as u64);
    let near_entry = [craft::header(craft::BLOB, 5), craft::deflate(b"hello")].concat();
    let far_entry = [head, distance(far - 12), craft::deflate(&content)].concat();
    let middle = (2 << 30) + 5;
    let checksum = made_up(0);
    let directory = repository.objects().join("pack");
    let file = std::fs::File::create(directory.join("pack-1.pack")).unwrap();
    let end = far + far_entry.len() as u64;
    if let Err(error) = file.set_len(end + 20) {
        eprintln!("SKIPPED: no sparse file of 5 GiB here: {error}");
        return;
    }
    file.write_all_at(b"PACK\0\0\0\x02\0\0\0\x03", 0).unwrap();
    file.write_all_at(&near_entry, 12).unwrap();
    file.write_all_at(&near_entry, middle).unwrap();
    file.write_all_at(&far_entry, far).unwrap();
    file.write_all_at(checksum.as_slice(), end).unwrap();
    let mut entries = [(made_up(1), 12), (made_up(2), middle), (made_up(3), far)];
    std::fs::write(
        directory.join("pack-1.idx"),
        craft::index(&mut entries, checksum),
    )
    .unwrap();
    let store = open(&repository);
    for (number, expected) in [(1, "hello"), (2, "hello"), (3, "hello!")] {
        assert_eq!(store.read(&made_up(number)).unwrap().1, expected.as_bytes());
    }
    let location = store.locate(&made_up(3)).unwrap();
    assert!(matches!(location, Some(Location::Packed { offset, .. }) if offset == far));
}

/// A delta that makes two bytes of a base of `source` bytes, against the entry at `base`.
fn add_two_bytes(craft: &mut Craft, id: ObjectId, source: u64, base: u64) -> u64 {
    let content = delta(source, 2, &[0x90, 2]);
    let back = distance(craft.end() - base);
    let size = content.len() as u64;
    craft.add(id, craft::OFFSET_DELTA, size, &back, &content)
}

#[test]
fn what_is_built_from_a_large_object_is_large_however_long_its_chain_is() {
    let repository = Repository::bare("sha1");
    let mut craft = Craft::new();
    let (_, root) = craft.add_blob(&[7; 5000]);
    let mut last = add_two_bytes(&mut craft, made_up(1), 5000, root);
    for number in 2..=300 {
        last = add_two_bytes(&mut craft, made_up(number), 2, last);
    }
    let (small, _) = craft.add_blob(b"small");
    craft.write(&repository.objects(), "1");
    let store = open(&repository);
    let root_of = |id: ObjectId, limit| {
        let location = store.locate(&id).unwrap().unwrap();
        Reader::new(&store).large_root(location, limit)
    };
    let root = Location::Packed {
        pack: 0,
        offset: root,
    };
    for number in [1, 2, 3, 200] {
        assert_eq!(root_of(made_up(number), 4999), Some(root), "{number}");
        assert_eq!(root_of(made_up(number), 5000), None, "{number}");
    }
    // The work for each object has a limit.
    assert_eq!(root_of(made_up(300), 4999), None);
    assert!(root_of(small, 4).is_some());
    assert_eq!(root_of(small, 5), None);
}
