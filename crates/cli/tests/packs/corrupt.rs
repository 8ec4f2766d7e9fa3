//! `pack-objects` where a pack of the repository was damaged in a way that only its index, or the
//! id of an object, tells: the damage does not spread into a new pack.

use crate::HEDGEROW;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run, Outcome};
use std::fs::{self, File};
use std::path::Path;

const PACKS: &str = ".git/objects/pack";

/// A repository with a pack of two large blobs and two deltas on the first, one of which says to be
/// a delta on the second now. Returns its objects; the last one is damaged.
fn scene(index_version: &str) -> (Repository, Vec<String>) {
    let repository = Repository::init(&[]);
    let put = |content: &str| {
        let id = git(
            &repository.root,
            &["hash-object", "-w", "--stdin"],
            content.as_bytes(),
        );
        String::from_utf8(id).unwrap().trim().to_owned()
    };
    let text = |word: &str| -> String {
        let lines = (0..900).map(|n: u32| format!("{word} {}\n", n.wrapping_mul(2_654_435_761)));
        lines.collect()
    };
    let mut ids = vec![put(&text("one")), put(&text("two"))];
    ids.push(put(&text("one")[50..]));
    ids.push(put(&text("one")[90..]));
    let list = ids.join("\n") + "\n";
    let directory = repository.root.join(PACKS);
    let version = format!("--index-version={index_version}");
    let base = format!("{PACKS}/pack");
    let words = [
        "pack-objects",
        "-q",
        "--no-reuse-delta",
        "--window=10",
        &version,
        &base,
    ];
    let name = git(&repository.root, &words, list.as_bytes());
    let name = String::from_utf8(name).unwrap();
    git(&repository.root, &["prune-packed"], b"");
    let pack = directory.join(format!("pack-{}.pack", name.trim()));
    let told = git(
        &repository.root,
        &["verify-pack", "-v", pack.to_str().unwrap()],
        b"",
    );
    let told = String::from_utf8(told).unwrap();
    let lines: Vec<Vec<&str>> = told
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let delta = lines.iter().find(|words| words.len() == 7).unwrap();
    let (id, offset, base) = (delta[0], delta[4].parse::<usize>().unwrap(), delta[6]);
    let is_other = |words: &&Vec<&str>| words.len() == 5 && words[1] == "blob" && words[0] != base;
    let other = lines.iter().find(is_other).unwrap()[0];
    let mut bytes = fs::read(&pack).unwrap();
    let raw = |hex: &str| -> Vec<u8> {
        let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digits).collect()
    };
    let at = bytes[offset..]
        .windows(20)
        .position(|window| window == raw(base))
        .unwrap();
    bytes[offset + at..offset + at + 20].copy_from_slice(&raw(other));
    fs::remove_file(&pack).unwrap();
    fs::write(&pack, bytes).unwrap();
    let id = id.to_owned();
    ids.retain(|other| *other != id);
    ids.push(id);
    (repository, ids)
}

fn pack(root: &Path, words: &[&str], ids: &[String]) -> Outcome {
    let list = root.join("list");
    fs::write(&list, ids.join("\n") + "\n").unwrap();
    let mut command = HEDGEROW.command(root);
    command.args(["pack-objects", "-q"]).args(words).arg("new");
    command.stdin(File::open(list).unwrap());
    run(command)
}

#[test]
fn a_copy_that_is_not_what_its_index_knows() {
    let (repository, ids) = scene("2");
    let root = &repository.root;
    let before = fs::read_dir(root).unwrap().count();
    for words in [
        &[][..],
        &["--delta-base-offset"],
        &["--no-reuse-delta"],
        &["--no-reuse-object"],
        &["--window=0"],
    ] {
        let outcome = pack(root, words, &ids);
        assert_eq!(outcome.code, 128, "{words:?} {outcome:?}");
        let damaged = ids.last().unwrap();
        assert!(
            outcome.stderr.contains(damaged.as_str()),
            "{words:?} {outcome:?}"
        );
        let after = fs::read_dir(root).unwrap().count();
        assert_eq!(after, before + 1, "only the list: {words:?}");
        let outcome = pack(root, words, &ids[..ids.len() - 1]);
        assert_eq!(
            outcome.code, 0,
            "the others are whole: {words:?} {outcome:?}"
        );
        for file in fs::read_dir(root).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some() && path.is_file() {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn an_index_without_checksums_does_not_hide_what_is_read() {
    // Version 1 knows no CRC-32: what is copied is not looked at, as with git; what is read is.
    let (repository, ids) = scene("1");
    let outcome = pack(&repository.root, &["--no-reuse-delta"], &ids);
    assert_eq!(outcome.code, 128, "{outcome:?}");
    let damaged = ids.last().unwrap();
    assert!(outcome.stderr.contains(damaged.as_str()), "{outcome:?}");
}

#[test]
fn another_copy_is_taken() {
    let (repository, ids) = scene("2");
    let root = &repository.root;
    let whole: Vec<u8> = (0..900)
        .map(|n: u32| format!("one {}\n", n.wrapping_mul(2_654_435_761)))
        .collect::<String>()
        .into_bytes();
    // Git writes no file for what it has in a pack.
    let other = Repository::init(&[]);
    for start in [0, 50, 90] {
        let id = git(
            &other.root,
            &["hash-object", "-w", "--stdin"],
            &whole[start..],
        );
        let id = String::from_utf8(id).unwrap();
        let directory = root.join(".git/objects").join(&id[..2]);
        fs::create_dir_all(&directory).unwrap();
        let from = other.root.join(".git/objects").join(&id[..2]);
        fs::copy(from.join(id[2..].trim()), directory.join(id[2..].trim())).unwrap();
    }
    for words in [&[][..], &["--no-reuse-delta"], &["--no-reuse-object"]] {
        let outcome = pack(root, words, &ids);
        assert_eq!(outcome.code, 0, "{words:?} {outcome:?}");
        let name = String::from_utf8(outcome.stdout).unwrap();
        let made = root.join(format!("new-{}.pack", name.trim()));
        // Not in the repository: there, git would compare it with the damaged copy.
        let outside = root.parent().unwrap();
        git(outside, &["verify-pack", made.to_str().unwrap()], b"");
    }
}
