//! Truncations and flipped bits in every kind of file, all over it: no panic, no wrong answer
//! that hashing would not tell, and no loss of what is whole elsewhere.

use crate::{open, options};
use hedgerow_pack::{Error, ObjectStore, Reader, StoreOptions};
use hedgerow_testkit::{overwrite, Known, Repository};
use std::path::{Path, PathBuf};

/// About how many truncations and how many flips are tried on a file.
const TRIES: usize = 150;
/// The interesting start and end of a file are tried byte by byte.
const DENSE: usize = 40;

/// What reading everything came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    right: usize,
    /// Read, but not what the id names, as verifying told.
    wrong: usize,
    refused: usize,
}

fn read_all(store: &ObjectStore, known: &[Known]) -> Outcome {
    let mut outcome = Outcome::default();
    let mut reader = Reader::new(store);
    for object in known {
        let Ok(Some(location)) = store.locate(&object.id) else {
            outcome.refused += 1;
            continue;
        };
        let _ = reader.header(&object.id, location);
        let _ = reader.stream(&object.id, location, &mut |_| Ok(()));
        let read = match reader.read(&object.id, location) {
            Err(_) => None,
            Ok((kind, content)) => Some(kind.name() == object.kind && content == object.content),
        };
        match (read, reader.verify(&object.id, location)) {
            (None, Err(_)) => outcome.refused += 1,
            (Some(true), Ok(_)) => outcome.right += 1,
            (Some(false), Err(Error::HashMismatch { .. })) => outcome.wrong += 1,
            other => panic!("{other:?}"),
        }
    }
    outcome
}

/// Damages `file` in many ways, one at a time, and calls `check` after each with its description.
fn sweep(file: &Path, mut check: impl FnMut(&str)) {
    let content = std::fs::read(file).unwrap();
    let stride = content.len().div_ceil(TRIES);
    let dense = (0..content.len()).filter(|at| *at < DENSE || at + DENSE >= content.len());
    let positions: Vec<usize> = dense.chain((0..content.len()).step_by(stride)).collect();
    for at in positions {
        overwrite(file, &content[..at]);
        check(&format!("truncated to {at}"));
        let mut flipped = content.clone();
        flipped[at] ^= 1 << (at % 8);
        overwrite(file, &flipped);
        check(&format!("flipped a bit at {at}"));
    }
    overwrite(file, &[content.as_slice(), b"more"].concat());
    check("extended");
    overwrite(file, &content);
}

/// A packed repository small enough to be damaged all over, and what it holds.
fn small() -> (Repository, Vec<Known>) {
    let repository = Repository::with_history("sha1", 6, &["repack", "-adfq", "--depth=50"]);
    let known = repository.known();
    (repository, known)
}

fn sweep_essential(extension: &str) {
    let (repository, known) = small();
    let mut refused = 0;
    sweep(&repository.only_pack_file(extension), |_| {
        refused += read_all(&open(&repository), &known).refused;
    });
    assert!(refused > 0);
    assert_eq!(read_all(&open(&repository), &known).right, known.len());
}

#[test]
fn damaged_packs() {
    sweep_essential("pack");
}

#[test]
fn damaged_indexes() {
    sweep_essential("idx");
}

#[test]
fn damaged_indexes_of_version_1() {
    let arguments = ["-c", "pack.indexVersion=1", "repack", "-adfq"];
    let repository = Repository::with_history("sha1", 3, &arguments);
    let known = repository.known();
    sweep(&repository.only_pack_file("idx"), |_| {
        read_all(&open(&repository), &known);
    });
}

#[test]
fn what_is_damaged_in_one_pack_is_read_from_another() {
    let (damaged, known) = small();
    let whole = Repository::bare("sha1");
    for pack in damaged.pack_files("pack") {
        whole.git_with(&["index-pack", "--stdin"], &std::fs::read(pack).unwrap());
    }
    for extension in ["pack", "idx"] {
        sweep(&damaged.only_pack_file(extension), |what| {
            let options = StoreOptions {
                alternates: vec![whole.objects()],
                ..StoreOptions::default()
            };
            let store = ObjectStore::open(&damaged.objects(), options).unwrap();
            assert_eq!(read_all(&store, &known).refused, 0, "{extension} {what}");
        });
    }
}

#[test]
fn damaged_multi_pack_indexes_are_never_noticed_in_the_answers() {
    let (repository, _) = small();
    repository.import("refs/heads/other", 100..104);
    repository.git(&["repack", "-dq"]);
    repository.git(&["multi-pack-index", "write"]);
    let known = repository.known();
    let file = repository.objects().join("pack/multi-pack-index");
    let mut warnings = 0;
    sweep(&file, |what| {
        let store = open(&repository);
        let outcome = read_all(&store, &known);
        assert_eq!(outcome.right, known.len(), "{what}");
        warnings += store.warnings().len();
    });
    assert!(warnings > TRIES, "{warnings}");
    // One that lists a pack that is gone is put aside.
    let stale = std::fs::read(&file).unwrap();
    repository.git(&["repack", "-adq"]);
    overwrite(&file, &stale);
    let store = open(&repository);
    assert_eq!(read_all(&store, &known).right, known.len());
    assert!(
        store.warnings()[0].contains("multi-pack-index"),
        "{:?}",
        store.warnings()
    );
}

