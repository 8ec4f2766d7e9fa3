//! Images with a hash tree of dm-verity behind them.

use crate::image;
use hedgerow_testkit::image_trees::{is_root, mounted};
use hedgerow_testkit::{require, temporary};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const BLOCK: usize = 4096;
/// The images that are made, and how.
const IMAGES: [(&str, &[&str]); 5] = [
    ("zstd.sqfs", &[]),
    ("xz.sqfs", &["-c", "xz", "-b", "1M"]),
    ("plain.erofs", &[]),
    ("lz4.erofs", &["-c", "lz4"]),
    ("large.erofs", &["-b", "64K"]),
];

/// A directory with `tree`, whose images have some hundred blocks.
fn with_tree() -> tempfile::TempDir {
    let home = temporary();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::write(tree.join("a/text"), "content\n".repeat(10_000)).unwrap();
    let noise = hedgerow_testkit::image_trees::Random::new(5).bytes(600 << 10, false);
    fs::write(tree.join("a/b/noise"), noise).unwrap();
    home
}

fn created(own: &Path, words: &[&str]) -> Value {
    let made = image(own, &[&["create", "--json", "--verity"], words].concat());
    assert_eq!(made.code, 0, "{made:?}");
    let document: Value = serde_json::from_slice(&made.stdout).unwrap();
    document["verity"].clone()
}

/// Without its hash, a hash tree is worth nothing.
#[test]
fn a_root_hash_that_cannot_be_told_is_an_error() {
    let home = with_tree();
    let script = "\"$0\" image create -f --verity tree image 2>/dev/full; echo $?
        \"$0\" -q image create -f --verity tree image 2>/dev/full; echo $?
        \"$0\" image create -f tree image 2>/dev/full; echo $?";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    let told = shell.current_dir(home.path()).output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&told), "2\n0\n0\n");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Runs veritysetup, which must succeed; `None` without it.
