//! What is extracted, against what other tools extract, and what happens when something fails.

use crate::{image, Outcome};
use std::fs;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn run(directory: &Path, program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).current_dir(directory);
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn shell(directory: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(directory);
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

/// Everything that can be seen of a tree but the attributes of its root, and which names are one
/// file.
fn seen(home: &Path, tree: &str) -> String {
    let look = "find . -mindepth 1 ! -type d -printf '%P %y %m %U %G %T@ %l %n %s\n' | sort;
        find . -mindepth 1 -type d -printf '%P %y %m %U %G %T@\n' | sort;
        find . ! -type d -links +1 -printf '%i %P\n' | sort -k2 |
            awk '{ if (!($1 in first)) first[$1] = $2; print $2, first[$1] }';
        find . -type c -exec stat -c '%n %t:%T' {} + | sort;
        find . -mindepth 1 -print0 | sort -z | xargs -0 getfattr -h -d -m - 2>/dev/null; find . -type f -exec sha256sum {} + | sort";
    shell(&home.join(tree), look)
}

/// A directory with `tree` and its `image`, in which everything occurs.
fn packed(options: &[&str]) -> Option<TempDir> {
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let home = home.unwrap();
    let script = "mkdir -p tree/a/b/c tree/only tree/many && cd tree &&
        for i in $(seq 200); do echo $i > many/$i; done;
        head -c 700000 /dev/urandom > a/large; cp a/large a/copy; ln a/large only/large;
        ln a/large zz; truncate -s 2M sparse; printf x | dd of=sparse bs=1 seek=700000 conv=notrunc;
        : > empty; ln -s ../a a/b/link; mkfifo fifo; printf '\\377' > \"$(printf 'n\\377')\";
        chmod 4711 a/large; chmod 1770 only; chmod 0555 many; chmod 0400 many/7;
        if [ $(id -u) = 0 ]; then mknod device c 300 70000; chown 12:34 a/b only many/9;
            chown 1000:1000 a/copy; chmod 6755 a/copy; chown -h 5:6 a/b/link;
            setfattr -n trusted.t -v 1 only; fi;
        setfattr -n user.x -v value many/9 a; find . -exec touch -h -d @1234567890 {} +";
    shell(home.path(), script);
    let words = ["tree", "image", "-noappend", "-quiet", "-no-progress"];
    if !run(home.path(), "mksquashfs", &[&words, options].concat()) {
        hedgerow_testkit::skip("no image: mksquashfs is not installed");
        return None;
    }
    Some(home)
}

fn assert_same(ours: &str, expected: &str) {
    let mut lines = ours.lines().zip(expected.lines());
    if let Some(pair) = lines.find(|(ours, expected)| ours != expected) {
        panic!("{pair:?}");
    }
    assert_eq!(ours.len(), expected.len());
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn what_is_extracted_is_what_was_packed() {
    for options in [
        vec!["-comp", "gzip", "-b", "4096"],
        vec!["-comp", "zstd"],
        vec!["-comp", "lz4", "-no-fragments"],
        vec!["-comp", "xz", "-b", "1M", "-always-use-fragments"],
    ] {
        let Some(home) = packed(&options) else { return };
        let outcome = image(home.path(), &["extract", "image", "new/out"]);
        assert_eq!(
            (
                outcome.code,
                fs::metadata(home.path().join("new/out")).is_ok()
            ),
            (0, true),
            "{outcome:?}"
        );
        if is_root() {
            let expected = seen(home.path(), "tree");
            assert!(expected.lines().count() > 400);
            assert_same(&seen(home.path(), "new/out"), &expected);
        }
        let sparse = fs::metadata(home.path().join("new/out/sparse")).unwrap();
        assert!(sparse.blocks() * 512 <= 1 << 20, "{}", sparse.blocks());
        let root = fs::metadata(home.path().join("new/out")).unwrap();
        assert_eq!(root.mtime(), 1_234_567_890);
    }
}

#[test]
fn any_number_of_workers_extracts_the_same() {
    let Some(home) = packed(&[]) else { return };
    image(home.path(), &["extract", "-j", "1", "image", "1"]);
    let expected = seen(home.path(), "1");
    for jobs in ["2", "3", "16"] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(["image", "extract", "-q", "-j", jobs, "image", jobs]);
        command
            .env("HEDGEROW_TEST_DELAY", jobs)
            .current_dir(home.path());
        assert!(command.status().unwrap().success());
        assert_eq!(seen(home.path(), jobs), expected);
    }
}

#[test]
fn parts_are_extracted_with_what_they_are_in() {
    let Some(home) = packed(&[]) else { return };
    let outcome = image(home.path(), &["extract", "image", "out", "a/b", "/only/"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let names = |tree: &str| {
        shell(
            &home.path().join(tree),
            "find . -mindepth 1 -printf '%P ' | tr ' ' '\n' | sort | tr '\n' ' '",
        )
    };
    assert_eq!(names("out").trim(), "a a/b a/b/c a/b/link only only/large");
    let strip = [
        "extract",
        "--strip-components",
        "1",
        "image",
        "bare",
        "a/b",
        "only",
    ];
    assert_eq!(image(home.path(), &strip).code, 0);
    assert_eq!(names("bare").trim(), "b b/c b/link large");
    let missing = image(home.path(), &["extract", "image", "none", "a/none"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.stderr.contains("'a/none' is not in the image"),
        "{missing:?}"
    );
    assert!(!home.path().join("none").exists());
}

#[test]
fn what_is_there_is_replaced_only_if_told_and_links_are_never_followed() {
    let Some(home) = packed(&[]) else { return };
    let (out, outside) = (home.path().join("out"), home.path().join("outside"));
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(out.join("many")).unwrap();
    fs::write(outside.join("7"), "outside").unwrap();
    fs::write(outside.join("file"), "outside").unwrap();
    // A directory and files of the image are links to somewhere else here.
    symlink(&outside, out.join("a")).unwrap();
    symlink(outside.join("file"), out.join("empty")).unwrap();
    symlink(outside.join("7"), out.join("many/7")).unwrap();
    fs::write(out.join("zz"), "old").unwrap();
    fs::write(out.join("kept"), "kept").unwrap();
    let refused = image(home.path(), &["extract", "image", "out"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is not empty"), "{refused:?}");
    assert_eq!(fs::read(out.join("zz")).unwrap(), b"old");
    let outcome = image(home.path(), &["extract", "-f", "image", "out"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    // Once more, now that everything is there.
    let again = image(home.path(), &["extract", "-f", "image", "out"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(shell(&outside, "ls; cat *"), "7\nfile\noutsideoutside");
    assert_eq!(fs::read(out.join("kept")).unwrap(), b"kept");
    fs::remove_file(out.join("kept")).unwrap();
    if is_root() {
        assert_same(&seen(home.path(), "out"), &seen(home.path(), "tree"));
    }
    // A directory that is not empty is not replaced by a file.
    fs::remove_file(out.join("empty")).unwrap();
    fs::create_dir(out.join("empty")).unwrap();
    let blocked = image(home.path(), &["extract", "-f", "image", "out", "empty"]);
    assert_eq!(blocked.code, 3, "{blocked:?}");
    assert!(blocked.stderr.contains("'empty'"), "{blocked:?}");
}

/// Nobody but root can enter a directory any more once its permissions forbid that.
#[test]
fn links_lead_into_directories_that_cannot_be_entered_later() {
    if !is_root() || !hedgerow_testkit::require("setpriv") {
        hedgerow_testkit::skip("only root can run a program as somebody else");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let script = "set -e; mkdir -p tree/a/deep tree/b/c out; chmod 777 . out; cd tree
        echo 1 >a/deep/f; echo 2 >a/g; ln a/deep/f b/c/f; ln a/deep/f zz; ln a/g b/g
        chmod 755 . a/deep b b/c; chmod 600 a; find . -exec touch -h -d @1234567890 {} +
        cp \"$0\" ../hedgerow; echo made";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    let made = command.current_dir(home.path()).output().unwrap();
    assert_eq!(made.stdout, b"made\n", "{made:?}");
    for format in ["squashfs", "erofs"] {
        let words = ["create", "--format", format, "tree", format];
        assert_eq!(image(home.path(), &words).code, 0);
    }
    let picture = "find . -mindepth 1 -printf '%P %y %m %T@ %n\n' | sort";
    let expected = shell(&home.path().join("tree"), picture);
    for source in ["squashfs", "erofs"] {
        for jobs in ["1", "4"] {
            let user = "setpriv --reuid=65534 --regid=65534 --clear-groups";
            let script = format!("{user} ./hedgerow image extract -q -j{jobs} {source} out/{source}{jobs} 2>&1; echo $?");
            assert_eq!(shell(home.path(), &script), "0\n", "{source}");
            let out = home.path().join(format!("out/{source}{jobs}"));
            assert_eq!(shell(&out, picture), expected, "{source}");
            let same = "test a/deep/f -ef b/c/f -a a/deep/f -ef zz -a a/g -ef b/g && echo same";
            assert_eq!(shell(&out, same), "same\n", "{source}");
        }
    }
}

#[test]
fn owners_and_attributes_can_be_left() {
    let Some(home) = packed(&[]) else { return };
    let words = ["extract", "--no-owner", "--no-xattrs", "image", "out"];
    assert_eq!(image(home.path(), &words).code, 0);
    let copy = fs::metadata(home.path().join("out/a/copy")).unwrap();
    let own = fs::metadata("/proc/self").unwrap();
    assert_eq!((copy.uid(), copy.gid()), (own.uid(), own.gid()));
    // It would make whoever runs it somebody else than was meant.
    let large = fs::metadata(home.path().join("out/a/large")).unwrap();
    assert_eq!(large.permissions().mode() & 0o7777, 0o711);
    assert_eq!(shell(home.path(), "getfattr -R -d out"), "");
}

fn with_fault(home: &Path, fault: &str, target: &str) -> Outcome {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.args(["image", "extract", "-q", "-j", "2", "image", target]);
    command.env("HEDGEROW_TEST_FAULT", fault).current_dir(home);
    let output = command.stdin(Stdio::null()).output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn calls_seen(outcome: &Outcome) -> usize {
    let calls = outcome.stderr.split_whitespace().rev().nth(1);
    calls.unwrap().parse().unwrap()
}

#[test]
fn whatever_fails_is_named_and_no_half_file_is_there() {
    let Some(home) = packed(&["-b", "4096"]) else {
        return;
    };
    let tree = home.path().join("tree");
    for kind in [
        "create",
        "write",
        "mkdir",
        "symlink",
        "link",
        "node",
        "attribute",
        "close",
        "open",
    ] {
        let target = format!("out-{kind}");
        let before = with_fault(home.path(), &format!("{kind}:0-0:5"), &target);
        assert_eq!(before.code, 0, "{before:?}");
        let calls = calls_seen(&before);
        fs::remove_dir_all(home.path().join(&target)).unwrap();
        for number in (1..=calls).step_by(calls.div_ceil(12)) {
            let outcome = with_fault(home.path(), &format!("{kind}:{number}:5"), &target);
            let what = format!("{kind} {number} of {calls}: {outcome:?}");
            if outcome.code == 0 && calls_seen(&outcome) < number {
                // Two workers do not share handles in the same way each time.
                let _ = fs::remove_dir_all(home.path().join(&target));
                continue;
            }
            assert!([2, 3].contains(&outcome.code), "{what}");
            assert!(outcome.stderr.contains("error: "), "{what}");
            assert!(!outcome.stderr.contains("panic"), "{what}");
            let out = home.path().join(&target);
            // What is there is as long as it should be, whatever it lacks otherwise.
            let sizes = "find . -type f -printf '%P %s\n' | sort";
            let expected = shell(&tree, sizes);
            if out.exists() {
                let got = shell(&out, sizes);
                assert!(
                    got.lines()
                        .all(|line| expected.lines().any(|other| line == other)),
                    "{what}\n{got}"
                );
                shell(home.path(), &format!("chmod -R u+rwx {target}"));
                fs::remove_dir_all(&out).unwrap();
            }
        }
    }
}

#[test]
fn a_full_disk_ends_the_run_and_leaves_whole_files() {
    if !is_root() {
        hedgerow_testkit::skip("only root mounts");
        return;
    }
    let Some(home) = packed(&[]) else { return };
    let small = home.path().join("small");
    fs::create_dir(&small).unwrap();
    if !run(
        home.path(),
        "mount",
        &["-t", "tmpfs", "-o", "size=1M", "none", "small"],
    ) {
        hedgerow_testkit::skip("no tmpfs can be mounted");
        return;
    }
    let outcome = image(home.path(), &["extract", "image", "small/out"]);
    let sizes = shell(&small.join("out"), "find . -name 'large' -printf '%s\n'");
    assert!(run(home.path(), "umount", &["small"]));
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.stderr.contains("No space left on device"),
        "{outcome:?}"
    );
    assert!(sizes.lines().all(|size| size == "700000"), "{sizes}");
}

#[test]
fn an_interrupted_run_leaves_whole_files() {
    let Some(home) = packed(&["-b", "4096"]) else {
        return;
    };
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.args(["image", "extract", "-q", "-j", "2", "image", "out"]);
    // Every call takes its time, so that the signal comes in between.
    command
        .env("HEDGEROW_TEST_DELAY", "9")
        .current_dir(home.path());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let first = home.path().join("out/a");
    while !first.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(run(home.path(), "kill", &["-INT", &id]));
    let signal = child.wait().unwrap().signal();
    assert_eq!(signal, Some(2));
    let sizes = "find . -type f -printf '%P %s\n' | sort";
    let expected = shell(&home.path().join("tree"), sizes);
    let got = shell(&home.path().join("out"), sizes);
    assert!(got.lines().count() < expected.lines().count());
    assert!(
        got.lines()
            .all(|line| expected.lines().any(|other| line == other)),
        "{got}"
    );
}

#[test]
fn what_cannot_be_replaced_is_named_as_the_user_knows_it() {
    let Some(home) = packed(&["-comp", "zstd"]) else {
        return;
    };
    let extract = ["extract", "-q", "-f", "image", "out", "many"];
    assert_eq!(image(home.path(), &extract).code, 0);
    let mut named = 0;
    for number in 1..20 {
        for fault in [format!("create:{number}:13"), format!("rename:{number}:13")] {
            let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
            command.args(["image", "extract", "-qfj1", "image", "out", "many"]);
            command.env("HEDGEROW_TEST_FAULT", &fault);
            let output = command.current_dir(home.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains(".tmp"), "{fault}: {said}");
            named += usize::from(said.contains(" 'out/many/"));
        }
    }
    assert!(named > 20, "{named}");
}
