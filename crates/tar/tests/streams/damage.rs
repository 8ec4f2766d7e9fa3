//! Archives that are cut or changed: an error, or other content, but never a panic or a path that
//! leaves the tree.

use crate::raw::{Raw, BLOCK};
use crate::writer::{archive, everything};
use hedgerow_tar::{Archive, Error, ReadOptions, WriteOptions};
use proptest::prelude::*;

/// An archive with everything, in the encodings of hedgerow and in those of others.
fn sample() -> Vec<u8> {
    let options = WriteOptions {
        record_bytes: 0,
        ..WriteOptions::default()
    };
    let ours = archive(&everything(), options);
    let mut raw = Raw(ours[..ours.len() - 2 * BLOCK].to_vec())
        .records(b'g', &[("comment", "x"), ("uid", "5")])
        .member("l", b'L', b"long/name\0")
        .member("l", b'K', b"long/target\0")
        .member("a", b'1', b"")
        .records(
            b'x',
            &[("GNU.sparse.size", "99"), ("GNU.sparse.map", "2,3,9,1")],
        )
        .member("map", b'0', b"abcd");
    let pairs = [
        ("GNU.sparse.size", "99"),
        ("GNU.sparse.offset", "2"),
        ("GNU.sparse.numbytes", "3"),
    ];
    raw = raw.records(b'x', &pairs).member("pairs", b'0', b"abc");
    raw = raw.with("old", b'S', b"abc", |block| {
        block[386..410].copy_from_slice(b"00000001000\x0000000000003\0");
        block[483..495].copy_from_slice(b"00000002000\0");
    });
    raw.member("end", b'7', &[9; 700]).zeros(2).0
}

/// Reads everything that is not in holes; checks what comes out. Returns how many members there
/// were and the error at the end.
fn survive(input: &[u8]) -> (usize, Option<Error>) {
    let options = ReadOptions {
        skip_unusable: true,
        ..ReadOptions::default()
    };
    let mut archive = Archive::new(input, options);
    let mut buffer = [0; 4096];
    for count in 0.. {
        let member = match archive.next_member() {
            Ok(Some(member)) => member,
            Ok(None) => return (count, None),
            Err(error) => return (count, Some(error)),
        };
        let mut components = member.path.split(|byte| *byte == b'/');
        let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
        assert!(member.path.is_empty() || components.all(is_plain));
        assert!(member.metadata.mtime_ns < 1_000_000_000);
        let mut end = 0;
        loop {
            match archive.read_data(&mut buffer) {
                Ok(Some((offset, len))) => {
                    assert!(offset >= end && len > 0);
                    end = offset + len as u64;
                    assert!(end <= member.metadata.size_bytes);
                }
                Ok(None) => break,
                Err(error) => return (count, Some(error)),
            }
        }
    }
    unreachable!("an archive has an end")
}

#[test]
fn a_cut_is_told_with_its_place() {
    let whole = sample();
    let (count, error) = survive(&whole);
    assert!(error.is_none());
    assert_eq!(count, everything().len() + 5);
    let mut whole_members = 0;
    for cut in (0..whole.len() - 2 * BLOCK)
        .step_by(BLOCK)
        .chain((1..whole.len()).step_by(509))
    {
        let (found, error) = survive(&whole[..cut]);
        match error {
            Some(Error::Truncated { position, .. }) => assert_eq!(position, cut as u64),
            Some(Error::Malformed { reason, .. }) => {
                assert_eq!(reason, hedgerow_tar::Malformed::Dangling);
            }
            // Between two members, or within the end mark.
            None => assert!(cut % BLOCK == 0, "{cut}"),
            Some(error) => panic!("{error}"),
        }
        whole_members = whole_members.max(found);
    }
    assert_eq!(whole_members, count);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Bytes are changed and the checksums of headers made right again, so that the damage gets
    /// further than to those.
    #[test]
    fn damage_is_survived(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        repaired in any::<bool>(),
    ) {
        let mut bytes = sample();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let block = at / BLOCK * BLOCK;
            if repaired && &bytes[block + 257..block + 262] == b"ustar" {
                let summed = crate::raw::summed(bytes[block..][..BLOCK].try_into().unwrap());
                bytes[block..][..BLOCK].copy_from_slice(&summed);
            }
        }
        survive(&bytes);
    }

    #[test]
    fn anything_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        survive(&bytes);
    }
}

#[test]
fn what_is_no_archive_is_called_so() {
    let unknown = "this is no tar archive, and not compressed with gzip, bzip2, xz or zstd";
    for (input, message) in [
        (&b"hello\0"[..], unknown),
        (b"hello", "this is a plain file, not a tar archive"),
        (b"hsqs", "this is a SquashFS image, not a tar archive"),
        (
            b"\x04\x22\x4d\x18",
            "this is compressed with lz4, which is not read",
        ),
    ] {
        let mut bytes = input.to_vec();
        bytes.resize(2048, b'x');
        let (_, error) = survive(&bytes);
        assert_eq!(error.unwrap().to_string(), message);
    }
    let mut bytes = sample();
    bytes[BLOCK] ^= 1;
    let error = survive(&bytes).1.unwrap();
    assert_eq!(
        error.to_string(),
        "the header at byte 512 has a wrong checksum"
    );
}

#[test]
fn what_follows_an_end_that_comes_first_is_not_ignored() {
    let erofs = "this is an EROFS image, not a tar archive";
    let other = "this is no tar archive: zeros that would end it come first, and then other bytes";
    for (zeros, rest, message) in [
        (1024, &b"\xe2\xe1\xf5\xe0"[..], Some(erofs)),
        (1024, b"\xe2\xe1\xf5\xe1", Some(other)),
        (1025, b"\xe2\xe1\xf5\xe0", Some(other)),
        (200_000, b"x", Some(other)),
        (1024, &sample(), Some(other)),
        (1024, b"", None),
        (10_240, b"", None),
    ] {
        let mut bytes = vec![0; zeros];
        bytes.extend_from_slice(rest);
        let error = survive(&bytes).1;
        assert_eq!(error.map(|it| it.to_string()).as_deref(), message);
    }
    // Behind members, anything may follow.
    let archive = [&sample()[..], &[0; 1024], b"rest"].concat();
    assert!(survive(&archive).1.is_none());
}
