use super::support::*;
use hedgerow_pack::{EntryForm, HashKind, ObjectId, ObjectStore, PackEntries};
use hedgerow_serve::{Contents, PackOptions, Verbatim};

/// A repository with one pack.
fn repacked(hash: HashKind, arguments: &[&str]) -> Repository {
    let source = Repository::with_history(hash, 30);
    source.git(&[&["repack", "-adfq"], arguments].concat());
    source
}

fn all_bits(count: u32) -> Vec<u64> {
    // More bits than there are entries: those mean nothing.
    vec![u64::MAX; count as usize / 64 + 1]
}

fn verbatim<'c>(words: &'c [u64]) -> Contents<'c> {
    Contents {
        verbatim: vec![Verbatim { pack: 0, words }],
        ..Contents::default()
    }
}

fn selected(entries: &PackEntries<'_>, words: &[u64]) -> Vec<String> {
    let is_set = |order: &u32| words[(order / 64) as usize] >> (order % 64) & 1 != 0;
    let orders = (0..entries.count()).filter(is_set);
    sorted_ids(orders.map(|order| entries.id(order).unwrap()))
}

#[test]
fn a_whole_pack_is_copied_byte_for_byte() {
    for hash in [HashKind::Sha1, HashKind::Sha256] {
        for has_reverse in [true, false] {
            let source = repacked(hash, &[]);
            let store = source.store();
            let path = store.pack_path(0).unwrap().to_owned();
            if !has_reverse {
                let _ = std::fs::remove_file(path.with_extension("rev"));
            }
            let store = source.store();
            let words = all_bits(store.pack_entries(0).unwrap().count());
            let copied = pack(&store, &verbatim(&words), &with_threads(1));
            assert!(copied == std::fs::read(path).unwrap());
        }
    }
}

/// A trailer made anew would tell the receiver that all is well.
#[test]
fn damage_in_a_whole_pack_is_seen_by_the_receiver() {
    let source = repacked(HashKind::Sha1, &[]);
    let path = source.store().pack_path(0).unwrap().to_owned();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let store = source.store();
    let words = all_bits(store.pack_entries(0).unwrap().count());
    assert!(pack(&store, &verbatim(&words), &with_threads(1)) == bytes);
}

#[test]
fn a_reverse_index_that_lies_is_not_believed() {
    let source = repacked(HashKind::Sha1, &[]);
    source.git(&["-c", "pack.writeReverseIndex=true", "repack", "-adfq"]);
    let path = source.store().pack_path(0).unwrap().to_owned();
    let reverse = path.with_extension("rev");
    let mut bytes = std::fs::read(&reverse).unwrap();
    let (one, two) = (12 + 4 * 10, 12 + 4 * 11);
    for at in 0..4 {
        bytes.swap(one + at, two + at);
    }
    std::fs::remove_file(&reverse).unwrap();
    std::fs::write(&reverse, bytes).unwrap();
    let store = source.store();
    let mut words = all_bits(store.pack_entries(0).unwrap().count());
    assert!(
        store.warnings()[0].contains("does not agree"),
        "{:?}",
        store.warnings()
    );
    words[0] &= !2;
    let expected = selected(&store.pack_entries(0).unwrap(), &words);
    let copied = pack(&store, &verbatim(&words), &with_threads(1));
    assert_eq!(ids_in(&copied, HashKind::Sha1), expected);
}

/// Every reuse of a pack with gaps: bits cleared here and there, bases among them.
#[test]
fn gaps_are_closed_and_bases_replaced() {
    for hash in [HashKind::Sha1, HashKind::Sha256] {
        let source = repacked(hash, &[]);
        let store = source.store();
        let entries = store.pack_entries(0).unwrap();
        let mut seed = 12345_u64;
        for round in 0..6 {
            let mut words = all_bits(entries.count());
            for word in words.iter_mut().skip(round % 3) {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *word &= (seed >> 7) | seed.rotate_left(20) | u64::from(round == 0).wrapping_neg();
            }
            // The first object of the last rounds is missing, and so is one in the middle of all.
            words[0] &= !u64::from(round > 3);
            words[1] &= !(1 << 13);
            let expected = selected(&entries, &words);
            for delta_base_offset in [true, false] {
                let options = PackOptions {
                    delta_base_offset,
                    ..with_threads(2)
                };
                let copied = pack(&store, &verbatim(&words), &options);
                assert_eq!(ids_in(&copied, hash), expected);
                let again = pack(&store, &verbatim(&words), &with_threads(1));
                assert_eq!(delta_base_offset, copied == again);
            }
        }
    }
}

