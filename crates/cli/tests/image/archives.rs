//! Images of tar archives are the images of what was archived, byte for byte.

use crate::image;
use std::fs::{self, File, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Runs a program that must succeed; `None` if it is not installed.
pub fn run(directory: &Path, program: &str, words: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(words).current_dir(directory);
    let Ok(output) = command.output() else {
        hedgerow_testkit::skip(&format!("{program} is not installed"));
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words:?}: {said}");
    Some(output.stdout)
}

/// A directory with a `tree`, which has what any archive can hold, or also more.
pub fn home(with_more: bool) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("d/e/f")).unwrap();
    fs::create_dir(tree.join("empty")).unwrap();
    let content: Vec<u8> = (0..700_000u32)
        .flat_map(|at| at.wrapping_mul(at).to_le_bytes())
        .collect();
    for (number, len) in [0, 1, 512, 4096, 131_072, 131_073, 2_800_000]
        .iter()
        .enumerate()
    {
        fs::write(tree.join(format!("d/file-{number}")), &content[..*len]).unwrap();
        let other = content.get(number..*len).unwrap_or_default();
        fs::write(tree.join(format!("d.{number}")), other).unwrap();
    }
    fs::write(tree.join("z-first-name"), "linked").unwrap();
    fs::hard_link(tree.join("z-first-name"), tree.join("a-link")).unwrap();
    fs::hard_link(tree.join("z-first-name"), tree.join("d/e/f/link")).unwrap();
    symlink("../d/file-1", tree.join("empty/link")).unwrap();
    fs::set_permissions(tree.join("d/file-1"), Permissions::from_mode(0o4751)).unwrap();
    let mut sparse = File::create(tree.join("sparse")).unwrap();
    sparse.seek(SeekFrom::Start(1 << 20)).unwrap();
    sparse.write_all(b"in the middle").unwrap();
    sparse.set_len(3 << 20).unwrap();
    if with_more {
        let long = tree.join("n".repeat(255)).join("m".repeat(200));
        fs::create_dir_all(&long).unwrap();
        fs::write(long.join("file"), "far away").unwrap();
        symlink("t".repeat(300), tree.join("long-link")).unwrap();
        run(&tree, "mkfifo", &["fifo"]);
    }
    home
}

