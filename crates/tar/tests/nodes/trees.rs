use crate::{archive, both, line, refusal, tree};
use bstr::ByteSlice;
use hedgerow_fs::ReadFile;
use hedgerow_tar::{
    nodes_of_archive, Builder, Defaults, Member, MemberKind, NodeOptions, WriteOptions,
};
use hedgerow_tree::{NodeError, NodeKind};

/// What the mode of a directory is that was made up.
const MADE_UP: i32 = 0o755 - 0o100;

#[test]
fn nodes_come_in_canonical_order_whatever_that_of_the_archive_is() {
    let members = [
        ('f', "b.c", "1"),
        ('f', "b/z", "2"),
        ('d', "b", ""),
        ('l', "a", "b"),
        ('f', "b/a", ""),
        ('d', "", ""),
        ('d', "b/c", ""),
    ];
    let expected = [
        "d / 5 ",
        "l /a 3 b",
        "d /b 2 ",
        "f /b/a 4 ",
        "d /b/c 6 ",
        "f /b/z 1 2",
        "f /b.c 0 1",
    ];
    assert_eq!(tree(&members, &NodeOptions::default()), expected);
}

#[test]
fn the_last_member_of_a_name_counts() {
    let members = [
        ('f', "a", "old"),
        ('f', "a", "new"),
        ('d', "d", ""),
        ('f', "d/x", "x"),
        ('d', "d", ""),
        ('d', "e", ""),
        ('f', "e", "no directory any more"),
        ('f', "g", "no directory yet"),
        ('f', "g/x", "x"),
        ('d', "g", ""),
    ];
    let expected = [
        &format!("d / {MADE_UP} "),
        "f /a 1 new",
        "d /d 4 ",
        "f /d/x 3 x",
        "f /e 6 no directory any more",
        "d /g 9 ",
        "f /g/x 8 x",
    ];
    assert_eq!(tree(&members, &NodeOptions::default()), expected);
}

#[test]
fn parents_that_are_missing_are_made_up() {
    let options = NodeOptions {
        defaults: Defaults {
            uid: 1,
            gid: 2,
            mode: 0o700,
            mtime_s: 3,
        },
        ..NodeOptions::default()
    };
    let bytes = archive(&[('f', "a/b/c", "1"), ('f', "a-/c", "2")]);
    for nodes in both(&bytes, &options) {
        let nodes: Vec<_> = nodes.unwrap().map(Result::unwrap).collect();
        let paths: Vec<_> = nodes.iter().map(|node| node.path.as_slice()).collect();
        assert_eq!(paths, [&b""[..], b"a", b"a/b", b"a/b/c", b"a-", b"a-/c"]);
        for at in [0, 1, 2, 4] {
            let node = &nodes[at];
            assert_eq!(
                (node.uid, node.gid, node.mode, node.mtime_s),
                (1, 2, 0o700, 3)
            );
        }
    }
}

#[test]
fn what_has_entries_below_it_is_a_directory() {
    let said = "'d/a' has entries below it in the archive, but is not a directory";
    for members in [
        &[('f', "d/a", ""), ('f', "d/a/x", "")][..],
        &[('f', "d/a/x", ""), ('l', "d/a", "..")],
        &[
            ('d', "d/a", ""),
            ('f', "d/a/b/x", ""),
            ('h', "d/a", "d/a/b/x"),
        ],
    ] {
        assert_eq!(refusal(members, &NodeOptions::default()), said);
    }
}

#[test]
fn an_empty_archive_is_an_empty_root() {
    let [nodes, spooled] = both(&archive(&[]), &NodeOptions::default());
    assert!(nodes.as_ref().unwrap().is_empty());
    assert_eq!(
        nodes.unwrap().map(line).collect::<Vec<_>>(),
        [format!("d / {MADE_UP} ")]
    );
    assert_eq!(spooled.unwrap().count(), 1);
}

