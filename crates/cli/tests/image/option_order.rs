//! `mksquashfs`, `unsquashfs` and `gensquashfs` by their names: options that undo, complete or
//! contradict each other. What is expected is what 4.7.5 and squashfs-tools-ng do.

use hedgerow_testkit::{isolated, require, skip};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn run(home: &TempDir, tool: &str, words: &[&str]) -> Output {
    let mut command = isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.arg0(tool).args(words).current_dir(home.path());
    command.stdin(Stdio::null()).output().unwrap()
}

/// Runs mksquashfs with `words` behind its sources. Returns what it said to standard error.
fn pack(home: &TempDir, sources: &[&str], words: &[&str]) -> String {
    let own = ["image", "-noappend", "-quiet", "-no-progress"];
    let made = run(home, "mksquashfs", &[sources, &own, words].concat());
    assert!(made.status.success(), "{words:?}: {made:?}");
    String::from_utf8(made.stderr).unwrap()
}

/// Permissions and paths in the image.
fn listing(home: &TempDir) -> String {
    let listed = run(home, "unsquashfs", &["-lln", "image"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    let lines = text.lines().map(|line| {
        let mut words = line.split_whitespace();
        let (mode, path) = (words.next().unwrap(), words.next_back().unwrap());
        format!("{mode} {}", path.trim_start_matches("squashfs-root"))
    });
    lines.collect::<Vec<_>>().join(", ")
}

/// A tree with a file that has attributes, and a symbolic link.
fn scene() -> Option<TempDir> {
    if !require("setfattr") {
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let script = "mkdir -p tree/in/deep tree/other; cd tree; echo 1 > in/deep/file; ln -s x link
        echo 2 > reg; chmod 755 .. . in in/deep other; find .. -exec touch -h -d @9 {} +
        setfattr -n user.q -v 1 reg";
    let shell = Command::new("sh")
        .args(["-c", script])
        .current_dir(home.path())
        .status();
    if !shell.unwrap().success() {
        skip("the file system has no extended attributes");
        return None;
    }
    Some(home)
}

#[test]
fn directories_above_sources_that_are_left_out_are_not_stored() {
    let Some(home) = scene() else { return };
    let sources = ["tree/in", "tree/other"];
    let all = "drwxr-xr-x , drwxr-xr-x /tree, drwxr-xr-x /tree/in, drwxr-xr-x /tree/in/deep, \
               -rw-r--r-- /tree/in/deep/file, drwxr-xr-x /tree/other";
    let nothing = "drwxrwxrwx ";
    for (words, expected) in [
        (&[][..], all),
        (&["-wildcards", "-e", "*"], nothing),
        (&["-wildcards", "-e", "*/*"], nothing),
        (
            &["-wildcards", "-e", "tree/in"],
            "drwxr-xr-x , drwxr-xr-x /tree, drwxr-xr-x /tree/other",
        ),
        (&["-max-depth", "1"], nothing),
        (
            &["-max-depth", "2"],
            "drwxr-xr-x , drwxr-xr-x /tree, drwxr-xr-x /tree/in, drwxr-xr-x /tree/other",
        ),
    ] {
        pack(&home, &sources, &[&["-no-strip"], words].concat());
        assert_eq!(listing(&home), expected, "{words:?}");
    }
}

#[test]
fn the_last_option_about_owners_holds() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("tree")).unwrap();
    fs::write(home.path().join("tree/file"), "1").unwrap();
    let owner = |words: &str| {
        let words = format!("-q -f -D tree image {words}");
        let words: Vec<&str> = words.split(' ').collect();
        let made = run(&home, "gensquashfs", &words);
        assert!(made.status.success(), "{words:?}: {made:?}");
        let listed = run(&home, "unsquashfs", &["-lln", "image", "file"]);
        let text = String::from_utf8(listed.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with("file")).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    for (words, expected) in [
        ("-g 6 --all-root", "0/0"),
        ("--all-root -g 6", "0/6"),
        ("-u 5 --all-root -g 6", "0/6"),
        ("-u 5 -g 6 --all-root -u 7", "7/0"),
        ("--all-root -g 6 --all-root", "0/0"),
        ("-u 5 -g 6", "5/6"),
    ] {
        assert_eq!(owner(words), expected, "{words}");
    }
}