/// The image of a source; there must be no complaint.
pub fn packed(home: &Path, source: &str, words: &[&str]) -> Vec<u8> {
    let compressor = if words.contains(&"-c") {
        &[][..]
    } else {
        &["-c", "lz4"]
    };
    let words = [&["create", "-qf"], compressor, words, &[source, "image"]].concat();
    let made = image(home, &words);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{source}");
    let names = fs::read_dir(home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(names
        .into_iter()
        .all(|name| !name.as_encoded_bytes().starts_with(b".")));
    fs::read(home.join("image")).unwrap()
}

#[test]
fn the_format_of_the_archive_and_its_order_do_not_matter() {
    for (with_more, all) in [
        (false, &["--format=v7", "--format=ustar --sort=name"][..]),
        (
            true,
            &[
                "--format=gnu",
                "--format=oldgnu --sparse --sort=name",
                "--format=gnu --sparse --label=volume",
                "--format=pax --sparse --sort=name",
                "--format=pax --sparse --sparse-version=0.1",
                "-z",
                "-J",
                "--zstd --sort=name",
            ],
        ),
    ] {
        let home = home(with_more);
        let expected = packed(home.path(), "tree", &[]);
        for words in all {
            let mut tar: Vec<&str> = vec!["-C", "tree", "-cf", "archive"];
            tar.extend(words.split(' '));
            tar.push(".");
            if run(home.path(), "tar", &tar).is_none() {
                return;
            }
            assert!(packed(home.path(), "archive", &[]) == expected, "{words}");
        }
        let bsdtar = ["-C", "tree", "-cf", "archive", "--format=pax", "."];
        if run(home.path(), "bsdtar", &bsdtar).is_some() {
            assert!(packed(home.path(), "archive", &[]) == expected, "bsdtar");
        }
    }
}

/// A directory knows where holes are, most archives do not.
#[test]
fn files_of_zeros_are_the_same_with_holes_and_without() {
    for size in [5, 4096, 4097, 131_072, 409_605, 2_000_001] {
        let home = tempfile::tempdir().unwrap();
        for name in ["dense", "sparse"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        fs::write(home.path().join("dense/file"), vec![0; size]).unwrap();
        let sparse = File::create(home.path().join("sparse/file")).unwrap();
        sparse.set_len(size as u64).unwrap();
        for file in ["dense/file", "sparse/file", "dense", "sparse"] {
            run(home.path(), "touch", &["-d", "@1700000000", file]);
        }
        let tar = ["-C", "sparse", "-cf", "archive", "."];
        if run(home.path(), "tar", &tar).is_none() {
            return;
        }
        for words in [
            &["--format", "erofs", "-c", "none"][..],
            &["--format", "erofs"],
            &["--format", "squashfs"],
        ] {
            let expected = packed(home.path(), "sparse", words);
            for source in ["dense", "archive"] {
                let is_same = packed(home.path(), source, words) == expected;
                assert!(is_same, "{source} {size} {words:?}");
            }
        }
    }
}

#[test]
fn attributes_come_along() {
    let home = home(true);
    let set = ["-n", "user.note", "-v", "of one file", "tree/d/file-2"];
    if run(home.path(), "setfattr", &set).is_none() {
        return;
    }
    let expected = packed(home.path(), "tree", &[]);
    assert!(packed(home.path(), "tree", &["--no-xattrs"]) != expected);
    let tar = [
        "--xattrs",
        "--format=pax",
        "-C",
        "tree",
        "-cf",
        "archive",
        ".",
    ];
    run(home.path(), "tar", &tar);
    assert!(packed(home.path(), "archive", &[]) == expected);
}

#[test]
fn access_control_lists_come_along_both_ways() {
    let home = home(false);
    let home = home.path();
    let tree = home.join("tree");
    fs::create_dir(tree.join("lists")).unwrap();
    fs::write(tree.join("lists/file"), "with a list").unwrap();
    fs::set_permissions(tree.join("lists/file"), Permissions::from_mode(0o640)).unwrap();
    for words in [
        &["-m", "u:1234:rwx,u:0:r--,g:5:---", "tree/lists/file"][..],
        &["-m", "u:1234:rwx", "tree/lists"],
        &["-d", "-m", "g:5:r-x", "tree/lists"],
    ] {
        if run(home, "setfacl", words).is_none() {
            return;
        }
    }
    let lists = |directory: &str| {
        let words = ["-cnR", "-L", "lists"];
        String::from_utf8(run(&home.join(directory), "getfacl", &words).unwrap()).unwrap()
    };
    let erofs = ["--format", "erofs"];
    let expected = packed(home, "tree", &erofs);
    let tar = ["--acls", "--format=pax", "-C", "tree", "-cf", "a.tar", "."];
    run(home, "tar", &tar);
    assert!(packed(home, "a.tar", &erofs) == expected);
    assert_eq!(
        image(home, &["to-tar", "-q", "image", "-o", "b.tar"]).code,
        0
    );
    assert!(packed(home, "b.tar", &erofs) == expected);
    for (program, directory) in [("tar", "by-tar"), ("bsdtar", "by-bsdtar")] {
        fs::create_dir(home.join(directory)).unwrap();
        let acls = ["--acls", "-xpf", "b.tar", "-C", directory];
        if run(home, program, &acls).is_some() {
            assert_eq!(lists(directory), lists("tree"), "{program}");
        }
    }
    // One who is not known here cannot be in the list.
    let mut archive = fs::read(home.join("b.tar")).unwrap();
    let at = archive.windows(9).position(|it| it == b"user:1234");
    archive[at.unwrap() + 5..][..4].copy_from_slice(b"none");
    fs::write(home.join("c.tar"), archive).unwrap();
    let made = image(
        home,
        &["create", "-q", "--format", "erofs", "c.tar", "c.image"],
    );
    assert_eq!(made.code, 0);
    assert!(
        made.stderr.contains("those of 1 members are left out"),
        "{made:?}"
    );
}

#[test]
fn standard_input_may_be_a_pipe_or_a_file() {
    let home = home(true);
    let expected = packed(home.path(), "tree", &[]);
    for compress in ["-c", "-cz"] {
        let tar = [compress, "-C", "tree", "."];
        let Some(archive) = run(home.path(), "tar", &tar) else {
            return;
        };
        let path = home.path().join("archive");
        // What was read before is no part of the archive.
        fs::write(&path, [b"before", &archive[..]].concat()).unwrap();
        let mut file = File::open(&path).unwrap();
        file.seek(SeekFrom::Start(6)).unwrap();
        let mut tail = Command::new("tail");
        tail.args(["-c", "+7"]).arg(&path).stdout(Stdio::piped());
        let mut tail = tail.spawn().unwrap();
        for stdin in [Stdio::from(file), Stdio::from(tail.stdout.take().unwrap())] {
            let mut hedgerow = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
            hedgerow.args(["-q", "image", "create", "-fc", "lz4", "-", "image"]);
            let made = hedgerow.current_dir(home.path()).stdin(stdin).status();
            assert!(made.unwrap().success());
            assert!(
                fs::read(home.path().join("image")).unwrap() == expected,
                "{compress}"
            );
        }
        tail.wait().unwrap();
    }
}

#[test]
fn what_is_excluded_and_whose_it_is_is_the_same_as_with_a_directory() {
    let home = home(true);
    let tar = ["-C", "tree", "-cf", "archive", "."];
    if run(home.path(), "tar", &tar).is_none() {
        return;
    }
    for words in [
        &["--exclude", "/d/", "--exclude", "*-name"][..],
        &["--exclude", "file-*", "--exclude", "!file-3", "--all-root"],
        &["--set-uid", "7", "--set-gid", "8", "--default-mtime", "9"],
        &["--no-fragments", "--exportable", "-b", "4K"],
    ] {
        let expected = packed(home.path(), "tree", words);
        assert!(
            packed(home.path(), "archive", words) == expected,
            "{words:?}"
        );
    }
}

#[test]
fn an_archive_of_git_is_the_tree_that_it_was_made_of() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("tree");
    fs::create_dir_all(work.join("d")).unwrap();
    fs::write(work.join("d/file"), "content").unwrap();
    fs::write(work.join("d.c"), "more").unwrap();
    fs::set_permissions(work.join("d.c"), Permissions::from_mode(0o755)).unwrap();
    symlink("d/file", work.join("link")).unwrap();
    for name in ["", "d"] {
        fs::set_permissions(work.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(work.join("d/file"), Permissions::from_mode(0o644)).unwrap();
    let options = ["--all-root", "--default-mtime", "5"];
    let expected = packed(home.path(), "tree", &options);
    let identity = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=b",
        "-c",
        "tar.umask=022",
    ];
    for words in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-qm", "all"],
        &["archive", "-o", "../archive.tar", "HEAD"],
    ] {
        let words = [&identity, words].concat();
        if run(&work, "git", &words).is_none() {
            return;
        }
    }
    assert!(packed(home.path(), "archive.tar", &options) == expected);
}

#[test]
fn a_cut_archive_leaves_no_image() {
    let home = home(false);
    let tar = ["-C", "tree", "-cf", "archive", "."];
    if run(home.path(), "tar", &tar).is_none() {
        return;
    }
    let whole = fs::read(home.path().join("archive")).unwrap();
    fs::write(home.path().join("archive"), &whole[..whole.len() / 2]).unwrap();
    let refused = image(home.path(), &["create", "archive", "image"]);
    assert_eq!(refused.code, 2);
    let said = format!(
        "error: cannot read the archive 'archive': the archive ends at byte {}",
        whole.len() / 2
    );
    assert!(refused.stderr.starts_with(&said), "{refused:?}");
    assert!(!home.path().join("image").exists());
}

#[test]
fn what_no_tree_can_have_is_an_error_or_left_out() {
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("file"), "content").unwrap();
    fs::hard_link(tree.join("file"), tree.join("link")).unwrap();
    let tar = ["-C", "tree", "-cf", "archive", "--sort=name", "."];
    if run(home.path(), "tar", &tar).is_none() {
        return;
    }
    run(home.path(), "tar", &["--delete", "-f", "archive", "./file"]);
    let said = "error: 'link': a hard link to 'file', which is not in the archive\n";
    let refused = image(home.path(), &["create", "archive", "image"]);
    assert_eq!((refused.code, refused.stderr.as_str()), (2, said));
    let words = ["create", "--skip-unreadable", "archive", "image"];
    let made = image(home.path(), &words);
    assert!(made.code == 3 && made.stderr.ends_with(said), "{made:?}");
    assert_eq!(image(home.path(), &["list", "image"]).text(), "");
}

