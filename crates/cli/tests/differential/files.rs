//! Indexes, packs, pack indexes and multi-pack-indexes.

use crate::mutate::mutate;
use crate::HEDGEROW;
use crate::{extent, outcome, Tally};
use hedgerow_testkit::Program;
use hedgerow_testkit::Random;
use hedgerow_testkit::Repository;
use std::path::{Path, PathBuf};

/// What `status` says of a damaged index.
#[test]
fn indexes() {
    let repository = scene();
    repository.write("d1/f1", "changed\n");
    repository.write("new", "new\n");
    drop_cache_tree(&repository);
    repository.git(&["add", "-N", "new"]);
    grow_old(&repository);
    for version in ["2", "3", "4"] {
        repository.git(&["update-index", "--index-version", version]);
        let words = ["status", "--porcelain=v2", "--untracked-files=all"];
        compare(
            &repository,
            ".git/index",
            &words,
            60,
            &format!("index, version {version}"),
        );
    }
}

/// What is in a damaged multi-pack-index.
#[test]
fn multi_pack_indexes() {
    let repository = scene();
    repository.git(&["multi-pack-index", "write"]);
    for words in [
        &["cat-file", "--batch-all-objects", "--batch-check"][..],
        &["rev-list", "--objects", "--all"],
    ] {
        compare(
            &repository,
            ".git/objects/pack/multi-pack-index",
            words,
            80,
            "multi-pack-index",
        );
    }
}

/// What is in a damaged index of a pack.
#[test]
fn pack_indexes() {
    let repository = scene();
    repository.git(&["repack", "-a", "-d", "-q"]);
    let index = only(&repository, "idx");
    for words in [
        &["cat-file", "--batch-all-objects", "--batch-check"][..],
        &["rev-list", "--objects", "--all"],
    ] {
        compare(&repository, &index, words, 80, "pack index");
    }
}

/// What `index-pack` makes of a damaged pack.
#[test]
fn packs() {
    let repository = scene();
    repository.git(&["repack", "-a", "-d", "-q"]);
    let sound = std::fs::read(repository.path(only(&repository, "pack"))).unwrap();
    let (count, seed) = extent(150);
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let home = hedgerow_testkit::temporary();
    let path = home.path().join("damaged");
    for number in 0..count {
        std::fs::write(&path, mutate(&sound, &mut random)).unwrap();
        let ends = [Program::Git, HEDGEROW].map(|program| {
            let twin = Repository::init(&[]);
            outcome(program, &twin.root, &["index-pack", "--stdin"], Some(&path))
        });
        tally.add(&format!("pack {number}"), &ends[0], &ends[1], b"");
    }
    tally.end("pack");
}

/// Damages a file of the repository again and again, and asks both.
fn compare(repository: &Repository, file: &str, words: &[&str], sample: usize, kind: &str) {
    let path: PathBuf = repository.path(file);
    let sound = std::fs::read(&path).unwrap();
    let (count, seed) = extent(sample);
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let right = match path.extension() {
        // A damaged index is another index; beside a pack there is only one truth.
        None if !file.ends_with("multi-pack-index") => Vec::new(),
        _ => outcome(Program::Git, &repository.root, words, None).stdout,
    };
    for number in 0..count {
        let bytes = mutate(&sound, &mut random);
        put(&path, &bytes);
        let ends =
            [Program::Git, HEDGEROW].map(|program| outcome(program, &repository.root, words, None));
        let what = format!("{kind} {number} (seed {seed}), {}", shown(&sound, &bytes));
        tally.add(&what, &ends[0], &ends[1], &right);
    }
    put(&path, &sound);
    tally.end(kind);
}

/// Where two files of one length differ.
fn shown(sound: &[u8], bytes: &[u8]) -> String {
    if sound.len() != bytes.len() {
        return format!("{} bytes instead of {}", bytes.len(), sound.len());
    }
    let pairs = sound.iter().zip(bytes).enumerate().take(sound.len() - 20);
    let changes = pairs.filter(|(_, (old, new))| old != new);
    let changes = changes.map(|(place, (old, new))| format!("{place}: {old:#x} to {new:#x}"));
    changes.take(4).collect::<Vec<_>>().join(", ")
}

/// Replaces a file that may be read-only.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// The only file of its kind beside the packs.
fn only(repository: &Repository, extension: &str) -> String {
    let directory = repository.path(".git/objects/pack");
    let names = std::fs::read_dir(directory).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.ends_with(extension)).unwrap();
    format!(".git/objects/pack/{name}")
}

/// Trees that an index claims to have the ids of are believed by git in some places and by us in
/// others; with the entries changed under them, both are right.
fn drop_cache_tree(repository: &Repository) {
    let entries = repository.git(&["ls-files", "-s"]);
    repository.git(&["read-tree", "--empty"]);
    let words = ["update-index", "--index-info"];
    hedgerow_testkit::git(&repository.root, &words, &entries);
}

/// Files of this second are read by git, whatever the index says, and by hedgerow only if they are of
/// the same tick.
fn grow_old(repository: &Repository) {
    let mut command = std::process::Command::new("find");
    command.args([
        ".", "-path", "./.git", "-prune", "-o", "-type", "f", "-exec", "touch", "-d",
    ]);
    command
        .args(["@1600000000", "{}", "+"])
        .current_dir(&repository.root);
    assert!(command.status().unwrap().success(), "touch");
    let mut refresh = Program::Git.command(&repository.root);
    refresh.args(["update-index", "-q", "--refresh"]);
    hedgerow_testkit::run(refresh);
}

fn scene() -> Repository {
    let repository = Repository::init(&[]);
    for round in 0..3 {
        for number in 0..20 {
            let content = format!("{number}\n").repeat(30 + round * 7);
            repository.write(format!("d{}/f{number}", number % 4), content);
        }
        repository.git(&["add", "."]);
        repository.git(&["commit", "-q", "-m", &format!("round {round}")]);
        repository.git(&["tag", "-a", "-m", "a tag", &format!("v{round}")]);
        repository.git(&["repack", "-d", "-q"]);
    }
    repository
}
