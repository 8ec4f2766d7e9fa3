//! Reading while git repacks.

use crate::scene::{lines, open, overlapping};
use hedgerow_pack::{Location, Reader};
use hedgerow_testkit::Repository;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_repack_before_anything_was_mapped_is_survived() {
    for with_midx in [false, true] {
        let repository = overlapping("sha1", 3);
        if with_midx {
            repository.git(&["multi-pack-index", "write"]);
        }
        let known = repository.known();
        let store = open(&repository);
        repository.git(&["repack", "-adkq"]);
        for object in &known {
            assert_eq!(store.read(&object.id).unwrap().1, object.content);
        }
        // And once more, with objects that are new.
        repository.import("refs/heads/more", 50..53);
        repository.git(&["repack", "-adkq"]);
        let now = repository.known();
        assert!(now.len() > known.len());
        for object in &now {
            assert_eq!(store.read(&object.id).unwrap().1, object.content);
        }
        let prefix = hedgerow_pack_prefix(&now.last().unwrap().id.to_string());
        assert_eq!(
            store.find_prefix(&prefix).unwrap(),
            [now.last().unwrap().id]
        );
        let nothing = hedgerow_pack::ObjectId::from_hex([b'7'; 40].as_slice()).unwrap();
        assert_eq!(store.locate(&nothing).unwrap(), None);
    }
}

fn hedgerow_pack_prefix(hex: &str) -> gix_hash::Prefix {
    gix_hash::Prefix::from_hex(&hex[..12]).unwrap()
}

#[test]
fn a_loose_object_that_was_packed_after_it_was_located_is_read() {
    let repository = Repository::bare("sha1");
    let id = repository.add_loose(b"something", 6);
    let store = open(&repository);
    let location = store.locate(&id).unwrap().unwrap();
    assert!(matches!(location, Location::Loose { .. }));
    let list = format!("{id}\n");
    repository.git_with(
        &["pack-objects", "-q", "objects/pack/pack"],
        list.as_bytes(),
    );
    repository.git(&["prune-packed"]);
    let mut reader = Reader::new(&store);
    assert_eq!(reader.read(&id, location).unwrap().1, b"something");
}

#[test]
fn readers_at_work_notice_nothing_of_repacks() {
    let repository = overlapping("sha1", 4);
    repository.git(&["multi-pack-index", "write"]);
    let known = repository.known();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let read = || {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds < 2 {
                // One store that stays, and reads in the middle of whatever git does.
                let store = open(&repository);
                for object in &known {
                    let (_, content) = store.read(&object.id).unwrap();
                    assert_eq!(content, object.content);
                }
                rounds += 1;
            }
        };
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(read)).collect();
        for number in 0..6 {
            let window = format!("--window={}", number % 3 * 5);
            repository.git(&["repack", "-adkfq", &window]);
            if number % 2 == 0 {
                repository.git(&["multi-pack-index", "write"]);
            }
        }
        done.store(true, Ordering::Relaxed);
        readers
            .into_iter()
            .for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(lines(repository.git(&["count-objects"])).len(), 1);
}
