//! What one operation of a program costs.

use crate::{mount, mounted};
use hedgerow_latencyfs::{Mount, Op};
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;

/// Whatever `act` is charged, as `lookup 1, readlink 1`, by a client that knows the root.
fn charged(mount: &Mount, act: impl FnOnce(&Path)) -> String {
    charged_below(mount, "", act)
}

/// The same for a client that knows the attributes of `directory`. After a change FUSE asks for
/// them once more, which is no part of what the next act costs.
fn charged_below(mount: &Mount, directory: &str, act: impl FnOnce(&Path)) -> String {
    fs::metadata(mount.path().join(directory)).unwrap();
    mount.reset();
    act(mount.path());
    let counters = mount.counters();
    let counted = Op::ALL.iter().filter(|(op, _)| counters.count(*op) > 0);
    let words: Vec<String> = counted
        .map(|(op, name)| format!("{name} {}", counters.count(*op)))
        .collect();
    words.join(", ")
}

#[test]
fn an_operation_costs_what_it_costs_on_nfs() {
    let Some((backing, mut mount)) = mounted(0) else {
        return;
    };
    fs::create_dir(backing.path().join("d")).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(backing.path().join("d").join(name), name).unwrap();
    }
    symlink("a", backing.path().join("d/link")).unwrap();
    type Act = fn(&Path);
    let cases: [(&str, &str, Act); 13] = [
        ("stat", "lookup 1", |m| {
            fs::metadata(m.join("d/a")).unwrap();
        }),
        ("stat again, from the cache", "", |m| {
            fs::metadata(m.join("d/a")).unwrap();
        }),
        ("stat of a neighbour", "lookup 1", |m| {
            fs::metadata(m.join("d/b")).unwrap();
        }),
        ("an absent name", "lookup 1", |m| {
            fs::metadata(m.join("d/absent")).unwrap_err();
        }),
        ("the same absent name", "", |m| {
            fs::metadata(m.join("d/absent")).unwrap_err();
        }),
        ("open and read", "open 1, read 1", |m| {
            assert_eq!(fs::read(m.join("d/a")).unwrap(), b"a");
        }),
        ("a link's target", "lookup 1, readlink 1", |m| {
            fs::read_link(m.join("d/link")).unwrap();
        }),
        ("chmod", "setattr 1", |m| {
            let mode = fs::Permissions::from_mode(0o640);
            fs::set_permissions(m.join("d/b"), mode).unwrap();
        }),
        (
            "create, write and close",
            "create 1, write 1, flush 1, commit 1",
            |m| {
                let mut options = fs::OpenOptions::new();
                let mut file = options
                    .write(true)
                    .create_new(true)
                    .open(m.join("d/new"))
                    .unwrap();
                std::io::Write::write_all(&mut file, b"new").unwrap();
            },
        ),
        ("mkdir", "mkdir 1", |m| {
            fs::create_dir(m.join("d/sub")).unwrap()
        }),
        ("symlink", "symlink 1", |m| {
            symlink("x", m.join("d/l2")).unwrap()
        }),
        // FUSE looks the target of a rename up anew, whatever it knows.
        ("rename", "lookup 2, rename 1", |m| {
            fs::rename(m.join("d/c"), m.join("d/new")).unwrap();
        }),
        ("remove", "remove 1", |m| {
            fs::remove_file(m.join("d/l2")).unwrap();
        }),
    ];
    mount.remount();
    for (what, cost, act) in cases {
        assert_eq!(charged_below(&mount, "d", act), cost, "{what}");
    }
}

#[test]
fn a_listing_costs_a_round_trip_for_each_batch() {
    let backing = tempfile::tempdir().unwrap();
    // With "." and "..", 2,500 entries: three batches of a thousand.
    for at in 0..2498 {
        fs::write(backing.path().join(at.to_string()), "").unwrap();
    }
    let Some(mount) = mount(backing.path(), 0, 64) else {
        return;
    };
    let cost = charged(&mount, |m| {
        assert_eq!(fs::read_dir(m).unwrap().count(), 2498);
    });
    assert_eq!(cost, "opendir 1, readdir 3");
}

#[test]
fn what_was_written_is_flushed_once() {
    let Some((_backing, mount)) = mounted(0) else {
        return;
    };
    let cost = charged(&mount, |m| {
        let mut file = fs::File::create(m.join("f")).unwrap();
        for _ in 0..10 {
            std::io::Write::write_all(&mut file, b"0123456789").unwrap();
        }
        assert_eq!(file.metadata().unwrap().len(), 100); // this flushes
    });
    // Not exclusive: the program's own question whether the name exists is its own affair.
    assert_eq!(cost, "lookup 1, create 1, write 10, flush 1, commit 1");
}

#[test]
fn the_delay_is_the_sum_of_what_was_charged() {
    let Some((backing, mount)) = mounted(0) else {
        return;
    };
    fs::write(backing.path().join("f"), "").unwrap();
    fs::metadata(mount.path()).unwrap();
    mount.set_rtt_us(20_000);
    let started = std::time::Instant::now();
    fs::metadata(mount.path().join("f")).unwrap();
    let took = started.elapsed();
    assert!(took.as_millis() >= 20, "{took:?}");
    let charged = mount.counters();
    assert_eq!(charged.count(Op::Lookup), 1);
    assert_eq!(charged.charged_us, 20_000);
}
