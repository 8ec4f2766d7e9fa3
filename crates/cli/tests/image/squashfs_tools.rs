//! `mksquashfs`, `sqfstar` and `unsquashfs` by their names, against the installed tools.

use hedgerow_testkit::{isolated, require, Random};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Random sets of options; HEDGEROW_TEST_SETS=500 makes it a long run.
const SETS: u64 = 40;

fn scene() -> Option<TempDir> {
    let tools = ["mksquashfs", "sqfstar", "unsquashfs"];
    if !tools.into_iter().all(require) {
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let script = "mkdir -p tree/sub/deep tree/'sp ace' other own; cd tree
        echo 1 > f1; ln f1 hard; ln -s f1 link; echo 2 > sub/f2; echo 3 > sub/deep/f3.c
        head -c 300000 /dev/urandom > large; truncate -s 300K sparse; echo x >> sparse
        echo q > 'sp ace/q\"uote'; mkfifo fifo; chmod 4750 sub/f2; touch '#hash' .dot
        setfattr -n user.a -v b sub; setfattr -n user.c -v d large
        [ $(id -u) = 0 ] && mknod device b 8 1 && chown 1000:100 large
        echo o > ../other/file; cd ..; printf '# comment\\nsub/f2\\n' > list
        find . -exec touch -h -d @1000000 {} +
        for tool in mksquashfs sqfstar unsquashfs; do ln -s \"$0\" own/$tool; done";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    assert!(shell.current_dir(home.path()).status().unwrap().success());
    Some(home)
}

fn run(home: &Path, program: impl AsRef<Path>, words: &[&str]) -> Output {
    let mut command = isolated(program.as_ref());
    command.args(words).current_dir(home).env("TZ", "UTC");
    command.stdin(Stdio::null()).output().unwrap()
}

/// The listing of an image by the tool, without the sizes of directories, which depend on their
/// encoding.
fn listing(home: &Path, image: &str) -> String {
    let output = run(home, "unsquashfs", &["-q", "-lln", image]);
    assert!(output.status.success(), "{image}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let shown = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with('d') && words.len() > 3 {
            [&words[..2], &words[3..]].concat().join(" ")
        } else {
            words.join(" ")
        }
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The superblock's flags by the tool.
fn flags(home: &Path, image: &str) -> String {
    let output = run(home, "unsquashfs", &["-s", image]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let kept = [
        "Inodes are",
        "Data is",
        "Fragments are",
        "Tailends",
        "Filesystem is",
        "Block size",
    ];
    let lines = text
        .lines()
        .filter(|line| kept.iter().any(|start| line.starts_with(start)));
    lines.collect::<Vec<_>>().join("\n")
}

fn compare(home: &Path, sources: &[&str], options: &[&str]) {
    let words = |image: &'static str| {
        [
            sources,
            &[image, "-noappend", "-no-progress", "-quiet"],
            options,
        ]
        .concat()
    };
    let theirs = run(home, "mksquashfs", &words("theirs"));
    let ours = run(home, home.join("own/mksquashfs"), &words("ours"));
    let said = String::from_utf8_lossy(&ours.stderr);
    assert_eq!(
        ours.status.code(),
        theirs.status.code(),
        "{sources:?} {options:?}: {said}"
    );
    if theirs.status.success() {
        assert_eq!(
            listing(home, "ours"),
            listing(home, "theirs"),
            "{sources:?} {options:?}"
        );
        assert_eq!(
            flags(home, "ours"),
            flags(home, "theirs"),
            "{sources:?} {options:?}"
        );
    }
}

#[test]
fn sets_of_options_give_the_tree_that_the_tool_gives() {
    let Some(home) = scene() else { return };
    let options: [&[&str]; 23] = [
        &["-all-root"],
        &["-force-uid", "5"],
        &["-force-gid", "daemon"],
        &["-noI"],
        &["-noD", "-noF"],
        &["-noX"],
        &["-b", "64K"],
        &["-comp", "zstd"],
        &["-comp", "xz", "-Xbcj", "x86"],
        &["-no-fragments"],
        &["-no-duplicates"],
        &["-no-exports"],
        &["-no-xattrs"],
        &["-nopad"],
        &["-processors", "2"],
        &["-mkfs-time", "7"],
        &["-all-time", "77"],
        &["-p", "new D 5 755 1 2"],
        &["-p", "sub m 700 3 4"],
        &["-p", "fifo2 I 9 600 0 0 f", "-p", "null C 9 666 0 0 1 3"],
        &["-p", "bad z 755 0 0"],
        &["-ef", "list"],
        &["-no-sparse"],
    ];
    let excluded: [&[&str]; 8] = [
        &[],
        &["-e", "f1"],
        &["-e", "sub/f2", "large"],
        &["-e", "./tree/sub"],
        &["-wildcards", "-e", "*f*"],
        &["-wildcards", "-e", "... f*"],
        &["-wildcards", "-e", "!(sub)"],
        &["-regex", "-e", "^f.$", "... c$"],
    ];
    let sets = std::env::var("HEDGEROW_TEST_SETS").map_or(SETS, |count| count.parse().unwrap());
    let mut random = Random::new(47);
    for _ in 0..sets {
        let mut words = Vec::new();
        for _ in 0..random.below(4) {
            words.extend_from_slice(options[random.below(options.len())]);
        }
        words.extend_from_slice(excluded[random.below(excluded.len())]);
        compare(home.path(), &["tree"], &words);
    }
    for sources in [
        &["tree", "other"][..],
        &["other", "other"],
        &["tree/f1"],
        &["none"],
    ] {
        compare(home.path(), sources, &["-all-time", "5"]);
    }
    compare(
        home.path(),
        &["tree/sub", "other"],
        &["-no-strip", "-all-time", "5"],
    );
}

#[test]
fn a_backslash_in_front_of_a_line_is_not_a_part_of_the_name() {
    let Some(home) = scene() else { return };
    let script = "mkdir names && cd names && touch a b '*' ' y' '#c' '\\d' e &&
        find . -exec touch -h -d @1000000 {} +
        printf '%s\\n' '\\*' '\\ y' '\\#c' '\\a' '\\\\d' '#e' '\\' > ../names.list";
    run(home.path(), "sh", &["-c", script]);
    compare(home.path(), &["names"], &["-ef", "names.list"]);
    let left = listing(home.path(), "ours");
    assert_eq!(left.lines().count(), 3, "{left}");
    compare(
        home.path(),
        &["names"],
        &["-wildcards", "-ef", "names.list"],
    );
    let all = ["names", "all", "-quiet", "-no-progress"];
    assert!(run(home.path(), "mksquashfs", &all).status.success());
    let unsquashfs = home.path().join("own/unsquashfs");
    for (program, target) in [(Path::new("unsquashfs"), "by-tool"), (&unsquashfs, "by-us")] {
        let words = [
            "-q",
            "-n",
            "-no-wild",
            "-d",
            target,
            "-ef",
            "names.list",
            "all",
        ];
        assert!(run(home.path(), program, &words).status.success());
    }
    let extracted = run(home.path(), "ls", &["-A", "by-us"]).stdout;
    assert_eq!(extracted, run(home.path(), "ls", &["-A", "by-tool"]).stdout);
    assert_eq!(extracted.split(|byte| *byte == b'\n').count(), 6);
}

#[test]
fn nothing_is_appended_and_no_command_runs() {
    let Some(home) = scene() else { return };
    let mksquashfs = home.path().join("own/mksquashfs");
    let made = run(home.path(), &mksquashfs, &["tree", "image", "-quiet"]);
    assert!(made.status.success());
    let before = fs::read(home.path().join("image")).unwrap();
    for (words, said) in [
        (&["other", "image"][..], "--reuse"),
        (
            &["tree", "new", "-p", "x f 644 0 0 touch ran"],
            "commands are never run",
        ),
        (
            &["tree", "new", "-action", "exclude@true"],
            "-action is not supported",
        ),
        (
            &["tree", "new", "-root-becomes", "old"],
            "-root-becomes is not supported",
        ),
        (
            &["tree", "new", "-comp", "xz", "-Xcompression-level", "9"],
            "xz has no -Xcompression-level",
        ),
        (
            &["tree", "new", "-p", "f1 x user.a=0t\\400"],
            "the value cannot be read",
        ),
        (
            &["tree", "new", "-p", "none/x m 0 0 0"],
            "the parent directory does not exist",
        ),
    ] {
        let refused = run(home.path(), &mksquashfs, words);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{words:?}");
        assert!(text.contains(said), "{text}");
    }
    assert!(!home.path().join("new").exists() && !home.path().join("ran").exists());
    assert_eq!(fs::read(home.path().join("image")).unwrap(), before);
}

#[test]
fn images_are_listed_and_extracted_as_by_the_tool() {
    let Some(home) = scene() else { return };
    let made = run(
        home.path(),
        "mksquashfs",
        &["tree", "image", "-quiet", "-no-progress"],
    );
    assert!(made.status.success());
    for words in [
        &["-l"][..],
        &["-ll"],
        &["-lln"],
        &["-lc"],
        &["-llc"],
        &["-lls", "-d", "x"],
        &["-mkfs-time"],
    ] {
        for names in [&[][..], &["f1"], &["s*"], &["sub/*"], &["none"]] {
            let words = [words, &["image"], names].concat();
            let theirs = run(home.path(), "unsquashfs", &words);
            let ours = run(home.path(), home.path().join("own/unsquashfs"), &words);
            let text = |output: &Output| String::from_utf8_lossy(&output.stdout).trim().to_owned();
            assert_eq!(text(&ours), text(&theirs), "{words:?}");
            assert_eq!(ours.status.code(), theirs.status.code(), "{words:?}");
        }
    }
    for names in [&[][..], &["sub"], &["sub/f2"], &["[fh]*"]] {
        for (program, target) in [
            (Path::new("unsquashfs"), "a"),
            (&home.path().join("own/unsquashfs"), "b"),
        ] {
            let words = [&["-n", "-q", "-d", target, "image"], names].concat();
            assert!(
                run(home.path(), program, &words).status.success(),
                "{words:?}"
            );
        }
        let listed = |target: &str| {
            let script = format!("cd {target} && find . -printf '%P %y %m %U %G %T@ %n %l\\n' | sort; rm -rf ../{target}");
            run(home.path(), "sh", &["-c", &script]).stdout
        };
        assert_eq!(
            String::from_utf8_lossy(&listed("b")),
            String::from_utf8_lossy(&listed("a")),
            "{names:?}"
        );
    }
}

#[test]
fn contents_of_matching_files_are_printed() {
    let Some(home) = scene() else { return };
    let quiet = ["tree", "image", "-quiet", "-no-progress"];
    assert!(run(home.path(), "mksquashfs", &quiet).status.success());
    for words in [
        &["f1"][..],
        &["h*", "sub/f*"],
        &["su*/d*/f3.?"],
        &["[fh]*"],
        &["none*", "f1"],
        &["-no-wild", "h*"],
        &["-r", "^h|^f1$", "^sub$/2"],
        &["sub"],
    ] {
        let (options, names) = match words {
            ["-r", names @ ..] => (&["-r", "-cat", "image"][..], names),
            ["-no-wild", names @ ..] => (&["-no-wild", "-cat", "image"][..], names),
            names => (&["-cat", "image"][..], names),
        };
        let words = [options, names].concat();
        let theirs = run(home.path(), "unsquashfs", &words);
        let ours = run(home.path(), home.path().join("own/unsquashfs"), &words);
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text(&ours), text(&theirs), "{words:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{words:?}");
    }
    if Path::new("/dev/full").exists() {
        let script = "exec own/unsquashfs -cat image f1 >/dev/full";
        let full = run(home.path(), "sh", &["-c", script]);
        let said = String::from_utf8_lossy(&full.stderr).into_owned();
        assert!(said.contains("cannot write 'standard output': "), "{said}");
        assert_eq!(full.status.code(), Some(1));
    }
}

#[test]
fn times_are_what_date_understands() {
    let Some(home) = scene() else { return };
    let own =
        |tool: &str, words: &[&str]| run(home.path(), home.path().join("own").join(tool), words);
    let times = [
        "-mkfs-time",
        "Wed Mar 8 11:55:44 UTC 2023",
        "-all-time",
        "1970-01-02 00:00 UTC",
    ];
    let words = [&["tree", "new", "-quiet", "-noappend"], &times[..]].concat();
    let made = own("mksquashfs", &words);
    assert!(made.status.success(), "{made:?}");
    assert_eq!(
        own("unsquashfs", &["-mkfs-time", "new"]).stdout,
        b"1678276544\n"
    );
    let listed = own("unsquashfs", &["-UTC", "-lls", "new", "f1"]).stdout;
    assert!(String::from_utf8_lossy(&listed).contains(" 1970-01-02 00:00 "));
    let extracted = own("unsquashfs", &["-q", "-all", "@86400", "-d", "out", "new"]);
    assert!(extracted.status.success(), "{extracted:?}");
    let seconds = fs::metadata(home.path().join("out/f1"))
        .unwrap()
        .modified()
        .unwrap();
    let since = seconds.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_secs(), 86_400);
    for time in ["no such date", "1969-12-31 UTC", "4294967296"] {
        let refused = own(
            "mksquashfs",
            &["tree", "refused", "-quiet", "-mkfs-time", time],
        );
        assert_eq!(refused.status.code(), Some(1), "{time}");
        assert!(!home.path().join("refused").exists(), "{time}");
    }
}

