//! Archives that ask for too much, or never come to an end.

use crate::raw::Raw;
use hedgerow_tar::{Archive, Limits, ReadOptions};
use std::io::{self, Read};

fn sized(size: &'static [u8; 12]) -> impl FnOnce(&mut [u8]) {
    move |block| block[124..136].copy_from_slice(size)
}

#[test]
fn headers_of_impossible_size_are_refused_before_memory_is_taken() {
    for (kind, part) in [
        (b'x', "an extended header"),
        (b'g', "a global header"),
        (b'L', "a long name"),
        (b'K', "a long link target"),
    ] {
        let raw = Raw::new().with("a", kind, b"", sized(b"77777777777\0"));
        let message = format!("the header at byte 0: {part} of 8589934591 bytes, more than");
        assert!(raw.refusal().starts_with(&message), "{}", raw.refusal());
        let raw = Raw::new().with(
            "a",
            kind,
            b"",
            sized(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        );
        let message = "the header at byte 0: the size is not a number that is possible there";
        assert_eq!(raw.refusal(), message);
    }
    for size in [b"\x80\0\0\0\x80\0\0\0\0\0\0\0", b"0000000008x\0"] {
        let raw = Raw::new().with("a", b'0', b"", sized(size));
        assert!(raw
            .refusal()
            .ends_with("the size is not a number that is possible there"));
    }
    let raw = Raw::new().records(b'x', &[("size", "9223372036854775808")]);
    let raw = raw.member("a", b'0', b"");
    assert!(raw
        .refusal()
        .ends_with("the size is not a number that is possible there"));
    let raw = Raw::new().with(
        "a",
        b'V',
        b"",
        sized(b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff"),
    );
    assert_eq!(
        raw.refusal(),
        "the archive ends at byte 512, within a volume label"
    );
}

#[test]
fn names_are_bounded_however_they_come() {
    let name = "n/".repeat(40_000);
    let by_gnu = Raw::new()
        .member("l", b'L', name.as_bytes())
        .member("a", b'0', b"");
    let by_pax = Raw::new()
        .records(b'x', &[("path", &name)])
        .member("a", b'0', b"");
    let sparse = Raw::new()
        .records(b'x', &[("GNU.sparse.name", &name)])
        .member("a", b'0', b"");
    for raw in [by_gnu, by_pax, sparse] {
        assert!(
            raw.refusal().contains("a long name of 80000 bytes"),
            "{}",
            raw.refusal()
        );
    }
    let name = "n/".repeat(30_000);
    let raw = Raw::new()
        .records(b'x', &[("path", &name)])
        .member("a", b'5', b"")
        .zeros(2);
    assert_eq!(raw.only().0.path.len(), name.len() - 1);
}

/// Repeats one piece, then ends.
struct Repeated {
    piece: Vec<u8>,
    at: usize,
    times: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() && self.times > 1 {
            self.times -= 1;
            self.at = 0;
        }
        let len = (&self.piece[self.at..]).read(buffer)?;
        self.at += len;
        Ok(len)
    }
}

fn refusal_of_repeated(piece: Raw, times: usize) -> String {
    let input = Repeated {
        piece: piece.0,
        at: 0,
        times,
    };
    let mut archive = Archive::new(input, ReadOptions::default());
    archive.next_member().unwrap_err().to_string()
}

#[test]
fn headers_without_end_take_no_memory() {
    let long = Raw::new()
        .member("l", b'L', b"name")
        .member("l", b'K', b"name");
    let message = refusal_of_repeated(long, 50_000);
    let expected = "the header at byte 102400000: no member follows an extended header";
    assert_eq!(message, expected);
    let pax = Raw::new().records(b'x', &[("path", "a"), ("SCHILY.xattr.user.a", "b")]);
    assert!(refusal_of_repeated(pax, 50_000).ends_with("no member follows an extended header"));
    let label = Raw::new().member("label", b'V', b"");
    let input = Repeated {
        piece: label.0,
        at: 0,
        times: 5000,
    };
    let mut archive = Archive::new(input, ReadOptions::default());
    assert_eq!(archive.next_member().unwrap(), None);
    let (warnings, more) = archive.take_warnings();
    assert_eq!(warnings.len() as u64 + more, 5001);
    assert_eq!(warnings.len(), 1000);
}

#[test]
fn attributes_cannot_be_heaped_up() {
    let value = "v".repeat(30_000);
    for kind in [b'g', b'x'] {
        let mut raw = Raw::new();
        for number in 0..40 {
            let name = format!("SCHILY.xattr.user.{number}");
            raw = raw.records(kind, &[(&name, &value)]);
        }
        let message = raw.member("a", b'0', b"").zeros(2).refusal();
        assert!(message.contains("extended headers of 10"), "{message}");
    }
}

#[test]
fn maps_are_bounded() {
    let options = ReadOptions {
        limits: Limits {
            sparse_segments: 50,
            ..Limits::default()
        },
        ..ReadOptions::default()
    };
    let numbers: Vec<String> = (0..102).map(|number| number.to_string()).collect();
    let one = |keyword: &str, value: &str| {
        let records = [("GNU.sparse.size", "9999"), (keyword, value)];
        Raw::new().records(b'x', &records).member("a", b'0', b"")
    };
    let lines = "51\n".to_owned() + &"0\n0\n".repeat(200);
    let version = [
        ("GNU.sparse.major", "1"),
        ("GNU.sparse.minor", "0"),
        ("GNU.sparse.realsize", "9"),
    ];
    let content = Raw::new()
        .records(b'x', &version)
        .member("a", b'0', lines.as_bytes());
    let pairs = [("GNU.sparse.offset", "0"), ("GNU.sparse.numbytes", "0")].repeat(51);
    let old = Raw::new().records(b'x', &pairs).member("a", b'0', b"");
    for raw in [one("GNU.sparse.map", &numbers.join(",")), content, old] {
        let message = raw.read(options.clone()).unwrap_err().to_string();
        assert!(message.ends_with("has more than 50 segments"), "{message}");
    }
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let message = "the map of a sparse file is invalid";
    let map = |map: &str, size: &str, content: &[u8]| {
        let records = [("GNU.sparse.size", size), ("GNU.sparse.map", map)];
        Raw::new()
            .records(b'x', &records)
            .member("a", b'0', content)
            .zeros(2)
    };
    let (member, content) = map("2,3,9,0", "9", b"abc").only();
    assert_eq!(member.metadata.size_bytes, 9);
    assert_eq!(content, b"\0\0abc\0\0\0\0");
    for raw in [
        map("2,3", "4", b"abc"),
        map("2,3", "9", b"ab"),
        map("5,1,2,3", "9", b"abcd"),
        map("18446744073709551615,2", "9", b"ab"),
        map("18446744073709551616,2", "9", b"ab"),
    ] {
        assert!(raw.refusal().ends_with(message), "{}", raw.refusal());
    }
    let versions = |major, minor| {
        let records = [("GNU.sparse.major", major), ("GNU.sparse.minor", minor)];
        Raw::new()
            .records(b'x', &records)
            .member("a", b'0', &[b'\n'; 600])
    };
    assert!(versions("1", "0").refusal().ends_with(message));
    assert!(versions("2", "0")
        .refusal()
        .ends_with("in an unknown encoding"));
    // The map is cut, or there is less of it than its own length says.
    let records = [("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")];
    let raw = Raw::new()
        .records(b'x', &records)
        .member("a", b'0', b"1\n0\n");
    assert!(raw.zeros(2).refusal().ends_with(message));
}
