//! The nodes of an archive are those of the directory that was archived.

use crate::programs::{have, run, Tree};
use hedgerow_fs::ReadFile;
use hedgerow_tar::{nodes_of_archive, write_nodes, NodeOptions, SinkOptions};
use hedgerow_tree::{Node, NodeError, NodeKind};
use hedgerow_walk::{nodes_of_directory, WalkOptions};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SEEDS: usize = 2;

/// What a test compares.
#[derive(Clone, Copy)]
struct Compared {
    nanoseconds: bool,
    xattrs: bool,
}

/// A line for each node. Links are named by the first path of their file.
fn lines(nodes: impl Iterator<Item = Result<Node, NodeError>>, compared: Compared) -> Vec<String> {
    let mut first_names = HashMap::new();
    let mut counts = HashMap::new();
    let mut lines = Vec::new();
    for node in nodes {
        let mut node = node.unwrap();
        let path = bstr::BString::from(node.path.clone());
        let link = node.link.map(|link| {
            *counts.entry(link).or_insert(0) += 1;
            first_names.entry(link).or_insert(path.clone()).clone()
        });
        let content = match node.kind {
            NodeKind::File => content(&mut node),
            NodeKind::Symlink => bstr::BString::from(node.handle.target().unwrap()).to_string(),
            _ => String::new(),
        };
        let mut xattrs = node.handle.xattrs().unwrap();
        xattrs.retain(|_| compared.xattrs);
        xattrs.sort();
        let nanoseconds = node.mtime_ns * u32::from(compared.nanoseconds);
        lines.push(format!(
            "{path} {:?} {:o} {}:{} {}.{nanoseconds} {} {:?} {link:?} {content} {xattrs:?}",
            node.kind, node.mode, node.uid, node.gid, node.mtime_s, node.size_bytes, node.device,
        ));
    }
    assert!(counts.values().all(|count| *count > 1));
    lines
}

fn content(node: &mut Node) -> String {
    let mut content = node.handle.open().unwrap();
    assert_eq!(content.size_bytes(), node.size_bytes);
    let mut crc = flate2::Crc::new();
    let mut buffer = [0; 1000];
    loop {
        let mut hole = content.skip_hole().unwrap();
        while hole > 0 {
            let len = hole.min(1000);
            crc.update(&[0; 1000][..len as usize]);
            hole -= len;
        }
        match content.read(&mut buffer).unwrap() {
            0 => break,
            len => crc.update(&buffer[..len]),
        }
    }
    format!("{} {:08x}", crc.amount(), crc.sum())
}

fn of_directory(root: &Path, compared: Compared) -> Vec<String> {
    let listed = nodes_of_directory(root, WalkOptions::default(), |nodes| lines(nodes, compared));
    listed.unwrap()
}

fn of_archive(file: ReadFile, directory: &Path, compared: Compared) -> Vec<String> {
    let options = NodeOptions {
        spool_directory: directory.to_owned(),
        ..NodeOptions::default()
    };
    let before = std::fs::read_dir(directory).unwrap().count();
    let nodes = nodes_of_archive(file, &options).unwrap();
    assert!(nodes.warnings().is_empty() && nodes.access_control_lists() == 0);
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), before);
    lines(nodes, compared)
}

fn assert_same(found: &[String], expected: &[String], what: &str) {
    let differs = found
        .iter()
        .zip(expected)
        .find(|(found, expected)| found != expected);
    assert_eq!(differs, None, "{what}");
    assert_eq!(found.len(), expected.len(), "{what}");
}

fn check(program: &str, profile: &str, words: &[&str], compared: Compared) {
    if !have(&["python3", program]) {
        return;
    }
    for seed in 0..SEEDS {
        let tree = Tree::make(seed + 10, profile);
        let expected = of_directory(&tree.root, compared);
        assert!(expected.len() > 5);
        let archive = tree.home.path().join("archive");
        for words in words {
            let mut all = vec!["-cf", archive.to_str().unwrap()];
            all.extend(words.split_whitespace());
            all.push(".");
            run(&tree.root, program, &all);
            let file = ReadFile::open(&archive).unwrap();
            let found = of_archive(file, tree.home.path(), compared);
            assert_same(
                &found,
                &expected,
                &format!("{program} {words} of tree {seed}"),
            );
        }
    }
}

