//! Every compressor and every option of the packers, against the kernel and the unpackers.

use super::support::*;
use super::tree;
use hedgerow_engine::{Execution, Jobs};
use hedgerow_fs::ReadFile;
use hedgerow_squashfs::{verify, Image, ImageSource, Report};
use hedgerow_tree::TreeSource;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

pub fn verified(image: &Path, jobs: usize) -> Report {
    let options = Execution {
        jobs: Jobs::Fixed(NonZeroUsize::new(jobs).unwrap()),
        ..Execution::default()
    };
    verify(Box::new(ReadFile::open(image).unwrap()), 0, &options).unwrap()
}

/// Packs with mksquashfs; says whether it can.
pub fn mksquashfs(source: &Path, image: &Path, words: &[&str]) -> bool {
    let fixed = ["-noappend", "-quiet", "-no-progress"];
    let words = fixed.iter().chain(words).map(OsStr::new);
    let all: Vec<&OsStr> = [source.as_os_str(), image.as_os_str()]
        .into_iter()
        .chain(words)
        .collect();
    packed("mksquashfs", &all)
}

pub fn gensquashfs(source: &Path, image: &Path, words: &[&str]) -> bool {
    let fixed = ["-q", "-f", "-k", "-D"].map(OsStr::new).into_iter();
    let places = [source.as_os_str(), image.as_os_str()];
    let all = fixed.chain([places[0]]).chain(words.iter().map(OsStr::new));
    packed("gensquashfs", &all.chain([places[1]]).collect::<Vec<_>>())
}

fn packed(program: &str, words: &[&OsStr]) -> bool {
    match run(program, words) {
        Ok(_) => true,
        Err(reason) => {
            skip(&format!("{program} {words:?}: {}", reason.trim()));
            false
        }
    }
}

/// Everything agrees about an image: this crate, the kernel, unsquashfs.
fn agree(image: &Path, source: Option<&Snapshot>, what: &str) {
    let opened = Image::open(image, 0).unwrap();
    let ours = of_image(&opened);
    if let Some(source) = source {
        if source.values().any(|entry| entry.numbers.1 > 1) {
            assert_same(&portable(&ours), source, what)
        } else {
            assert_same(&as_gensquashfs(&portable(&ours)), source, what)
        }
    }
    // Loop devices cut off what does not fill a sector.
    if !what.contains("-nopad") {
        mounted(image, what, |place| {
            assert_same(&ours, &of_directory(place), what)
        });
    }
    let report = verified(image, 3);
    assert_eq!(report.findings, [], "{what}");
    assert_eq!(
        report.inodes,
        opened.info().unwrap().inodes.into(),
        "{what}"
    );
    assert_eq!(report, verified(image, 1), "{what}");
}

#[test]
fn images_of_mksquashfs_are_read_as_the_kernel_reads_them() {
    if !require("mksquashfs") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    tree::make(&source, 1, 300_000);
    let expected = portable(&of_directory(&source));
    for compressor in ["gzip", "xz", "lzo", "lz4", "zstd"] {
        for block in ["4096", "131072", "1048576"] {
            let words = ["-comp", compressor, "-b", block];
            if mksquashfs(&source, &image, &words) {
                agree(&image, Some(&expected), &format!("{words:?}"));
            }
        }
    }
    for words in [
        &["-no-fragments", "-exports"][..],
        &["-no-fragments", "-b", "8192", "-comp", "lz4", "-Xhc"],
        &["-always-use-fragments", "-b", "65536", "-no-exports"],
        &["-noI", "-b", "16384"],
        &["-noI", "-noD", "-noF", "-noX", "-b", "32768"],
        &["-noD", "-no-duplicates"],
        &["-comp", "xz", "-Xbcj", "x86,arm", "-Xdict-size", "100%"],
        &["-no-sparse"],
        &["-nopad", "-b", "262144"],
        &["-all-root", "-b", "524288"],
    ] {
        if mksquashfs(&source, &image, words) {
            let same = !words.contains(&"-all-root");
            agree(
                &image,
                Some(&expected).filter(|_| same),
                &format!("{words:?}"),
            );
        }
    }
    if mksquashfs(&source, &image, &["-no-xattrs"]) {
        let mut without = expected.clone();
        without.values_mut().for_each(|entry| entry.xattrs.clear());
        agree(&image, Some(&without), "-no-xattrs");
    }
}

#[test]
fn images_of_squashfs_tools_ng_are_read_as_the_kernel_reads_them() {
    if !require("gensquashfs") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    tree::make(&source, 2, 300_000);
    let of_source = portable(&of_directory(&source));
    let mut expected = as_gensquashfs(&of_source);
    for words in [
        &["-c", "gzip", "-x", "-e"][..],
        &["-c", "xz", "-x", "-b", "4096"],
        &["-c", "lzo", "-x", "-b", "1048576"],
        &["-c", "lz4", "-x", "-T"],
        &["-c", "zstd", "-x", "-e", "-T", "-b", "8192"],
        &["-c", "lzma", "-x", "-e"],
        &["-c", "gzip", "-T"],
    ] {
        if !words.contains(&"-x") {
            expected.values_mut().for_each(|entry| entry.xattrs.clear());
        }
        if gensquashfs(&source, &image, words) {
            agree(&image, Some(&expected), &format!("{words:?}"));
            unpacked_agrees(&image, &format!("{words:?}"));
        }
    }
}

