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

/// The attributes in the image, as definitions with `, ` between them.
fn attributes(home: &TempDir) -> String {
    let definitions = home.path().join("definitions");
    let written = run(home, "unsquashfs", &["-pf", "definitions", "image"]);
    assert!(written.status.success(), "{written:?}");
    let text = fs::read(&definitions).unwrap();
    fs::remove_file(definitions).unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().filter(|line| line.contains(" x "));
    lines.collect::<Vec<_>>().join(", ")
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
fn attributes_that_are_asked_for_are_stored() {
    let Some(home) = scene() else { return };
    for (words, expected) in [
        (&["-no-xattrs"][..], ""),
        (
            &["-no-xattrs", "-xattrs-include", "^user"],
            "reg x user.q=1",
        ),
        (
            &["-no-xattrs", "-xattrs-exclude", "^trusted"],
            "reg x user.q=1",
        ),
        (&["-no-xattrs", "-p", "reg x user.k=5"], ""),
        (
            &[
                "-no-xattrs",
                "-xattrs-exclude",
                "^user",
                "-xattrs-add",
                "user.z=2",
            ],
            "/ x user.z=2, in x user.z=2, in/deep x user.z=2, in/deep/file x user.z=2, \
             other x user.z=2, reg x user.z=2",
        ),
        // Filters hold for the attributes of files.
        (
            &["-xattrs-exclude", "^user", "-p", "reg x user.k=5"],
            "reg x user.k=5",
        ),
        (
            &["-xattrs-include", "^trusted", "-p", "reg x user.k=5"],
            "reg x user.k=5",
        ),
        (
            &[
                "-xattrs-exclude",
                "q",
                "-p",
                "new d 755 0 0",
                "-p",
                "new x user.q=5",
            ],
            "new x user.q=5",
        ),
    ] {
        pack(&home, &["tree"], words);
        assert_eq!(attributes(&home), expected, "{words:?}");
    }
}

#[test]
fn user_attributes_are_for_files_and_directories() {
    let Some(home) = scene() else { return };
    let entries = ["-p", "fifo i 600 0 0 f", "-p", "fifo x user.k=5"];
    let said = pack(
        &home,
        &["tree"],
        &[
            &entries[..],
            &["-p", "link x user.k=5", "-p", "link x trusted.k=5"],
        ]
        .concat(),
    );
    assert_eq!(attributes(&home), "link x trusted.k=5, reg x user.q=1");
    for path in ["fifo", "link"] {
        let expected = format!("'{path}' is neither a regular file nor a directory");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let Some(home) = scene() else { return };
    for words in [
        &["-xattrs-add", "user.z=2", "-no-xattrs"][..],
        &["-xattrs-include", "^user", "-no-xattrs", "-xattrs"],
        &["-no-xattrs", "-xattrs-exclude", "^user", "-no-xattrs"],
        &["-repro", "-mkfs-time", "5"],
        &["-mkfs-time", "5", "-repro"],
        &["-repro-time", "5", "-repro"],
        &["-repro-time", "5", "-mkfs-time", "6"],
        &["-all-time", "6", "-repro-time", "5"],
        // 4.7.5 stores other owners: it drops what is over 32 bits.
        &["-force-uid", "9", "-uid-gid-offset", "4294967295"],
        &["-uid-gid-offset", "4294967296"],
    ] {
        let refused = run(&home, "mksquashfs", &[&["tree", "refused"], words].concat());
        assert_eq!(refused.status.code(), Some(1), "{words:?} {refused:?}");
        assert!(!home.path().join("refused").exists(), "{words:?}");
    }
    pack(&home, &["tree"], &["-repro-time", "5", "-mkfs-time", "5"]);
    pack(&home, &["tree"], &["-repro", "-mkfs-time", "inode"]);
}

#[test]
fn the_last_option_about_attributes_holds_in_extraction() {
    let Some(home) = scene() else { return };
    pack(&home, &["tree"], &[]);
    fs::rename(home.path().join("image"), home.path().join("source")).unwrap();
    for (words, expected) in [
        (["-no-xattrs", "-xattrs-include", "^user"], "reg x user.q=1"),
        (
            ["-no-xattrs", "-xattrs-exclude", "^security"],
            "reg x user.q=1",
        ),
        (["-xattrs-include", "^user", "-no-xattrs"], ""),
    ] {
        let words = [&["-q", "-d", "out"], &words[..], &["source"]].concat();
        let extracted = run(&home, "unsquashfs", &words);
        assert!(extracted.status.success(), "{words:?}: {extracted:?}");
        pack(&home, &["out"], &[]);
        fs::remove_dir_all(home.path().join("out")).unwrap();
        assert_eq!(attributes(&home), expected, "{words:?}");
    }
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
    let owner = |tool: &str, words: &str| {
        let words = format!("{words} image");
        let words: Vec<&str> = words.split(' ').collect();
        let made = run(&home, tool, &words);
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
        let words = format!("-q -f -D tree {words}");
        assert_eq!(owner("gensquashfs", &words), expected, "{words}");
    }
    for (words, expected) in [
        ("-force-uid 5 -all-root", "0/0"),
        ("-all-root -force-uid 5", "5/0"),
        ("-force-gid 5 -root-owned -force-uid 3", "3/0"),
    ] {
        let words = format!("tree -noappend {words}");
        assert_eq!(owner("mksquashfs", &words), expected, "{words}");
    }
}
