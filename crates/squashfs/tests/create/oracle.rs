//! Readers that we did not write give back the tree.

use crate::{image_of, options};
use hedgerow_codec::block::Compressor;
use hedgerow_squashfs::{verify, FragmentPolicy};
use hedgerow_testkit::image_trees::{self as trees, assert_same, is_root, make, place, Random};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Trees that are made. HEDGEROW_TREES=500 makes it a long run.
const TREES: u64 = 12;

#[test]
fn everybody_reads_the_same_tree() {
    let trees = std::env::var("HEDGEROW_TREES").map_or(TREES, |count| count.parse().unwrap());
    let next = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < trees)
                {
                    tree(seed);
                }
            });
        }
    });
}

/// A directory that is many metadata blocks long, with an index, and files of one size.
#[test]
fn a_directory_of_many_names_is_found_in() {
    let own = place();
    let (tree, image) = (own.path().join("tree"), own.path().join("image"));
    std::fs::create_dir_all(tree.join("large")).unwrap();
    for number in 0..70_000 {
        let name = format!("large/{:x}-{number}", number * 7919 % 65_537);
        std::fs::write(tree.join(name), format!("{number:06}")).unwrap();
    }
    image_of(&tree, &image, &options(Compressor::Lz4, 131_072, 2)).unwrap();
    let expected = listing(&tree);
    if is_root() {
        mounted(&image, |mounted| {
            // Each name is looked up, through the index.
            for number in (0..70_000).step_by(137) {
                let name = format!("large/{:x}-{number}", number * 7919 % 65_537);
                let content = std::fs::read(mounted.join(name)).unwrap();
                assert_eq!(content, format!("{number:06}").as_bytes());
            }
            assert!(!mounted.join("large/nothing").exists());
            assert_eq!(listing(mounted), expected);
        });
    }
}

/// Makes a tree, and an image of it with each compressor.
fn tree(seed: u64) {
    let block = match seed % 20 {
        19 => 1 << 20,
        9 => 131_072,
        other => 4096 << (other % 3),
    };
    let own = place();
    let tree = own.path().join("tree");
    fs::create_dir(&tree).unwrap();
    make(&tree, seed, block);
    let expected = listing(&tree);
    for compressor in Compressor::ALL {
        let image = own.path().join("image");
        let mut given = options(compressor, block as u32, 2);
        given.fragments = match seed % 5 {
            3 => FragmentPolicy::SmallFiles,
            4 => FragmentPolicy::Never,
            _ => FragmentPolicy::Always,
        };
        given.dedup = seed % 7 != 6;
        image_of(&tree, &image, &given).unwrap();
        let what = format!("{compressor}, seed {seed}");
        let file = hedgerow_fs::ReadFile::open(&image).unwrap();
        let report = verify(Box::new(file), 0, &given.execution).unwrap();
        assert_eq!(report.findings, [], "{what}");
        if is_root() && compressor != Compressor::Lzma {
            mounted(&image, |mounted| {
                assert_same(&listing(mounted), &expected, &format!("mounted: {what}"))
            });
        }
        for (reader, is_whole) in [(unsquashfs as Reader, true), (rdsquashfs, false)] {
            let unpacked = own.path().join("unpacked");
            if let Some(name) = reader(&image, &unpacked) {
                let seen = |listing: &str| {
                    if is_whole {
                        listing.to_owned()
                    } else {
                        of_rdsquashfs(listing)
                    }
                };
                let (found, expected) = (seen(&listing(&unpacked)), seen(&expected));
                assert_same(&found, &expected, &format!("{name}: {what}"));
                fs::remove_dir_all(&unpacked).unwrap();
            }
        }
    }
}

/// Unpacks an image; `None` if there is no such program.
type Reader = fn(&Path, &Path) -> Option<&'static str>;

/// What rdsquashfs gives back of a tree: a copy for each name of a file, and nothing of the root.
fn of_rdsquashfs(listing: &str) -> String {
    let words = |line: &str| {
        let words = line.split(' ').filter(|word| !word.ends_with("-links,"));
        words.collect::<Vec<_>>().join(" ")
    };
    let lines = listing.lines().filter(|line| !line.starts_with("\"\" "));
    lines.map(|line| words(line) + "\n").collect()
}

fn unsquashfs(image: &Path, unpacked: &Path) -> Option<&'static str> {
    let words = ["-no-progress", "-quiet", "-d"].map(OsStr::new);
    let mut command = Command::new("unsquashfs");
    command.args(words).arg(unpacked).arg(image);
    run_if_there("unsquashfs", &mut command)
}

fn rdsquashfs(image: &Path, unpacked: &Path) -> Option<&'static str> {
    fs::create_dir(unpacked).unwrap();
    let mut command = Command::new("rdsquashfs");
    command.args(["-q", "-X", "-T", "-C", "-O", "-u", "/", "-p"]);
    command.arg(unpacked).arg(image);
    run_if_there("rdsquashfs", &mut command)
}

fn run_if_there(name: &'static str, command: &mut Command) -> Option<&'static str> {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            hedgerow_testkit::skip(&format!("{name} is not installed"));
            None
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{command:?}: {output:?}");
            Some(name)
        }
    }
}

/// Thousands of blocks of all lengths, some of which end right behind a page: the driver cannot read
/// the checksum of those.
#[test]
fn the_kernel_reads_every_block_of_zstd() {
    let own = place();
    let (tree, image) = (own.path().join("tree"), own.path().join("image"));
    std::fs::create_dir(&tree).unwrap();
    for number in 0..1500 {
        let mut random = Random::new(number);
        let mut content = random.bytes(random_length(number), true);
        content.resize(8192, b'=');
        std::fs::write(tree.join(number.to_string()), content).unwrap();
    }
    image_of(&tree, &image, &options(Compressor::Zstd, 4096, 2)).unwrap();
    if is_root() {
        mounted(&image, |mounted| {
            assert_eq!(listing(mounted), listing(&tree))
        });
    }
}

fn random_length(number: u64) -> usize {
    4096 + (number * 2999 % 4096) as usize
}

/// All that a tree holds, a line an entry.
fn listing(root: &Path) -> String {
    let own = hedgerow_fs::Dir::open(root).unwrap();
    trees::listing(root, &|path| {
        let mut xattrs = own.xattrs_of(path.as_os_str().as_bytes()).unwrap();
        xattrs.sort();
        format!("{xattrs:?}")
    })
}

fn mounted(image: &Path, look: impl FnOnce(&Path)) {
    trees::mounted(image, "squashfs", "loop,ro", look);
}
