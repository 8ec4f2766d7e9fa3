//! `rdsquashfs` and `sqfsdiff` by their names, against the tools.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn packed() -> Option<TempDir> {
    let home = tempfile::tempdir().unwrap();
    let script = "mkdir -p tree/d/'sp ace' tree/gone; cd tree; echo 1 > d/file; ln d/file hard
        head -c 500000 /dev/urandom > large; truncate -s 1M hole; ln -s d link; mkfifo fifo
        echo q > 'd/q\"uote'; head -c 1000 /dev/zero > tail; chmod 4750 d/file; chmod 1777 gone
        setfattr -n user.a -v b d; setfattr -n user.b -v 0x00ff1e tail
        setfattr -n user.c -v '0sww==' hole; setfattr -n user.d -v 0x6100 link; setfattr -n user.c -v d large
        [ $(id -u) = 0 ] && mknod device b 8 1 && chown 1000:100 large
        cd ..; mksquashfs tree image -noappend -quiet -no-progress
        cd tree; rm -r gone; echo 22 > hard; rm link; ln -s e link; chmod 600 tail; mkdir new
        touch -d @5 large; cd ..; mksquashfs tree other -noappend -quiet -no-progress -b 65536
        ln -s \"$0\" rdsquashfs; ln -s \"$0\" sqfsdiff; test -f other";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    let made = shell
        .current_dir(home.path())
        .stdout(Stdio::null())
        .status();
    let have = ["rdsquashfs", "sqfsdiff"].iter().all(|tool| {
        let found = Command::new(tool)
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        found.is_ok()
    });
    if !have || !made.unwrap().success() {
        hedgerow_testkit::skip("squashfs-tools-ng or mksquashfs is not installed");
        return None;
    }
    Some(home)
}

fn output(home: &Path, program: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(words).current_dir(home).stdin(Stdio::null());
    command
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .output()
        .unwrap()
}

fn is_same(home: &Path, tool: &str, words: &[&str], is_sorted: bool) {
    let ours = output(home, &home.join(tool), words);
    let theirs = output(home, Path::new(tool), words);
    assert_eq!(
        ours.status.code(),
        theirs.status.code(),
        "{words:?} {ours:?}"
    );
    let lines = |text: &[u8]| {
        let mut lines: Vec<Vec<u8>> = text
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if is_sorted {
            lines.sort();
        }
        lines
    };
    let (a, b) = (lines(&ours.stdout), lines(&theirs.stdout));
    let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    assert!(
        a == b,
        "{words:?}\n{}\n{}",
        shown(&ours.stdout),
        shown(&theirs.stdout)
    );
}

#[test]
fn rdsquashfs_says_what_the_tool_says() {
    let Some(home) = packed() else { return };
    for path in [
        "/", "d", "d/file", "hard", "large", "hole", "link", "fifo", "tail", "none",
    ] {
        for option in ["-l", "-s", "-x"] {
            is_same(home.path(), "rdsquashfs", &[option, path, "image"], false);
        }
    }
    for path in ["d/file", "large", "hole", "tail", "d", "none"] {
        is_same(home.path(), "rdsquashfs", &["-c", path, "image"], false);
    }
    is_same(home.path(), "rdsquashfs", &["-d", "image"], false);
    is_same(
        home.path(),
        "rdsquashfs",
        &["-d", "-p", "tree", "image"],
        false,
    );
    is_same(home.path(), "rdsquashfs", &["-d", "none"], false);
}

#[test]
fn rdsquashfs_unpacks_what_the_tool_unpacks() {
    let Some(home) = packed() else { return };
    let look = "cd \"$0\" && find . -mindepth 1 ! -type p ! -type b -printf '%P %y %m %U %G %l %s\n' | sort
        find . -type f -exec sha256sum {} + | sort; getfattr -R -d -m - . 2>/dev/null";
    for (number, options) in [
        vec![],
        vec!["-C", "-O", "-T", "-X"],
        vec!["-D", "-S", "-F", "-L", "-E"],
        vec!["-Z", "-C"],
    ]
    .into_iter()
    .enumerate()
    {
        let seen = |program: &Path, target: &str| {
            let words = [&["-q", "-u", "/", "-p", target, "image"], &options[..]].concat();
            let unpacked = output(home.path(), program, &words);
            let seen = output(home.path(), Path::new("sh"), &["-c", look, target]);
            (
                unpacked.status.code(),
                String::from_utf8_lossy(&seen.stdout).into_owned(),
            )
        };
        let ours = seen(&home.path().join("rdsquashfs"), &format!("ours{number}"));
        let theirs = seen(Path::new("rdsquashfs"), &format!("theirs{number}"));
        assert_eq!(ours, theirs, "{options:?}");
    }
}

#[test]
fn sqfsdiff_says_what_the_tool_says() {
    let Some(home) = packed() else { return };
    for options in [&[][..], &["-C"], &["-O", "-P"], &["-T"]] {
        for second in ["image", "other"] {
            let words = [&["-a", "image", "-b", second], options].concat();
            is_same(home.path(), "sqfsdiff", &words, true);
        }
    }
    is_same(
        home.path(),
        "sqfsdiff",
        &["-a", "image", "-b", "none"],
        false,
    );
    is_same(home.path(), "sqfsdiff", &["-a", "image"], false);
}

#[test]
fn nobody_to_read_the_rest_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    let script =
        "mkdir tree empty; cd tree; seq 1 8000 | sed s/^/a-long-name-/ | xargs touch; cd ..;
        \"$0\" image create -q tree image; \"$0\" image create -q empty other;
        ln -s \"$0\" rdsquashfs; ln -s \"$0\" sqfsdiff;
        ./rdsquashfs -l / image | head -1 > out; ./rdsquashfs -d image | head -1 >> out;
        ./sqfsdiff -a other -b image | head -1 >> out; wc -l < out";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    let output = command.current_dir(home.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "3");
}
