//! Damaged multi-pack-indexes: what verify says of them, and that no answer becomes wrong.

use crate::scene::{midx_path, open, options, overlapping, write, FORMATS};
use hedgerow_engine::Execution;
use hedgerow_pack::{expire_midx_packs, verify_midx, MidxComplaint, MidxOptions, Reader};
use hedgerow_testkit::Repository;
use std::process::Command;

/// What is wrong, in the form of git's messages.
fn complaints(repository: &Repository) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut complain = |complaint| {
        complaints.push(match complaint {
            MidxComplaint::Finding(text) => text,
            MidxComplaint::Warning(text) => format!("warning: {text}"),
            MidxComplaint::Error(text) => format!("error: {text}"),
            MidxComplaint::Fatal(text) => format!("fatal: {text}"),
        });
    };
    let options = options(repository);
    verify_midx(
        &repository.objects(),
        options.hash,
        &Execution::with_threads(options.threads),
        &mut complain,
    )
    .unwrap();
    complaints
}

fn complaints_of_git(repository: &Repository) -> Vec<String> {
    let outcome = repository.run(&["multi-pack-index", "verify"], b"");
    outcome.stderr.lines().map(str::to_owned).collect()
}

/// Where the chunk `name` starts.
fn chunk(content: &[u8], name: &[u8; 4]) -> usize {
    let row = content.windows(4).position(|found| found == name).unwrap();
    u64::from_be_bytes(content[row + 4..row + 12].try_into().unwrap()) as usize
}

#[test]
fn every_complaint_is_the_one_of_git() {
    for format in FORMATS {
        let repository = overlapping(format, 2);
        write(&repository, &options(&repository));
        assert_eq!(complaints(&repository), complaints_of_git(&repository));
        let whole = std::fs::read(midx_path(&repository)).unwrap();
        let (names, fanout) = (chunk(&whole, b"PNAM"), chunk(&whole, b"OIDF"));
        let (ids, rows) = (chunk(&whole, b"OIDL"), chunk(&whole, b"OOFF"));
        let damages: [(usize, &[u8]); 15] = [
            (0, b"N"),
            (4, b"\x05"),
            (5, b"\x03"),
            (6, b"\x01"),
            (6, b"\x07"),
            (12, b"Q"),
            (12 + 4 + 7, b"\x03"),
            (12 + 4, b"\x01"),
            (24, b"PNAM"),
            (names, b"z"),
            (names + 7, b"!"),
            (fanout + 3, b"\xff\xff\xff\xff"),
            (ids + 40, b"\0\0\0\0\0\0\0\0"),
            (rows + 16 * 8 + 6, b"\xff"),
            (rows + 16 * 8, b"\x07"),
        ];
        for (position, damage) in damages {
            let mut content = whole.clone();
            content[position..position + damage.len()].copy_from_slice(damage);
            std::fs::write(midx_path(&repository), &content).unwrap();
            let mut expected = complaints_of_git(&repository);
            let mut found = complaints(&repository);
            assert!(!expected.is_empty(), "{position} {damage:?}");
            // Git sorts findings of the same pack in no order.
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{format} {position} {damage:?}");
        }
        std::fs::write(midx_path(&repository), b"short").unwrap();
        assert_eq!(complaints(&repository).len(), 2);
    }
}

#[test]
fn no_damage_changes_an_answer() {
    let repository = overlapping("sha1", 2);
    let for_bitmap = MidxOptions {
        for_bitmap: true,
        ..options(&repository)
    };
    write(&repository, &for_bitmap);
    let known = repository.known();
    let whole = std::fs::read(midx_path(&repository)).unwrap();
    let mut random = 1_u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    let mut noticed = 0;
    for _ in 0..1000 {
        let mut content = whole.clone();
        // As often as not where the tables are described.
        let reach = if next(2) == 0 { 100 } else { content.len() };
        content[next(reach)] ^= 1 << next(8);
        std::fs::write(midx_path(&repository), &content).unwrap();
        noticed += usize::from(!complaints(&repository).is_empty());
        let store = open(&repository);
        let mut reader = Reader::new(&store);
        for object in known.iter().skip(next(16)).step_by(16) {
            let location = store.locate(&object.id).unwrap().unwrap();
            assert_eq!(reader.read(&object.id, location).unwrap().1, object.content);
        }
    }
    assert_eq!(noticed, 1000);
}

#[test]
fn packs_that_nothing_is_needed_of_expire() {
    let repository = overlapping("sha1", 2);
    let before = repository.known();
    repository.git(&["repack", "-akq"]);
    let all = repository.pack_files("pack");
    let oldest = all[0].with_extension("keep");
    std::fs::write(&oldest, "").unwrap();
    repository.git(&["multi-pack-index", "write"]);
    let copy = Repository::bare("sha1");
    for extension in ["pack", "idx", "rev", "keep", "bitmap"] {
        for path in repository.pack_files(extension) {
            let target = copy.objects().join("pack").join(path.file_name().unwrap());
            // With the times of the packs, on which it depends which copies are named.
            let status = Command::new("cp").arg("-p").arg(path).arg(target).status();
            assert!(status.unwrap().success());
        }
    }
    let midx = std::fs::read(midx_path(&repository)).unwrap();
    std::fs::write(midx_path(&copy), midx).unwrap();
    let count = expire_midx_packs(&copy.objects(), &options(&copy), &mut |_| {}).unwrap();
    repository.git(&["multi-pack-index", "expire"]);
    let names = |repository: &Repository| -> Vec<_> {
        let files = std::fs::read_dir(repository.objects().join("pack")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&copy), names(&repository));
    assert!(count > 0);
    let read = |repository| std::fs::read(midx_path(repository)).unwrap();
    assert!(read(&copy) == read(&repository));
    let store = open(&copy);
    for object in &before {
        assert_eq!(store.read(&object.id).unwrap().1, object.content);
    }
}
