//! Requests overlap, as many as there are slots.

use crate::mount;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Stats `count` files of a directory from `callers` threads; the time it took.
fn stat_all(directory: &Path, count: usize, callers: usize) -> Duration {
    fs::metadata(directory).unwrap();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for first in 0..callers {
            scope.spawn(move || {
                for at in (first..count).step_by(callers) {
                    fs::metadata(directory.join(at.to_string())).unwrap();
                }
            });
        }
    });
    started.elapsed()
}

fn directory_of(count: usize) -> tempfile::TempDir {
    let backing = tempfile::tempdir().unwrap();
    for at in 0..count {
        fs::write(backing.path().join(at.to_string()), "").unwrap();
    }
    backing
}

#[test]
fn callers_do_not_wait_for_each_other() {
    let backing = directory_of(160);
    let Some(mount) = mount(backing.path(), 25_000, 32) else {
        return;
    };
    // Five turns of 32 at 25 ms. How much longer it takes is this machine's affair; that they
    // overlap is counted.
    let took = stat_all(mount.path(), 160, 32);
    assert!(took >= Duration::from_millis(125), "{took:?}");
    let most = mount.counters().max_in_flight;
    assert!((16..=32).contains(&most), "{most}");
}

#[test]
fn no_more_requests_are_in_flight_than_there_are_slots() {
    let backing = directory_of(64);
    let Some(mount) = mount(backing.path(), 5_000, 4) else {
        return;
    };
    // 64 requests through 4 slots: 16 turns of 5 ms, however many callers there are.
    let took = stat_all(mount.path(), 64, 32);
    assert!(took >= Duration::from_millis(80), "{took:?}");
    assert_eq!(mount.counters().max_in_flight, 4);
}
