//! Hostile bytes: the result is an error or a valid index, never a panic.

use super::repo::{bytes_of, listing_of};
use super::*;
use crate::Error;
use hedgerow_object::ewah::encode_positions;
use proptest::prelude::*;
use std::path::Path;

fn read(bytes: &[u8]) -> crate::Result<Index> {
    Index::read(bytes, Kind::Sha1, Path::new("index"), &mut |_| {
        Ok(Vec::new())
    })
}

/// The reason why `bytes` are refused.
fn reason(bytes: &[u8]) -> String {
    match read(bytes).unwrap_err() {
        Error::CorruptIndex { path, reason } => {
            assert_eq!(path, Path::new("index"));
            reason
        }
        other => panic!("{other}"),
    }
}

/// `body` with a correct trailer.
fn sealed(body: &[u8]) -> Vec<u8> {
    let checksum = checksum::of(Kind::Sha1, body);
    [body, checksum.as_slice()].concat()
}

/// An index with every kind of entry and extension.
fn sample(version: Version) -> Vec<u8> {
    let mut builder = Builder::new(Kind::Sha1, version);
    let id = Kind::Sha1.empty_blob();
    let stat = EntryStat::default();
    let conflict = |number| Flags {
        stage: Stage::from_number(number).unwrap(),
        ..Flags::default()
    };
    let mut push = |path: &str, mode, flags| builder.push(path.into(), id, mode, stat, flags);
    push("a", Mode::File, conflict(1)).unwrap();
    push("a", Mode::File, conflict(3)).unwrap();
    push("dir/link", Mode::Symlink, Flags::default()).unwrap();
    push("dir/module", Mode::Gitlink, Flags::default()).unwrap();
    let skipped = Flags {
        skip_worktree: true,
        ..Flags::default()
    };
    push("sparse/", Mode::SparseDirectory, skipped).unwrap();
    let mut index = builder.finish();
    let tree = CacheTree::from_known(&index, |_| Some(Kind::Sha1.empty_tree()));
    index.set_cache_tree(Some(tree));
    index.extensions.fsmonitor_token = Some(b"token".to_vec());
    index.extensions.resolve_undo = Some(b"conflicts".to_vec());
    bytes_of(&index, &WriteOptions::default())
}

