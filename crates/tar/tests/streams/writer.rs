//! What the writer refuses, and what it must go on writing the same way.

use crate::raw::read_all;
use hedgerow_tar::{
    device, Archive, Builder, Member, MemberKind, ReadOptions, Segment, SparseMap, WriteOptions,
};
use hedgerow_tree::NodeKind;

fn file(path: &str, size_bytes: u64) -> Member {
    let mut member = Member::new(path, MemberKind::Node(NodeKind::File));
    member.metadata.size_bytes = size_bytes;
    member
}

fn builder() -> Builder<Vec<u8>> {
    Builder::new(Vec::new(), WriteOptions::default())
}

/// One of everything that an archive can have.
pub fn everything() -> Vec<(Member, Vec<u8>)> {
    let mut members = Vec::new();
    let mut add = |path: &str, kind, content: &[u8], change: fn(&mut Member)| {
        let mut member = Member::new(path, kind);
        member.metadata.mode = 0o640;
        member.metadata.mtime_s = 1_700_000_000;
        if member.is_file() {
            member.metadata.size_bytes = content.len() as u64;
        }
        change(&mut member);
        members.push((member, content.to_vec()));
    };
    let node = MemberKind::Node;
    add("", node(NodeKind::Directory), b"", |_| {});
    add("a", node(NodeKind::Directory), b"", |_| {});
    add("a/file", node(NodeKind::File), &[7; 1300], |member| {
        member.metadata.mtime_ns = 500;
        member
            .xattrs
            .insert(b"user.name".to_vec(), b"value\n\0".to_vec());
        member.acl_access = Some(b"user::rw-,group::r--,other::---".to_vec());
    });
    add(
        &"long/".repeat(80).replace("g/l", "g/\u{e4}l"),
        node(NodeKind::File),
        b"1",
        |member| {
            member.path.pop();
            member.metadata.uid = u32::MAX - 1;
            member.metadata.gid = 0o10000000;
        },
    );
    add("a/hard", MemberKind::HardLink, b"", |member| {
        member.link_target = b"a/file".to_vec();
    });
    add("a/soft", node(NodeKind::Symlink), b"", |member| {
        member.link_target = b"../".repeat(50);
        member.metadata.size_bytes = 150;
        member.metadata.mtime_s = -5;
    });
    add("a/tty", node(NodeKind::CharacterDevice), b"", |member| {
        member.metadata.rdev = device(4, 70_000);
    });
    add("a/disk", node(NodeKind::BlockDevice), b"", |member| {
        member.metadata.rdev = device(259, 3);
    });
    add("a/fifo", node(NodeKind::Fifo), b"", |_| {});
    add(
        "a/sparse",
        node(NodeKind::File),
        b"data in two pieces",
        |member| {
            let segments = [(5000, 8), (90_000, 10)].map(|(offset, len)| Segment { offset, len });
            member.metadata.size_bytes = 100_000;
            member.sparse = SparseMap::new(&segments, 100_000);
        },
    );
    members
}

pub fn archive(members: &[(Member, Vec<u8>)], options: WriteOptions) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new(), options);
    for (member, content) in members {
        builder.append(member, &mut &content[..]).unwrap();
    }
    builder.finish().unwrap()
}

/// Other versions, other machines: whoever compares checksums of archives wants these bytes.
#[test]
fn the_bytes_do_not_change() {
    let mut crc = flate2::Crc::new();
    let bytes = archive(&everything(), WriteOptions::default());
    crc.update(&bytes);
    assert_eq!(
        (bytes.len(), format!("{:08x}", crc.sum()).as_str()),
        (20480, "808c4033")
    );
}

#[test]
fn archives_are_filled_to_records() {
    for (record_bytes, len) in [
        (0, 2560),
        (1, 2560),
        (512, 2560),
        (10240, 10240),
        (1000, 3000),
    ] {
        let options = WriteOptions {
            record_bytes,
            ..WriteOptions::default()
        };
        let bytes = archive(&[(file("a", 513), vec![1; 513])], options);
        assert_eq!(bytes.len(), len);
        assert!(bytes[1024 + 1..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn content_has_the_length_that_was_said() {
    let mut short = builder();
    let error = short.append(&file("a", 5), &mut &b"1234"[..]).unwrap_err();
    assert_eq!(error.to_string(), "'a': 4 bytes of content instead of 5");

    let mut long = builder();
    long.begin(&file("a", 5)).unwrap();
    long.write(b"123").unwrap();
    let error = long.write(b"4567").unwrap_err();
    assert_eq!(error.to_string(), "'a': 7 bytes of content instead of 5");

    let mut unfinished = builder();
    unfinished.begin(&file("a", 5)).unwrap();
    assert!(unfinished.begin(&file("b", 0)).is_err());
    let mut unfinished = builder();
    unfinished.begin(&file("a", 5)).unwrap();
    assert!(unfinished.finish().is_err());
    assert!(builder().write(b"1").is_err());
    builder().write(b"").unwrap();
}

#[test]
fn an_archive_goes_on_without_what_it_cannot_have() {
    let mut builder = builder();
    let socket = Member::new("socket", MemberKind::Node(NodeKind::Socket));
    let error = builder.append(&socket, &mut &b""[..]).unwrap_err();
    assert_eq!(error.to_string(), "'socket': a socket cannot be archived");
    assert!(builder.append(&file("../a", 0), &mut &b""[..]).is_err());
    builder.append(&file("a", 1), &mut &b"1"[..]).unwrap();
    let bytes = builder.finish().unwrap();
    let read = read_all(&mut Archive::new(&bytes[..], ReadOptions::default())).unwrap();
    assert_eq!(read, [(file("a", 1), b"1".to_vec())]);
}

#[test]
fn failures_of_either_side_are_told() {
    let error = builder().append(&file("a", 1), &mut Broken).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the content of 'a': broken");
    let mut builder = Builder::new(Broken, WriteOptions::default());
    let error = builder.append(&file("a", 1), &mut &b"1"[..]).unwrap_err();
    assert_eq!(error.to_string(), "cannot write the archive: broken");
    let mut archive = Archive::new(Broken, ReadOptions::default());
    let error = archive.next_member().unwrap_err();
    assert_eq!(error.to_string(), "reading failed at byte 0: broken");
}

struct Broken;

impl std::io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("broken"))
    }
}

impl std::io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("broken"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
