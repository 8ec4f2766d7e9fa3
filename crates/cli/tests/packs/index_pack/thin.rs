//! Thin packs, completed: the pack, its index and its reverse index are git's byte for byte.

use super::craft::{id, insertion, Craft, BLOB};
use super::twins::{Twins, BOTH};
use super::{grow, pack, FORMATS};
use crate::HEDGEROW;
use hedgerow_testkit::{git, Program};
use std::path::PathBuf;

const COMPLETE: [&str; 3] = ["index-pack", "--stdin", "--fix-thin"];

/// Both complete the pack `thin` in `receiver`, with the same bytes; no object is in it twice.
fn complete(receiver: &Twins, thin: &[u8]) {
    let agreed = receiver.agree(&COMPLETE, thin);
    assert_eq!(agreed.code, 0, "{agreed:?}");
    verify(receiver);
}

/// git finds nothing wrong with any pack of ours; for `verify-pack` no object may be there twice.
fn verify(receiver: &Twins) {
    let root = receiver.root(HEDGEROW);
    for path in packs(receiver) {
        let path = path.to_str().unwrap();
        git(&root, &["verify-pack", path], b"");
    }
}

fn packs(receiver: &Twins) -> Vec<PathBuf> {
    let directory = receiver.root(HEDGEROW).join(".git/objects/pack");
    let paths = std::fs::read_dir(directory).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "pack"))
        .collect()
}

#[test]
fn histories_with_earlier_pushes_that_nothing_refers_to() {
    for (format, _) in FORMATS {
        let twins = Twins::new(format);
        grow(&twins, 60, 1);
        twins.in_both(&["tag", "old", "main~40"], b"");
        grow(&twins, 20, 2);
        let had = [
            pack(&twins, &[], "old\n"),
            pack(&twins, &[], "main~25\n^old\n"),
            pack(&twins, &["--no-reuse-delta"], "main~10\n^main~12\n"),
        ];
        for offsets in [&["--thin"][..], &["--thin", "--delta-base-offset"]] {
            for range in ["main\n^old\n", "main~5\n^main~30\n", "main~24\n^old\n"] {
                let thin = pack(&twins, offsets, range);
                let again = [offsets, &["--no-reuse-delta"]].concat();
                for thin in [thin, pack(&twins, &again, range)] {
                    for count in 1..=had.len() {
                        let receiver = Twins::new(format);
                        for pack in &had[..count] {
                            receiver.agree(&["index-pack", "--stdin"], pack);
                        }
                        let level = ["-1", "0", "1", "9"][count];
                        receiver.in_both(&["config", "core.compression", level], b"");
                        let agreed = receiver.agree(&COMPLETE, &thin);
                        assert!(agreed.code == 0 || range.contains("main~30"), "{agreed:?}");
                        verify(&receiver);
                    }
                }
            }
        }
    }
}

#[test]
fn thousands_of_bases() {
    for (format, hash) in FORMATS {
        let mut had = Craft::new(hash);
        let mut thin = Craft::new(hash);
        for number in (0..5_000_u32).map(|number| number * 7 % 5_000) {
            had.add(BLOB, format!("base {number}\n").repeat(5).as_bytes());
        }
        for number in 0..5_000_u32 {
            let base = format!("base {number}\n").repeat(5);
            let delta = insertion(base.len() as u64, format!("on {number}\n").as_bytes());
            thin.add_reference_delta(&id(hash, BLOB, base.as_bytes()), &delta);
        }
        let receiver = Twins::new(format);
        receiver.agree(&["index-pack", "--stdin"], &had.seal());
        complete(&receiver, &thin.seal());
    }
}

/// A chain of blobs, each a delta on the one before it; the receiver has some of them.
#[test]
fn chains_of_bases() {
    const LENGTH: usize = 40;
    for (format, hash) in FORMATS {
        let content = |number: usize| format!("link {number}\n").into_bytes();
        let add = |craft: &mut Craft, number: usize| {
            let base = content(number - 1);
            let delta = insertion(base.len() as u64, &content(number));
            craft.add_reference_delta(&id(hash, BLOB, &base), &delta);
        };
        for step in [1, 2, 7] {
            let mut had = Craft::new(hash);
            for number in (0..LENGTH).step_by(step) {
                had.add(BLOB, &content(number));
            }
            let had = had.seal();
            let forward: Vec<usize> = (1..LENGTH).collect();
            let gaps: Vec<usize> = (1..LENGTH).filter(|at| at % 14 != 1).collect();
            for numbers in [&forward, &gaps] {
                let mut thin = Craft::new(hash);
                numbers.iter().for_each(|number| add(&mut thin, *number));
                let receiver = Twins::new(format);
                receiver.agree(&["index-pack", "--stdin"], &had);
                receiver.agree(&COMPLETE, &thin.seal());
                verify(&receiver);
            }
            // Last links first: git refuses that, or adds what the pack turns out to have.
            let mut thin = Craft::new(hash);
            forward
                .iter()
                .rev()
                .for_each(|number| add(&mut thin, *number));
            let receiver = Twins::new(format);
            receiver.agree(&["index-pack", "--stdin"], &had);
            let [_, found] = receiver.run(&COMPLETE, &thin.seal());
            assert_eq!(found.code, 0, "{found:?}");
            verify(&receiver);
        }
    }
}

