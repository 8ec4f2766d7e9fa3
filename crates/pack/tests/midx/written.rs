//! What is written is what git writes.

use crate::scene::{
    add_pack, age, git_writes, midx_path, options, overlapping, restore, write, FORMATS,
};
use hedgerow_pack::MidxOptions;
use hedgerow_testkit::{overwrite, Repository};

/// Checks that we write from the state `before` what git writes from it.
fn as_git(repository: &Repository, before: Option<&[u8]>, options: &MidxOptions, git: &[&str]) {
    let expected = git_writes(repository, before, git);
    restore(repository, before);
    for bitmap in repository.pack_files("bitmap") {
        std::fs::remove_file(bitmap).unwrap();
    }
    let (content, order, warnings) = write(repository, options);
    assert!(content.unwrap() == expected, "{git:?}");
    assert_eq!(warnings, Vec::<String>::new());
    let order: Vec<u8> = order
        .unwrap()
        .into_iter()
        .flat_map(u32::to_be_bytes)
        .collect();
    assert_eq!(order.is_empty(), !options.for_bitmap);
    let has_order = expected
        .windows(order.len().max(1))
        .any(|part| part == order);
    assert!(order.is_empty() || has_order, "{git:?}");
}

#[test]
fn the_bytes_are_those_of_git() {
    for format in FORMATS {
        let repository = overlapping(format, 4);
        let plain = options(&repository);
        as_git(&repository, None, &plain, &[]);
        let for_bitmap = MidxOptions {
            for_bitmap: true,
            ..plain.clone()
        };
        as_git(&repository, None, &for_bitmap, &["--bitmap"]);
        for pack in repository.pack_files("pack") {
            let name = pack.file_name().unwrap().to_str().unwrap();
            for name in [name.to_owned(), name.replace(".pack", ".idx")] {
                let argument = format!("--preferred-pack={name}");
                let preferred = MidxOptions {
                    preferred_pack: Some(name),
                    ..plain.clone()
                };
                as_git(&repository, None, &preferred, &[&argument]);
                let for_bitmap = MidxOptions {
                    for_bitmap: true,
                    ..preferred
                };
                as_git(&repository, None, &for_bitmap, &["--bitmap", &argument]);
            }
        }
    }
}

#[test]
fn what_a_former_one_says_is_taken_over_as_git_does() {
    for format in FORMATS {
        let repository = overlapping(format, 3);
        let former = git_writes(&repository, None, &[]);
        let known = repository.pack_files("pack");
        add_pack(&repository, 3);
        let plain = options(&repository);
        as_git(&repository, Some(&former), &plain, &[]);
        let for_bitmap = MidxOptions {
            for_bitmap: true,
            ..plain.clone()
        };
        as_git(&repository, Some(&former), &for_bitmap, &["--bitmap"]);
        // Newer than all that are not known yet.
        age(&known[1], 0);
        as_git(&repository, Some(&former), &plain, &[]);
        for pack in repository.pack_files("pack") {
            let name = pack.file_name().unwrap().to_str().unwrap();
            let argument = format!("--preferred-pack={name}");
            let preferred = MidxOptions {
                preferred_pack: Some(name.to_owned()),
                ..for_bitmap.clone()
            };
            as_git(
                &repository,
                Some(&former),
                &preferred,
                &["--bitmap", &argument],
            );
        }
        // A damaged one is not.
        let mut damaged = former;
        let near_end = damaged.len() - 60;
        damaged[near_end] ^= 1;
        let expected = git_writes(&repository, None, &[]);
        restore(&repository, Some(&damaged));
        let (content, _, warnings) = write(&repository, &plain);
        assert!(content.unwrap() == expected);
        assert_eq!(
            warnings,
            ["ignoring existing multi-pack-index; checksum mismatch"]
        );
    }
}

#[test]
fn only_the_packs_that_were_named_are_listed() {
    let repository = overlapping("sha1", 3);
    let names: Vec<String> = repository
        .pack_files("idx")
        .iter()
        .step_by(2)
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let before = git_writes(&repository, None, &[]);
    for before in [None, Some(before.as_slice())] {
        restore(&repository, before);
        let command = ["multi-pack-index", "write", "--stdin-packs"];
        repository.git_with(&command, (names.join("\n") + "\nother.idx\n").as_bytes());
        let expected = std::fs::read(midx_path(&repository)).unwrap();
        restore(&repository, before);
        let named = MidxOptions {
            packs: Some(names.clone()),
            ..options(&repository)
        };
        assert!(write(&repository, &named).0.unwrap() == expected);
    }
}

/// Makes the index of a pack say `offset(n)` for its object n, in the table of 64-bit offsets.
fn set_offsets(index: &std::path::Path, offset: impl Fn(u64) -> u64) {
    let content = std::fs::read(index).unwrap();
    let count = u32::from_be_bytes(content[8 + 255 * 4..8 + 1024].try_into().unwrap()) as usize;
    let offsets = 8 + 1024 + count * 24;
    let mut changed = content[..offsets].to_vec();
    let large = |n: usize| offset(n as u64) >= 1 << 31;
    let mut row = 0;
    for n in 0..count {
        let small = if large(n) {
            (1 << 31) | row
        } else {
            offset(n as u64) as u32
        };
        row += u32::from(large(n));
        changed.extend(small.to_be_bytes());
    }
    for n in (0..count).filter(|n| large(*n)) {
        changed.extend(offset(n as u64).to_be_bytes());
    }
    changed.extend(&content[offsets + count * 4..]);
    overwrite(index, &changed);
}

