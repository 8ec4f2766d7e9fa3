use crate::lines::{archive_lines, assert_same, read};
use crate::programs::{have, lines_of_archive, lines_of_directory, run, Tree};
use hedgerow_tar::{Archive, Builder, ReadOptions, WriteOptions};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const SEEDS: usize = 4;

/// Has GNU tar archive the tree, and writes an archive of the same members.
fn rewritten(tree: &Tree, options: WriteOptions) -> PathBuf {
    let original = tree.home.path().join("original");
    let words = "--format=pax --xattrs --sparse .".split_whitespace();
    let all: Vec<&str> = ["-cf", original.to_str().unwrap()]
        .into_iter()
        .chain(words)
        .collect();
    run(&tree.root, "tar", &all);
    let mut archive = Archive::new(File::open(original).unwrap(), ReadOptions::default());
    let path = tree.home.path().join("rewritten");
    let output = BufWriter::new(File::create(&path).unwrap());
    let mut builder = Builder::new(output, options);
    let mut buffer = vec![0; 50_021];
    while let Some(member) = archive.next_member().unwrap() {
        builder.begin(&member).unwrap();
        while let Some((_, len)) = archive.read_data(&mut buffer).unwrap() {
            builder.write(&buffer[..len]).unwrap();
        }
    }
    builder.finish().unwrap().flush().unwrap();
    path
}

/// What a program makes of an archive.
fn unpacked(tree: &Tree, archive: &Path, program: &str, words: &str) -> Vec<String> {
    let target = tree.home.path().join("unpacked");
    std::fs::create_dir(&target).unwrap();
    let mut all = vec!["-xpf", archive.to_str().unwrap()];
    all.extend(words.split_whitespace());
    run(&target, program, &all);
    let lines = lines_of_directory(&target);
    std::fs::remove_dir_all(&target).unwrap();
    lines
}

/// Trees come through an archive as they were, whoever unpacks it.
#[test]
fn other_programs_unpack_the_same_tree() {
    if !have(&["python3", "tar", "bsdtar"]) {
        return;
    }
    for seed in 100..100 + SEEDS {
        // bsdtar cannot read fractions of seconds before 1970.
        let bsdtar = ("bsd", "bsdtar", "--xattrs");
        let gnu = ("full", "tar", "--xattrs --xattrs-include=*");
        for (profile, program, words) in [gnu, bsdtar] {
            let tree = Tree::make(seed, profile);
            let expected = lines_of_directory(&tree.root);
            for sparse in [false, true] {
                let options = WriteOptions {
                    sparse,
                    ..WriteOptions::default()
                };
                let archive = rewritten(&tree, options);
                let lines = unpacked(&tree, &archive, program, words);
                assert_same(
                    &lines,
                    &expected,
                    &format!("{program} of tree {seed}, {sparse}"),
                );
            }
        }
    }
}

/// Every member is to Python's eyes what it is to ours.
#[test]
fn other_programs_read_the_same_members() {
    if !have(&["python3", "tar"]) {
        return;
    }
    for seed in 200..200 + SEEDS {
        let tree = Tree::make(seed, "full");
        for sparse in [false, true] {
            let options = WriteOptions {
                sparse,
                record_bytes: 0,
                ..WriteOptions::default()
            };
            let archive = rewritten(&tree, options);
            let open = |name: &str| {
                let file = File::open(tree.home.path().join(name)).unwrap();
                read(&mut Archive::new(file, ReadOptions::default()))
            };
            let (original, ours) = (open("original"), open("rewritten"));
            for (original, ours) in original.iter().zip(&ours) {
                let mut expected = original.member.clone();
                // A map without holes says nothing.
                expected.sparse = expected
                    .sparse
                    .filter(|map| sparse && map.stored_bytes() < map.size_bytes());
                assert_eq!(ours.member, expected, "tree {seed}");
            }
            let lines = archive_lines(&ours);
            assert_same(&lines, &archive_lines(&original), &format!("tree {seed}"));
            assert_same(&lines, &lines_of_archive(&archive), &format!("tree {seed}"));
        }
    }
}
