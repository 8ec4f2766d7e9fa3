//! An archive from any bytes as a source of nodes: they come in canonical order, each once, parents
//! first; contents have the length that they say; and the index takes no more than it may.
#![no_main]

use hedgerow_fs::ReadFile;
use hedgerow_tar::{nodes_of_archive, Limits, NewRoot, NodeOptions};
use hedgerow_tree::{canonical_order, split_path, Node, NodeError, NodeKind};
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;

const BLOCK: usize = 512;
/// Files may say that they are larger than this.
const READ_BYTES: u64 = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let directory = tempfile::tempdir().expect("there is room for files");
    let path = directory.path().join("archive");
    for bytes in [input, &repaired(input)] {
        std::fs::write(&path, bytes).expect("there is room for files");
        for root in ["", "a"] {
            let options = NodeOptions {
                spool_directory: directory.path().to_owned(),
                new_root: NewRoot::new(root.as_bytes(), true).ok(),
                skip_unusable: true,
                limits: Limits {
                    pax_bytes: 1 << 16,
                    ..Limits::default()
                },
                index_bytes: 1 << 20,
                ..NodeOptions::default()
            };
            let file = ReadFile::open(&path).expect("it was written");
            if let Ok(nodes) = nodes_of_archive(file, &options) {
                check(nodes);
            }
        }
    }
});

/// Makes the checksums right of all blocks that look like headers: else few inputs get further.
fn repaired(input: &[u8]) -> Vec<u8> {
    let mut repaired = input.to_vec();
    for block in repaired.chunks_exact_mut(BLOCK) {
        if block.starts_with(&[0]) {
            continue;
        }
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    repaired
}

fn check(nodes: impl Iterator<Item = Result<Node, NodeError>>) {
    let mut directories = HashSet::new();
    let mut last: Option<Vec<u8>> = None;
    for node in nodes {
        let mut node = match node {
            Ok(node) => node,
            Err(NodeError::Entry(_)) => continue,
            Err(error) => panic!("{error}"),
        };
        match &last {
            None => assert!(node.path.is_empty() && node.kind == NodeKind::Directory),
            Some(last) => {
                assert!(canonical_order(last, &node.path).is_lt());
                assert!(directories.contains(split_path(&node.path).0));
            }
        }
        if node.kind == NodeKind::Directory {
            directories.insert(node.path.clone());
        }
        if node.kind == NodeKind::File && node.size_bytes <= READ_BYTES {
            read(&mut node);
        }
        last = Some(node.path);
    }
    assert!(last.is_some(), "there is a root");
}

fn read(node: &mut Node) {
    let mut content = node.handle.open().expect("nothing is opened");
    assert_eq!(content.size_bytes(), node.size_bytes);
    let mut buffer = [0; 1000];
    let mut total = 0;
    loop {
        total += content.skip_hole().expect("holes are in the index");
        match content.read(&mut buffer).expect("the file is there") {
            0 => break,
            count => total += count as u64,
        }
    }
    assert_eq!(total, node.size_bytes);
}
