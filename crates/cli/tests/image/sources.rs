//! `mksquashfs` and `sqfstar` by their names: several sources and what is left out of them, times that
//! the source does not have, and what is refused. The installed tools are asked too, where they are
//! there and all their versions agree.

use hedgerow_testkit::isolated;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Two trees with equal names, and the tools below `own`.
fn scene() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let script = "mkdir -p A/d/e B/d own here; echo 1 > A/one.c; echo 2 > B/one.c
        echo f > A/d/e/f.c; echo g > B/d/g.c; ln A/one.c A/d/hard; ln -s d A/link; mkfifo A/fifo
        find . -exec touch -h -d @1000000 {} +
        for tool in mksquashfs sqfstar unsquashfs gensquashfs tar2sqfs; do ln -s \"$0\" own/$tool; done";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    assert!(shell.current_dir(home.path()).status().unwrap().success());
    home
}

fn run(home: &Path, program: impl AsRef<Path>, words: &[&str], input: Option<&str>) -> Output {
    let mut command = isolated(program.as_ref());
    command.args(words).current_dir(home).env("TZ", "UTC");
    command.env_remove("SOURCE_DATE_EPOCH");
    command.stdin(match input {
        Some(name) => Stdio::from(fs::File::open(home.join(name)).unwrap()),
        None => Stdio::null(),
    });
    command.output().unwrap()
}

