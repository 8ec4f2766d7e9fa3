use crate::lines::{archive_lines, assert_same, read, tree_lines, whole_seconds, Summed};
use crate::programs::{have, lines_of_archive, lines_of_directory, run, skip, Tree};
use hedgerow_tar::{decompress, Archive, ReadOptions};
use std::fs::File;
use std::path::{Path, PathBuf};

const SEEDS: usize = 4;

/// Has a program archive the tree; returns the archive.
fn packed(tree: &Tree, program: &str, words: &str) -> PathBuf {
    let archive = tree.home.path().join("archive");
    let mut all = vec!["-cf", archive.to_str().unwrap()];
    all.extend(words.split_whitespace());
    all.push(".");
    run(&tree.root, program, &all);
    archive
}

fn read_file(archive: &Path) -> Vec<Summed> {
    let file = decompress(File::open(archive).unwrap()).unwrap();
    let mut archive = Archive::new(file, ReadOptions::default());
    let members = read(&mut archive);
    assert_eq!(archive.take_warnings(), (vec![], 0));
    archive.finish().unwrap();
    members
}

/// What is read of archives that `program` makes is what Python reads, and what is on disk.
fn check(program: &str, profile: &str, words: &[&str], is_exact: bool) {
    if !have(&["python3", program]) {
        return;
    }
    for seed in 0..SEEDS {
        let tree = Tree::make(seed, profile);
        let mut expected = lines_of_directory(&tree.root);
        if !is_exact {
            expected = whole_seconds(expected);
        }
        if !words.iter().any(|words| words.contains("xattrs")) {
            let cut = |line: &String| line.rsplit_once('\t').unwrap().0.to_owned() + "\t";
            expected = expected.iter().map(cut).collect();
        }
        for words in words {
            let archive = packed(&tree, program, words);
            let members = read_file(&archive);
            let what = format!("{program} {words} of tree {seed}");
            assert_same(&tree_lines(&members), &expected, &format!("{what}, disk"));
            let python = lines_of_archive(&archive);
            assert_same(&archive_lines(&members), &python, &what);
            let holes = members.iter().any(|summed| summed.member.sparse.is_some());
            assert_eq!(holes, words.contains("--sparse"), "{words} of tree {seed}");
        }
    }
}

#[test]
fn gnu_tar_v7() {
    check("tar", "old", &["--format=v7"], false);
}

#[test]
fn gnu_tar_ustar() {
    check("tar", "ustar", &["--format=ustar"], false);
}

#[test]
fn gnu_tar_gnu() {
    let words = [
        "--format=gnu",
        "--format=oldgnu",
        "--format=gnu --sparse",
        "--format=oldgnu --sparse",
    ];
    check("tar", "full", &words, false);
}

#[test]
fn gnu_tar_pax() {
    let words = [
        "--format=pax --xattrs",
        "--format=pax --xattrs --sparse --sparse-version=0.0",
        "--format=pax --xattrs --sparse --sparse-version=0.1",
        "--format=pax --xattrs --sparse --sparse-version=1.0",
        "--format=pax --xattrs --pax-option=globexthdr.name=g,comment=x",
    ];
    check("tar", "full", &words, true);
}

#[test]
fn bsdtar_ustar() {
    check("bsdtar", "ustar", &["--format=ustar"], false);
}

#[test]
fn bsdtar_v7() {
    check("bsdtar", "old", &["--format=v7"], false);
}

#[test]
fn bsdtar_gnu() {
    check("bsdtar", "bsd", &["--format=gnutar"], false);
}

#[test]
fn bsdtar_pax() {
    let words = ["--format=pax --xattrs --no-read-sparse"];
    check("bsdtar", "bsd", &words, true);
}

/// Programs write what they compress as they write what they do not.
#[test]
fn compressed_archives() {
    let tools = ["gzip", "xz", "zstd"];
    if !have(&["python3", "tar"]) || !have(&tools) {
        return;
    }
    let tree = Tree::make(1, "full");
    let plain = archive_lines(&read_file(&packed(&tree, "tar", "--format=pax")));
    for tool in tools {
        let archive = packed(&tree, "tar", &format!("--format=pax --{tool}"));
        assert_eq!(archive_lines(&read_file(&archive)), plain, "{tool}");
    }
}

#[test]
fn access_control_lists_are_kept_as_text() {
    if !have(&["tar", "setfacl"]) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("file"), "content").unwrap();
    let set = |words: &[&str]| {
        let mut command = std::process::Command::new("setfacl");
        let output = command.args(words).current_dir(&root).output().unwrap();
        output.status.success()
    };
    if !set(&["-m", "u:12345:r-x", "file"]) || !set(&["-d", "-m", "g:54321:rw-", "."]) {
        skip("the file system has no access control lists");
        return;
    }
    let tree = Tree { home, root };
    let members = read_file(&packed(&tree, "tar", "--format=pax --acls"));
    let find = |path: &[u8]| members.iter().find(|summed| summed.member.path == path);
    let access = find(b"file").unwrap().member.acl_access.clone().unwrap();
    let access = String::from_utf8(access).unwrap();
    assert!(access.contains("user:12345:r-x"), "{access}");
    let default = find(b"").unwrap().member.acl_default.clone().unwrap();
    let default = String::from_utf8(default).unwrap();
    assert!(default.contains("group:54321:rw-"), "{default}");
}

/// A file of 8 GiB and more has a size that octal digits cannot say.
#[test]
fn sizes_beyond_octal_digits() {
    if !have(&["tar"]) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    let file = File::create(root.join("file")).unwrap();
    if file.set_len(9 << 30).is_err() {
        skip("the file system has no files of 9 GiB");
        return;
    }
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", (9 << 30) - 3).unwrap();
    let tree = Tree { home, root };
    for words in ["gnu", "oldgnu", "pax"] {
        let archive = packed(&tree, "tar", &format!("--sparse --format={words}"));
        let mut archive = Archive::new(File::open(archive).unwrap(), ReadOptions::default());
        let members = [(); 2].map(|()| archive.next_member().unwrap().unwrap());
        assert_eq!(members[1].metadata.size_bytes, 9 << 30, "{words}");
        let mut buffer = [0; 8192];
        let (mut offset, mut tail) = (0, Vec::new());
        while let Some((at, len)) = archive.read_data(&mut buffer).unwrap() {
            tail.extend_from_slice(&buffer[..len]);
            offset = at + len as u64;
        }
        assert_eq!(offset, 9 << 30, "{words}");
        assert!(tail.len() <= 1 << 20 && tail.ends_with(b"\0end"), "{words}");
        assert_eq!(archive.next_member().unwrap(), None);
    }
}
