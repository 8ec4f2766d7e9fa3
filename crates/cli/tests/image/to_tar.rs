//! `hedgerow image to-tar`, and the program when it is called `sqfs2tar`.

use crate::archives::{home, packed, run};
use crate::image;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

fn sqfs2tar(directory: &Path, words: &[&str]) -> Output {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.arg0("sqfs2tar").args(words).current_dir(directory);
    command.output().unwrap()
}

#[test]
fn an_image_of_the_archive_of_an_image_is_the_image() {
    let home = home(true);
    let set = ["-n", "user.note", "-v", "of one file", "tree/d/file-2"];
    run(home.path(), "setfattr", &set);
    let first = packed(home.path(), "tree", &[]);
    fs::write(home.path().join("first"), &first).unwrap();
    let mut sizes = Vec::new();
    for words in [&["-j1"][..], &["-j8"], &["--dense"]] {
        let words = [&["to-tar"], words, &["first"]].concat();
        let written = image(home.path(), &words);
        assert_eq!((written.code, written.stderr.as_str()), (0, ""));
        fs::write(home.path().join("archive"), &written.stdout).unwrap();
        assert!(packed(home.path(), "archive", &[]) == first, "{words:?}");
        sizes.push(written.stdout.len());
        let words = ["to-tar", "-fo", "file", words[1], "first"];
        assert_eq!(image(home.path(), &words).code, 0);
        assert!(fs::read(home.path().join("file")).unwrap() == written.stdout);
    }
    assert!(sizes[0] == sizes[1] && sizes[1] < sizes[2], "{sizes:?}");
    // Other programs read it.
    for program in ["tar", "bsdtar"] {
        let unpacked = home.path().join(program);
        fs::create_dir(&unpacked).unwrap();
        let words = ["-C", program, "-xpf", "archive", "--xattrs"];
        if run(home.path(), program, &words).is_some() {
            let content = fs::read(unpacked.join("sparse")).unwrap();
            assert!(content == fs::read(home.path().join("tree/sparse")).unwrap());
        }
    }
}

#[test]
fn standard_output_is_named_by_a_dash_and_a_root_leads_nowhere_else() {
    let home = home(false);
    packed(home.path(), "tree", &[]);
    let whole = image(home.path(), &["to-tar", "image"]);
    let named = image(home.path(), &["to-tar", "-o", "-", "image"]);
    assert!(named.code == 0 && named.stdout == whole.stdout);
    assert!(!home.path().join("-").exists());
    for root in ["../x", "x/..", "a/../b"] {
        let refused = sqfs2tar(home.path(), &["-r", root, "image"]);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains("Invalid root directory"), "{said}");
    }
}

