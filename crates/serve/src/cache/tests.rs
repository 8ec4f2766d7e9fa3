#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at files"
)]

use super::*;

fn cache(max_bytes: u64, max_age_seconds: u64) -> (tempfile::TempDir, ResponseCache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = ResponseCache {
        directory: directory.path().join("responses"),
        max_bytes,
        max_age_seconds,
        max_wait_seconds: 10,
    };
    (directory, cache)
}

fn key(name: &str) -> ResponseKey {
    ResponseKey::of([name.as_bytes()])
}

fn begin(cache: &ResponseCache, name: &str) -> NewResponse {
    match cache.look(&key(name)).unwrap() {
        Found::Missing(response) => response,
        Found::Stored(stored) => panic!("there is one: {stored:?}"),
    }
}

fn follow(cache: &ResponseCache, name: &str) -> StoredResponse {
    match cache.look(&key(name)).unwrap() {
        Found::Stored(stored) => stored,
        Found::Missing(_) => panic!("there is none"),
    }
}

fn put(cache: &ResponseCache, name: &str, content: &[u8]) -> ResponseKey {
    let mut response = begin(cache, name);
    let written = content.chunks(3).all(|piece| response.write(piece));
    if written {
        cache.keep(response).unwrap();
    }
    key(name)
}

fn read(stored: &StoredResponse) -> Vec<u8> {
    let mut content = vec![0; 1000];
    let length = stored.read_at(&mut content, 0).unwrap();
    content.truncate(length);
    content
}

fn content(cache: &ResponseCache, key: &ResponseKey) -> Option<Vec<u8>> {
    Some(read(&cache.find(key)?))
}