const SECONDS: Compared = Compared {
    nanoseconds: false,
    xattrs: false,
};

#[test]
fn whatever_format_gnu_tar_chooses() {
    check("tar", "old", &["--format=v7"], SECONDS);
    check(
        "tar",
        "ustar",
        &["--format=ustar", "--sort=name --format=ustar"],
        SECONDS,
    );
    let words = ["--format=gnu", "--format=oldgnu -S", "-z", "--zstd", "-J"];
    check("tar", "full", &words, SECONDS);
    let all = Compared {
        nanoseconds: true,
        xattrs: true,
    };
    let words = [
        "--format=pax --xattrs --xattrs-include=*",
        "--format=pax --xattrs --xattrs-include=* -S",
        "--format=pax --xattrs --xattrs-include=* -S --sparse-version=0.0 --sort=name",
    ];
    check("tar", "full", &words, all);
}

#[test]
fn whatever_bsdtar_writes() {
    let without_xattrs = Compared {
        nanoseconds: true,
        xattrs: false,
    };
    check(
        "bsdtar",
        "ustar",
        &["--format=pax", "--format=pax -z"],
        without_xattrs,
    );
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    if !have(&["python3", "tar"]) {
        return;
    }
    let tree = Tree::make(20, "full");
    let expected = of_directory(&tree.root, SECONDS);
    for words in [&["-cf-", "."][..], &["-czf-", "."], &["-cSf-", "."]] {
        let mut tar = Command::new("tar");
        tar.args(words)
            .current_dir(&tree.root)
            .stdout(Stdio::piped());
        let mut tar = tar.spawn().unwrap();
        let pipe = tar.stdout.take().unwrap();
        use std::os::fd::AsRawFd;
        let path = PathBuf::from(format!("/proc/self/fd/{}", pipe.as_raw_fd()));
        let file = ReadFile::open(&path).unwrap();
        drop(pipe);
        let found = of_archive(file, tree.home.path(), SECONDS);
        assert!(tar.wait().unwrap().success(), "it was read to its end");
        assert_same(&found, &expected, &format!("{words:?}"));
    }
}

#[test]
fn what_other_programs_unpack_of_our_archives_is_the_directory() {
    let with = |xattrs| Compared {
        nanoseconds: true,
        xattrs,
    };
    for (program, words, profile, compared) in [
        (
            "tar",
            "--xattrs --xattrs-include=* -xpf",
            "full",
            with(true),
        ),
        ("bsdtar", "-xpf", "ustar", with(false)),
    ] {
        if !have(&["python3", program]) {
            continue;
        }
        for (seed, sparse) in [(30, true), (31, false)] {
            let tree = Tree::make(seed, profile);
            let expected = of_directory(&tree.root, compared);
            let mut options = SinkOptions::default();
            options.write.sparse = sparse;
            let write = |nodes| write_nodes(nodes, Vec::new(), &options).unwrap();
            let written = nodes_of_directory(&tree.root, WalkOptions::default(), |nodes| {
                write(nodes.into_iter())
            });
            let (bytes, skipped) = written.unwrap();
            assert!(skipped.is_empty());
            let archive = tree.home.path().join("archive");
            std::fs::write(&archive, &bytes).unwrap();
            let file = ReadFile::open(&archive).unwrap();
            let found = of_archive(file, tree.home.path(), compared);
            assert_same(&found, &expected, "read again");
            let unpacked = tree.home.path().join("unpacked");
            std::fs::create_dir(&unpacked).unwrap();
            let mut all: Vec<&str> = words.split_whitespace().collect();
            all.push(archive.to_str().unwrap());
            run(&unpacked, program, &all);
            // What is the last to be done to the root is not the same in all of them.
            let unpacked = of_directory(&unpacked, compared);
            assert_same(&unpacked[1..], &expected[1..], program);
        }
    }
}
