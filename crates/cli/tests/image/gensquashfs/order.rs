//! Sort files.

use super::{compare, gensquashfs, home, real};
use crate::image;
use std::fs;
use std::path::Path;

const FILES: [&str; 4] = ["lib/a.so.1", "lib/b.so.2", "lib/sub/c.so.3", "lib/sub/d e"];

/// The files in the order in which their contents stand in an image, which does not compress them.
fn order(home: &Path, image: &str) -> Vec<&'static str> {
    let bytes = fs::read(home.join(image)).unwrap();
    let place = |file: &&str| {
        let content = fs::read(home.join("in").join(file)).unwrap();
        let start = &content[..content.len().min(64)];
        bytes
            .windows(start.len())
            .position(|window| window == start)
    };
    let mut files: Vec<_> = FILES.iter().map(|file| (place(file), *file)).collect();
    assert!(files.iter().all(|(place, _)| place.is_some()), "{files:?}");
    files.sort();
    files.into_iter().map(|(_, file)| file).collect()
}

#[test]
fn contents_stand_where_the_real_one_puts_them() {
    let home = home();
    let [a, b, c, d] = FILES;
    for (rules, expected) in [
        ("-1 lib/b.so.2", [b, a, c, d]),
        ("1 lib/a.so.1\n# c\n2 lib/same", [b, c, d, a]),
        ("-5 [glob] lib/sub/*\n7 [glob_no_path] lib/*", [c, d, a, b]),
        (
            // What is the same as another is stored where the first of them comes.
            "5 [glob_no_path] *.so.*\n-9 lib/a.so.1\n0 lib/same",
            [a, d, b, c],
        ),
        (
            "3 lib/a.so.1\n2 lib/b.so.2\n1 [dont_deduplicate] lib/sub/c.so.3",
            [d, c, b, a],
        ),
        (
            "1 \"lib/sub/d e\"\n-1 [dont_fragment,nosparse, align] lib/b.so.2",
            [b, a, c, d],
        ),
    ] {
        // Everything in blocks of its own, so that a content can be found.
        let flags = "0 [dont_compress,dont_fragment,glob_no_path] *\n";
        let plain: String = rules
            .lines()
            .map(|line| match line.split_once(" [") {
                _ if line.starts_with('#') => format!("{line}\n"),
                Some((priority, rest)) => {
                    format!("{priority} [dont_compress,dont_fragment,{rest}\n")
                }
                None => {
                    let (priority, name) = line.split_once(' ').unwrap();
                    format!("{priority} [dont_compress,dont_fragment] {name}\n")
                }
            })
            .collect();
        // The same contents twice would be stored at one place.
        let once = "99 [glob,dont_compress,dont_fragment] lib/[sh]a*\n";
        let text = format!("{plain}{once}{flags}");
        fs::write(home.path().join("sort"), text).unwrap();
        let made = gensquashfs(
            home.path(),
            &["-D", "in", "-S", "sort", "-b", "4096", "-f", "-q", "ours"],
        );
        assert_eq!(made.code, 0, "{made:?}");
        assert_eq!(order(home.path(), "ours"), expected, "{rules}");
        if compare(home.path(), "-D in -S sort -b 4096") {
            assert_eq!(order(home.path(), "theirs"), expected, "{rules}");
        }
    }
}

#[test]
fn flags_change_how_a_content_is_stored() {
    let home = home();
    let inputs = home.path().join("in");
    fs::write(inputs.join("text"), vec![b'x'; 3 * 4096 + 5]).unwrap();
    fs::write(inputs.join("zeros"), vec![0; 8 * 4096]).unwrap();
    fs::write(inputs.join("zeros2"), vec![0; 7 * 4096]).unwrap();
    let size = |rules: &str| {
        fs::write(home.path().join("sort"), rules).unwrap();
        let words = [
            "-D", "in", "-S", "sort", "-B", "1024", "-b", "4096", "-c", "gzip", "-q", "-f",
        ];
        let made = gensquashfs(home.path(), &[&words[..], &["ours"]].concat());
        assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{rules}");
        compare(home.path(), "-D in -S sort -b 4096 -c gzip");
        fs::metadata(home.path().join("ours")).unwrap().len()
    };
    let usual = size("");
    for (rules, more_bytes) in [
        ("0 [dont_compress] text\n", 3 * 4096 - 2048),
        ("0 [nosparse,dont_compress] zeros\n", 7 * 4096),
        ("0 [nosparse,dont_compress] zeros\n0 [dont_compress,nosparse,dont_deduplicate] zeros2\n", 14 * 4096),
        ("0 [dont_deduplicate,glob] lib/same\n", 19_000),
    ] {
        let size = size(rules);
        assert!(size >= usual + more_bytes, "{rules}: {usual} {size}");
    }
}

#[test]
fn an_order_leaves_hard_links_as_they_are_and_is_the_same_for_any_number_of_workers() {
    let home = home();
    let rules = "9 lib/sub/c.so.3\n-3 [glob] lib/sub/*\n4 [glob] */a*\n";
    fs::write(home.path().join("sort"), rules).unwrap();
    let mut first: Option<Vec<u8>> = None;
    for jobs in ["-j1", "-j2", "-j3", "-j8"] {
        let files = ["--sort-file", "sort", "in", "image"];
        let words = [&["create", "-b4k", "-cgzip", jobs, "-q", "-f"], &files[..]].concat();
        let made = image(home.path(), &words);
        assert_eq!((made.code, made.stderr.as_str()), (0, ""));
        let bytes = fs::read(home.path().join("image")).unwrap();
        assert!(
            *first.get_or_insert_with(|| bytes.clone()) == bytes,
            "{jobs}"
        );
    }
    let listed = image(home.path(), &["list", "-l", "image"]).text();
    let linked: Vec<&str> = listed
        .lines()
        .filter(|line| line.starts_with("f 0644 2 "))
        .collect();
    assert_eq!(linked.len(), 2, "{listed}");
    let inode = |line: &str| line.split(' ').nth(7).map(str::to_owned);
    assert_eq!(inode(linked[0]), inode(linked[1]), "{listed}");
    for file in FILES.iter().chain(&["lib/same", "lib/hard"]) {
        let expected = fs::read(home.path().join("in").join(file)).unwrap();
        assert!(
            image(home.path(), &["cat", "image", file]).stdout == expected,
            "{file}"
        );
    }
}

#[test]
fn image_create_takes_a_sort_file_and_says_what_it_does_not_fit() {
    let home = home();
    fs::write(
        home.path().join("sort"),
        "1 nothing\n-1 [align] lib/b.so.2\n",
    )
    .unwrap();
    let words = ["create", "--sort-file", "sort", "in", "image"];
    let made = image(home.path(), &words);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(
        made.stderr
            .contains("warning: sort:1: no file for 'nothing'\n"),
        "{made:?}"
    );
    assert!(made.stderr.contains("warning: sort:2: "), "{made:?}");
    assert_eq!(image(home.path(), &["verify", "image"]).code, 0);
    let theirs = real(home.path(), &["-D", "in", "-S", "sort", "-q", "theirs"]);
    assert!(theirs.is_none_or(|theirs| theirs.stderr.contains("no match for 'nothing'")));
    let archive = home.path().join("archive.tar");
    if crate::archives::run(home.path(), "tar", &["-cf", "archive.tar", "in"]).is_some() {
        let words = ["create", "--sort-file", "sort", "archive.tar", "i"];
        let refused = image(home.path(), &words);
        assert!(archive.exists() && refused.code == 2, "{refused:?}");
    }
}