fn names(cache: &ResponseCache) -> Vec<String> {
    let entries = std::fs::read_dir(&cache.directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn age(path: &std::path::Path, seconds: u64) {
    let old = std::time::SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::open(path)
        .unwrap()
        .set_modified(old)
        .unwrap();
}

#[test]
fn a_response_is_there_when_it_is_whole() {
    let (_directory, cache) = cache(100, 100);
    let mut unfinished = begin(&cache, "a");
    assert!(unfinished.write(b"half"));
    assert!(content(&cache, &key("a")).is_none());
    drop(unfinished);
    assert!(names(&cache).is_empty());
    let key = put(&cache, "a", b"whole");
    assert_eq!(content(&cache, &key).unwrap(), b"whole");
    assert_eq!(names(&cache).len(), 1);
}

#[test]
fn a_response_is_followed_while_it_grows() {
    let (_directory, cache) = cache(100, 100);
    let mut response = begin(&cache, "a");
    let (own, other) = (response.follow().unwrap(), follow(&cache, "a"));
    assert!(response.write(b"be"));
    for stored in [&own, &other] {
        assert_eq!(stored.wait(0).unwrap(), Available::Growing(2));
        assert!(!stored.was_whole());
    }
    std::thread::scope(|scope| {
        let waits = [&own, &other].map(|stored| scope.spawn(|| stored.wait(2).unwrap()));
        std::thread::sleep(Duration::from_millis(30));
        assert!(response.write(b"gun"));
        for wait in waits {
            let available = wait.join().unwrap();
            assert!(
                matches!(available, Available::Growing(5) | Available::Whole(5)),
                "{available:?}"
            );
        }
    });
    cache.keep(response).unwrap();
    for stored in [own, other, follow(&cache, "a")] {
        assert_eq!(stored.wait(5).unwrap(), Available::Whole(5));
        assert_eq!(read(&stored), b"begun");
    }
}

#[test]
fn who_follows_learns_that_the_maker_is_gone() {
    let (_directory, cache) = cache(HEADER_BYTES + 6, 100);
    let mut response = begin(&cache, "a");
    let (own, other) = (response.follow().unwrap(), follow(&cache, "a"));
    assert!(response.write(b"begun"));
    assert!(!response.write(b" more"), "that is over the limit");
    drop(response);
    for stored in [&own, &other] {
        assert_eq!(stored.wait(5).unwrap(), Available::Abandoned(5));
        assert_eq!(read(stored), b"begun", "it can be read still");
    }
    // The next one begins anew.
    put(&cache, "a", b"again");
    assert_eq!(read(&other), b"begun");
    assert_eq!(content(&cache, &key("a")).unwrap(), b"again");
}

#[test]
fn a_maker_that_does_not_go_on_is_not_waited_for() {
    let (_directory, mut cache) = cache(100, 100);
    cache.max_wait_seconds = 1;
    let mut response = begin(&cache, "a");
    assert!(response.write(b"begun"));
    let started = std::time::Instant::now();
    let stored = follow(&cache, "a");
    assert_eq!(stored.wait(5).unwrap(), Available::Abandoned(5));
    assert!(started.elapsed() >= Duration::from_secs(1));
    // Who comes later does not wait at all.
    age(&cache.path(&key("a"), PARTIAL), 5);
    let started = std::time::Instant::now();
    let stored = follow(&cache, "a");
    assert_eq!(stored.wait(5).unwrap(), Available::Abandoned(5));
    assert!(started.elapsed() < Duration::from_secs(1));
    // What makes it is not disturbed.
    cache.keep(response).unwrap();
    assert_eq!(content(&cache, &key("a")).unwrap(), b"begun");
    assert_eq!(names(&cache).len(), 1);
}

#[test]
fn nobody_waits_who_is_not_to() {
    let (_directory, mut cache) = cache(100, 100);
    cache.max_wait_seconds = 0;
    let mut responses = [begin(&cache, "a"), begin(&cache, "a")];
    assert!(responses[0].follow().is_none());
    assert!(responses.iter_mut().all(|response| response.write(b"same")));
    for response in responses {
        cache.keep(response).unwrap();
    }
    assert_eq!(content(&cache, &key("a")).unwrap(), b"same");
    assert_eq!(names(&cache).len(), 1);
}

#[test]
fn what_was_cut_off_is_made_again() {
    let (_directory, cache) = cache(100, 100);
    let key = put(&cache, "a", b"whole");
    let path = cache.path(&key, WHOLE);
    for length in [0, 7, HEADER_BYTES, HEADER_BYTES + 4] {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(length).unwrap();
        assert!(content(&cache, &key).is_none(), "{length}");
        put(&cache, "a", b"whole");
        assert_eq!(content(&cache, &key).unwrap(), b"whole");
    }
}

#[test]
fn what_the_killed_left_is_removed_by_the_next() {
    let (_directory, cache) = cache(100, 100);
    put(&cache, "a", b"a");
    let left = [
        cache.path(&key("b"), PARTIAL),
        cache.path(&key("c"), PARTIAL),
        cache.named(format!(".{}.response.17-0", key("d").0).as_bytes()),
    ];
    left.iter()
        .for_each(|path| std::fs::write(path, "left").unwrap());
    age(&left[2], 1000);
    put(&cache, "b", b"b");
    assert_eq!(names(&cache).len(), 2, "{:?}", names(&cache));
    assert_eq!(content(&cache, &key("b")).unwrap(), b"b");
}

#[test]
fn parts_are_told_apart() {
    let of = |parts: [&str; 2]| ResponseKey::of(parts.map(str::as_bytes));
    assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
    assert_eq!(of(["ab", "c"]), of(["ab", "c"]));
}

#[test]
fn the_oldest_go_when_there_is_no_room() {
    let (_directory, cache) = cache(2 * HEADER_BYTES + 10, 100);
    let first = put(&cache, "first", b"12345");
    age(&cache.path(&first, WHOLE), 50);
    let second = put(&cache, "second", b"12345");
    assert!(content(&cache, &first).is_some());
    let third = put(&cache, "third", b"12345");
    assert!(content(&cache, &first).is_none());
    assert!(content(&cache, &second).is_some() && content(&cache, &third).is_some());
    let large = put(&cache, "large", &[b'x'; 100]);
    assert!(content(&cache, &large).is_none());
    assert_eq!(names(&cache).len(), 2);
}

#[test]
fn what_grows_takes_room() {
    let (_directory, cache) = cache(2 * HEADER_BYTES + 10, 100);
    let first = put(&cache, "first", b"12345");
    let mut growing = begin(&cache, "growing");
    assert!(growing.write(b"1234567890"));
    cache.clean().unwrap();
    assert!(content(&cache, &first).is_none());
    cache.keep(growing).unwrap();
    assert!(content(&cache, &key("growing")).is_some());
}

#[test]
fn the_old_expire() {
    let (_directory, cache) = cache(100, 10);
    let key = put(&cache, "a", b"b");
    age(&cache.path(&key, WHOLE), 50);
    assert!(content(&cache, &key).is_none());
    cache.clean().unwrap();
    assert!(names(&cache).is_empty());
}
