//! `hedgerow image`: what it prints, and how it ends.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make trees and look at files"
)]

mod archives;
mod commits;
mod create;
mod diff;
mod differential;
mod erofs;
mod extract;
mod gensquashfs;
mod option_order;
mod readers;
mod sharing;
mod sources;
mod squashfs_tools;
mod tar2sqfs;
mod to_tar;
mod verity;

use hedgerow_testkit::Program;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// How a run ended.
#[derive(Debug)]
struct Outcome {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Outcome {
    fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }
}

fn image(directory: &Path, words: &[&str]) -> Outcome {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.arg("image").args(words).current_dir(directory);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let outcome = Outcome {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!outcome.stderr.contains("panic"), "{outcome:?}");
    outcome
}

/// A directory with `image`, which was packed from `tree`; `None` where that cannot be done.
fn packed() -> Option<TempDir> {
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("d/e")).unwrap();
    fs::write(tree.join("d/file"), b"content\n").unwrap();
    let large: Vec<u8> = (0..1_000_000u32)
        .map(|at| (at.wrapping_mul(at) >> 9) as u8)
        .collect();
    fs::write(tree.join("large"), large).unwrap();
    fs::write(tree.join("d.x"), b"").unwrap();
    std::os::unix::fs::symlink("d/file", tree.join("link")).unwrap();
    let mut pack = Command::new("mksquashfs");
    pack.args([
        "tree",
        "image",
        "-noappend",
        "-quiet",
        "-no-progress",
        "-all-root",
    ]);
    pack.args(["-all-time", "1700000000", "-mkfs-time", "1700000001"]);
    pack.current_dir(home.path()).stdout(Stdio::null());
    match pack.status() {
        Ok(status) if status.success() => Some(home),
        _ => {
            hedgerow_testkit::skip("no image: mksquashfs is not installed");
            None
        }
    }
}

#[test]
fn a_list_is_in_canonical_order_and_tells_what_was_asked() {
    let Some(home) = packed() else { return };
    let all = image(home.path(), &["list", "image"]);
    assert_eq!(all.text(), "d\nd/e\nd/file\nd.x\nlarge\nlink\n");
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    for path in ["d", "/d", "./d/"] {
        assert_eq!(
            image(home.path(), &["list", "image", path]).text(),
            "d/e\nd/file\n"
        );
    }
    assert_eq!(
        image(home.path(), &["list", "image", "d/file"]).text(),
        "d/file\n"
    );
    let long = image(home.path(), &["list", "-l", "image"]).text();
    let lines: Vec<&str> = long.lines().collect();
    assert!(
        lines[2].starts_with("f 0644 1 0 0 8 1700000000.000000000 "),
        "{long}"
    );
    assert!(lines[2].ends_with(" d/file"), "{long}");
    assert!(lines[5].starts_with("l 0777 1 0 0 6 "), "{long}");
    assert!(lines[5].ends_with(" link -> d/file"), "{long}");
}

#[test]
fn a_list_as_json_has_a_schema() {
    let Some(home) = packed() else { return };
    let text = image(home.path(), &["list", "--json", "-l", "image"]).text();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    assert!(lines
        .iter()
        .all(|line| line["schema"] == "hedgerow.image.list.v1"));
    assert_eq!(lines[5]["path"], "link");
    assert_eq!(lines[5]["type"], "symlink");
    assert_eq!(lines[5]["target"], "d/file");
    assert_eq!(lines[2]["size_bytes"], 8);
    assert_eq!(lines[2]["mtime_s"], 1_700_000_000);
}

#[test]
fn cat_prints_files_byte_for_byte_for_any_number_of_workers() {
    let Some(home) = packed() else { return };
    let expected = fs::read(home.path().join("tree/large")).unwrap();
    for jobs in ["1", "3", "auto"] {
        let printed = image(home.path(), &["cat", "-j", jobs, "image", "large"]);
        assert!(printed.code == 0 && printed.stdout == expected, "{jobs}");
    }
    assert_eq!(
        image(home.path(), &["cat", "image", "/d/file"]).text(),
        "content\n"
    );
    for (path, reason) in [
        (
            "d",
            "error: cannot read 'image': 'd' is not a regular file\n",
        ),
        (
            "link",
            "error: cannot read 'image': 'link' is not a regular file\n",
        ),
        (
            "no",
            "error: cannot read 'image': 'no' is not in the image\n",
        ),
        (
            "large/x",
            "error: cannot read 'image': 'large/x' is not in the image\n",
        ),
    ] {
        let refused = image(home.path(), &["cat", "image", path]);
        assert_eq!((refused.code, refused.stderr.as_str()), (2, reason));
    }
    assert_eq!(
        image(home.path(), &["cat", "--json", "image", "large"]).code,
        2
    );
}

