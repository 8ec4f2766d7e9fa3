//! Trees that are made to write where they should not.

use crate::{hedgerow, Trap};

/// A tree with `.GIT/hooks/post-checkout`, and every other spelling that some file system folds.
#[test]
fn cve_2014_9390() {
    refused_names(&[
        b".GIT", b".Git", b".git", b"GIT~1", b"git~1", b".git.", b".git ",
    ]);
    let trap = Trap::new();
    trap.repository.git(&["config", "core.protectHFS", "true"]);
    let evil = trap.blob(b"#!/bin/sh\n");
    let tree = trap.tree(&[("100755", ".g\u{200c}it".as_bytes(), &evil)]);
    assert_eq!(trap.spring(&tree).code, 128);
}

/// `.git::$INDEX_ALLOCATION` names `.git` on NTFS, also where the file system is not known to be one.
#[test]
fn cve_2019_1352() {
    refused_names(&[b".git::$INDEX_ALLOCATION", b".git::$DATA", b".git:stream"]);
}

/// NTFS is protected against wherever Git runs, for the tree may be shared with Windows.
#[test]
fn cve_2019_1353() {
    let trap = Trap::new();
    let evil = trap.blob(b"harm");
    let tree = trap.tree(&[("100644", b"git~1", &evil)]);
    assert_eq!(trap.spring(&tree).code, 128);
    // It is the default, not a promise about names in general.
    trap.repository
        .git(&["config", "core.protectNTFS", "false"]);
    assert_eq!(trap.spring(&tree).code, 0);
}

/// Names with backslashes are paths on Windows.
#[test]
fn cve_2019_1354() {
    refused_names(&[b".git\\hooks\\post-checkout", b".GIT\\config"]);
}

/// Drives and streams: `C:evil` leads outside on Windows.
#[test]
fn cve_2019_1351() {
    let trap = Trap::new();
    let evil = trap.blob(b"harm");
    for name in [&b"../canary/evil"[..], b"/etc/evil", b"a/../../canary/evil"] {
        let tree = trap.tree(&[("100644", name, &evil)]);
        assert_eq!(trap.spring(&tree).code, 128, "{name:?}");
    }
}

/// A link `a` and a directory `A`, on a file system that takes them for one, with content that is
/// written late (a delayed filter). Here the directory is a link when the content comes: the file
/// is opened beneath the root, and without links on the way.
#[test]
fn cve_2021_21300() {
    through_a_link("../canary");
    through_a_link(".git/hooks");
}

/// The same with the modules of `.git` behind the link.
#[test]
fn cve_2024_32002() {
    let trap = Trap::new();
    let target = trap.blob(b".git");
    let hook = trap.blob(b"#!/bin/sh\ntouch ../canary/evil\n");
    let hooks = trap.tree(&[("100755", b"post-checkout", &hook)]);
    let hooks = trap.tree(&[("40000", b"hooks", &hooks)]);
    // Both names are there: the case decides nothing.
    let tree = trap.tree(&[("40000", b"A", &hooks), ("120000", b"a", &target)]);
    trap.spring(&tree);
    let twice = trap.tree(&[("120000", b"a", &target), ("40000", b"a", &hooks)]);
    assert_eq!(trap.spring(&twice).code, 128);
}

/// gix-fs: an index with a link `a` and a link `a/post-checkout` behind it.
#[test]
fn cve_2026_44471() {
    let trap = Trap::new();
    let target = trap.blob(b".git/hooks");
    let payload = trap.blob(b"../../payload");
    let below = trap.tree(&[("120000", b"post-checkout", &payload)]);
    let tree = trap.tree(&[
        ("120000", b"a", &target),
        ("40000", b"a", &below),
        ("100755", b"payload", &payload),
    ]);
    let outcome = trap.spring(&tree);
    assert_eq!(outcome.code, 128, "{outcome:?}");
}

/// gix-worktree-state: an executable file that everybody may write.
#[test]
fn cve_2025_22620() {
    use std::os::unix::fs::PermissionsExt;
    let trap = Trap::new();
    let program = trap.blob(b"#!/bin/sh\n");
    let tree = trap.tree(&[
        ("100755", b"program", &program),
        ("100777", b"wide", &program),
    ]);
    trap.spring(&tree);
    for name in ["program", "wide"] {
        if let Ok(stat) = std::fs::metadata(trap.repository.path(name)) {
            assert_eq!(stat.permissions().mode() & 0o022, 0, "{name}");
        }
    }
}

/// gitoxide: names of devices of Windows, and control characters that drive a terminal.
#[test]
fn cve_2024_43785() {
    let trap = Trap::new();
    let blob = trap.blob(b"x");
    let name = b"\x1b]0;evil\x07\x1b[2J";
    let tree = trap.tree(&[("100644", name, &blob)]);
    let outcome = trap.spring(&tree);
    assert!(!outcome.stderr.contains('\x1b'), "{outcome:?}");
    let status = hedgerow(&trap.repository.root, &["status"]);
    assert!(!status.stdout.contains(&0x1b), "{status:?}");
}

/// Attributes in numbers and lengths that overflow an `int`.
#[test]
fn cve_2022_23521() {
    let trap = Trap::new();
    let long = b"a".repeat(3 << 20);
    let many = b" b".repeat(1 << 20);
    for line in [
        [b"* ", &long[..], b"\n"].concat(),
        [b"*", &many[..], b"\n"].concat(),
        [&long[..], b" text\n"].concat(),
        b"[attr]x y\n".repeat(200_000),
    ] {
        let attributes = trap.blob(&line);
        let content = trap.blob(b"line\n");
        let tree = trap.tree(&[
            ("100644", b".gitattributes", &attributes),
            ("100644", b"file", &content),
        ]);
        let outcome = trap.spring(&tree);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let file = std::fs::read(trap.repository.path("file")).unwrap();
        assert_eq!(file, b"line\n");
    }
}

fn refused_names(names: &[&[u8]]) {
    for name in names {
        let trap = Trap::new();
        let hook = trap.blob(b"#!/bin/sh\n");
        let hooks = trap.tree(&[("100755", b"post-checkout", &hook)]);
        let below = trap.tree(&[("40000", b"hooks", &hooks)]);
        for entry in [("40000", *name, below.as_str()), ("120000", *name, &hook)] {
            let tree = trap.tree(&[entry]);
            let outcome = trap.spring(&tree);
            let shown = String::from_utf8_lossy(name);
            assert_eq!(outcome.code, 128, "{shown}: {outcome:?}");
            let deeper = trap.tree(&[("40000", b"d", &tree)]);
            assert_eq!(trap.spring(&deeper).code, 128, "d/{shown}");
        }
    }
}

/// A directory of the tree is a link to somewhere else by the time that its files are written.
fn through_a_link(target: &str) {
    let trap = Trap::new();
    let evil = trap.blob(b"#!/bin/sh\n");
    let below = trap.tree(&[("100755", b"post-checkout", &evil)]);
    let tree = trap.tree(&[("40000", b"a", &below)]);
    std::os::unix::fs::symlink(target, trap.repository.path("a")).unwrap();
    trap.spring(&tree);
}