fn own(home: &Path, tool: &str) -> PathBuf {
    home.join("own").join(tool)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The paths of an image, with blanks between them.
fn listed(home: &Path, image: &str) -> String {
    let output = run(
        home,
        own(home, "unsquashfs"),
        &["-l", "-d", "", image],
        None,
    );
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = text
        .split_whitespace()
        .map(|path| path.trim_start_matches('/'));
    paths
        .filter(|path| !path.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Makes images with our program and with the installed one, and compares their paths.
fn check(home: &Path, words: &str, expected: &str) {
    let here = home.to_str().unwrap();
    let words = words.replace("HERE", here);
    let name = home.file_name().unwrap().to_str().unwrap();
    let words = words.replace("NAME", name);
    let installed = hedgerow_testkit::require("mksquashfs").then(|| PathBuf::from("mksquashfs"));
    for tool in [Some(own(home, "mksquashfs")), installed]
        .into_iter()
        .flatten()
    {
        let (sources, options) = words.split_once(" - ").unwrap_or((&words, ""));
        let all = format!("{sources} image -noappend -no-progress -quiet {options}");
        let all: Vec<&str> = all.split_whitespace().collect();
        let made = run(home, &tool, &all, None);
        assert!(made.status.success(), "{words}: {}", said(&made));
        assert_eq!(
            listed(home, "image"),
            expected,
            "{words} by {}",
            tool.display()
        );
    }
}

#[test]
fn an_exclusion_leaves_out_the_named_file_and_no_other() {
    let home = scene();
    for (words, expected) in [
        ("A/d B/d - -e HERE/A/d", "d d/g.c"),
        ("A/d B/d - -e HERE/B/d", "d d/e d/e/f.c d/hard"),
        ("../NAME/A/d B/d - -e ../NAME/A/d", "d d/g.c"),
        ("A/d/e B/one.c A/one.c - -e ./A/one.c", "e e/f.c one.c"),
        ("A/d B/d - -e g.c", "d d/e d/e/f.c d/hard d_1"),
        ("A/d A - -e ..", "d d/e d/e/f.c d/hard"),
        ("A B - -e d", "A A/fifo A/link A/one.c B B/one.c"),
        ("A/d B - -no-strip -e ./A", "B B/d B/d/g.c B/one.c"),
        ("A/d B/d - -e ./A/d/e/", "d d/hard d_1 d_1/g.c"),
        ("B A/d - -e ./B/one.c/ ./A/link/", "B B/d B/d/g.c B/one.c"),
        (
            "A/link/ B - -e ./A/d/e",
            "B B/d B/d/g.c B/one.c link link/hard",
        ),
    ] {
        check(home.path(), words, expected);
    }
}

#[test]
fn a_source_that_is_given_twice_is_stored_with_hard_links() {
    let home = scene();
    let rest = "A/fifo A/link A/one.c";
    let copy = rest.replace("A/", "A_1/");
    check(home.path(), "A A - -e d", &format!("A {rest} A_1 {copy}"));
    for (options, is_same) in [(&[][..], true), (&["-no-hardlinks"], false)] {
        let words = [&["A", "A", "A/d", "image", "-noappend"], options].concat();
        let made = run(home.path(), own(home.path(), "mksquashfs"), &words, None);
        assert!(said(&made).contains("'A' is already in the image; storing 'A' as 'A_1'"));
        let words = ["-d", "out", "image"];
        let extracted = run(home.path(), own(home.path(), "unsquashfs"), &words, None);
        assert!(extracted.status.success(), "{}", said(&extracted));
        let number = |path: &str| {
            let path = home.path().join("out").join(path);
            fs::symlink_metadata(path).unwrap().ino()
        };
        for (path, other) in [
            ("A/one.c", "A_1/one.c"),
            ("A/one.c", "d/hard"),
            ("A/d/e/f.c", "A_1/d/e/f.c"),
            ("A/d/e/f.c", "d/e/f.c"),
            ("A/link", "A_1/link"),
            ("A/fifo", "A_1/fifo"),
        ] {
            assert_eq!(number(path) == number(other), is_same, "{path} {options:?}");
        }
        fs::remove_dir_all(home.path().join("out")).unwrap();
    }
}

#[test]
fn the_root_of_stored_paths_is_the_directory_that_they_begin_in() {
    use std::os::unix::fs::PermissionsExt;
    let home = scene();
    let mode = |path: &str, mode| {
        fs::set_permissions(home.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("here", 0o700);
    mode(".", 0o711);
    for (directory, sources, expected) in [
        ("here", "../A ../B", 0o711),
        ("here", "../A HERE/B", 0o777),
        (".", "A ./B", 0o711),
        (".", "A HERE/B", 0o777),
    ] {
        let sources = sources.replace("HERE", home.path().to_str().unwrap());
        let words = format!("{sources} image -noappend -no-strip");
        let words: Vec<&str> = words.split(' ').collect();
        let directory = home.path().join(directory);
        let made = run(&directory, own(home.path(), "mksquashfs"), &words, None);
        assert!(made.status.success(), "{}", said(&made));
        let words = ["-d", "out", "image"];
        run(&directory, own(home.path(), "unsquashfs"), &words, None);
        let found = fs::metadata(directory.join("out")).unwrap().mode() & 0o777;
        assert_eq!(found, expected, "{sources}");
        fs::remove_dir_all(directory.join("out")).unwrap();
    }
}

/// The times of entries of an image by path, in seconds since 1970.
fn times(home: &Path, image: &str, paths: &[&str]) -> Vec<i64> {
    let words = ["-q", "-f", "-d", "timed", image];
    let extracted = run(home, own(home, "unsquashfs"), &words, None);
    assert!(extracted.status.success(), "{}", said(&extracted));
    let time = |path: &&str| fs::metadata(home.join("timed").join(path)).unwrap().mtime();
    let times = paths.iter().map(time).collect();
    fs::remove_dir_all(home.join("timed")).unwrap();
    times
}

#[test]
fn directories_that_an_archive_does_not_have_get_the_time_of_its_newest_entry() {
    let home = scene();
    let touch = "touch -d @2000000 A/one.c; tar cf archive A/d/e/f.c A/one.c";
    let made = run(home.path(), "sh", &["-c", touch], None);
    assert!(made.status.success(), "{}", said(&made));
    let sqfstar = |words: &[&str]| {
        let words = [words, &["-force", "-quiet", "image"]].concat().join("\n");
        ("sqfstar", words)
    };
    let mksquashfs = |words: &[&str]| {
        (
            "mksquashfs",
            [&["-", "image", "-tar", "-noappend"], words]
                .concat()
                .join("\n"),
        )
    };
    let mut without = sqfstar(&[]);
    without.1 += "\nA/one.c";
    for ((tool, words), epoch, expected) in [
        (sqfstar(&[]), None, [2_000_000; 3]),
        (sqfstar(&["-processors", "1"]), None, [2_000_000; 3]),
        (sqfstar(&["-all-root"]), None, [2_000_000; 3]),
        (
            sqfstar(&["-root-time", "7"]),
            None,
            [7, 2_000_000, 2_000_000],
        ),
        (sqfstar(&["-inode-time", "7"]), None, [7; 3]),
        (without, None, [1_000_000; 3]),
        (mksquashfs(&[]), None, [2_000_000; 3]),
        (mksquashfs(&["-e", "A/one.c"]), None, [1_000_000; 3]),
        (mksquashfs(&["-p", "new d 700 0 0"]), None, [2_000_000; 3]),
        (sqfstar(&[]), Some("500"), [500; 3]),
    ] {
        let mut command = isolated(own(home.path(), tool));
        command.args(words.split('\n')).current_dir(home.path());
        command.stdin(fs::File::open(home.path().join("archive")).unwrap());
        match epoch {
            Some(epoch) => command.env("SOURCE_DATE_EPOCH", epoch),
            None => command.env_remove("SOURCE_DATE_EPOCH"),
        };
        let made = command.output().unwrap();
        assert!(made.status.success(), "{words:?}: {}", said(&made));
        let found = times(home.path(), "image", &[".", "A", "A/d/e"]);
        assert_eq!(found, expected, "{tool} {words:?} {epoch:?}");
    }
    let words = ["-q", "-f", "image"];
    let made = run(
        home.path(),
        own(home.path(), "tar2sqfs"),
        &words,
        Some("archive"),
    );
    assert!(made.status.success(), "{}", said(&made));
    assert_eq!(
        times(home.path(), "image", &[".", "A", "A/one.c"]),
        [0, 0, 2_000_000]
    );
}

#[test]
fn what_the_tools_refuse_is_refused() {
    let home = scene();
    let image = ["A", "there", "-quiet"];
    let made = run(home.path(), own(home.path(), "mksquashfs"), &image, None);
    assert!(made.status.success(), "{}", said(&made));
    for (words, reason) in [
        (
            "A nofile image -wildcards -e !(d)",
            "cannot stat './nofile'",
        ),
        (
            "A/one.c A nofile image -max-depth 0",
            "cannot stat './nofile'",
        ),
        ("A/one.c/ B image", "A/one.c"),
        (
            "A B/../A/d image -no-strip -max-depth 1",
            "may have '..' only in front",
        ),
        ("A image -comp gzip -comp xz", "-comp is given twice"),
        (
            "A image -mem 1",
            "a number of bytes such as 100M, and at least 4M",
        ),
        ("A image -mem x", "a number of bytes such as 100M"),
        ("A image -mem-percent 0", "0"),
        ("A image -mem-percent 80", "from 1 to 75"),
        ("A image -small-readers 0", "0"),
        ("A image -block-readers 0", "0"),
        (
            "A image -p q/w,d,700,0,0",
            "'q/w': the parent directory does not exist; define it, or use -pd",
        ),
        (
            "A image -p one.c/w,d,700,0,0",
            "'one.c/w': the parent is not a directory",
        ),
        ("-no-wild -r there", "cannot be used with"),
        ("-st -no-exit there", "cannot be used with"),
        ("-st -ig there", "cannot be used with"),
        ("-pf - -l there", "cannot be used with"),
        ("-llc -pf - there", "cannot be used with"),
        ("-mem 1 there", "at least 2M"),
        ("-mem-percent 0 there", "0"),
        ("-da 0 there", "0"),
    ] {
        let tool = if words.ends_with("there") {
            "unsquashfs"
        } else {
            "mksquashfs"
        };
        let words: Vec<String> = words
            .split(' ')
            .map(|word| word.replace(',', " "))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let refused = run(home.path(), own(home.path(), tool), &words, None);
        assert_eq!(refused.status.code(), Some(1), "{words:?}");
        assert!(
            said(&refused).contains(reason),
            "{words:?}: {}",
            said(&refused)
        );
        assert!(!home.path().join("image").exists(), "{words:?}");
    }
    for words in [
        "-comp gzip -comp gzip",
        "-mem 16Mb",
        "-mem-percent 75",
        "-overcommit 0 -small-readers 2 -block-readers 3",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let words = [&["A", "image", "-noappend"], &words[..]].concat();
        let made = run(home.path(), own(home.path(), "mksquashfs"), &words, None);
        assert!(made.status.success(), "{words:?}: {}", said(&made));
    }
}

#[test]
fn help_has_what_scripts_look_for() {
    let home = scene();
    let shown = |tool: &str, words: &[&str]| {
        let output = run(home.path(), own(home.path(), tool), words, None);
        assert_eq!(output.status.code(), Some(0), "{tool} {words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let options = shown("mksquashfs", &["-help-option", "^-(noappend|noI|b)$"]);
    let lines: Vec<&str> = options
        .lines()
        .filter(|line| line.starts_with('-'))
        .collect();
    assert_eq!(
        lines,
        ["-noappend", "-b <SIZE>", "-noI, -noInodeCompression"]
    );
    let compressors = ["gzip", "lzo", "lz4", "xz", "zstd", "lzma"];
    let help = shown("unsquashfs", &["-help"]);
    let (_, list) = help.split_once("\nDecompressors available:\n").unwrap();
    assert_eq!(list.lines().map(str::trim).collect::<Vec<_>>(), compressors);
    assert!(shown("mksquashfs", &["-help"]).contains("\nCompressors available and"));
    for tool in ["gensquashfs", "tar2sqfs"] {
        let help = shown(tool, &["--help"]);
        let (_, list) = help
            .split_once("\nAvailable SquashFS block compressors:\n")
            .unwrap();
        let mut names: Vec<&str> = list
            .lines()
            .map_while(|line| line.strip_prefix('\t'))
            .collect();
        assert!(names.contains(&"xz (default)"), "{tool}");
        names.sort_unstable();
        assert_eq!(
            names,
            ["gzip", "lz4", "lzma", "lzo", "xz (default)", "zstd"],
            "{tool}"
        );
    }
}

#[test]
fn an_extraction_ends_with_the_numbers_of_the_tool() {
    let home = scene();
    let words = ["A", "image", "-quiet"];
    let made = run(home.path(), own(home.path(), "mksquashfs"), &words, None);
    assert!(made.status.success(), "{}", said(&made));
    let created = |tool: &Path, words: &[&str]| {
        let words = [&["-d", "out"], words].concat();
        let output = run(home.path(), tool, &words, None);
        assert!(output.status.success(), "{}", said(&output));
        fs::remove_dir_all(home.path().join("out")).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("created "));
        // Older tools do not count sockets and hard links.
        lines.take(5).map(str::to_owned).collect::<Vec<_>>()
    };
    for words in [&["image"][..], &["image", "d/e"], &["-q", "image"]] {
        let ours = created(&own(home.path(), "unsquashfs"), words);
        if hedgerow_testkit::require("unsquashfs") {
            let theirs = created(Path::new("unsquashfs"), words);
            assert_eq!(ours, theirs, "{words:?}");
        }
    }
    let words = ["-d", "out", "image"];
    let output = run(home.path(), own(home.path(), "unsquashfs"), &words, None);
    let expected = "created 2 files\ncreated 3 directories\ncreated 1 symlink\n\
                    created 0 devices\ncreated 1 fifo\ncreated 0 sockets\ncreated 1 hardlink\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