#[test]
fn info_tells_what_the_superblock_says() {
    let Some(home) = packed() else { return };
    let text = image(home.path(), &["info", "image"]).text();
    assert!(text.starts_with("compressor:      gzip "), "{text}");
    assert!(text.contains("\nblock size:      131072 bytes\n"), "{text}");
    let text = image(home.path(), &["info", "--json", "image"]).text();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "hedgerow.image.info.v1");
    assert_eq!(document["compressor"], "gzip");
    assert_eq!(document["inodes"], 7);
    assert_eq!(document["mod_time_s"], 1_700_000_001);
    assert_eq!(document["exportable"], true);
}

#[test]
fn verify_names_what_is_wrong_and_what_has_no_checksum() {
    let Some(home) = packed() else { return };
    let sound = image(home.path(), &["verify", "image"]);
    assert_eq!((sound.code, sound.stderr.as_str()), (0, ""));
    let text = sound.text();
    assert!(
        text.starts_with("read: 7 inodes, 1000008 bytes of content\n"),
        "{text}"
    );
    assert!(
        text.contains("\nno checksum: superblock, 96 bytes\n"),
        "{text}"
    );
    assert!(text.contains("\nchecksum: data, "), "{text}");
    assert!(text.ends_with("\nok\n"), "{text}");

    let mut bytes = fs::read(home.path().join("image")).unwrap();
    bytes[300] ^= 4;
    fs::write(home.path().join("damaged"), bytes).unwrap();
    let damaged = image(home.path(), &["verify", "damaged"]);
    assert_eq!(damaged.code, 1);
    let text = damaged.text();
    assert!(
        text.starts_with("wrong: data at 96: 'large': bad gzip block\n"),
        "{text}"
    );
    let text = image(home.path(), &["verify", "--json", "damaged"]).text();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "hedgerow.image.verify.v1");
    assert_eq!(document["sound"], false);
    assert_eq!(document["findings"][0]["path"], "large");
    assert_eq!(document["findings"][0]["position"], 96);
    assert_eq!(document["parts"][0]["part"], "superblock");
    // What is damaged cannot be printed, and what is not can.
    assert_eq!(image(home.path(), &["cat", "damaged", "large"]).code, 2);
    assert_eq!(
        image(home.path(), &["cat", "damaged", "d/file"]).text(),
        "content\n"
    );
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_listed() {
    let Some(home) = packed() else { return };
    // Without compression, a name can be made one that leads elsewhere.
    let mut pack = Command::new("mksquashfs");
    pack.args([
        "tree",
        "plain",
        "-noappend",
        "-quiet",
        "-no-progress",
        "-noI",
    ]);
    let packed = pack.current_dir(home.path()).stdout(Stdio::null()).status();
    assert!(packed.unwrap().success());
    let mut bytes = fs::read(home.path().join("plain")).unwrap();
    let at = bytes.windows(4).rposition(|name| name == b"link").unwrap();
    bytes[at + 1] = b'/';
    // And it may stand behind something else.
    let before = b"#!/bin/sh\n";
    fs::write(home.path().join("both"), [before, &bytes[..]].concat()).unwrap();
    let offset = format!("--offset={}", before.len());
    let listed = image(home.path(), &["list", &offset, "both"]);
    assert_eq!(listed.text(), "d\nd/e\nd/file\nd.x\nlarge\n");
    assert_eq!(listed.code, 3);
    assert!(
        listed.stderr.starts_with("error: cannot list '/': "),
        "{}",
        listed.stderr
    );
    assert!(
        listed.stderr.contains("an entry named 'l/nk'"),
        "{}",
        listed.stderr
    );
}

#[test]
fn what_is_no_image_is_refused_with_2() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("text"), b"no image").unwrap();
    for action in ["list", "info", "verify"] {
        let refused = image(home.path(), &[action, "text"]);
        let reason = "error: cannot read 'text': not a SquashFS or EROFS image\n";
        assert_eq!((refused.code, refused.stderr.as_str()), (2, reason));
        let missing = image(home.path(), &[action, "missing"]);
        let reason = "error: cannot open 'missing': No such file or directory\n";
        assert_eq!((missing.code, missing.stderr.as_str()), (2, reason));
        assert_eq!(image(home.path(), &[action]).code, 2);
        let directory = image(home.path(), &[action, "."]);
        assert_eq!(directory.code, 2, "{directory:?}");
        let reason = "error: '.' is a directory, not an image\n\nhint: to list a directory: ";
        assert!(directory.stderr.starts_with(reason), "{directory:?}");
    }
}
