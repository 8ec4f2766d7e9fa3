#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at files"
)]

use super::header::HEADER_BYTES;
use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A cache in `root`, of a repository in `root`.
fn open(root: &Path, repository: &str, change: impl Fn(&mut CacheOptions)) -> ResponseCache {
    let objects = root.join(repository);
    std::fs::create_dir_all(objects.join("pack")).unwrap();
    let mut options = CacheOptions {
        directory: root.join("responses"),
        objects: vec![objects],
        max_bytes: 1000,
        max_age_seconds: 100,
        max_wait_seconds: 10,
    };
    change(&mut options);
    ResponseCache::open(options).unwrap()
}

fn cache(max_bytes: u64, max_age_seconds: u64) -> (tempfile::TempDir, ResponseCache) {
    let root = tempfile::tempdir().unwrap();
    let cache = open(root.path(), "objects", |options| {
        options.max_bytes = max_bytes;
        options.max_age_seconds = max_age_seconds;
    });
    (root, cache)
}

fn path(cache: &ResponseCache, key: &ResponseKey, extension: &str) -> PathBuf {
    cache.directory.path().join(cache.name(key, extension))
}

fn key(name: &str) -> ResponseKey {
    ResponseKey::of([name.as_bytes()])
}

fn begin(cache: &ResponseCache, name: &str) -> NewResponse {
    match cache.look(&key(name)).unwrap() {
        CacheLookup::Missing(response) => response,
        CacheLookup::Stored(stored) => panic!("there is one: {stored:?}"),
    }
}