#[test]
fn damaged_reverse_indexes_are_never_noticed_in_the_answers() {
    let repository = Repository::bare("sha1");
    // Large enough, and compressed well enough, that the lengths of entries are asked for.
    for byte in [b'a', b'b', b'c'] {
        repository.add_loose(&vec![byte; 3_000_000], 9);
    }
    let ids = repository.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ]);
    repository.git_with(
        &[
            "-c",
            "pack.writeReverseIndex=true",
            "pack-objects",
            "-q",
            "--window=0",
            "objects/pack/pack",
        ],
        &ids,
    );
    repository.git(&["prune-packed"]);
    let known = repository.known();
    let mut warnings = 0;
    sweep(&repository.only_pack_file("rev"), |what| {
        let store = open(&repository);
        for object in &known {
            assert!(
                store.read(&object.id).unwrap().1 == object.content,
                "{what}"
            );
        }
        warnings += store.warnings().len();
    });
    assert!(warnings > DENSE, "{warnings}");
}

#[test]
fn damaged_loose_objects() {
    let repository = Repository::bare("sha1");
    let id = repository.add_loose(&hedgerow_testkit::text(3, 40), 6);
    let known = repository.known();
    let hex = id.to_hex().to_string();
    let file: PathBuf = repository.objects().join(&hex[..2]).join(&hex[2..]);
    let mut right = 0;
    sweep(&file, |_| {
        right += read_all(&open(&repository), &known).right
    });
    // Only the unused bits between the last block and the checksum mean nothing.
    assert!(right <= 1, "{right} kinds of damage passed");
    assert_eq!(read_all(&open(&repository), &known).right, 1);
}

/// There may be no descriptor left: that says nothing about the object.
#[test]
fn what_cannot_be_opened_is_not_called_corrupt() {
    let repository = Repository::bare("sha1");
    let id = repository.add_loose(b"content", 6);
    let hex = id.to_hex().to_string();
    let file = repository.objects().join(&hex[..2]).join(&hex[2..]);
    let store = open(&repository);
    let location = store.locate(&id).unwrap().unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let told = Reader::new(&store)
        .read(&id, location)
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("cannot be read from") && !told.contains("corrupt"),
        "{told}"
    );
}

#[test]
fn a_damaged_loose_object_is_read_from_a_pack_and_the_other_way_round() {
    let (repository, known) = small();
    let object = known.iter().find(|object| object.kind == "blob").unwrap();
    let hex = object.id.to_hex().to_string();
    let directory = repository.objects().join(&hex[..2]);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(&hex[2..]), b"x\x9cgarbage").unwrap();
    assert_eq!(read_all(&open(&repository), &known).right, known.len());
    let options = options(&repository);
    let store = ObjectStore::open(&repository.objects(), options).unwrap();
    let loose = hedgerow_pack::Location::Loose { directory: 0 };
    let mut reader = Reader::new(&store);
    assert_eq!(reader.read(&object.id, loose).unwrap().1, object.content);
}

#[test]
fn a_copy_of_what_stands_on_the_damage_is_enough() {
    for words in [
        &["repack", "-adfq", "--depth=50"][..],
        &[
            "-c",
            "repack.useDeltaBaseOffset=false",
            "repack",
            "-adfq",
            "--depth=50",
        ],
    ] {
        let repository = Repository::with_history("sha1", 6, words);
        let known = repository.known();
        let index = repository.only_pack_file("idx");
        let told = repository.git(&["verify-pack", "-v", index.to_str().unwrap()]);
        let told = String::from_utf8(told).unwrap();
        let lines: Vec<Vec<&str>> = told
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        let row = |id: &str| lines.iter().find(|words| words[0] == id).unwrap();
        // A delta on a delta on a third object, which is damaged.
        let top = lines
            .iter()
            .find(|words| words.len() == 7 && words[5] == "2")
            .unwrap();
        let middle = row(top[6]);
        let bottom = row(middle[6]);
        let pack = index.with_extension("pack");
        let mut content = std::fs::read(&pack).unwrap();
        let (length, offset): (usize, usize) =
            (bottom[3].parse().unwrap(), bottom[4].parse().unwrap());
        content[offset + length - 1] ^= 1;
        overwrite(&pack, &content);
        let find = |id: &str| {
            let wanted = hedgerow_pack::ObjectId::from_hex(id.as_bytes()).unwrap();
            known.iter().find(|object| object.id == wanted).unwrap()
        };
        let read = |id: &str| {
            open(&repository)
                .read(&find(id).id)
                .map(|(_, content)| content)
        };
        for words in [top, middle, bottom] {
            assert!(read(words[0]).is_err());
        }
        let object = find(middle[0]);
        let other = Repository::bare("sha1");
        let id = other.git_with(
            &["hash-object", "-w", "-t", object.kind.as_str(), "--stdin"],
            &object.content,
        );
        let id = String::from_utf8(id).unwrap();
        let name = Path::new(&id[..2]).join(id[2..].trim());
        std::fs::create_dir_all(repository.objects().join(&id[..2])).unwrap();
        std::fs::copy(
            other.objects().join(&name),
            repository.objects().join(&name),
        )
        .unwrap();
        for words in [top, middle] {
            assert!(read(words[0]).unwrap() == find(words[0]).content);
        }
        assert!(read(bottom[0]).is_err());
    }
}

#[test]
fn an_object_that_only_a_broken_pack_may_have_names_the_pack() {
    let (repository, known) = small();
    let index = repository.only_pack_file("idx");
    let content = std::fs::read(&index).unwrap();
    overwrite(&index, &content[..100]);
    let store = open(&repository);
    let error = store.locate(&known[0].id).unwrap_err().to_string();
    let pack = index.with_extension("pack");
    assert_eq!(
        error,
        format!(
            "object {} is missing; pack '{}' cannot be read: \
             bad pack index: truncated or decreasing fanout",
            known[0].id,
            pack.display()
        )
    );
    overwrite(&index, &content);
    overwrite(&pack, b"");
    let error = open(&repository)
        .read(&known[0].id)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("cannot be read: not a pack"), "{error}");
    assert_eq!(open(&repository).warnings(), Vec::<String>::new());
}
