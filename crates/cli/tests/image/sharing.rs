//! Equal blocks are stored once, and holes not at all.

use super::archives::run;
use super::image;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use tempfile::TempDir;

const BLOCK: usize = 128 << 10;

/// Bytes that do not compress, the same for the same seed.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Writes a file of blocks, each by its letter, a `0` for zeros, with a tail of this seed.
fn write(tree: &Path, name: &str, blocks: &str, tail: u64) {
    let mut content = Vec::new();
    for letter in blocks.bytes() {
        match letter {
            b'0' => content.extend_from_slice(&vec![0; BLOCK]),
            letter => content.extend(noise(letter.into(), BLOCK)),
        }
    }
    if tail > 0 {
        content.extend(noise(tail + 1000, 100 + tail as usize));
    }
    fs::write(tree.join(name), content).unwrap();
}

/// The image of `tree`, the same for any number of workers; everybody reads what was packed.
fn checked(home: &Path, words: &[&str]) -> u64 {
    let mut made = Vec::new();
    for jobs in ["-j1", "-j2", "-j5"] {
        let words = [
            &["create", "-qf", "-c", "lz4", jobs],
            words,
            &["tree", "image"],
        ]
        .concat();
        let outcome = image(home, &words);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
        made.push(fs::read(home.join("image")).unwrap());
    }
    assert!(made.iter().all(|image| *image == made[0]));
    let verified = image(home, &["verify", "-q", "image"]);
    assert_eq!((verified.code, verified.text().as_str()), (0, ""));
    let again = image(
        home,
        &[
            "create", "-qf", "-c", "lz4", "--reuse", "image", "tree", "again",
        ],
    );
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    if words.is_empty() {
        assert!(fs::read(home.join("again")).unwrap() == made[0]);
    }
    for program in ["unsquashfs", "rdsquashfs", "hedgerow"] {
        let out = home.join("out");
        let read = match program {
            "unsquashfs" => run(home, program, &["-q", "-n", "-d", "out", "image"]),
            "rdsquashfs" => run(home, program, &["-q", "-p", "out", "-u", "/", "image"]),
            _ => Some(image(home, &["extract", "-q", "image", "out"]).stdout),
        };
        if read.is_some() {
            run(home, "diff", &["-r", "tree", "out"]);
            fs::remove_dir_all(out).unwrap();
        }
    }
    made[0].len() as u64
}

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("tree")).unwrap();
    home
}

#[test]
fn files_that_differ_in_their_tails_share_their_blocks() {
    let home = home();
    let tree = home.path().join("tree");
    for number in 1..=20 {
        // Larger than what is read at once, and as large as one block.
        write(&tree, &format!("large-{number}"), "abcdefghi", number);
        write(&tree, &format!("small-{number}"), "z", number);
    }
    let bytes = checked(home.path(), &[]);
    assert!(bytes < 10 * BLOCK as u64 + 20_000, "{bytes}");
    let bytes = checked(home.path(), &["--no-dedup"]);
    assert!(bytes > 200 * BLOCK as u64, "{bytes}");
}

#[test]
fn a_file_can_be_a_part_of_another_or_of_two() {
    let home = home();
    let tree = home.path().join("tree");
    let files = [
        ("a", "abcdef", 0),
        ("b", "ghijklmnopqr", 0),
        // Parts of one, across two, with holes between, and with tails.
        ("c", "bcd", 1),
        ("d", "efgh", 2),
        ("e", "0b0c00d0", 3),
        ("f", "hijklmnopq", 4),
        ("g", "r", 5),
        ("h", "000", 6),
        ("i", "00000000000000000000", 0),
        ("j", "f0ghijklmnop0q", 7),
    ];
    for (name, blocks, tail) in files {
        write(&tree, name, blocks, tail);
    }
    let bytes = checked(home.path(), &[]);
    assert!(bytes < 18 * BLOCK as u64 + 8192, "{bytes}");
    // A fragment block between two files ends a run; so does another order.
    write(&tree, "k", "fe", 0);
    write(&tree, "l", "aabb", 8);
    let more = checked(home.path(), &[]);
    assert_eq!(
        more.next_multiple_of(4096) / BLOCK as u64,
        bytes / BLOCK as u64 + 6,
        "{more}"
    );
}

