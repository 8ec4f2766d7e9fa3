//! `image create --part` and `image merge`: the bytes of one machine.

use crate::{at_once, command, hedgerow};
use hedgerow_testkit::Random;
use std::fs;
use std::path::Path;

/// Small files and large ones, equal ones in different directories, holes, and links to a file from
/// several directories.
fn tree(root: &Path) {
    let mut random = Random::new(7);
    let mut noise = |count: usize| -> Vec<u8> {
        let words = (0..count.div_ceil(2)).map(|_| random.below(50));
        words
            .flat_map(|word| [b'a' + (word % 26) as u8, b'A' + (word / 26) as u8])
            .take(count)
            .collect()
    };
    let common = noise(300_000);
    fs::create_dir_all(root.join("empty/below")).unwrap();
    for directory in 0..20 {
        let place = root.join(format!("d{directory:02}")).join("sub");
        fs::create_dir_all(&place).unwrap();
        for file in 0..60 {
            fs::write(place.join(format!("f{file}")), noise(file * 37)).unwrap();
        }
        fs::write(place.join("common"), &common).unwrap();
        fs::write(place.join("large"), noise(100_000 * (directory % 4))).unwrap();
        std::os::unix::fs::symlink("f1", place.join("link")).unwrap();
        if directory > 0 {
            fs::hard_link(root.join("d00/sub/f7"), place.join("seven")).unwrap();
        }
    }
    let sparse = fs::File::create(root.join("sparse")).unwrap();
    sparse.set_len(5 << 20).unwrap();
    fs::write(root.join("z"), "the end").unwrap();
}

const OPTIONS: [&[&str]; 4] = [
    &[],
    &["-c", "lz4", "-b", "16K", "--no-fragments", "--exportable"],
    &[
        "-c",
        "gzip",
        "-l",
        "3",
        "--no-dedup",
        "--all-root",
        "--default-mtime",
        "77",
    ],
    &["-c", "zstd", "-l", "1", "-b", "4K", "--exclude", "f1*"],
];

#[test]
fn parts_become_the_image_of_one_machine() {
    let place = hedgerow_testkit::temporary();
    let here = place.path();
    tree(&here.join("tree"));
    for options in OPTIONS {
        let create = |target: &str, more: &[&str]| {
            let words = [&["image", "create", "-f"], options, more, &["tree", target]].concat();
            command(here, &words)
        };
        hedgerow_testkit::run(create("whole", &[])).ok("whole");
        let whole = fs::read(here.join("whole")).unwrap();
        for count in [1, 3, 8] {
            let parts: Vec<String> = (1..=count).map(|share| format!("p{share}")).collect();
            let make = |share: usize| {
                let part = format!("{share}/{count}");
                create(&format!("p{share}"), &["--part", &part])
            };
            at_once((1..=count).map(make));
            let mut words = vec!["image", "merge", "-f", "-o", "merged"];
            // In any order, one of them twice.
            words.extend(parts.iter().rev().map(String::as_str));
            words.push("p1");
            hedgerow(here, &words).ok("merge");
            assert!(
                fs::read(here.join("merged")).unwrap() == whole,
                "{options:?} {count}"
            );
            // A part is an image by itself.
            hedgerow(here, &["image", "verify", &parts[count / 2]]).ok("verify");
        }
    }
}

/// Most of these parts have no entry of their own.
#[test]
fn there_may_be_more_parts_than_entries() {
    let place = hedgerow_testkit::temporary();
    let here = place.path();
    fs::create_dir_all(here.join("tree/a/b")).unwrap();
    fs::write(here.join("tree/a/b/c"), "c").unwrap();
    hedgerow(here, &["image", "create", "tree", "whole"]).ok("whole");
    let parts: Vec<String> = (1..=11).map(|share| format!("p{share}")).collect();
    at_once(parts.iter().zip(1..).map(|(part, share)| {
        let share = format!("{share}/11");
        command(here, &["image", "create", "--part", &share, "tree", part])
    }));
    let words = ["image", "merge", "-o", "merged"].into_iter();
    let words: Vec<&str> = words.chain(parts.iter().map(String::as_str)).collect();
    hedgerow(here, &words).ok("merge");
    let read = |name: &str| fs::read(here.join(name)).unwrap();
    assert!(read("merged") == read("whole"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = hedgerow_testkit::temporary();
    let here = place.path();
    tree(&here.join("tree"));
    let part = |share: &str, target: &str, more: &[&str]| {
        let words = [
            &["image", "create", "-c", "lz4", "--part", share],
            more,
            &["tree", target],
        ]
        .concat();
        hedgerow(here, &words).ok("part");
    };
    part("1/3", "a", &[]);
    part("2/3", "b", &[]);
    part("3/3", "c", &[]);
    part("2/3", "other-options", &["--all-root"]);
    part("2/4", "other-count", &[]);
    // Sizes, names and their order stay.
    let [one, other] = ["d01/sub/large", "d13/sub/large"].map(|path| here.join("tree").join(path));
    fs::rename(&one, here.join("kept")).unwrap();
    fs::rename(&other, &one).unwrap();
    fs::rename(here.join("kept"), &other).unwrap();
    part("2/3", "swapped", &[]);
    fs::write(here.join("tree/d00/new"), vec![b'x'; 2_000_000]).unwrap();
    part("2/3", "later", &[]);
    hedgerow(here, &["image", "create", "tree", "no-part"]).ok("image");
    let sound = fs::read(here.join("b")).unwrap();
    for (name, position) in [
        ("data", 200),
        ("note", sound.len() - 150),
        ("digest", sound.len() - 30),
    ] {
        let mut bytes = sound.clone();
        bytes[position] ^= 1;
        fs::write(here.join(name), bytes).unwrap();
    }
    fs::write(here.join("short"), &sound[..sound.len() - 1]).unwrap();
    for (parts, said) in [
        (&["a", "c"][..], "part 2 is missing before it"),
        (&["a", "b"], "part 3 is missing after it"),
        (&["b", "c"], "part 1 is missing before it"),
        (&["a", "other-options", "c"], "was made with other options"),
        (&["a", "other-count", "c"], "made with other options"),
        (&["a", "later", "c"], "the tree was not the same"),
        (&["a", "b", "later", "c"], "the tree was not the same"),
        (&["a", "swapped", "c"], "the tree was not the same"),
        (&["a", "no-part", "c"], "it is no part of an image"),
        (&["a", "data", "c"], "it is damaged"),
        (&["a", "note", "c"], "its note is damaged"),
        (&["a", "digest", "c"], "its note is damaged"),
        (&["a", "short", "c"], "it is no part of an image"),
        (&["a", "nowhere", "c"], "No such file"),
        (&["a", "tree", "c"], "'tree'"),
    ] {
        let words = [&["image", "merge", "-o", "merged"], parts].concat();
        let refused = hedgerow(here, &words).failed(2, said);
        assert!(refused.contains(said), "{parts:?}: {refused}");
        assert!(!here.join("merged").exists());
    }
    for words in [
        &["image", "create", "--part", "1/2", "git:HEAD", "x"][..],
        &["image", "create", "--part", "0/2", "tree", "x"],
        &["image", "create", "--part", "auto", "tree", "x"],
        &["image", "merge", "-o", "merged"],
        &["image", "merge", "-o", "a", "a", "b", "c"],
    ] {
        hedgerow(here, words).failed(2, &format!("{words:?}"));
        assert!(!here.join("x").exists());
    }
}