#[test]
fn every_truncation_is_refused() {
    for version in [Version::V2, Version::V4] {
        let whole = sample(version);
        assert!(read(&whole).is_ok());
        for len in 0..whole.len() {
            assert!(read(&whole[..len]).is_err(), "{len}");
        }
        // With a valid trailer, a truncated file can only be accepted if it lacks extensions.
        let body = whole.len() - 20;
        for len in 0..body {
            if let Ok(index) = read(&sealed(&whole[..len])) {
                assert_eq!(index.entries().len(), 5);
                assert!(index.extensions.resolve_undo.is_none() || len > body - 50);
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_noticed_by_the_checksum() {
    let whole = sample(Version::V2);
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        assert!(read(&flipped).is_err(), "{at}");
    }
}

#[test]
fn flipped_bits_under_a_correct_checksum_are_harmless() {
    for version in [Version::V2, Version::V4] {
        let whole = sample(version);
        let body = &whole[..whole.len() - 20];
        for at in 0..body.len() {
            for bit in 0..8 {
                let mut flipped = body.to_vec();
                flipped[at] ^= 1 << bit;
                survives(&sealed(&flipped));
            }
        }
    }
}

/// Reads `bytes`; if they are accepted, every operation must work on the index.
fn survives(bytes: &[u8]) {
    let Ok(index) = read(bytes) else { return };
    let written = bytes_of(&index, &WriteOptions::default());
    let again = read(&written).unwrap();
    assert_eq!(listing_of(&again), listing_of(&index));
    for (at, (path, entry)) in index.iter().enumerate() {
        assert_eq!(index.find(path, entry.flags.stage), Ok(at));
        index.range_under(path);
    }
    if let Some(tree) = CacheTree::build(&index, |_| true) {
        assert!(tree.fits(&index));
    }
    if let Some(tree) = index.cache_tree() {
        tree.fits(&index);
    }
    let mut tree = CacheTree::from_known(&index, |_| Some(Kind::Sha1.empty_tree()));
    for (path, _) in index.iter() {
        tree.invalidate_path(path);
    }
}

#[test]
fn counts_are_checked_before_memory_is_taken() {
    let mut body = b"DIRC\0\0\0\x02\xff\xff\xff\xff".to_vec();
    assert_eq!(
        reason(&sealed(&body)),
        "4294967295 entries in a file that has room for 0"
    );
    body.extend([0; 640]);
    assert_eq!(
        reason(&sealed(&body)),
        "4294967295 entries in a file that has room for 10"
    );
}

#[test]
fn heads_are_checked() {
    assert_eq!(reason(b""), "the file is too short");
    assert_eq!(reason(&sealed(b"DIRC\0\0\0\x02")), "the file is too short");
    let foreign = "it does not begin with 'DIRC'";
    assert_eq!(reason(&sealed(b"PACK\0\0\0\x02\0\0\0\0")), foreign);
    let mut wrong = sealed(b"DIRC\0\0\0\x02\0\0\0\0");
    wrong[20] ^= 1;
    assert_eq!(reason(&wrong), "its checksum does not match its content");
    for version in [0u8, 1, 5, 255] {
        let body = [b'D', b'I', b'R', b'C', 0, 0, 0, version, 0, 0, 0, 0];
        let message = read(&sealed(&body)).unwrap_err().to_string();
        assert_eq!(message, format!("unsupported: index version {version}"));
    }
}

/// The bytes of an entry of version 2, not padded.
fn raw_entry(mode: u32, flags: &[u8], path: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 24];
    bytes.extend(mode.to_be_bytes());
    bytes.extend([0; 12]);
    bytes.extend([7; 20]);
    bytes.extend(flags);
    bytes.extend(path);
    bytes
}

fn one_entry(version: u8, entry: &[u8]) -> Vec<u8> {
    let mut body = vec![b'D', b'I', b'R', b'C', 0, 0, 0, version, 0, 0, 0, 1];
    body.extend(entry);
    sealed(&body)
}

#[test]
fn entries_are_checked() {
    let entry = |mode, flags: &[u8], path: &[u8]| one_entry(2, &raw_entry(mode, flags, path));
    assert!(read(&entry(0o100644, &[0, 1], b"a\0")).is_ok());
    for (expected, bytes) in [
        (
            "its mode 140000 is unknown",
            entry(0o140000, &[0, 1], b"a\0"),
        ),
        (
            "its padding is not NUL",
            entry(0o100644, &[0, 2], b"aa\0\0\0\0\0\0\0x"),
        ),
        (
            "its path is longer than its flags say",
            entry(0o100644, &[0, 1], b"ab\0\0\0\0\0\0\0\0"),
        ),
        (
            "its path is shorter than its flags say",
            entry(0o100644, &[0, 2], b"a\0\0\0\0\0\0\0\0\0"),
        ),
        (
            "its path is not as long as its flags say",
            entry(0o100644, &[0xf, 0xff], b"a\0"),
        ),
        (
            "its flags 0x0001 are unknown",
            entry(0o100644, &[0x40, 1, 0, 1], b"a\0\0\0\0\0\0\0"),
        ),
        ("the file ends within it", entry(0o100644, &[0, 1], b"a")),
    ] {
        assert_eq!(reason(&bytes), format!("entry 0: {expected}"));
    }
    let pathless = one_entry(2, &raw_entry(0o100644, &[0, 0], b"\0\0"));
    assert_eq!(reason(&pathless), "an entry without a path");
    let directory = one_entry(2, &raw_entry(0o040000, &[0, 2], b"a/\0\0\0\0\0\0\0\0"));
    assert_eq!(
        reason(&directory),
        "'a/' is a directory outside of a sparse index"
    );
}

#[test]
fn compressed_paths_are_checked() {
    let entry = |flags: &[u8], path: &[u8]| one_entry(4, &raw_entry(0o100644, flags, path));
    assert!(read(&entry(&[0, 1], b"\0a\0")).is_ok());
    for (expected, bytes) in [
        (
            "it cuts more from the path before than that has",
            entry(&[0, 1], b"\x01a\0"),
        ),
        (
            "its path is not as long as its flags say",
            entry(&[0, 2], b"\0a\0"),
        ),
        ("the file ends within it", entry(&[0, 1], b"\0aa")),
        ("the file ends within it", entry(&[0, 1], &[0xff; 20])),
    ] {
        assert_eq!(reason(&bytes), format!("entry 0: {expected}"));
    }
}

#[test]
fn a_few_bytes_do_not_become_gigabytes() {
    let mut body = b"DIRC\0\0\0\x04".to_vec();
    body.extend(20_000u32.to_be_bytes());
    body.extend(raw_entry(0o100644, &[0x0f, 0xff], b"\0"));
    body.extend([b'p'; 100_000]);
    body.push(0);
    for _ in 1..20_000 {
        body.extend(raw_entry(0o100644, &[0x0f, 0xff], b"\0q\0"));
    }
    let reason = reason(&sealed(&body));
    assert!(reason.starts_with("paths of more than "), "{reason}");
}

/// Two entries `a` and `b` with the given bits of the stage.
fn two_entries(first: (&[u8], u8), second: (&[u8], u8)) -> Vec<u8> {
    let mut body = b"DIRC\0\0\0\x02\0\0\0\x02".to_vec();
    for (path, stage) in [first, second] {
        body.extend(raw_entry(0o100644, &[stage << 4, path.len() as u8], path));
        body.push(0);
    }
    sealed(&body)
}

#[test]
fn order_is_checked() {
    assert!(read(&two_entries((b"a", 1), (b"a", 2))).is_ok());
    assert_eq!(reason(&two_entries((b"b", 0), (b"a", 0))), "'a' after 'b'");
    let multiple = "multiple stage entries for merged file 'a'";
    assert_eq!(reason(&two_entries((b"a", 0), (b"a", 0))), multiple);
    assert_eq!(reason(&two_entries((b"a", 0), (b"a", 1))), multiple);
    let unordered = "unordered stage entries for 'a'";
    assert_eq!(reason(&two_entries((b"a", 2), (b"a", 1))), unordered);
    assert_eq!(reason(&two_entries((b"a", 2), (b"a", 2))), unordered);
}

fn with_extension(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut body = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
    extensions::push(&mut body, name, data);
    sealed(&body)
}

#[test]
fn unknown_extensions() {
    let optional = read(&with_extension(b"XTRA", b"data")).unwrap();
    assert_eq!(bytes_of(&optional, &WriteOptions::default()).len(), 12 + 20);
    for (name, text) in [(b"xtra", "xtra"), (b"\x01tra", "\\x01tra")] {
        let message = read(&with_extension(name, b"data"))
            .unwrap_err()
            .to_string();
        assert_eq!(message, format!("unsupported: index extension '{text}'"));
    }
    let mut cut = with_extension(b"TREE", b"12345678");
    cut.truncate(cut.len() - 20);
    cut.pop();
    assert_eq!(reason(&sealed(&cut)), "extension 'TREE' is cut off");
    cut.truncate(17);
    assert_eq!(reason(&sealed(&cut)), "half an extension");
}

#[test]
fn broken_optional_extensions_count_as_absent() {
    for name in [b"TREE", b"FSMN"] {
        let index = read(&with_extension(name, b"nonsense")).unwrap();
        assert!(index.cache_tree().is_none());
        assert!(index.extensions.fsmonitor_token.is_none());
    }
    let mut monitor = b"\0\0\0\x02token\0\0\0\0\x14".to_vec();
    monitor.extend(encode_positions([7]));
    let index = read(&with_extension(b"FSMN", &monitor)).unwrap();
    assert_eq!(
        index.extensions.fsmonitor_token, None,
        "it has a bit for no entry"
    );
}

#[test]
fn a_file_system_monitor_of_version_1_becomes_one_of_version_2() {
    let mut monitor = b"\0\0\0\x01\0\0\0\0\0\0\x01\0\0\0\0\x14".to_vec();
    monitor.extend(encode_positions([]));
    let index = read(&with_extension(b"FSMN", &monitor)).unwrap();
    assert_eq!(
        index.extensions.fsmonitor_token.as_deref(),
        Some(&b"256"[..])
    );
}

/// An index of no entries that links to a shared index of one, `a`.
fn linked(own: &[u8], count: u8, deleted: &[u32], replaced: &[u32]) -> crate::Result<Index> {
    let base = one_entry(2, &raw_entry(0o100644, &[0, 1], b"a\0"));
    let mut link = base[base.len() - 20..].to_vec();
    link.extend(encode_positions(deleted.iter().copied()));
    link.extend(encode_positions(replaced.iter().copied()));
    let mut body = vec![b'D', b'I', b'R', b'C', 0, 0, 0, 2, 0, 0, 0, count];
    body.extend(own);
    extensions::push(&mut body, b"link", &link);
    Index::read(&sealed(&body), Kind::Sha1, Path::new("index"), &mut |_| {
        Ok(base.clone())
    })
}

#[test]
fn links_are_checked() {
    let pathless = raw_entry(0o100755, &[0, 0], b"\0\0");
    let named = raw_entry(0o100755, &[0, 1], b"a\0");
    assert_eq!(linked(&[], 0, &[], &[]).unwrap().entries().len(), 1);
    assert_eq!(linked(&[], 0, &[0], &[]).unwrap().entries().len(), 0);
    for (own, replaced) in [(&pathless, &[0][..]), (&named, &[])] {
        let index = linked(own, 1, &[], replaced).unwrap();
        assert_eq!(index.path(&index.entries()[0]), "a");
        assert_eq!(index.entries()[0].mode, Mode::Executable);
        assert_eq!(index.entries().len(), 1);
    }
    let message = |result: crate::Result<Index>| result.unwrap_err().to_string();
    for (expected, result) in [
        (
            "a bitmap has bits for entries that are not there",
            linked(&[], 0, &[1], &[]),
        ),
        (
            "replaces more entries than there are",
            linked(&[], 0, &[], &[0]),
        ),
        (
            "replaces an entry by one with a path",
            linked(&named, 1, &[], &[0]),
        ),
        ("an entry without a path", linked(&pathless, 1, &[], &[])),
    ] {
        let message = message(result);
        assert!(message.ends_with(expected), "{message}");
    }
    let short = reason(&with_extension(b"link", b"short"));
    assert_eq!(short, "extension 'link' is too short");
    assert!(
        read(&with_extension(b"link", &[0; 20])).is_ok(),
        "no shared index needed"
    );
}

proptest! {
    #[test]
    fn any_body_is_read_or_refused(body: Vec<u8>, count in 0u8..4, version in 2u8..5) {
        let head = [b'D', b'I', b'R', b'C', 0, 0, 0, version, 0, 0, 0, count];
        survives(&sealed(&[&head[..], &body].concat()));
    }

    #[test]
    fn any_changes_to_a_sound_index_are_read_or_refused(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        compressed: bool,
    ) {
        let version = if compressed { Version::V4 } else { Version::V2 };
        let mut body = sample(version);
        body.truncate(body.len() - 20);
        for (at, value) in changes {
            *at.get_mut(&mut body) = value;
        }
        survives(&sealed(&body));
    }

    #[test]
    fn any_tree_extension_is_read_or_refused(data: Vec<u8>) {
        if let Some(tree) = CacheTree::parse(&data, Kind::Sha1) {
            prop_assert_eq!(CacheTree::parse(&tree.serialize(), Kind::Sha1), Some(tree));
        }
    }
}