#[test]
fn an_interrupted_wait_for_a_pipe_ends() {
    let home = tempfile::tempdir().unwrap();
    let mut hedgerow = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    hedgerow.args(["image", "create", "-", "image"]);
    hedgerow
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = hedgerow.spawn().unwrap();
    // A pipe that stays open and says nothing more.
    child.stdin.as_mut().unwrap().write_all(&[0; 100]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    run(home.path(), "kill", &["-INT", &child.id().to_string()]);
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.signal(), Some(2));
    assert_eq!(output.stderr, b"error: interrupted\n");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn an_interrupted_wait_for_whoever_writes_to_a_fifo_ends() {
    let home = tempfile::tempdir().unwrap();
    run(home.path(), "mkfifo", &["fifo"]);
    let mut hedgerow = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    hedgerow.args(["image", "create", "fifo", "image"]);
    hedgerow.current_dir(home.path()).stderr(Stdio::piped());
    let child = hedgerow.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    run(home.path(), "kill", &["-INT", &child.id().to_string()]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    // Had the first one done nothing, the second would end it without a word.
    let _ = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(2));
    assert_eq!(output.stderr, b"error: interrupted\n");
}

#[test]
fn an_archive_comes_through_a_fifo() {
    let home = home(false);
    let Some(_) = run(home.path(), "tar", &["-cf", "archive", "-C", "tree", "."]) else {
        return;
    };
    run(home.path(), "mkfifo", &["fifo"]);
    let mut writer = Command::new("sh");
    writer.args(["-c", "sleep 0.2; cat archive > fifo"]);
    let mut writer = writer.current_dir(home.path()).spawn().unwrap();
    let through = packed(home.path(), "fifo", &[]);
    assert!(writer.wait().unwrap().success());
    assert!(through == packed(home.path(), "archive", &[]));
}

#[test]
fn what_an_input_is_is_said() {
    let home = home(false);
    let home = home.path();
    let Some(archive) = run(home, "tar", &["-cjf", "-", "-C", "tree", "."]) else {
        return;
    };
    fs::write(home.join("archive.tar.bz2"), archive).unwrap();
    let of_bzip2 = packed(home, "archive.tar.bz2", &[]);
    run(home, "tar", &["-cf", "archive.tar", "-C", "tree", "."]);
    assert!(packed(home, "archive.tar", &[]) == of_bzip2);
    fs::write(home.join("plain"), "a line of text\n".repeat(20)).unwrap();
    fs::write(home.join("short"), "hello\n").unwrap();
    for (name, what) in [("plain", "a plain file"), ("short", "a plain file")] {
        let refused = image(home, &["create", name, "new"]);
        let reason = format!("this is {what}, not a tar archive");
        assert!(refused.stderr.contains(&reason), "{refused:?}");
        assert_eq!(refused.code, 2);
    }
}