fn veritysetup(own: &Path, words: &[&str]) -> Option<String> {
    if !require("veritysetup") {
        return None;
    }
    let output = Command::new("veritysetup")
        .args(words)
        .current_dir(own)
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_is_printed_is_what_veritysetup_needs() {
    let home = with_tree();
    let own = home.path();
    for (name, words) in IMAGES {
        let (_, ending) = name.split_once('.').unwrap();
        let without = &format!("without.{ending}");
        let made = image(own, &[&["create", "-f", "tree", without], words].concat());
        assert_eq!(made.code, 0, "{made:?}");
        for salt in ["-", "00ff5a"] {
            let tree = created(
                own,
                &[words, &["--verity-salt", salt, "-f", "tree", name]].concat(),
            );
            let (root, offset) = (text(&tree["root_hash"]), tree["hash_offset"].to_string());
            let at = format!("--hash-offset={offset}");
            assert_eq!(tree["salt"], salt);
            // The image itself is the same, and the tree stands behind it.
            let bytes = fs::read(own.join(name)).unwrap();
            let image_bytes = offset.parse::<usize>().unwrap();
            assert!(
                bytes.starts_with(&fs::read(own.join(without)).unwrap()),
                "{name}"
            );
            assert_eq!(image_bytes, fs::read(own.join(without)).unwrap().len());
            veritysetup(own, &["verify", name, name, root, &at]);
            let shown = veritysetup(own, &["dump", name, &at]);
            assert!(shown.is_none_or(|shown| shown.contains(text(&tree["uuid"]))));
            fs::write(own.join("copy"), &bytes[..image_bytes]).unwrap();
            let words = [
                &format!("--data-blocks={}", tree["data_blocks"]),
                &format!("--uuid={}", text(&tree["uuid"])),
                &format!("--salt={salt}"),
                &at,
            ];
            let words = [&words.map(String::as_str)[..], &["format", "copy", "copy"]].concat();
            if let Some(formatted) = veritysetup(own, &words) {
                assert!(formatted.contains(root), "{formatted}");
                assert!(fs::read(own.join("copy")).unwrap() == bytes, "{name}");
            }
            let checked = image(own, &["verify", "--root-hash", root, name]);
            assert_eq!(checked.code, 0, "{checked:?}");
            let line = format!("\ndm-verity: root hash {root}, hash offset {offset}\nok\n");
            assert!(checked.text().ends_with(&line), "{checked:?}");
            let info = image(own, &["info", "--json", name]).text();
            assert_eq!(
                serde_json::from_str::<Value>(&info).unwrap()["verity"],
                tree
            );
            let info = image(own, &["info", name]).text();
            assert!(
                info.contains(&format!("\nroot hash:       {root}\n")),
                "{info}"
            );
        }
        let info = image(own, &["info", without]).text();
        assert!(!info.contains("hash"), "{info}");
    }
}

#[test]
fn equal_input_gives_equal_bytes() {
    let home = with_tree();
    let own = home.path();
    for (name, words) in IMAGES {
        let mut first = None;
        for jobs in ["1", "2", "5"] {
            created(own, &[words, &["-j", jobs, "-f", "tree", name]].concat());
            let bytes = fs::read(own.join(name)).unwrap();
            let first = first.get_or_insert_with(|| bytes.clone());
            assert!(*first == bytes, "{name} with {jobs} workers");
        }
        let made = image(
            own,
            &[&["create", "--verity", "-f", "tree", name], words].concat(),
        );
        let last = made.stderr.lines().last().unwrap();
        assert!(last.starts_with("dm-verity: root hash "), "{made:?}");
        assert!(first.unwrap() == fs::read(own.join(name)).unwrap());
    }
}

/// Other readers do not mind what stands behind an image.
#[test]
fn the_kernel_and_every_command_read_the_image() {
    let home = with_tree();
    let own = home.path();
    for (name, words) in IMAGES {
        created(own, &[words, &["tree", name]].concat());
        let content = fs::read(own.join("tree/a/b/noise")).unwrap();
        assert!(image(own, &["cat", name, "a/b/noise"]).stdout == content);
        assert_eq!(image(own, &["extract", name, &format!("{name}.d")]).code, 0);
        assert_eq!(image(own, &["diff", "zstd.sqfs", name]).text(), "");
        let kind = if name.ends_with("sqfs") {
            "squashfs"
        } else {
            "erofs"
        };
        // Blocks that are larger than pages of memory are for other machines.
        if is_root() && name != "large.erofs" {
            mounted(&own.join(name), kind, "ro,loop", |mounted| {
                assert!(fs::read(mounted.join("a/b/noise")).unwrap() == content);
            });
        }
    }
    let again = image(
        own,
        &["create", "--reuse", "zstd.sqfs", "tree", "again.sqfs"],
    );
    assert_eq!(again.code, 0, "{again:?}");
}

#[test]
fn any_damage_is_found() {
    let home = with_tree();
    let own = home.path();
    for (name, words) in [IMAGES[0], IMAGES[3]] {
        let tree = created(own, &[words, &["tree", name]].concat());
        let (root, blocks) = (
            text(&tree["root_hash"]),
            tree["data_blocks"].as_u64().unwrap(),
        );
        let bytes = fs::read(own.join(name)).unwrap();
        for block in 0..bytes.len() / BLOCK {
            // Somewhere in the block; for the image, also where its superblock says how long it is.
            for at in [44, 400] {
                let mut wrong = bytes.clone();
                wrong[block * BLOCK + at] ^= 1;
                fs::write(own.join("wrong"), &wrong).unwrap();
                let words = ["verify", "-q", "--root-hash", root, "wrong"];
                let found = image(own, &words);
                assert_eq!(found.code, 1, "{name} {block} {at}: {found:?}");
                let part = match (block as u64).cmp(&blocks) {
                    std::cmp::Ordering::Less => "data",
                    std::cmp::Ordering::Equal => "superblock",
                    std::cmp::Ordering::Greater => "hash tree",
                };
                let position = match (part, at) {
                    // In the name of the algorithm, which starts there, or behind the salt.
                    ("superblock", 44) => block * BLOCK + 32,
                    ("superblock", at) => block * BLOCK + at,
                    _ => block * BLOCK,
                };
                let start = format!("wrong: dm-verity {part} at {position}: ");
                let is_told = found.text().lines().any(|line| line.starts_with(&start));
                assert!(is_told, "{name} {block} {at}: {found:?}");
            }
        }
        // An image that is none any more is told by its tree.
        let mut wrong = bytes.clone();
        wrong[0..2048].fill(0);
        fs::write(own.join("wrong"), &wrong).unwrap();
        let found = image(own, &["verify", "-q", "wrong"]);
        assert_eq!(found.code, 1, "{found:?}");
        assert!(
            found.text().contains("wrong: dm-verity data at 0: block 0"),
            "{found:?}"
        );
        assert!(
            found.text().contains("not a SquashFS or EROFS image"),
            "{found:?}"
        );
    }
}

#[test]
fn another_root_and_a_missing_tree_are_damage() {
    let home = with_tree();
    let own = home.path();
    let tree = created(own, &["tree", "image"]);
    let other = "0123456789abcdef".repeat(4);
    let found = image(own, &["verify", "-q", "--root-hash", &other, "image"]);
    let position = tree["hash_offset"].as_u64().unwrap() + 4096;
    let root = text(&tree["root_hash"]);
    let expected =
        format!("wrong: dm-verity hash tree at {position}: the root hash is {root}, not {other}\n");
    assert_eq!((found.code, found.text()), (1, expected));
    assert_eq!(image(own, &["create", "tree", "without"]).code, 0);
    assert_eq!(image(own, &["verify", "without"]).code, 0);
    let found = image(own, &["verify", "--json", "--root-hash", root, "without"]);
    assert_eq!(found.code, 1, "{found:?}");
    let document: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(document["sound"], false);
    assert_eq!(document["findings"][0]["part"], "dm-verity superblock");
    assert_eq!(document["findings"][0]["position"], tree["hash_offset"]);
    // A superblock that cannot be used.
    let mut wrong = fs::read(own.join("image")).unwrap();
    wrong[tree["hash_offset"].as_u64().unwrap() as usize + 32] = b'S';
    fs::write(own.join("wrong"), &wrong).unwrap();
    let info = image(own, &["info", "wrong"]);
    assert_eq!(info.code, 0, "{info:?}");
    assert!(
        info.text().contains("the algorithm 'Sha256': only sha256"),
        "{info:?}"
    );
    let info = image(own, &["info", "--json", "wrong"]).text();
    let document = serde_json::from_str::<Value>(&info).unwrap();
    assert!(
        text(&document["verity_damage"]).contains("Sha256"),
        "{info}"
    );
    assert_eq!(image(own, &["verify", "wrong"]).code, 1);
}

#[test]
fn wrong_words_are_refused_before_anything_is_made() {
    let home = with_tree();
    let own = home.path();
    let long = "00".repeat(257);
    for (words, expected) in [
        (
            &["create", "--verity-salt", "00", "tree", "x"][..],
            "--verity",
        ),
        (
            &["create", "--verity", "--verity-salt", "0", "tree", "x"],
            "'0' is not a salt",
        ),
        (
            &["create", "--verity", "--verity-salt", &long, "tree", "x"],
            "is not a salt",
        ),
        (
            &["create", "--verity", "--verity-salt", "", "tree", "x.erofs"],
            "is not a salt",
        ),
        (&["create", "--verity", "tree", "-"], "standard output"),
        (
            &["verify", "--root-hash", "00", "x"],
            "'00' is not a root hash",
        ),
    ] {
        let refused = image(own, words);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
    }
    assert_eq!(fs::read_dir(own).unwrap().count(), 1);
}

/// The tree is made with the merged image, which is the one that a single process makes.
#[test]
fn merged_parts_have_a_tree() {
    let home = with_tree();
    let own = home.path();
    let whole = created(own, &["tree", "whole"]);
    for part in ["1/2", "2/2"] {
        let name = &part[..1];
        let made = image(own, &["create", "--verity", "--part", part, "tree", name]);
        assert_eq!(made.code, 0, "{made:?}");
        assert!(!made.stderr.contains("dm-verity"), "{made:?}");
    }
    let merged = image(own, &["merge", "--json", "-o", "merged", "1", "2"]);
    assert_eq!(merged.code, 0, "{merged:?}");
    let document: Value = serde_json::from_slice(&merged.stdout).unwrap();
    assert_eq!(document["verity"], whole);
    assert!(fs::read(own.join("merged")).unwrap() == fs::read(own.join("whole")).unwrap());
}
