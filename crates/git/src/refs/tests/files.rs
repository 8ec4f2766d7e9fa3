//! The store of files.

use super::{change, check, edit, id, listed};
use crate::refs::{self, Expected, RefStorage, RefStore, RefValue};
use crate::repository::Scratch;
use hedgerow_fs::OutputFile;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

fn open(git_dir: &Path) -> Arc<dyn RefStore> {
    refs::open(RefStorage::Files, git_dir, git_dir, gix_hash::Kind::Sha1)
}

#[test]
fn files_do_what_every_store_must() {
    let scratch = Scratch::new();
    check(&*open(&scratch.path("home")));
}

#[test]
fn files_and_what_is_packed_are_one_list_in_order() {
    let scratch = Scratch::new();
    let directory = scratch.path("home");
    let at = |name: &str| directory.join(name);
    let packed = |head: &str, names: &[(&str, char)]| {
        let mut content = head.to_owned();
        for (name, digit) in names {
            writeln!(content, "{} {name}", id(*digit)).unwrap();
        }
        std::fs::write(at("packed-refs"), content).unwrap();
    };
    std::fs::create_dir_all(at("refs/heads")).unwrap();
    std::fs::write(at("refs/heads/b"), format!("{}\n", id('9'))).unwrap();
    std::fs::write(at("refs/heads/d"), "no id\n").unwrap();
    std::fs::write(at("refs/heads/e"), "ref: refs/heads/b\n").unwrap();
    let sorted = "# pack-refs with: peeled fully-peeled sorted \n";
    let store = open(&directory);
    let names = [
        ("refs/heads/a", '1'),
        ("refs/heads/b", '2'),
        ("refs/heads/c", '3'),
    ];
    let direct = |digit| Some(RefValue::Direct(id(digit)));
    let expected = [
        ("refs/heads/a", direct('1')),
        ("refs/heads/b", direct('9')),
        ("refs/heads/c", direct('3')),
        ("refs/heads/d", None),
        (
            "refs/heads/e",
            Some(RefValue::Symbolic("refs/heads/b".into())),
        ),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    packed(sorted, &names);
    assert_eq!(listed(&*store, "refs/"), expected);
    assert_eq!(store.read("refs/heads/c".into()).unwrap(), direct('3'));
    assert!(store.contains("refs/heads/c".into()).unwrap());
    // Without the word, the file need not be sorted.
    packed("", &[names[2], names[0], names[1]]);
    assert_eq!(listed(&*store, "refs/"), expected);
    // Deleting leaves the others as they were, and waits for whoever writes the file.
    let delete = [edit("refs/heads/c", None, Expected::Anything)];
    std::fs::write(at("packed-refs.lock"), "").unwrap();
    change(&*store, &delete).unwrap_err();
    assert_eq!(listed(&*store, "refs/"), expected);
    std::fs::remove_file(at("packed-refs.lock")).unwrap();
    let before = std::fs::read_to_string(at("packed-refs")).unwrap();
    change(&*store, &delete).unwrap();
    let left: String = before
        .split_inclusive('\n')
        .filter(|line| !line.contains("refs/heads/c"))
        .collect();
    assert_eq!(std::fs::read_to_string(at("packed-refs")).unwrap(), left);
    assert_eq!(store.read("refs/heads/c".into()).unwrap(), None);
    assert!(!at("refs/heads/c.lock").exists() && !at("packed-refs.lock").exists());
}

#[test]
fn a_list_that_says_it_is_sorted_and_lies_is_listed_in_order_once() {
    let scratch = Scratch::new();
    let directory = scratch.path("home");
    let content = format!(
        "# pack-refs with: peeled fully-peeled sorted \n{} refs/heads/b\n{} refs/heads/a\n{} refs/heads/b\n",
        id('1'),
        id('2'),
        id('3')
    );
    std::fs::write(directory.join("packed-refs"), content).unwrap();
    let found = listed(&*open(&directory), "refs/");
    assert!(found.is_sorted_by(|(a, _), (b, _)| a < b), "{found:?}");
}

/// The size of `packed-refs` is asked for before anything is read, and no line without an end is told.
#[test]
fn packed_references_that_are_too_large_are_refused_before_they_are_read() {
    let scratch = Scratch::new();
    let directory = scratch.path("home");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("packed-refs");
    let refused = |what: &str| {
        let name = "refs/heads/a".into();
        let error = open(&directory).read(name).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
        assert!(error.len() < 1000, "{error}");
    };
    // All but the last byte is a hole.
    let with_end_at = |offset| {
        let file = OutputFile::create(&path).unwrap();
        file.write_at(b"\n", offset).unwrap();
        file.commit(true).unwrap();
    };
    with_end_at(4 << 30);
    refused("is larger than 4 GiB");
    with_end_at(1 << 20);
    refused("has a line of more than 64 KiB");
    let long = "a".repeat(100_000);
    std::fs::write(
        &path,
        format!(
            "# pack-refs with: peeled fully-peeled sorted \n{} refs/{long}\n",
            id('1')
        ),
    )
    .unwrap();
    refused("has a line of more than 64 KiB");
    std::fs::write(
        &path,
        format!("{} refs/heads/{}\n", id('1'), "a ".repeat(10_000)),
    )
    .unwrap();
    refused("cannot read packed-refs");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    refused("is not a regular file");
}

/// The beginning of a log that is larger than what is read of one is not read for what is near its end.
#[test]
fn a_log_is_read_from_its_end() {
    let scratch = Scratch::new();
    let directory = scratch.path("home");
    let path = directory.join("logs/HEAD");
    std::fs::create_dir_all(directory.join("logs")).unwrap();
    let mut lines = String::new();
    for number in 1..=300 {
        let message = "m".repeat(number * 7 % 5000);
        lines += &format!(
            "{} {} a <a@b> {number} +0000\t{message}\n",
            id('1'),
            id('2')
        );
    }
    let store = open(&directory);
    let times = |wanted: usize| {
        let mut times = Vec::new();
        let read = store.read_log_until("HEAD".into(), &mut |entry| {
            times.push(entry.time.seconds);
            if times.len() < wanted {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        read.map(|()| times)
    };
    let all: Vec<i64> = (1..=300).rev().collect();
    for (lines, entries) in [
        (lines.clone(), &all[..]),
        // The last one is being written.
        (lines.trim_end().to_owned(), &all[1..]),
        (format!("\n\n{lines}\n"), &all[..]),
    ] {
        std::fs::write(&path, &lines).unwrap();
        assert_eq!(times(1000).unwrap(), entries);
    }
    let file = OutputFile::create(&path).unwrap();
    file.write_at(lines.as_bytes(), 2 << 30).unwrap();
    file.commit(true).unwrap();
    assert_eq!(times(299).unwrap(), &all[..299]);
    times(1000).unwrap_err();
}
