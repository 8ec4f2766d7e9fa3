//! What is refused, and how.

use super::{gensquashfs, home, real};
use std::fs;

#[test]
fn lines_that_make_no_sense_are_named_and_leave_nothing() {
    let home = home();
    for (line, said) in [
        ("foo /x 0 0 0", "'foo' is no type of entry"),
        ("dir", "the mode is missing"),
        ("dir /x", "the mode is missing"),
        ("dir /x 0755 0", "the gid is missing"),
        (
            "dir /x 0999 0 0",
            "the mode '0999' is no number up to 07777, in octal",
        ),
        ("dir /x 010000 0 0", "the mode '010000'"),
        (
            "dir /x 0755 4294967296 0",
            "the uid '4294967296' is no number up to 4294967295",
        ),
        ("dir /x * 0 0", "the mode '*'"),
        ("dir \"/x 0 0 0", "a quote is not closed"),
        ("dir \"/x\"0 0 0", "no blank behind a closing quote"),
        ("dir /../x 0 0 0", "'/../x' leaves the image"),
        (
            "dir / 0 0 0\ndir / 0 0 0",
            "'/' is there already, from line 3",
        ),
        ("nod /x 0 0 0 z 1 1", "a device is 'c' or 'b'"),
        ("nod /x 0 0 0 c 1", "the minor number"),
        ("slink /x 0 0 0", "the target is missing"),
        ("link /x 0 0 0", "the target is missing"),
        ("link /x 0 0 0 nothing", "there is no 'nothing'"),
        ("dir /y 0 0 0\nlink /x 0 0 0 y", "'/y' is a directory"),
        ("link /y 0 0 0 x\nlink /x 0 0 0 y", "leads back here"),
        ("file / 0 0 0", "the root cannot be a file"),
        (
            "pipe /x 0 0 0\npipe /x 0 0 0",
            "'/x' is there already, from line 3",
        ),
        ("pipe /x 0 0 0\npipe /x/y 0 0 0", "'/x' is not a directory"),
        (
            "file /x 0 0 0 nothing",
            "cannot read './nothing': No such file or directory",
        ),
        (
            "file /x 0 0 0 in",
            "cannot read './in': it is not a regular file",
        ),
        ("glob /x 0 0 0 -foo x", "'-foo' is no option of glob"),
        ("glob /x 0 0 0 -type z x", "-type is followed by one of"),
        (
            "glob /x 0 0 0 nothing",
            "cannot open './nothing': No such file or directory",
        ),
        (
            "pipe /fifo 0 0 0\nglob / 0 0 0 in/lib",
            "'/fifo' is there already, from line 3",
        ),
    ] {
        fs::write(home.path().join("pack"), format!("\n# a comment\n{line}\n")).unwrap();
        let refused = gensquashfs(home.path(), &["-F", "pack", "image"]);
        assert_eq!(refused.code, 1, "{line}: {refused:?}");
        let number = 2 + line.lines().count();
        // Links are followed when all lines are read: the first of a circle is named.
        let number = if said.starts_with("leads") { 3 } else { number };
        let place = format!("gensquashfs: pack:{number}: ");
        assert!(refused.stderr.starts_with(&place), "{line}: {refused:?}");
        assert!(refused.stderr.contains(said), "{line}: {refused:?}");
        assert!(!home.path().join("image").exists(), "{line}");
        // Theirs lets entries stand twice that globs find, and drops what does not fit into devices.
        if !line.contains("glob / ") && !line.ends_with("-type z x") {
            let theirs = real(home.path(), &["-F", "pack", "-q", "-f", "theirs"]);
            assert!(theirs.is_none_or(|theirs| theirs.code == 1), "{line}");
        }
    }
}

#[test]
fn the_other_files_are_named_with_their_lines_too() {
    let home = home();
    for (option, content, said) in [
        ("-S", "# c\n\nx a\n", "gensquashfs: f:3: the priority 'x'"),
        ("-S", "1 [foo] a\n", "gensquashfs: f:1: 'foo' is no flag"),
        ("-A", "user.x=1\n", "gensquashfs: f:1: no '# file: ' before"),
        (
            "-A",
            "# file: a\nuser.x=0xq\n",
            "gensquashfs: f:2: bad hexadecimal",
        ),
        (
            "-s",
            "/a( x\n",
            "gensquashfs: f:1: '/a(' is not an expression",
        ),
        ("-s", "\n\n/a -q x\n", "gensquashfs: f:3: a kind is"),
    ] {
        fs::write(home.path().join("f"), content).unwrap();
        let refused = gensquashfs(home.path(), &["-D", "in", option, "f", "image"]);
        assert_eq!(refused.code, 1, "{content}: {refused:?}");
        assert!(refused.stderr.starts_with(said), "{content}: {refused:?}");
        let missing = gensquashfs(home.path(), &["-D", "in", option, "missing", "image"]);
        let said = "gensquashfs: cannot open 'missing': No such file or directory\n";
        assert_eq!((missing.code, missing.stderr.as_str()), (1, said));
        assert!(!home.path().join("image").exists());
    }
}

#[test]
fn words_that_make_no_sense_are_refused_as_by_the_real_one() {
    let home = home();
    fs::write(home.path().join("there"), "precious").unwrap();
    for words in [
        "image",
        "-D in",
        "-D in image more",
        "-D in there",
        "-D nothing image",
        "-F nothing image",
        "-D in -c nothing image",
        "-D in -b 5000 image",
        "-D in -b 128X image",
        "-D in -B 100 image",
        "-D in -d nothing=1 image",
        "-D in -d uid image",
        "-D in -d mode=010000 image",
        "-D in -c gzip -X level=99 image",
        "-D in -c gzip -X nothing image",
        "-D in -X lc=3,lp=3 image",
        "--nothing",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let refused = gensquashfs(home.path(), &words);
        assert_eq!(refused.code, 1, "{words:?}: {refused:?}");
        assert!(
            !refused.stderr.is_empty() && refused.stdout.is_empty(),
            "{refused:?}"
        );
        assert!(!home.path().join("image").exists(), "{words:?}");
        // Of some, theirs leaves an image that is not whole.
        let theirs = real(home.path(), &words);
        assert!(theirs.is_none_or(|theirs| theirs.code == 1), "{words:?}");
        let _ = fs::remove_file(home.path().join("image"));
    }
    assert_eq!(fs::read(home.path().join("there")).unwrap(), b"precious");
    for words in [
        &["--help"][..],
        &["-h"],
        &["-V"],
        &["--version"],
        &["-X", "help"],
    ] {
        let told = gensquashfs(home.path(), words);
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{words:?}");
        assert!(!told.stdout.is_empty(), "{words:?}");
    }
}
