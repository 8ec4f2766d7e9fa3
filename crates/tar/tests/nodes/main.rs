//! Archives as trees: names that come twice, links to anything, parents that are missing.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test makes the files it is about"
)]

mod links;
mod roots;
mod sink;
mod trees;

use hedgerow_fs::ReadFile;
use hedgerow_tar::{
    nodes_of_archive, ArchiveNodes, Builder, Member, MemberKind, NodeOptions, WriteOptions,
};
use hedgerow_tree::{Node, NodeError, NodeKind};

/// A member by a letter of its kind, its path, and its content or target. The mode tells in which
/// place of the archive it was.
fn archive(members: &[(char, &str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new(), WriteOptions::default());
    for (place, (letter, path, text)) in members.iter().enumerate() {
        let kind = match letter {
            'f' => MemberKind::Node(NodeKind::File),
            'd' => MemberKind::Node(NodeKind::Directory),
            'l' => MemberKind::Node(NodeKind::Symlink),
            'h' => MemberKind::HardLink,
            other => panic!("{other} is no kind"),
        };
        let mut member = Member::new(*path, kind);
        member.metadata.mode = 0o100 + place as u32;
        match letter {
            'd' => {}
            'f' => member.metadata.size_bytes = text.len() as u64,
            _ => member.link_target = text.as_bytes().to_vec(),
        }
        builder.append(&member, &mut text.as_bytes()).unwrap();
    }
    builder.finish().unwrap()
}

/// The nodes of an archive that is a file, and of the same in a form that must be put aside.
fn both(bytes: &[u8], options: &NodeOptions) -> [Result<ArchiveNodes, NodeError>; 2] {
    let home = tempfile::tempdir().unwrap();
    let compressed = zstd::encode_all(bytes, 1).unwrap();
    [("plain", bytes), ("compressed", &compressed)].map(|(name, bytes)| {
        let path = home.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let options = NodeOptions {
            spool_directory: home.path().to_owned(),
            ..options.clone()
        };
        nodes_of_archive(ReadFile::open(&path).unwrap(), &options)
    })
}

/// A node in short: its path, where in the archive it was, its content or target; a number for
/// those that are one file.
fn line(node: Result<Node, NodeError>) -> String {
    let mut node = match node {
        Ok(node) => node,
        Err(error) => {
            assert!(matches!(error, NodeError::Entry(_)), "{error}");
            return format!("error: {error}");
        }
    };
    let text = match node.kind {
        NodeKind::File => {
            let mut bytes = vec![0; 100];
            let count = node.handle.open().unwrap().read(&mut bytes).unwrap();
            bytes.truncate(count);
            bytes
        }
        NodeKind::Symlink => node.handle.target().unwrap(),
        _ => Vec::new(),
    };
    let path = String::from_utf8(node.path).unwrap();
    let text = String::from_utf8(text).unwrap();
    let link = node
        .link
        .map_or(String::new(), |(_, number)| format!(" #{number}"));
    let letter = node.kind.letter();
    format!(
        "{letter} /{path} {} {text}{link}",
        i32::from(node.mode) - 0o100
    )
}

fn tree(members: &[(char, &str, &str)], options: &NodeOptions) -> Vec<String> {
    let [in_place, spooled] = both(&archive(members), options);
    let lines: Vec<String> = in_place.unwrap().map(line).collect();
    assert_eq!(lines, spooled.unwrap().map(line).collect::<Vec<_>>());
    lines
}

fn refusal(members: &[(char, &str, &str)], options: &NodeOptions) -> String {
    let refused = both(&archive(members), options).map(|nodes| match nodes.err().unwrap() {
        NodeError::Source(error) => error.to_string(),
        other => panic!("{other}"),
    });
    assert_eq!(refused[0], refused[1]);
    let [refused, _] = refused;
    refused
}