#[test]
fn what_tar2sqfs_makes_of_a_tar_stream_is_read() {
    if !require("tar2sqfs") || !require("tar") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    tree::make(&source, 5, 100_000);
    // A tar stream has no sockets.
    std::fs::remove_file(source.join("socket")).unwrap();
    let script =
        "tar -C \"$0\" -c --xattrs --xattrs-include='*' . | tar2sqfs -q -f -e -c xz \"$1\"";
    let words = [OsStr::new("-c"), OsStr::new(script)];
    run(
        "sh",
        &[&words[..], &[source.as_os_str(), image.as_os_str()]].concat(),
    )
    .unwrap();
    agree(&image, Some(&portable(&of_directory(&source))), "tar2sqfs");
}

/// What rdsquashfs unpacks is what is read here.
fn unpacked_agrees(image: &Path, what: &str) {
    let place = tempfile::tempdir().unwrap();
    let words = ["-q", "-C", "-O", "-T", "-X", "-u", "/", "-p"].map(OsStr::new);
    let words = [&words[..], &[place.path().as_os_str(), image.as_os_str()]].concat();
    if let Err(reason) = run("rdsquashfs", &words) {
        return skip(&format!("rdsquashfs: {}", reason.trim()));
    }
    // Its order of steps loses setuid bits, times and attributes of some kinds; it makes no sockets.
    let reduced = |snapshot: &Snapshot| {
        let mut snapshot = as_gensquashfs(&portable(snapshot));
        snapshot.retain(|_, entry| entry.kind != hedgerow_tree::NodeKind::Socket);
        for entry in snapshot.values_mut() {
            entry.mode &= 0o777;
            entry.mtime = 0;
            entry.xattrs.clear();
        }
        snapshot
    };
    let ours = of_image(&Image::open(image, 0).unwrap());
    assert_same(&reduced(&ours), &reduced(&of_directory(place.path())), what);
}

#[test]
fn what_unsquashfs_unpacks_and_lists_is_what_is_read() {
    if !require("mksquashfs") || !require("unsquashfs") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    tree::make(&source, 3, 200_000);
    assert!(mksquashfs(&source, &image, &["-comp", "zstd"]));
    let ours = of_image(&Image::open(&image, 0).unwrap());
    let place = home.path().join("unpacked");
    let words = ["-q", "-n", "-d"].map(OsStr::new);
    let words = [&words[..], &[place.as_os_str(), image.as_os_str()]].concat();
    run("unsquashfs", &words).unwrap();
    assert_same(
        &portable(&ours),
        &portable(&of_directory(&place)),
        "unpacked",
    );

    let words = [
        OsStr::new("-lln"),
        OsStr::new("-d"),
        OsStr::new(""),
        image.as_os_str(),
    ];
    let text = run("unsquashfs", &words).unwrap();
    let mut lines = 0;
    for line in text.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let mut columns = text.split_whitespace();
        let (Some(mode), Some(owner)) = (columns.next(), columns.next()) else {
            continue;
        };
        let Some(at) = line.windows(2).position(|pair| pair == b" /") else {
            continue;
        };
        let end = line.windows(4).position(|arrow| arrow == b" -> ");
        let path = &line[at + 2..end.unwrap_or(line.len())];
        let entry = &ours[path];
        lines += 1;
        assert_eq!(
            owner,
            format!("{}/{}", entry.owner.0, entry.owner.1),
            "{text}"
        );
        assert_eq!(mode.len(), 10);
        let writable = mode.as_bytes()[2] == b'w';
        assert_eq!(writable, entry.mode & 0o200 != 0, "{text}");
        if !entry.hash.is_empty() {
            assert_eq!(
                columns.next().unwrap(),
                entry.numbers.0.to_string(),
                "{text}"
            );
        }
    }
    assert_eq!(lines, ours.len());
}

#[test]
fn an_image_may_begin_anywhere_in_a_file() {
    if !require("gensquashfs") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (source, image) = (home.path().join("tree"), home.path().join("image"));
    tree::make(&source, 4, 5000);
    assert!(gensquashfs(&source, &image, &["-c", "gzip"]));
    let moved = home.path().join("moved");
    let bytes = [&[7; 1000][..], &std::fs::read(&image).unwrap()].concat();
    std::fs::write(&moved, bytes).unwrap();
    assert!(Image::open(&moved, 0).is_err());
    let ours = of_image(&Image::open(&moved, 1000).unwrap());
    let opened = Image::open(&image, 0).unwrap();
    assert_same(&ours, &of_image(&opened), "moved");
    // And a listing as of any source, which may be ended early.
    let mut paths = Vec::new();
    let source = ImageSource::new(&opened).unwrap();
    let omissions = source.list(&mut |entry| {
        paths.push(entry.path.to_vec());
        match paths.len() {
            100 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    assert!(omissions.unwrap().is_empty());
    assert_eq!(paths.len(), 100);
    assert!(paths.iter().all(|path| ours.contains_key(path)));
    let below = ImageSource::below(&opened, b"names").unwrap();
    let mut names = 0;
    below.entries(&mut |_| {
        names += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(names, 7);
}