#[test]
fn an_image_written_as_definitions_is_the_same_again() {
    let Some(home) = scene() else { return };
    let quiet = ["tree", "image", "-quiet", "-no-progress"];
    assert!(run(home.path(), "mksquashfs", &quiet).status.success());
    let own = |tool: &str| home.path().join("own").join(tool);
    for unsquashfs in [PathBuf::from("unsquashfs"), own("unsquashfs")] {
        let written = run(home.path(), &unsquashfs, &["-pf", "all", "image"]);
        assert!(written.status.success(), "{unsquashfs:?} {written:?}");
        let words = ["-", "again", "-noappend", "-quiet", "-pf", "all"];
        let made = run(home.path(), own("mksquashfs"), &words);
        assert!(made.status.success(), "{unsquashfs:?} {made:?}");
        let mut diff = isolated(env!("CARGO_BIN_EXE_hedgerow"));
        diff.args(["image", "diff", "image", "again"]);
        let told = diff.current_dir(home.path()).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        if unsquashfs.is_absolute() {
            assert_eq!(told, "");
        }
        // The tool writes no attributes before 4.6, and a name that begins with '#' as a comment.
        let is_known =
            |line: &str| line.starts_with("#hash: ") || line.ends_with(": extended attributes");
        assert!(told.lines().all(is_known), "{told}");
    }
}

/// Whoever cannot set the owner must not make a program that runs with the rights of another one.
#[test]
fn setuid_needs_its_owner() {
    let Some(home) = scene() else { return };
    if !require("setpriv") || fs::metadata("/proc/self").unwrap().uid() != 0 {
        hedgerow_testkit::skip("only root can run a program as somebody else");
        return;
    }
    let home = home.path();
    // Somebody else must be able to start it and to write here.
    let program = home.join("unsquashfs");
    fs::copy(env!("CARGO_BIN_EXE_hedgerow"), &program).unwrap();
    for path in [home, program.as_path()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let made = run(home, "own/mksquashfs", &["tree", "image", "-no-progress"]);
    assert!(made.status.success(), "{made:?}");
    let mode_by = |program: &str, target: &str| {
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", program];
        let words = [&user[..], &["-d", target, "image", "sub/f2"]].concat();
        run(home, "setpriv", &words);
        fs::metadata(home.join(target).join("sub/f2"))
            .unwrap()
            .mode()
            & 0o7777
    };
    let theirs = mode_by("unsquashfs", "theirs");
    assert_eq!(mode_by(program.to_str().unwrap(), "ours"), theirs);
    assert_eq!(theirs & 0o6000, 0);
}