#[test]
fn offsets_beyond_31_and_32_bits() {
    // Up to 4 GiB no table of 64-bit offsets is needed, whatever the marker bit says.
    let ways: [fn(u64) -> u64; 3] = [
        |n| n << 29,
        |n| (n << 28).min(u64::from(u32::MAX)),
        |n| n << 33 | n,
    ];
    for way in ways {
        let repository = Repository::with_history("sha1", 4, &["repack", "-adq"]);
        set_offsets(&repository.only_pack_file("idx"), way);
        as_git(&repository, None, &options(&repository), &[]);
    }
}

#[test]
fn one_that_lists_all_packs_is_left_alone() {
    let repository = overlapping("sha1", 2);
    let plain = options(&repository);
    let first = write(&repository, &plain).0.unwrap();
    assert_eq!(write(&repository, &plain).0, None);
    // Names are the same, but who wins is not: git leaves it alone, too.
    let name = repository.pack_files("idx")[0]
        .file_name()
        .unwrap()
        .to_owned();
    let preferred = MidxOptions {
        preferred_pack: Some(name.into_string().unwrap()),
        ..plain.clone()
    };
    assert_eq!(write(&repository, &preferred).0, None);
    // Version two differs in its number only, as long as the packs are in order.
    let two = MidxOptions {
        version: 2,
        ..plain.clone()
    };
    let second = write(&repository, &two).0.unwrap();
    assert_eq!((first[4], second[4]), (1, 2));
    let body = ..first.len() - 20;
    assert!(first[body][5..] == second[body][5..]);
    assert_eq!(write(&repository, &two).0, None);
    restore(&repository, Some(&first));
    // A bitmap that is not wanted goes; one that is missing is a reason to write.
    repository.git(&["multi-pack-index", "write", "--bitmap"]);
    let for_bitmap = MidxOptions {
        for_bitmap: true,
        ..plain.clone()
    };
    assert_eq!(repository.pack_files("bitmap").len(), 1);
    assert_eq!(write(&repository, &for_bitmap).0, None);
    assert_eq!(write(&repository, &plain).0, None);
    assert_eq!(repository.pack_files("bitmap").len(), 0);
    assert!(write(&repository, &for_bitmap).0.is_some());
}

#[test]
fn what_belonged_to_another_one_is_removed() {
    let repository = overlapping("sha1", 2);
    repository.git(&["multi-pack-index", "write", "--bitmap"]);
    let packs = repository.objects().join("pack");
    let layers = packs.join("multi-pack-index.d");
    std::fs::create_dir_all(&layers).unwrap();
    let stale = [
        packs.join("multi-pack-index-00.rev"),
        layers.join("multi-pack-index-00.midx"),
        layers.join("multi-pack-index-00.bitmap"),
        layers.join("multi-pack-index-chain"),
    ];
    for path in &stale {
        std::fs::write(path, "").unwrap();
    }
    add_pack(&repository, 2);
    assert_eq!(repository.pack_files("bitmap").len(), 1);
    write(&repository, &options(&repository)).0.unwrap();
    assert_eq!(repository.pack_files("bitmap").len(), 0);
    assert!(stale.iter().all(|path| !path.exists()));
    assert!(!packs.join("multi-pack-index.lock").exists());
}

#[test]
fn packs_without_all_their_files_are_told_and_left_out() {
    let repository = overlapping("sha1", 2);
    let packs = repository.pack_files("pack");
    std::fs::remove_file(&packs[0]).unwrap();
    overwrite(&packs[1].with_extension("idx"), b"nothing");
    let nowhere = MidxOptions {
        preferred_pack: Some("nowhere".into()),
        ..options(&repository)
    };
    let (content, _, mut warnings) = write(&repository, &nowhere);
    assert!(content.is_some());
    warnings.sort();
    let gone = packs[0].with_extension("idx");
    let broken = packs[1].with_extension("idx");
    let expected = [
        format!("failed to add packfile '{}'", gone.display()),
        format!(
            "failed to open pack-index '{}': bad pack index: truncated or decreasing fanout",
            broken.display()
        ),
        "unknown preferred pack: 'nowhere'".to_owned(),
    ];
    assert_eq!(warnings, expected);
    repository.git(&["multi-pack-index", "verify"]);
}

#[test]
fn a_lock_that_is_held_and_a_directory_without_packs_are_errors() {
    let repository = overlapping("sha1", 1);
    let lock = repository.objects().join("pack/multi-pack-index.lock");
    std::fs::write(&lock, "").unwrap();
    let mut warn = |_| {};
    let plain = options(&repository);
    let objects = repository.objects();
    let error = hedgerow_pack::write_midx(&objects, &plain, &mut warn).unwrap_err();
    assert!(
        error.to_string().contains("multi-pack-index.lock"),
        "{error}"
    );
    std::fs::remove_file(&lock).unwrap();
    let written = hedgerow_pack::write_midx(&objects, &plain, &mut warn).unwrap();
    drop(written.unwrap());
    assert!(!lock.exists() && !midx_path(&repository).exists());
    let empty = Repository::bare("sha1");
    let error = hedgerow_pack::write_midx(&empty.objects(), &plain, &mut warn).unwrap_err();
    assert_eq!(error.to_string(), "no pack files to index.");
}
