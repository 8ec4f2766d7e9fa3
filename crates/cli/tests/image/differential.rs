//! Damaged images and archives: what hedgerow and the field's own programs both accept, they read
//! as the same tree. One seed is one case; HEDGEROW_DIFFERENTIAL is how many there are of each
//! kind, and HEDGEROW_TEST_SEED repeats one.

use super::image;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Cases of each kind: a few seconds.
const CASES: u64 = 12;
const BLOCK: usize = 512;

/// A generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

fn seeds() -> Vec<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    match number("HEDGEROW_TEST_SEED") {
        Some(seed) => vec![seed],
        None => (1..=number("HEDGEROW_DIFFERENTIAL").unwrap_or(CASES)).collect(),
    }
}

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("d/e")).unwrap();
    for (name, bytes) in [("a", 3), ("d/b", 5000), ("d/e/c", 300_000), ("zero", 0)] {
        let content: Vec<u8> = (0..bytes as u32)
            .flat_map(|at| (at.wrapping_mul(at) / 7).to_le_bytes())
            .collect();
        fs::write(tree.join(name), &content[..bytes]).unwrap();
    }
    let name = "n".repeat(120);
    fs::write(tree.join(&name), "a long name").unwrap();
    symlink("d/b", tree.join("link")).unwrap();
    symlink("t".repeat(130), tree.join("long-link")).unwrap();
    fs::hard_link(tree.join("a"), tree.join("d/hard")).unwrap();
    let sparse = fs::File::create(tree.join("sparse")).unwrap();
    sparse.set_len(2 << 20).unwrap();
    std::os::unix::fs::FileExt::write_at(&sparse, b"in the middle", 1 << 20).unwrap();
    home
}

/// Whether a program is there, succeeds in good time, and says nothing of an error.
fn accepts(directory: &Path, program: &str, words: &[&str]) -> Option<bool> {
    let mut command = Command::new("timeout");
    command
        .args(["60", program])
        .args(words)
        .current_dir(directory);
    let output = command.stdin(Stdio::null()).output().ok()?;
    let is_missing = output.status.code() == Some(127);
    (!is_missing).then(|| output.status.success())
}

/// All that can be seen of a tree.
fn seen(directory: &Path) -> String {
    let find = |words: &[&str]| {
        let mut command = Command::new("find");
        command
            .current_dir(directory)
            .args(words)
            .env("LC_ALL", "C");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let entries = find(&[
        ".",
        "-mindepth",
        "1",
        "(",
        "-type",
        "d",
        "-printf",
        "%P %y %m %U:%G\n",
        "-o",
        "-type",
        "l",
        "-printf",
        "%P %y %l\n",
        "-o",
        "-printf",
        "%P %y %m %U:%G %s %n %Ts\n",
        ")",
    ]);
    let contents = find(&[".", "-type", "f", "-exec", "sha256sum", "{}", "+"]);
    entries.replace(".0000000000", "") + "\n" + &contents
}

fn removed(directory: &Path) {
    if directory.exists() {
        fs::remove_dir_all(directory).unwrap();
    }
}

#[test]
fn damaged_images_are_read_as_unsquashfs_reads_them() {
    let home = home();
    let home = home.path();
    if accepts(home, "unsquashfs", &["-v"]).is_none() {
        hedgerow_testkit::skip("unsquashfs is not installed");
        return;
    }
    let (mut both, mut images) = (0, Vec::new());
    for words in [
        &["-cgzip"][..],
        &["-clz4", "-b4K"],
        &["-czstd", "--no-fragments"],
    ] {
        let words = [&["create", "-qf"], words, &["tree", "image"]].concat();
        assert_eq!(image(home, &words).code, 0);
        images.push(fs::read(home.join("image")).unwrap());
    }
    for seed in seeds() {
        let mut random = Random::new(seed);
        let mut bytes = images[random.below(images.len())].clone();
        // Most of an image is data; what its tables say is worth more.
        let tables = u64::from_le_bytes(bytes[64..72].try_into().unwrap()) as usize;
        for _ in 0..=random.below(2) {
            let at = match random.below(4) {
                0 => random.below(96),
                1 => random.below(bytes.len()),
                _ => tables + random.below(bytes.len() - tables),
            };
            bytes[at] ^= 1 << random.below(8);
        }
        fs::write(home.join("image"), &bytes).unwrap();
        let (ours, theirs) = (home.join("ours"), home.join("theirs"));
        let words = ["-q", "-n", "-d", "theirs", "image"];
        let is_theirs = accepts(home, "unsquashfs", &words) == Some(true);
        let is_ours = image(home, &["extract", "-q", "image", "ours"]).code == 0;
        if is_ours && is_theirs {
            both += 1;
            assert_eq!(seen(&ours), seen(&theirs), "seed {seed}");
        }
        removed(&ours);
        removed(&theirs);
    }
    println!("{both} images were read by both");
}

#[test]
fn damaged_archives_are_read_as_gnu_tar_reads_them() {
    let home = home();
    let home = home.path();
    let (mut both, mut archives) = (0, Vec::new());
    for format in ["gnu", "pax", "oldgnu"] {
        let format = format!("--format={format}");
        let words = [
            "-S",
            &format,
            "-cf",
            "archive",
            "--sort=name",
            "-C",
            "tree",
            ".",
        ];
        if accepts(home, "tar", &words) != Some(true) {
            hedgerow_testkit::skip("GNU tar is not installed");
            return;
        }
        archives.push(fs::read(home.join("archive")).unwrap());
    }
    for seed in seeds() {
        let mut random = Random::new(seed);
        let mut bytes = archives[random.below(archives.len())].clone();
        let headers: Vec<usize> = (0..bytes.len() / BLOCK)
            .map(|block| block * BLOCK)
            .filter(|at| bytes[at + 257..].starts_with(b"ustar"))
            .collect();
        for _ in 0..=random.below(2) {
            let header = headers[random.below(headers.len())];
            let at = match random.below(3) {
                // The records of an extended header, or the content.
                0 => (header + BLOCK + random.below(BLOCK)).min(bytes.len() - 1),
                1 => header + 100 + random.below(157),
                _ => header + random.below(BLOCK),
            };
            bytes[at] ^= 1 << random.below(8);
            checksum(&mut bytes[header..header + BLOCK]);
        }
        fs::write(home.join("archive"), &bytes).unwrap();
        let (ours, theirs) = (home.join("ours"), home.join("theirs"));
        fs::create_dir(&theirs).unwrap();
        let words = [
            "--same-permissions",
            "--numeric-owner",
            "-xf",
            "archive",
            "-C",
            "theirs",
        ];
        let is_theirs = accepts(home, "tar", &words) == Some(true);
        let is_ours = image(home, &["create", "-qf", "archive", "image"]).code == 0
            && image(home, &["extract", "-q", "image", "ours"]).code == 0;
        if is_ours && is_theirs {
            both += 1;
            assert_eq!(seen(&ours), seen(&theirs), "seed {seed}");
        }
        removed(&ours);
        removed(&theirs);
    }
    println!("{both} archives were read by both");
}

/// Gives a header the checksum that it should have.
fn checksum(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}