#[test]
fn what_is_replaced_stays_as_private_as_it_was() {
    let home = home(false);
    packed(home.path(), "tree", &[]);
    let at = |name: &str| home.path().join(name);
    for words in [
        ["create", "-f", "tree", "it"],
        ["to-tar", "-fo", "it", "image"],
    ] {
        fs::write(at("it"), "private").unwrap();
        fs::set_permissions(at("it"), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(image(home.path(), &words).code, 0);
        let mode = fs::metadata(at("it")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{words:?}");
    }
}

#[test]
fn statistics_are_put_in_the_place_of_statistics_only() {
    let home = home(false);
    packed(home.path(), "tree", &[]);
    let before = fs::read(home.path().join("image")).unwrap();
    let refused = image(home.path(), &["verify", "--stats=image", "image"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let refused = image(home.path(), &["create", "--stats=new", "tree", "new"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(fs::read(home.path().join("image")).unwrap() == before);
    assert_eq!(fs::read(home.path().join("new")).unwrap()[..4], *b"hsqs");
    for _ in 0..2 {
        let told = image(home.path(), &["verify", "--stats=stats.json", "image"]);
        assert_eq!(told.code, 0, "{told:?}");
    }
    for words in [
        ["list", "--stats=none", "image"],
        ["info", "--stats", "image"],
    ] {
        assert_eq!(image(home.path(), &words).code, 2, "{words:?}");
    }
}

#[test]
fn an_archive_appears_whole_and_replaces_nothing_unasked() {
    let home = home(false);
    packed(home.path(), "tree", &[]);
    fs::write(home.path().join("there"), "precious").unwrap();
    let refused = image(home.path(), &["to-tar", "-o", "there", "image"]);
    let said = "error: cannot create 'there': File exists\n\nhint: use -f to replace it\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (2, said));
    for fault in ["write:1:28", "write:2:28", "rename:1:5", "read:9:5"] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(["image", "to-tar", "-j1", "-fo", "there", "image"]);
        command.current_dir(home.path());
        let failed = command.env("HEDGEROW_TEST_FAULT", fault).output().unwrap();
        assert_eq!(failed.status.code(), Some(2), "{fault}: {failed:?}");
        let names = fs::read_dir(home.path()).unwrap().count();
        assert_eq!(names, 3, "{fault}");
    }
    assert_eq!(fs::read(home.path().join("there")).unwrap(), b"precious");
    assert_eq!(image(home.path(), &["to-tar", "--json", "image"]).code, 2);
}

#[test]
fn sockets_are_left_out_and_named() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("tree")).unwrap();
    let _listener = UnixListener::bind(home.path().join("tree/socket")).unwrap();
    packed(home.path(), "tree", &[]);
    let written = image(home.path(), &["to-tar", "image"]);
    let said = "error: left out 'socket': a socket cannot be archived\n";
    assert_eq!((written.code, written.stderr.as_str()), (3, said));
    let written = sqfs2tar(home.path(), &["image"]);
    assert_eq!(written.status.code(), Some(0));
    let said = "sqfs2tar: left out 'socket': a socket cannot be archived\n";
    assert_eq!(String::from_utf8_lossy(&written.stderr), said);
    let refused = sqfs2tar(home.path(), &["-s", "image"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn archives_hold_what_those_of_the_real_one_hold() {
    let home = home(true);
    packed(home.path(), "tree", &[]);
    fs::rename(home.path().join("image"), home.path().join("packed")).unwrap();
    if run(home.path(), "sqfs2tar", &["--version"]).is_none() {
        return;
    }
    for words in [
        "packed",
        "-r . packed",
        "--root-becomes top packed",
        "-d d/e -k packed",
        "-k -d d -r other -L -X packed",
        "-c gzip packed",
        "-c xz packed",
        "-c zstd packed",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ours = sqfs2tar(home.path(), &words);
        let said = String::from_utf8_lossy(&ours.stderr);
        assert_eq!((ours.status.code(), &said[..]), (Some(0), ""), "{words:?}");
        let theirs = run(home.path(), "sqfs2tar", &words).unwrap();
        let names = |archive: &[u8]| {
            fs::write(home.path().join("archive"), archive).unwrap();
            let listed = run(home.path(), "tar", &["-tf", "archive"]).unwrap();
            let listed = String::from_utf8(listed).unwrap();
            let mut names: Vec<String> = listed.lines().map(str::to_owned).collect();
            names.sort();
            (names, packed(home.path(), "archive", &[]))
        };
        let (ours, theirs) = (names(&ours.stdout), names(&theirs));
        assert_eq!(ours.0, theirs.0, "{words:?}");
        assert!(ours.1 == theirs.1, "{words:?}");
    }
    // Version 1.2 of the real one fails at these.
    for (words, expected) in [
        (&["-d", "/d/e/", "packed"][..], "f/\nf/link\n"),
        (
            &["-d", "empty", "-d", "d/e", "packed"],
            "d/\nd/e/\nd/e/f/\nd/e/f/link\nempty/\nempty/link\n",
        ),
    ] {
        let ours = sqfs2tar(home.path(), words);
        fs::write(home.path().join("archive"), &ours.stdout).unwrap();
        let listed = run(home.path(), "tar", &["-tf", "archive"]).unwrap();
        assert_eq!(String::from_utf8_lossy(&listed), expected);
    }
    for words in [
        &["nowhere"][..],
        &["-d", "d/file-1", "packed"],
        &["-d", "none", "packed"],
    ] {
        let refused = sqfs2tar(home.path(), words);
        assert_eq!(refused.status.code(), Some(1), "{words:?}");
        assert!(
            refused.stderr.starts_with(b"sqfs2tar: "),
            "{words:?}: {refused:?}"
        );
    }
}

#[test]
fn where_the_archive_was_to_go_is_named_once() {
    let home = home(false);
    packed(home.path(), "tree", &[]);
    let said_by = shell_output(
        home.path(),
        "\"$0\" image create -qf tree image; \"$0\" image to-tar image > /dev/full",
    );
    let said = "error: cannot write 'standard output': No space left on device\n";
    assert_eq!(said_by, said);
    let output = sqfs2tar(home.path(), &["nothing"]);
    let said = "sqfs2tar: cannot open 'nothing': No such file or directory\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), said);
}

/// What a script says on standard error; its `$0` is the program.
fn shell_output(directory: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_hedgerow")]);
    let output = command.current_dir(directory).output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}