#[test]
fn deltas_in_a_circle_need_one_of_them() {
    for (format, hash) in FORMATS {
        let (one, two) = (b"one\n", b"the other\n");
        let mut had = Craft::new(hash);
        had.add(BLOB, one);
        had.add(BLOB, two);
        let mut thin = Craft::new(hash);
        thin.add_reference_delta(&id(hash, BLOB, two), &insertion(10, one));
        thin.add_reference_delta(&id(hash, BLOB, one), &insertion(4, two));
        let receiver = Twins::new(format);
        receiver.agree(&["index-pack", "--stdin"], &had.seal());
        // The git of some years refuses it; newer ones add the base of the first delta.
        let [expected, found] = receiver.run(&COMPLETE, &thin.seal());
        assert_eq!(found.code, 0, "{found:?}");
        if expected.code == 0 {
            assert!(receiver.files(Program::Git) == receiver.files(HEDGEROW));
        }
        let root = receiver.root(HEDGEROW);
        git(&root, &["fsck", "--no-progress"], b"");
    }
}

#[test]
fn a_base_that_is_damaged() {
    for (format, hash) in FORMATS {
        let receiver = Twins::new(format);
        let base = b"some content that is a base\n";
        receiver.in_both(&["hash-object", "-w", "--stdin"], base);
        let hex = id(hash, BLOB, base).to_string();
        let other = b"other content that is a base\n";
        receiver.in_both(&["hash-object", "-w", "--stdin"], other);
        let other = id(hash, BLOB, other).to_string();
        for program in BOTH {
            let path = |hex: &str| {
                let (directory, name) = hex.split_at(2);
                let objects = receiver.root(program).join(".git/objects");
                objects.join(directory).join(name)
            };
            std::fs::remove_file(path(&hex)).unwrap();
            std::fs::copy(path(&other), path(&hex)).unwrap();
        }
        let mut thin = Craft::new(hash);
        let delta = insertion(base.len() as u64, b"what it makes\n");
        thin.add_reference_delta(&id(hash, BLOB, base), &delta);
        let [expected, found] = receiver.run(&COMPLETE, &thin.seal());
        assert_eq!((expected.code, found.code), (128, 128), "{found:?}");
        assert!(found.stderr.contains("is corrupt"), "{found:?}");
        assert!(packs(&receiver).is_empty());
    }
}

/// A pack from a shallow repository is whole without the parents of its boundary, where `--shallow-file`,
/// or the repository itself, says which commits those are.
#[test]
fn the_boundary_of_a_shallow_clone_needs_no_parents() {
    let source = Twins::new("sha1");
    grow(&source, 20, 1);
    let boundary = source.in_both(&["rev-parse", "main~5"], b"");
    let shallow = source.root(Program::Git).join(".git/shallow");
    std::fs::write(&shallow, &boundary).unwrap();
    let whole = git(
        &source.root(Program::Git),
        &["pack-objects", "--revs", "--stdout", "-q"],
        b"main\n",
    );
    let check = [
        "index-pack",
        "--stdin",
        "--check-self-contained-and-connected",
    ];
    let receiver = Twins::new("sha1");
    receiver
        .agree(&check, &whole)
        .refused("did not receive expected object");
    let file = shallow.to_str().unwrap();
    let named = [&["--shallow-file", file], &check[..]].concat();
    assert_eq!(receiver.agree(&named, &whole).code, 0);
    let receiver = Twins::new("sha1");
    receiver.write(".git/shallow", &boundary);
    let none = [&["--shallow-file", ""], &check[..]].concat();
    let refused = receiver.agree(&none, &whole);
    refused.refused("did not receive expected object");
    assert_eq!(receiver.agree(&check, &whole).code, 0);
}

/// Directories of loose objects that no object of the pack could be in are not looked into: what is wrong with
/// them does not matter.
#[test]
fn directories_of_other_loose_objects_are_not_read() {
    let twins = Twins::new("sha1");
    grow(&twins, 3, 1);
    let received = pack(&twins, &[], "main\n");
    let ids = twins.in_both(&["rev-list", "--objects", "--all"], b"");
    let ids = String::from_utf8(ids).unwrap();
    let receiver = Twins::new("sha1");
    for byte in 0..=u8::MAX {
        let name = format!("{byte:02x}");
        if !ids.lines().any(|id| id.starts_with(&name)) {
            for program in BOTH {
                let path = receiver.root(program).join(".git/objects").join(&name);
                std::os::unix::fs::symlink(&name, path).unwrap();
            }
        }
    }
    let [git, ours] = receiver.run(&["index-pack", "--stdin"], &received);
    assert_eq!(
        (git.code, ours.code),
        (0, 0),
        "{}{}",
        git.stderr,
        ours.stderr
    );
    assert_eq!(git.text(), ours.text());
}