/// An archive of one file with a hole of nearly `size_bytes`.
fn sparse_archive(home: &Path, name: &str, size_bytes: u64) {
    let mut map = format!("1\n{}\n1\n", size_bytes - 1).into_bytes();
    map.resize(512, 0);
    map.push(b'x');
    let records = [
        "GNU.sparse.major=1".to_owned(),
        "GNU.sparse.minor=0".to_owned(),
        "GNU.sparse.name=f".to_owned(),
        format!("GNU.sparse.realsize={size_bytes}"),
    ];
    let mut extended = String::new();
    for record in records {
        let bare = record.len() + 2;
        let length = bare + if bare + 2 < 10 { 1 } else { 2 };
        extended += &format!("{length} {record}\n");
    }
    let mut archive = header("PaxHeaders/f", b'x', extended.len());
    append(&mut archive, extended.as_bytes());
    archive.extend(header("GNUSparseFile.0/f", b'0', map.len()));
    append(&mut archive, &map);
    archive.extend([0; 1024]);
    fs::write(home.join(name), archive).unwrap();
}

fn append(archive: &mut Vec<u8>, bytes: &[u8]) {
    archive.extend_from_slice(bytes);
    archive.resize(archive.len().next_multiple_of(512), 0);
}

fn header(name: &str, kind: u8, size: usize) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, "00000000000");
    put(148, "        ");
    put(257, "ustar\x0000");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[test]
fn holes_cost_nothing_up_to_a_limit() {
    let home = home();
    let home = home.path();
    const SIZE: u64 = 1 << 41;
    sparse_archive(home, "small.tar", SIZE);
    for words in [&["image"][..], &["-b64K", "other"]] {
        let words = [&["create", "-q", "small.tar"], words].concat();
        let made = image(home, &words);
        assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    }
    assert!(fs::metadata(home.join("image")).unwrap().len() < 1 << 20);
    assert_eq!(image(home, &["verify", "-q", "image"]).code, 0);
    assert_eq!(image(home, &["diff", "image", "other"]).text(), "");
    let archive = image(home, &["to-tar", "image"]).stdout;
    // The block at the end holds one byte that is no zero.
    assert!(archive.len() < 2 * BLOCK, "{}", archive.len());
    fs::write(home.join("again.tar"), archive).unwrap();
    assert_eq!(image(home, &["create", "-q", "again.tar", "again"]).code, 0);
    assert!(fs::read(home.join("again")).unwrap() == fs::read(home.join("image")).unwrap());
    if File::create(home.join("probe"))
        .unwrap()
        .set_len(SIZE)
        .is_ok()
    {
        assert_eq!(image(home, &["extract", "-q", "image", "out"]).code, 0);
        assert_eq!(fs::metadata(home.join("out/f")).unwrap().len(), SIZE);
        run(home, "cp", &["--sparse=always", "probe", "tree/hole"]);
        let limited = image(home, &["create", "-q", "--max-holes", "1T", "tree", "i"]);
        assert_eq!(limited.code, 2);
        assert_eq!(image(home, &["create", "-q", "tree", "i"]).code, 0);
    } else {
        hedgerow_testkit::skip("the file system has no files of 2 TiB");
    }
    for size in [1 << 44, 1 << 50, (1 << 62) + 3] {
        sparse_archive(home, "large.tar", size);
        let refused = image(home, &["create", "-q", "large.tar", "new"]);
        let reason = "error: cannot store 'f': with it, files have more than 4398046511104 bytes \
                      of holes\n\nhint: use --max-holes to allow more\n";
        assert_eq!(
            (refused.code, refused.stderr.as_str()),
            (2, reason),
            "{size}"
        );
        assert!(!home.join("new").exists());
    }
    let words = ["create", "-q", "--max-holes", "20K", "small.tar", "new"];
    assert_eq!(image(home, &words).code, 2);
    let words = ["create", "-q", "--max-holes", "many", "small.tar", "new"];
    assert!(image(home, &words)
        .stderr
        .contains("'many' is not a number of bytes"));
}

#[test]
fn holes_and_zeros_give_the_same_image() {
    let home = home();
    let tree = home.path().join("tree");
    let mut sparse = File::create(tree.join("f")).unwrap();
    for at in [0_u64, 3 << 20, (9 << 20) + 12_345] {
        sparse.seek(SeekFrom::Start(at)).unwrap();
        sparse.write_all(&noise(at, 5000)).unwrap();
    }
    sparse.set_len((20 << 20) + 77).unwrap();
    let bytes = checked(home.path(), &[]);
    let with_holes = fs::read(home.path().join("image")).unwrap();
    let dense = fs::read(tree.join("f")).unwrap();
    let time = fs::metadata(tree.join("f")).unwrap().modified().unwrap();
    fs::write(tree.join("f"), dense).unwrap();
    let file = File::options().write(true).open(tree.join("f")).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(checked(home.path(), &[]), bytes);
    assert!(fs::read(home.path().join("image")).unwrap() == with_holes);
}
