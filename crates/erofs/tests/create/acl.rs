//! Access control lists: as the kernel shows them.

use crate::image_of;
use crate::trees::{is_root, mounted, place};
use hedgerow_testkit::{require, skip};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What getfacl shows of each entry below a directory, with numbers in place of names.
fn lists(root: &Path) -> Vec<String> {
    let output = Command::new("getfacl")
        .args(["-R", "-n", "-p", "."])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut entries: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    // They come in the order of the directory.
    entries.sort();
    entries
}

/// Gives an entry a list; whether the file system has lists.
fn set(path: &Path, words: &[&str]) -> bool {
    let status = Command::new("setfacl")
        .args(words)
        .arg(path)
        .output()
        .unwrap()
        .status;
    status.success()
}

#[test]
fn access_control_lists_are_kept() {
    if !require("setfacl") || !is_root() {
        return;
    }
    let own = place();
    let (tree, image) = (own.path().join("tree"), own.path().join("image"));
    fs::create_dir_all(tree.join("directory/below")).unwrap();
    for name in ["file", "other", "directory/inside", "plain"] {
        fs::write(tree.join(name), name).unwrap();
    }
    if !set(&tree.join("file"), &["-m", "u:1234:rw,g:77:r"]) {
        return skip("the file system has no access control lists");
    }
    assert!(set(&tree.join("other"), &["-m", "u:0:x,m::rx"]));
    // The list of many users takes more room than an inode has beside others.
    let many: Vec<String> = (1000..1300).map(|user| format!("u:{user}:r")).collect();
    assert!(set(
        &tree.join("directory/inside"),
        &["-m", &many.join(",")]
    ));
    assert!(set(
        &tree.join("directory"),
        &["-d", "-m", "u:1234:rwx,g::r"]
    ));
    assert!(set(
        &tree.join("directory/below"),
        &["-m", "g:5:rx", "-d", "-m", "o::-"]
    ));
    assert!(set(&tree, &["-m", "u:55:r"]));
    let expected = lists(&tree);
    for words in ["user:1234:rw-", "default:user:1234:rwx", "user:1299:r--"] {
        assert!(expected.iter().any(|entry| entry.contains(words)));
    }
    let mut variants = crate::oracle::variants();
    variants.truncate(6);
    for given in variants {
        let (created, _) = image_of(&tree, &image, &given).unwrap();
        assert_eq!(created.unstored_xattrs.count, 0);
        mounted(&image, "erofs", "ro", |mounted| {
            assert!(lists(mounted) == expected, "{:?}", given.compression);
        });
    }
}
