//! Whatever is written is read again.

use crate::raw::read_all;
use crate::writer::{archive, everything};
use hedgerow_tar::{
    device, Archive, Member, MemberKind, ReadOptions, Segment, SparseMap, WriteOptions,
};
use hedgerow_tree::{Metadata, NodeKind};
use proptest::prelude::*;

fn component() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop_oneof![3 => proptest::collection::vec(any::<u8>(), 1..20),
        1 => proptest::collection::vec(any::<u8>(), 90..=255)];
    bytes.prop_map(|mut name| {
        for byte in &mut name {
            if matches!(byte, 0 | b'/') {
                *byte = b'_';
            }
        }
        if name == b"." || name == b".." {
            name[0] = b'_';
        }
        name
    })
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(component(), 1..6).prop_map(|components| components.join(&b'/'))
}

fn kind() -> impl Strategy<Value = MemberKind> {
    let node = MemberKind::Node;
    prop_oneof![
        6 => Just(node(NodeKind::File)),
        2 => Just(node(NodeKind::Directory)),
        2 => Just(node(NodeKind::Symlink)),
        2 => Just(MemberKind::HardLink),
        1 => Just(node(NodeKind::Fifo)),
        1 => Just(node(NodeKind::CharacterDevice)),
        1 => Just(node(NodeKind::BlockDevice)),
    ]
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let time = prop_oneof![any::<i64>(), 0..0o100000000001i64, -10..10i64];
    let time_ns = prop_oneof![Just(0), 0..1_000_000_000u32];
    let ids = (any::<u32>(), 0..0o10000001u32);
    (0..0o10000u32, ids, time, time_ns).prop_map(|(mode, (uid, gid), mtime_s, mtime_ns)| Metadata {
        mode,
        uid,
        gid,
        mtime_s,
        mtime_ns,
        ..Metadata::default()
    })
}

/// Pairs of a hole and content behind it.
fn pieces() -> impl Strategy<Value = Vec<(u64, Vec<u8>)>> {
    let content = proptest::collection::vec(any::<u8>(), 0..1500);
    proptest::collection::vec((0..5000u64, content), 0..4)
}

fn xattrs() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<u8>)>> {
    let value = proptest::collection::vec(any::<u8>(), 0..300);
    proptest::collection::vec((component(), value), 0..3)
}

prop_compose! {
    fn member()(
        path in path(),
        kind in kind(),
        metadata in metadata(),
        target in path(),
        parts in (0..0o10000000u32, 0..0o10000000u32),
        pieces in pieces(),
        tail in 0..3000u64,
        is_sparse in any::<bool>(),
        xattrs in xattrs(),
    ) -> (Member, Vec<u8>) {
        let mut member = Member::new(path, kind);
        member.metadata = metadata;
        member.xattrs = xattrs.into_iter().collect();
        let mut content = Vec::new();
        match kind {
            MemberKind::Node(NodeKind::File) => {
                let (mut size, mut segments) = (0, Vec::new());
                for (hole, piece) in pieces {
                    let hole = if is_sparse { hole } else { 0 };
                    let len = piece.len() as u64;
                    segments.push(Segment { offset: size + hole, len });
                    size += hole + len;
                    content.extend(piece);
                }
                size += if is_sparse { tail } else { 0 };
                member.metadata.size_bytes = size;
                let map = SparseMap::new(&segments, size).unwrap();
                let has_holes = map.stored_bytes() < size;
                member.sparse = has_holes.then_some(map);
            }
            MemberKind::Node(NodeKind::Symlink) => {
                member.metadata.size_bytes = target.len() as u64;
                member.link_target = target;
            }
            MemberKind::HardLink => member.link_target = target,
            MemberKind::Node(NodeKind::CharacterDevice | NodeKind::BlockDevice) => {
                member.metadata.rdev = device(parts.0, parts.1);
            }
            _ => {}
        }
        (member, content)
    }
}

/// The content with its holes.
fn logical(member: &Member, content: &[u8]) -> Vec<u8> {
    let Some(map) = &member.sparse else {
        return content.to_vec();
    };
    let mut logical = vec![0; map.size_bytes() as usize];
    let mut rest = content;
    for segment in map.segments() {
        let (piece, later) = rest.split_at(segment.len as usize);
        logical[segment.offset as usize..][..piece.len()].copy_from_slice(piece);
        rest = later;
    }
    logical
}

fn check(members: &[(Member, Vec<u8>)]) {
    for sparse in [false, true] {
        let options = WriteOptions {
            sparse,
            ..WriteOptions::default()
        };
        let bytes = archive(members, options);
        assert_eq!(bytes.len() % 10240, 0);
        let mut reader = Archive::new(&bytes[..], ReadOptions::default());
        let read = read_all(&mut reader).unwrap();
        assert_eq!(reader.take_warnings(), (vec![], 0));
        assert_eq!(read.len(), members.len());
        for ((member, content), (read, read_content)) in members.iter().zip(&read) {
            let mut expected = member.clone();
            expected.sparse = expected.sparse.filter(|_| sparse);
            assert_eq!(read, &expected);
            assert!(read_content == &logical(member, content));
        }
        let again = archive(members, options);
        assert!(bytes == again, "the same members are the same bytes");
    }
}

#[test]
fn one_of_everything() {
    check(&everything());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read(members in proptest::collection::vec(member(), 0..6)) {
        check(&members);
    }
}
