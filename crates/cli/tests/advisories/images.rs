//! Images that are made to write elsewhere, or to bring a reader down.

use crate::hedgerow;
use std::path::Path;
use std::process::{Command, Stdio};

/// Names that are changed in the image: from, to.
type Changes<'a> = &'a [(&'a [u8], &'a [u8])];

/// A block size that does not fit its logarithm, and one that overflows a queue's length.
#[test]
fn cve_2012_4025() {
    damaged(&[12, 22], &[0xff, 0x00, 0x7f]);
}

/// Counts of fragments and of inodes that overflow the size of a table.
#[test]
fn cve_2015_4645() {
    damaged(&[16, 17, 18, 19], &[0xff, 0x80]);
}

/// The same for every other field of the superblock.
#[test]
fn cve_2015_4646() {
    let fields: Vec<usize> = (0..96).collect();
    damaged(&fields, &[0xff, 0x00]);
}

/// A directory with an entry `..`, or with a name that is a path.
#[test]
fn cve_2021_40153() {
    for (to, what) in [(&b"../evil"[..], "a path"), (b"......\0", "a zero byte")] {
        escaped(&[(b"evilxxx", to)], what);
    }
    escaped(&[(b"qq", b"..")], "..");
}

/// A link and a directory of one name: what is in the directory goes through the link.
#[test]
fn cve_2021_41072() {
    escaped(&[(b"twic1", b"twic0")], "two entries of one name");
}

/// Makes an image whose tables are not compressed, changes names in it, and extracts it.
fn escaped(changes: Changes, what: &str) {
    let Some(home) = image() else { return };
    let path = home.path().join("image");
    let mut bytes = std::fs::read(&path).unwrap();
    for (from, to) in changes {
        assert_eq!(from.len(), to.len());
        let places: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|place| bytes[*place..].starts_with(from))
            .collect();
        assert!(!places.is_empty(), "{what}: the name is not in the image");
        for place in places {
            bytes[place..place + to.len()].copy_from_slice(to);
        }
    }
    std::fs::write(&path, bytes).unwrap();
    for words in [
        &["image", "extract", "image", "work/out"][..],
        &["image", "extract", "-f", "image", "work/out"],
        &["image", "verify", "image"],
        &["image", "to-tar", "-f", "-o", "out.tar", "image"],
    ] {
        let outcome = hedgerow(home.path(), words);
        assert_ne!(outcome.code, 0, "{what}: {words:?}: {outcome:?}");
        untouched(home.path(), what);
    }
}

fn untouched(home: &Path, what: &str) {
    let mut names: Vec<_> = std::fs::read_dir(home.join("work"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.retain(|name| name != "out");
    assert!(names.is_empty(), "{what}: {names:?}");
    let outside = std::fs::read_dir(home.join("outside")).unwrap().count();
    assert_eq!(outside, 0, "{what}");
}

/// Sets bytes of the superblock one by one: every reader ends, in words and in little memory.
fn damaged(places: &[usize], values: &[u8]) {
    let Some(home) = image() else { return };
    let path = home.path().join("image");
    let whole = std::fs::read(&path).unwrap();
    for place in places {
        for value in values {
            let mut bytes = whole.clone();
            bytes[*place] = *value;
            std::fs::write(&path, bytes).unwrap();
            for words in ["list image", "verify image", "extract -f image work/out"] {
                let script = format!(
                    "ulimit -v 2000000; exec timeout 20 '{}' image {words}",
                    env!("CARGO_BIN_EXE_hedgerow")
                );
                let mut command = Command::new("sh");
                command.args(["-c", &script]).current_dir(home.path());
                let outcome = hedgerow_testkit::run(command);
                let what = format!("byte {place} is {value}: {words}: {outcome:?}");
                assert!(outcome.code < 124, "{what}");
                outcome.assert_civil(&what);
            }
        }
    }
}

/// A directory with `image`, an empty `work` and an empty `outside`, to which a link leads.
fn image() -> Option<tempfile::TempDir> {
    if !hedgerow_testkit::require("mksquashfs") {
        return None;
    }
    let home = hedgerow_testkit::temporary();
    let script = "mkdir -p tree/twic1 tree/qq outside work && cd tree && echo x >evilxxx &&
        ln -s ../../outside twic0 && echo y >twic1/file && echo z >qq/file && cd .. &&
        mksquashfs tree image -noI -noD -noF -noX -no-fragments -noappend -quiet -no-progress";
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(home.path());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "mksquashfs");
    Some(home)
}