fn follow(cache: &ResponseCache, name: &str) -> StoredResponse {
    match cache.look(&key(name)).unwrap() {
        CacheLookup::Stored(stored) => stored,
        CacheLookup::Missing(_) => panic!("there is none"),
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
    let entries = std::fs::read_dir(cache.directory.path()).unwrap();
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
    let (_directory, cache) = cache(1000, 100);
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
    let (_directory, cache) = cache(1000, 100);
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
    // The next request makes it again.
    put(&cache, "a", b"again");
    assert_eq!(read(&other), b"begun");
    assert_eq!(content(&cache, &key("a")).unwrap(), b"again");
}

#[test]
fn a_maker_that_does_not_go_on_is_not_waited_for() {
    let (_directory, mut cache) = cache(1000, 100);
    cache.options.max_wait_seconds = 1;
    let mut response = begin(&cache, "a");
    assert!(response.write(b"begun"));
    let started = std::time::Instant::now();
    let stored = follow(&cache, "a");
    assert_eq!(stored.wait(5).unwrap(), Available::Abandoned(5));
    assert!(started.elapsed() >= Duration::from_secs(1));
    // A later follower does not wait at all.
    age(&path(&cache, &key("a"), PARTIAL), 5);
    let started = std::time::Instant::now();
    let stored = follow(&cache, "a");
    assert_eq!(stored.wait(5).unwrap(), Available::Abandoned(5));
    assert!(started.elapsed() < Duration::from_secs(1));
    // The process that makes it is not disturbed.
    cache.keep(response).unwrap();
    assert_eq!(content(&cache, &key("a")).unwrap(), b"begun");
    assert_eq!(names(&cache).len(), 1);
}

#[test]
fn nobody_waits_who_is_not_to() {
    let (_directory, mut cache) = cache(1000, 100);
    cache.options.max_wait_seconds = 0;
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
    let (_directory, cache) = cache(1000, 100);
    let key = put(&cache, "a", b"whole");
    let path = path(&cache, &key, WHOLE);
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
    let (_directory, cache) = cache(1000, 100);
    put(&cache, "a", b"a");
    let left = [
        path(&cache, &key("b"), PARTIAL),
        path(&cache, &key("c"), PARTIAL),
        path(&cache, &key("d"), WHOLE)
            .with_file_name(format!(".{}.17-0", cache.name(&key("d"), WHOLE))),
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
    age(&path(&cache, &first, WHOLE), 50);
    let second = put(&cache, "second", b"12345");
    assert!(content(&cache, &first).is_some());
    let third = put(&cache, "third", b"12345");
    assert!(content(&cache, &first).is_none());
    assert!(content(&cache, &second).is_some() && content(&cache, &third).is_some());
    let large = put(&cache, "large", &[b'x'; 500]);
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
    let (_directory, cache) = cache(1000, 10);
    let key = put(&cache, "a", b"b");
    age(&path(&cache, &key, WHOLE), 50);
    assert!(content(&cache, &key).is_none());
    cache.clean().unwrap();
    assert!(names(&cache).is_empty());
}

#[test]
fn what_somebody_else_may_have_written_is_not_sent() {
    let (_root, cache) = cache(1000, 100);
    let key = put(&cache, "a", b"whole");
    let entry = path(&cache, &key, WHOLE);
    let good = std::fs::read(&entry).unwrap();
    assert_eq!(good.len() as u64, HEADER_BYTES + 5);
    assert_eq!(
        std::fs::metadata(&entry).unwrap().permissions().mode() & 0o777,
        0o600
    );
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        std::fs::write(&entry, bad).unwrap();
        assert!(content(&cache, &key).is_none(), "byte {at}");
    }
    std::fs::write(&entry, &good).unwrap();
    assert_eq!(content(&cache, &key).unwrap(), b"whole");
    std::fs::set_permissions(&entry, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(content(&cache, &key).is_none());
    std::fs::set_permissions(&entry, std::fs::Permissions::from_mode(0o600)).unwrap();
    let second = entry.with_file_name("second");
    std::fs::hard_link(&entry, &second).unwrap();
    assert!(content(&cache, &key).is_none());
    std::fs::remove_file(&entry).unwrap();
    std::os::unix::fs::symlink(&second, &entry).unwrap();
    assert!(content(&cache, &key).is_none());
    put(&cache, "a", b"again");
    assert_eq!(content(&cache, &key).unwrap(), b"again");
}

#[test]
fn a_date_in_the_future_expires_at_once() {
    let (_root, cache) = cache(1000, 100);
    let key = put(&cache, "a", b"b");
    let entry = std::fs::File::open(path(&cache, &key, WHOLE)).unwrap();
    let future = std::time::SystemTime::now() + Duration::from_secs(5000);
    entry.set_modified(future).unwrap();
    assert!(content(&cache, &key).is_none());
    cache.clean().unwrap();
    assert!(names(&cache).is_empty());
}

#[test]
fn one_repository_gets_nothing_of_another() {
    let root = tempfile::tempdir().unwrap();
    let first = open(root.path(), "first", |_| {});
    let second = open(root.path(), "second", |_| {});
    let key = put(&first, "a", b"of the first");
    assert!(content(&second, &key).is_none());
    // Nor under the name of another response.
    let from = path(&first, &key, WHOLE);
    std::fs::rename(&from, path(&second, &key, WHOLE)).unwrap();
    assert!(content(&second, &key).is_none());
    // Nor for a repository that has replaced it.
    let key = put(&first, "a", b"of the first");
    std::fs::rename(root.path().join("first"), root.path().join("old")).unwrap();
    let third = open(root.path(), "first", |_| {});
    assert!(content(&third, &key).is_none());
}

#[test]
fn a_pack_that_goes_or_changes_takes_its_responses_along() {
    let (root, cache) = cache(1000, 100);
    let pack = |name: &str| root.path().join("objects/pack").join(name);
    std::fs::write(pack("pack-1.pack"), "1").unwrap();
    std::fs::write(pack("pack-1.idx"), "1").unwrap();
    let key = put(&cache, "a", b"a");
    // Files added by a push change nothing.
    std::fs::write(pack("pack-2.pack"), "2").unwrap();
    std::fs::write(pack("tmp_pack"), "2").unwrap();
    assert!(content(&cache, &key).is_some());
    std::fs::remove_file(pack("tmp_pack")).unwrap();
    std::fs::remove_file(pack("pack-2.pack")).unwrap();
    assert!(content(&cache, &key).is_some());
    for name in ["pack-1.idx", "pack-1.pack"] {
        std::fs::write(pack(name), "repaired").unwrap();
        assert!(content(&cache, &key).is_none(), "{name}");
        put(&cache, "a", b"a");
        assert!(content(&cache, &key).is_some());
    }
    std::fs::remove_file(pack("pack-1.idx")).unwrap();
    assert!(content(&cache, &key).is_none());
    // A source that changes meanwhile.
    let mut response = begin(&cache, "b");
    assert!(response.write(b"b"));
    std::fs::write(pack("pack-1.pack"), "once more").unwrap();
    cache.keep(response).unwrap();
    assert!(names(&cache)
        .iter()
        .all(|name| *name != cache.name(&super::tests::key("b"), WHOLE)));
}

#[test]
fn what_is_not_of_the_cache_is_left_alone() {
    let (_root, cache) = cache(1000, 100);
    let path_of = |name: &str| cache.directory.path().join(name);
    let foreign = ["notes.response", "x.partial", ".a.response.1-0", "notes"];
    for name in foreign {
        std::fs::write(path_of(name), "theirs").unwrap();
        age(&path_of(name), 10_000);
    }
    let named = "0".repeat(64);
    std::fs::create_dir(path_of(&format!("{named}.response"))).unwrap();
    std::fs::create_dir(path_of(&format!("{named}.partial"))).unwrap();
    let key = put(&cache, "a", b"a");
    assert!(content(&cache, &key).is_some());
    for name in foreign {
        assert!(path_of(name).exists(), "{name}");
    }
}