#[test]
fn without_offset_deltas_every_base_is_named() {
    let source = repacked(HashKind::Sha1, &[]);
    let store = source.store();
    let words = all_bits(store.pack_entries(0).unwrap().count());
    let options = PackOptions {
        delta_base_offset: false,
        ..with_threads(1)
    };
    let copied = pack(&store, &verbatim(&words), &options);
    let receiver = Repository::new(HashKind::Sha1);
    receiver.receive(&copied, &[]);
    assert_eq!(receiver.all_ids(), source.all_ids());
    let kinds = kinds(&receiver.store());
    assert!(kinds
        .iter()
        .all(|kind| !matches!(kind, EntryForm::OffsetDelta(_))));
    assert!(kinds
        .iter()
        .any(|kind| matches!(kind, EntryForm::ReferenceDelta(_))));

    // And from there, verbatim, as they are.
    let words = all_bits(kinds.len() as u32);
    let again = pack(&receiver.store(), &verbatim(&words), &with_threads(1));
    assert!(again == copied);
    let half: Vec<u64> = words
        .iter()
        .map(|word| word & 0x5555_5555_5555_5555)
        .collect();
    let expected = selected(&receiver.store().pack_entries(0).unwrap(), &half);
    let copied = pack(&receiver.store(), &verbatim(&half), &with_threads(1));
    assert_eq!(ids_in(&copied, HashKind::Sha1), expected);
}

fn kinds(store: &ObjectStore) -> Vec<EntryForm> {
    let entries = store.pack_entries(0).unwrap();
    (0..entries.count())
        .map(|order| entries.entry(order).unwrap().kind)
        .collect()
}

#[test]
fn an_entry_is_found_by_where_it_starts() {
    let source = repacked(HashKind::Sha1, &[]);
    let store = source.store();
    let entries = store.pack_entries(0).unwrap();
    for order in 0..=entries.count() {
        for before in 0..entries.count() {
            let offset = entries.offset(before).unwrap();
            assert_eq!(entries.order_of(offset), Some(before));
            let expected = (before < order).then_some(before);
            assert_eq!(entries.order_before(order, offset), expected);
            assert_eq!(entries.order_before(order, offset + 1), None);
        }
    }
}

#[test]
fn what_is_copied_and_wanted_is_sent_once_and_is_a_base() {
    let source = repacked(HashKind::Sha1, &[]);
    let store = source.store();
    let entries = store.pack_entries(0).unwrap();
    let all: Vec<(ObjectId, String)> = source.listed(&["--all"]);
    let words = vec![u64::MAX; 2];
    let contents = Contents {
        wanted: wanted(&store, &[&all[..], &all].concat()),
        ..verbatim(&words)
    };
    for delta_base_offset in [true, false] {
        let options = PackOptions {
            delta_base_offset,
            window: 0,
            ..with_threads(2)
        };
        let pack = pack(&store, &contents, &options);
        assert_eq!(ids_in(&pack, HashKind::Sha1), source.all_ids());
        let size = std::fs::metadata(store.pack_path(0).unwrap())
            .unwrap()
            .len();
        let longer = if delta_base_offset { 101 } else { 130 };
        assert!(entries.count() > 128 && pack.len() as u64 * 100 < size * longer);
    }
}

#[test]
fn deltas_against_what_the_receiver_has_are_reused() {
    let source = repacked(HashKind::Sha1, &[]);
    let store = source.store();
    let entries = store.pack_entries(0).unwrap();
    let is_delta = |order: &u32| {
        let kind = entries.entry(*order).unwrap().kind;
        matches!(kind, EntryForm::OffsetDelta(_))
    };
    let delta = (0..entries.count()).find(is_delta).unwrap();
    let id = entries.id(delta).unwrap();
    let contents = |has: &'static (dyn Fn(&hedgerow_pack::oid) -> bool + Sync)| Contents {
        wanted: wanted(&store, &[(id, String::new())]),
        has: Some(has),
        ..Contents::default()
    };
    let options = |thin| PackOptions {
        thin,
        ..with_threads(1)
    };
    let whole = pack(&store, &contents(&|_| false), &options(true));
    assert_eq!(ids_in(&whole, HashKind::Sha1), [id.to_string()]);
    assert_eq!(pack(&store, &contents(&|_| true), &options(false)), whole);
    let thin = pack(&store, &contents(&|_| true), &options(true));
    assert_eq!(thin[12] >> 4 & 7, 7);
    source.git_with(&["index-pack", "--stdin", "--fix-thin"], &thin);
}
