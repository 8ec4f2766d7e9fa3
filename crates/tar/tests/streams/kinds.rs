//! What the reader makes of headers, one by one.

use crate::raw::{Raw, BLOCK};
use hedgerow_tar::{MemberKind, ReadOptions, Unusable, Warning};
use hedgerow_tree::NodeKind;

fn node(kind: NodeKind) -> MemberKind {
    MemberKind::Node(kind)
}

#[test]
fn every_type_of_member() {
    for (name, kind, expected) in [
        ("a", b'0', node(NodeKind::File)),
        ("a", 0, node(NodeKind::File)),
        ("a", b'7', node(NodeKind::File)),
        ("a/", 0, node(NodeKind::Directory)),
        ("a/", b'0', node(NodeKind::Directory)),
        ("a", b'5', node(NodeKind::Directory)),
        ("a", b'6', node(NodeKind::Fifo)),
        ("a", b'3', node(NodeKind::CharacterDevice)),
        ("a", b'4', node(NodeKind::BlockDevice)),
    ] {
        let (member, content) = Raw::new().member(name, kind, b"").zeros(2).only();
        assert_eq!((member.kind, &member.path[..]), (expected, &b"a"[..]));
        assert!(content.is_empty());
        let metadata = member.metadata;
        let (mode, ids, time) = (
            metadata.mode,
            (metadata.uid, metadata.gid),
            metadata.mtime_s,
        );
        assert_eq!((mode, ids, time), (0o644, (1, 2), 3));
    }
}

/// The next member is found behind content, and where a size is said of what has no content.
#[test]
fn only_some_types_have_content() {
    let sized = |block: &mut [u8]| block[124..136].copy_from_slice(b"00000001000\0");
    let linked = |block: &mut [u8]| {
        sized(block);
        block[157] = b't';
    };
    let raw = Raw::new()
        .member("file", b'0', b"content")
        .member("contiguous", b'7', b"content")
        .member("dump", b'D', b"Ya\0Nb\0\0")
        .member("old/", 0, &[1; 600])
        .with("hard", b'1', b"", linked)
        .with("soft", b'2', b"", linked)
        .with("device", b'3', b"", sized)
        .with("directory", b'5', b"", sized)
        .with("fifo", b'6', b"", sized)
        .member("last", b'0', b"end")
        .zeros(2);
    let members = raw.read(ReadOptions::default()).unwrap();
    let names: Vec<_> = members.iter().map(|(member, _)| &member.path[..]).collect();
    let expected = "file contiguous dump old hard soft device directory fifo last";
    assert_eq!(
        names,
        expected.split(' ').map(str::as_bytes).collect::<Vec<_>>()
    );
    assert_eq!(members[0].1, b"content");
    assert_eq!(members[1].1, b"content");
    assert!(members[2..9].iter().all(|(_, content)| content.is_empty()));
    assert_eq!(members[5].0.metadata.size_bytes, 1);
    assert_eq!(members[4].0.link_target, b"t");
}

#[test]
fn device_numbers() {
    let raw = Raw::new().with("d", b'4', b"", |block| {
        block[329..337].copy_from_slice(b"0000403\0");
        block[337..345].copy_from_slice(b"0210560\0");
    });
    let device = raw.zeros(2).only().0.metadata.rdev;
    assert_eq!(hedgerow_tar::device_parts(device), (259, 0o210560));
}