#[test]
fn directories_without_a_member_may_get_the_newest_time() {
    let mut builder = Builder::new(Vec::new(), WriteOptions::default());
    for (path, mtime_s) in [("a/b/f", 7), ("c/f", 9), ("d", 3)] {
        let mut member = Member::new(path, MemberKind::Node(NodeKind::Directory));
        member.metadata.mtime_s = mtime_s;
        builder.append(&member, &mut &b""[..]).unwrap();
    }
    let options = NodeOptions {
        newest_by_default: true,
        ..NodeOptions::default()
    };
    let bytes = builder.finish().unwrap();
    let times = |excluded: &'static [u8]| {
        both(&bytes, &options).map(|nodes| {
            let nodes = nodes.unwrap().without(move |path, _| path == excluded);
            let nodes = nodes.map(|node| node.unwrap());
            let times = nodes.map(|node| format!("{}:{}", node.path.as_bstr(), node.mtime_s));
            times.collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(times(b"none"), [":9 a:9 a/b:9 a/b/f:7 c:9 c/f:9 d:3"; 2]);
    assert_eq!(times(b"c"), [":7 a:7 a/b:7 a/b/f:7 d:3"; 2]);
    let empty = both(&archive(&[]), &options).map(|nodes| {
        let root = nodes.unwrap().next().unwrap().unwrap();
        root.mtime_s
    });
    assert_eq!(empty, [options.defaults.mtime_s; 2]);
}

#[test]
fn access_control_lists_are_counted() {
    let mut builder = Builder::new(Vec::new(), WriteOptions::default());
    for (path, access, default) in [("a", true, false), ("b", false, false), ("c", true, true)] {
        let mut member = Member::new(path, MemberKind::Node(NodeKind::Directory));
        let list = |is_there: bool| is_there.then(|| b"user::rwx,group::r-x,other::---".to_vec());
        (member.acl_access, member.acl_default) = (list(access), list(default));
        builder.append(&member, &mut &b""[..]).unwrap();
    }
    for nodes in both(&builder.finish().unwrap(), &NodeOptions::default()) {
        assert_eq!(nodes.unwrap().access_control_lists(), 2);
    }
}

#[test]
fn nothing_at_all_is_no_archive() {
    for refused in both(b"", &NodeOptions::default()) {
        let error = refused.err().unwrap().to_string();
        assert!(
            error.ends_with("is empty (no end-of-archive marker)"),
            "{error}"
        );
    }
}

#[test]
fn damage_and_a_cut_name_archive_and_place() {
    let long = "x".repeat(5000);
    let bytes = archive(&[('f', "a", &long), ('f', "b", "b")]);
    let mut damaged = bytes.clone();
    damaged[512 + 5120 + 3] ^= 1;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("the-archive");
    for (bytes, said) in [
        (&damaged[..], "the header at byte 5632 has a wrong checksum"),
        (
            &bytes[..4000],
            "the archive ends at byte 4000, within the content of 'a'",
        ),
        (
            &bytes[..5700],
            "the archive ends at byte 5700, within a header",
        ),
        (
            &b"no archive at all"[..],
            "the archive ends at byte 17, within a header",
        ),
        (&[b'x'; 154], "this is a plain file, not a tar archive"),
        (&[7; 1024], "this is a plain file, not a tar archive"),
    ] {
        for compressed in [false, true] {
            let bytes = if compressed {
                zstd::encode_all(bytes, 1).unwrap()
            } else {
                bytes.to_vec()
            };
            std::fs::write(&path, bytes).unwrap();
            let options = NodeOptions {
                spool_directory: home.path().to_owned(),
                ..NodeOptions::default()
            };
            let refused = nodes_of_archive(ReadFile::open(&path).unwrap(), &options);
            let NodeError::Source(error) = refused.err().unwrap() else {
                panic!("it is about all of it");
            };
            let expected = format!("cannot read the archive '{}': {said}", path.display());
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn members_that_no_tree_can_have_are_refused_or_told_of_at_the_end() {
    let mut bytes = archive(&[('f', "a", "1"), ('f', "bb/c", "2"), ('f', "d", "3")]);
    // A name that leaves the tree, with the sum of its header made right.
    bytes[1024..1026].copy_from_slice(b"..");
    let sum: u32 = (0..512)
        .map(|at| match at {
            148..156 => 32,
            _ => u32::from(bytes[1024 + at]),
        })
        .sum();
    bytes[1024 + 148..1024 + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    for nodes in both(&bytes, &NodeOptions::default()) {
        let error = nodes.err().unwrap().to_string();
        assert!(
            error.ends_with("'../c': a name that leaves its directory"),
            "{error}"
        );
    }
    let options = NodeOptions {
        skip_unusable: true,
        ..NodeOptions::default()
    };
    for nodes in both(&bytes, &options) {
        let lines: Vec<_> = nodes.unwrap().map(line).skip(1).collect();
        let said = "error: '../c': a name that leaves its directory";
        assert_eq!(lines, ["f /a 0 1", "f /d 2 3", said]);
    }
}

#[test]
fn an_index_takes_no_more_memory_than_it_may() {
    let names: Vec<String> = (0..100).map(|number| format!("d{number}/f")).collect();
    let members: Vec<_> = names.iter().map(|name| ('f', name.as_str(), "")).collect();
    let with = |index_bytes| NodeOptions {
        index_bytes,
        ..NodeOptions::default()
    };
    let refused = refusal_anywhere(&members, &with(5000));
    assert!(
        refused.ends_with("too many members: their index takes more than 5000 bytes"),
        "{refused}"
    );
    assert_eq!(tree(&members, &with(20_000)).len(), 201);
}

fn refusal_anywhere(members: &[(char, &str, &str)], options: &NodeOptions) -> String {
    let [refused, spooled] = both(&archive(members), options);
    assert!(spooled.is_err());
    refused.err().unwrap().to_string()
}

#[test]
fn the_end_can_be_asked_for() {
    let options = NodeOptions::default();
    options.cancel.cancel();
    for nodes in both(&archive(&[('f', "a", "")]), &options) {
        assert!(matches!(nodes.err(), Some(NodeError::Cancelled)));
    }
}