#[test]
fn numbers_in_base_256() {
    let raw = Raw::new().with("a", b'0', b"content", |block| {
        block[124..136].copy_from_slice(b"\x80\0\0\0\0\0\0\0\0\0\0\x07");
        block[108..116].copy_from_slice(b"\x80\0\0\0\xff\xff\xff\xfe");
        block[136..148].copy_from_slice(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe");
    });
    let (member, content) = raw.zeros(2).only();
    assert_eq!(
        (member.metadata.uid, member.metadata.mtime_s),
        (u32::MAX - 1, -2)
    );
    assert_eq!(content, b"content");
}

#[test]
fn what_stands_before_a_member_replaces_its_header() {
    let raw = Raw::new()
        .records(b'g', &[("uid", "77"), ("gid", "88"), ("mtime", "-1.25")])
        .member("././@LongLink", b'L', b"long\0")
        .member("plain", b'0', b"1")
        .records(b'x', &[("path", "pax"), ("gid", "99"), ("mtime", "")])
        .member("././@LongLink", b'L', b"long\0")
        .member("././@LongLink", b'K', b"target\0")
        .with("plain", b'2', b"", |block| block[157] = b't')
        .records(b'X', &[("linkpath", "other"), ("size", "2")])
        .with("plain", b'2', b"", |block| block[157] = b't')
        .records(b'x', &[("size", "3")])
        .with("sized", b'0', b"123", |block| block[124..136].fill(b'0'))
        .zeros(2);
    let members = raw.read(ReadOptions::default()).unwrap();
    let [a, b, c, d] = [0, 1, 2, 3].map(|row| &members[row].0);
    assert_eq!(
        (&a.path[..], a.metadata.uid, a.metadata.gid),
        (&b"long"[..], 77, 88)
    );
    assert_eq!((a.metadata.mtime_s, a.metadata.mtime_ns), (-2, 750_000_000));
    assert_eq!(
        (&b.path[..], b.metadata.uid, b.metadata.gid),
        (&b"pax"[..], 77, 99)
    );
    assert_eq!((b.metadata.mtime_s, b.metadata.mtime_ns), (3, 0));
    assert_eq!(
        (&b.link_target[..], &c.link_target[..]),
        (&b"target"[..], &b"other"[..])
    );
    assert_eq!(
        (&d.path[..], &members[3].1[..]),
        (&b"sized"[..], &b"123"[..])
    );
}

#[test]
fn attributes_of_both_kinds() {
    let records = [
        ("SCHILY.xattr.user.a", "1"),
        ("LIBARCHIVE.xattr.user.b", "AAE"),
        ("SCHILY.acl.access", "user::rwx"),
        ("SCHILY.acl.default", "group::r--"),
        ("UNKNOWN.keyword", "x"),
    ];
    let raw = Raw::new().records(b'x', &records).member("a", b'0', b"");
    let (member, _) = raw.zeros(2).only();
    assert_eq!(member.xattrs[&b"user.a"[..]], b"1");
    assert_eq!(member.xattrs[&b"user.b"[..]], b"\0\x01");
    assert_eq!(member.xattrs.len(), 2);
    assert_eq!(member.acl_access.unwrap(), b"user::rwx");
    assert_eq!(member.acl_default.unwrap(), b"group::r--");
}

/// A sparse file of the old encoding whose map goes on in two more blocks.
#[test]
fn an_old_map_of_many_segments() {
    let segments = 4 + 21 + 5;
    let segment = |number: usize| format!("{:011o}\0{:011o}\0", number * 1000, 10);
    let mut extensions = vec![0; 2 * BLOCK];
    for number in 4..segments {
        let at = (number - 4) / 21 * BLOCK + (number - 4) % 21 * 24;
        extensions[at..at + 24].copy_from_slice(segment(number).as_bytes());
    }
    extensions[504] = 1;
    let content: Vec<u8> = (0..segments as u8)
        .flat_map(|number| [number + 1; 10])
        .collect();
    let mut raw = Raw::new().with("a", b'S', b"", |block| {
        block[257..265].copy_from_slice(b"ustar  \0");
        block[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        for number in 0..4 {
            let at = 386 + number * 24;
            block[at..at + 24].copy_from_slice(segment(number).as_bytes());
        }
        block[482] = 1;
        block[483..495].copy_from_slice(b"00000100000\0");
    });
    raw.0.extend_from_slice(&extensions);
    raw.0.extend_from_slice(&content);
    raw.0.resize(raw.0.len().next_multiple_of(BLOCK), 0);
    let (member, read) = raw
        .member("b", b'0', b"")
        .zeros(2)
        .read(ReadOptions::default())
        .unwrap()
        .remove(0);
    assert_eq!(member.metadata.size_bytes, 32768);
    assert_eq!(member.sparse.unwrap().segments().len(), segments);
    let mut expected = vec![0; 32768];
    for (number, bytes) in content.chunks(10).enumerate() {
        expected[number * 1000..][..10].copy_from_slice(bytes);
    }
    assert!(read == expected);
}

#[test]
fn names_become_paths_or_are_refused() {
    for (name, path) in [("./a//b/", "a/b"), ("./", ""), ("a/./b", "a/b")] {
        let (member, _) = Raw::new().member(name, b'5', b"").zeros(2).only();
        assert_eq!(member.path, path.as_bytes());
    }
    for (name, kind, message) in [
        ("/etc/passwd", b'0', "'/etc/passwd': an absolute name"),
        (
            "a/../../b",
            b'0',
            "'a/../../b': a name that leaves its directory",
        ),
        ("", b'0', "'': an empty name"),
        (
            "./",
            b'2',
            "'./': the root of the archive is not a directory",
        ),
        ("a", b'1', "'a': a hard link to a place outside the archive"),
        ("a", b'2', "'a': a symbolic link with an impossible target"),
        ("a", b'Q', "'a': members of type 'Q' are not known"),
    ] {
        let raw = Raw::new().member(name, kind, b"").zeros(2);
        assert_eq!(raw.refusal(), message);
    }
    let with_nul = Raw::new().records(b'x', &[("path", "a\0b")]);
    let with_nul = with_nul.member("a", b'0', b"").zeros(2);
    assert_eq!(with_nul.refusal(), "'a\0b': a name with a NUL byte");
    let hard_link = |target: &'static str| {
        let put = move |block: &mut [u8]| {
            block[157..157 + target.len()].copy_from_slice(target.as_bytes());
        };
        Raw::new().with("a", b'1', b"", put).zeros(2)
    };
    assert_eq!(hard_link("./b/").only().0.link_target, b"b");
    for target in ["../b", "/b", "./"] {
        let message = "'a': a hard link to a place outside the archive";
        assert_eq!(hard_link(target).refusal(), message);
    }
    let stripped = ReadOptions {
        strip_leading_slashes: true,
        ..ReadOptions::default()
    };
    let members = Raw::new()
        .member("//a/b", b'0', b"")
        .zeros(2)
        .read(stripped.clone())
        .unwrap();
    assert_eq!(members[0].0.path, b"a/b");
    assert_eq!(
        hard_link("/b").read(stripped).unwrap()[0].0.link_target,
        b"b"
    );
}

#[test]
fn unusable_members_can_be_skipped() {
    let wide = |block: &mut [u8]| block[108..116].copy_from_slice(b"\x80\0\0\x01\0\0\0\0");
    let raw = Raw::new()
        .member("../a", b'0', &[1; 1000])
        .member("b", b'Q', &[2; 1000])
        .with("c", b'0', &[3; 1000], wide)
        .records(b'x', &[("LIBARCHIVE.xattr.user.a", "!")])
        .member("d", b'0', &[4; 1000])
        .member("dir/", b'0', &[5; 3])
        .member("e", b'0', b"usable")
        .zeros(2);
    let skip = ReadOptions {
        skip_unusable: true,
        ..ReadOptions::default()
    };
    let (members, warnings) = raw.read_with_warnings(skip);
    let members = members.unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!(
        (&members[0].0.path[..], &members[0].1[..]),
        (&b"e"[..], &b"usable"[..])
    );
    let reasons = [
        ("../a", Unusable::Traversal),
        ("b", Unusable::Type(b'Q')),
        ("c", Unusable::Number("owner")),
        ("d", Unusable::Xattr),
        ("dir/", Unusable::DirectoryWithContent),
    ];
    let expected = reasons.map(|(path, reason)| Warning::Skipped {
        path: path.into(),
        reason,
    });
    assert_eq!(warnings, expected);
}

#[test]
fn volumes() {
    let raw = Raw::new()
        .member("my label", b'V', b"")
        .member("a", b'0', b"")
        .zeros(2);
    let (members, warnings) = raw.read_with_warnings(ReadOptions::default());
    assert_eq!(members.unwrap().len(), 1);
    assert_eq!(warnings, [Warning::VolumeLabel("my label".into())]);
    let raw = Raw::new()
        .records(b'g', &[("gid", "88")])
        .records(
            b'x',
            &[("uid", "77"), ("linkpath", "other"), ("size", "600")],
        )
        .member("././@LongLink", b'K', b"target\0")
        .member("././@LongLink", b'L', b"long label\0")
        .with("label", b'V', &[1; 600], |block| block[124..136].fill(b'0'))
        .member("a", b'0', b"content")
        .with("b", b'2', b"", |block| block[157] = b't')
        .zeros(2);
    let (members, warnings) = raw.read_with_warnings(ReadOptions::default());
    let members = members.unwrap();
    let [a, b] = [0, 1].map(|row| &members[row].0);
    assert_eq!(
        (&a.path[..], &members[0].1[..]),
        (&b"a"[..], &b"content"[..])
    );
    assert_eq!((a.metadata.uid, a.metadata.gid), (1, 88));
    assert_eq!(b.link_target, b"t");
    assert_eq!(warnings, [Warning::VolumeLabel("long label".into())]);
    let message = "the header at byte 512: a part of an archive of several volumes";
    let raw = Raw::new().member("a", b'0', b"").member("b", b'M', b"rest");
    assert_eq!(raw.refusal(), message);
}

#[test]
fn the_ends_of_archives() {
    let all = ReadOptions {
        ignore_zeros: true,
        ..ReadOptions::default()
    };
    let one = || Raw::new().member("a", b'0', b"1");
    for (raw, count, warnings) in [
        (Raw::new(), 0, vec![Warning::NoEndMark(0)]),
        (Raw::new().zeros(20), 0, vec![]),
        (one(), 1, vec![Warning::NoEndMark(1024)]),
        (one().zeros(1), 1, vec![Warning::LoneZeroBlock(1024)]),
        (one().zeros(2), 1, vec![]),
        (
            one().zeros(1).member("b", b'0', b""),
            1,
            vec![Warning::LoneZeroBlock(1024)],
        ),
        (one().zeros(2).member("b", b'0', b""), 1, vec![]),
    ] {
        let (members, found) = raw.read_with_warnings(ReadOptions::default());
        assert_eq!((members.unwrap().len(), found), (count, warnings));
    }
    let raw = one().zeros(5).member("b", b'0', b"2").zeros(1);
    let (members, warnings) = raw.read_with_warnings(all);
    assert_eq!((members.unwrap().len(), warnings), (2, vec![]));
}
