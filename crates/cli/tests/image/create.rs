//! `hedgerow image create`: what it makes, and what it refuses.

use crate::image;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::process::Command;
use tempfile::TempDir;

/// A directory with a `tree`.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("d/e")).unwrap();
    fs::write(tree.join("d/file"), b"content\n").unwrap();
    fs::write(tree.join("d/same"), b"content\n").unwrap();
    fs::write(tree.join("large"), vec![b'x'; 3 << 20]).unwrap();
    fs::write(tree.join("d.o"), b"").unwrap();
    fs::hard_link(tree.join("d/file"), tree.join("hard")).unwrap();
    symlink("d/file", tree.join("link")).unwrap();
    home
}

#[test]
fn an_image_holds_the_tree_and_is_the_same_for_any_number_of_workers() {
    let home = home();
    for compressor in ["gzip", "xz", "lzma", "lzo", "lz4", "zstd"] {
        let mut first: Option<Vec<u8>> = None;
        for jobs in ["-j1", "-j2", "-j16"] {
            let words = ["create", jobs, "-f", "-c", compressor, "tree", "image"];
            let made = image(home.path(), &words);
            assert_eq!(made.code, 0, "{made:?}");
            assert!(made.stdout.is_empty() && made.stderr.starts_with("8 inodes, 2 contents, "));
            let bytes = fs::read(home.path().join("image")).unwrap();
            assert_eq!(bytes.len() % 4096, 0);
            assert!(
                *first.get_or_insert_with(|| bytes.clone()) == bytes,
                "{jobs}"
            );
        }
        let listed = image(home.path(), &["list", "image"]).text();
        assert_eq!(listed, "d\nd/e\nd/file\nd/same\nd.o\nhard\nlarge\nlink\n");
        assert_eq!(
            image(home.path(), &["cat", "image", "hard"]).text(),
            "content\n"
        );
        let large = image(home.path(), &["cat", "image", "large"]).stdout;
        assert!(large == vec![b'x'; 3 << 20]);
        assert_eq!(image(home.path(), &["verify", "image"]).code, 0);
    }
}

#[test]
fn owners_times_and_exclusions_are_taken_from_the_command_line() {
    let home = home();
    let owner = ["--set-uid", "7", "--set-gid", "8", "--default-mtime", "9"];
    let words = [
        "create",
        "-q",
        "--exclude",
        "*.o",
        "--exclude",
        "/d/e",
        "tree",
        "image",
    ];
    assert_eq!(image(home.path(), &[&words[..], &owner].concat()).code, 0);
    let listed = image(home.path(), &["list", "-l", "image"]).text();
    assert_eq!(listed.lines().count(), 6, "{listed}");
    assert!(listed
        .lines()
        .all(|line| line.contains(" 7 8 ") && line.contains(" 9.000000000 ")));
    assert!(!listed.contains("d.o") && !listed.contains("d/e"));
    assert_eq!(
        image(
            home.path(),
            &["create", "-qf", "--all-root", "tree", "image"]
        )
        .code,
        0
    );
    let listed = image(home.path(), &["list", "-l", "image"]).text();
    assert!(
        listed.lines().all(|line| line.contains(" 0 0 ")),
        "{listed}"
    );
}

#[test]
fn the_time_of_the_source_is_honoured_or_refused() {
    let home = home();
    let newest = fs::metadata(home.path().join("tree/large"))
        .unwrap()
        .mtime();
    let create = |epoch: &str| {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(["-q", "image", "create", "-f", "tree", "image"]);
        let command = command.current_dir(home.path());
        command.env("SOURCE_DATE_EPOCH", epoch).output().unwrap()
    };
    for (epoch, expected) in [("12", 12), ("4294967295", newest), ("", newest)] {
        assert!(create(epoch).status.success());
        let listed = image(home.path(), &["list", "-l", "image", "large"]).text();
        assert!(
            listed.contains(&format!(" {expected}.000000000 ")),
            "{listed}"
        );
    }
    for (epoch, reason) in [
        ("nonsense", "it is not a number of seconds since 1970"),
        ("-1", "it is not a number of seconds since 1970"),
        ("+1", "it is not a number of seconds since 1970"),
        ("99999999999", "SquashFS holds no time after 4294967295"),
    ] {
        let refused = create(epoch);
        let said = format!("error: cannot use SOURCE_DATE_EPOCH '{epoch}': {reason}\n");
        assert_eq!(String::from_utf8_lossy(&refused.stderr), said);
        assert_eq!(refused.status.code(), Some(2));
    }
}

/// The loader ignores a library that is not there; its name is enough.
#[test]
fn owners_that_fakeroot_shows_are_not_left_out_silently() {
    let home = home();
    fs::write(home.path().join("pack"), "dir /d 0755 0 0\n").unwrap();
    fs::write(home.path().join("glob"), "glob / * * * .\n").unwrap();
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let mut command = hedgerow_testkit::isolated("bash");
        command.args(["-c", "exec -a \"$0\" \"$PROGRAM\" \"$@\""]);
        command.args(words).current_dir(home.path());
        command.env("PROGRAM", env!("CARGO_BIN_EXE_hedgerow"));
        command.env("LD_PRELOAD", "/none/libfakeroot-sysv.so");
        command.output().unwrap()
    };
    for words in [
        "hedgerow image create tree image",
        "mksquashfs tree image",
        "gensquashfs -D tree image",
        "gensquashfs -F glob -D tree image",
        "hedgerow image create --pack-file glob tree image",
    ] {
        let refused = run(words);
        let said = String::from_utf8_lossy(&refused.stderr);
        let hint = "an archive that 'fakeroot tar -c' writes";
        assert!(said.contains(hint), "{words}: {said}");
        assert!(!refused.status.success(), "{words}");
        assert!(!home.path().join("image").exists());
    }
    // A description names the owners.
    for words in [
        "gensquashfs -F pack image",
        "hedgerow image create -f --pack-file pack tree image",
    ] {
        let made = run(words);
        assert!(made.status.success(), "{words}: {made:?}");
    }
}

#[test]
fn times_that_no_image_holds_are_told_of_once() {
    let home = home();
    for (name, date) in [
        ("old", "@-5"),
        ("older", "@-99999999999"),
        ("late", "@5000000000"),
    ] {
        fs::write(home.path().join("tree").join(name), name).unwrap();
        let mut touch = Command::new("touch");
        touch.current_dir(home.path().join("tree"));
        assert!(touch.args(["-d", date, name]).status().unwrap().success());
    }
    let made = image(home.path(), &["create", "-q", "tree", "image"]);
    let warning = "warning: 3 entries are from before 1970 or after February 2106, first 'late': \
                   they have the nearest time that SquashFS can hold\n";
    assert_eq!((made.code, made.stderr.as_str()), (0, warning));
    let listed = image(home.path(), &["list", "-l", "image", "late"]).text();
    assert!(listed.contains(" 4294967295.000000000 "), "{listed}");
}

#[test]
fn an_image_is_not_written_to_standard_output() {
    let home = home();
    let refused = image(home.path(), &["create", "tree", "-"]);
    assert_eq!(refused.code, 2);
    let reason = "error: cannot write an image to standard output: ";
    assert!(refused.stderr.starts_with(reason), "{refused:?}");
    assert!(!home.path().join("-").exists());
    assert_eq!(image(home.path(), &["create", "-q", "tree", "./-"]).code, 0);
}

#[test]
fn root_gives_nobody_else_its_rights() {
    let home = home();
    let home = home.path();
    let tree = home.join("tree");
    fs::set_permissions(tree.join("large"), Permissions::from_mode(0o4755)).unwrap();
    let made = Command::new("mknod")
        .arg(tree.join("null"))
        .args(["c", "1", "3"])
        .output();
    if !made.unwrap().status.success() {
        hedgerow_testkit::skip("only root can make devices");
        return;
    }
    assert_eq!(image(home, &["create", "-q", "tree", "image"]).code, 0);
    fs::create_dir(home.join("theirs")).unwrap();
    std::os::unix::fs::chown(home.join("theirs"), Some(12_345), None).unwrap();
    for target in ["theirs", "theirs/new"] {
        let refused = image(home, &["extract", "image", target]);
        let reason = "error: 'theirs' belongs to user 12345: setuid programs ";
        assert!(refused.stderr.starts_with(reason), "{refused:?}");
        assert_eq!(refused.code, 2);
        assert_eq!(fs::read_dir(home.join("theirs")).unwrap().count(), 0);
    }
    let harmless = image(home, &["extract", "-q", "--no-owner", "image", "theirs/a"]);
    let reason = "error: cannot extract 'null': no device files are made here\n";
    assert_eq!((harmless.code, harmless.stderr.as_str()), (3, reason));
    let mode = |path: &str| fs::metadata(home.join(path)).unwrap().mode() & 0o7777;
    assert_eq!(mode("theirs/a/large"), 0o755);
    let words = ["extract", "-q", "--keep-privileges", "image", "theirs/b"];
    assert_eq!(image(home, &words).code, 0);
    assert_eq!(mode("theirs/b/large"), 0o4755);
    assert!(home.join("theirs/b/null").exists());
    assert_eq!(image(home, &["extract", "-q", "image", "own"]).code, 0);
    assert_eq!(mode("own/large"), 0o4755);
}

#[test]
fn what_is_there_stays_unless_it_may_be_replaced() {
    let home = home();
    fs::write(home.path().join("image"), "precious").unwrap();
    let refused = image(home.path(), &["create", "tree", "image"]);
    let said = "error: cannot create 'image': File exists\n\nhint: use -f to replace it\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (2, said));
    assert_eq!(fs::read(home.path().join("image")).unwrap(), b"precious");
    assert_eq!(
        image(home.path(), &["create", "-qf", "tree", "image"]).code,
        0
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let home = home();
    for (words, said) in [
        (&["-c", "brotli", "tree", "image"][..], "brotli"),
        (&["-l", "99", "tree", "image"], "99"),
        (&["-X", "nonsense=1", "tree", "image"], "nonsense"),
        (
            &["-b", "5000", "tree", "image"],
            "a power of two from 4K to 1M",
        ),
        (&["-b", "", "tree", "image"], "a power of two from 4K to 1M"),
        (&["nothing", "image"], "cannot open '"),
        (&["tree", "nowhere/image"], "cannot create '"),
        (
            &["tree/large", "image"],
            "cannot read the archive 'tree/large': this is a plain file, not a tar archive",
        ),
    ] {
        let refused = image(home.path(), &[&["create"], words].concat());
        assert_eq!(refused.code, 2, "{words:?}: {refused:?}");
        assert!(refused.stderr.contains(said), "{words:?}: {refused:?}");
        assert!(refused.stderr.starts_with("error: "), "{refused:?}");
        let names = fs::read_dir(home.path()).unwrap().count();
        assert_eq!(names, 1, "{words:?}");
    }
}

#[test]
fn a_read_or_a_write_that_fails_leaves_no_image() {
    let home = home();
    for fault in [
        "read:1:5",
        "read:2:5",
        "write:1:28",
        "open:5:13",
        "rename:1:5",
        "read:3:5",
    ] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(["image", "create", "-j1", "tree", "image"]);
        command
            .current_dir(home.path())
            .env("HEDGEROW_TEST_FAULT", fault);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{fault}: {said}");
        assert!(said.starts_with("error: cannot "), "{fault}: {said}");
        let names: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "{fault}: {names:?}");
    }
}

#[test]
fn a_document_tells_what_was_made_and_by_which_codecs() {
    let home = home();
    let words = ["create", "--json", "-c", "lz4", "tree", "image"];
    let document: Value = serde_json::from_str(&image(home.path(), &words).text()).unwrap();
    assert_eq!(document["schema"], "hedgerow.image.create.v1");
    assert_eq!(
        (&document["inodes"], &document["stored_files"]),
        (&8.into(), &2.into())
    );
    assert_eq!(document["compressor"], "lz4");
    assert!(document["codecs"]["lz4"]
        .as_str()
        .unwrap()
        .starts_with("1."));
}

#[test]
fn an_image_beside_what_it_holds_does_not_hold_itself() {
    let home = home();
    assert_eq!(image(home.path(), &["create", "-q", ".", "image"]).code, 0);
    let listed = image(home.path(), &["list", "image"]).text();
    assert!(!listed.contains("image"), "{listed}");
}

#[test]
fn nor_does_it_hold_the_image_that_it_replaces() {
    let home = home();
    fs::create_dir(home.path().join("tree/d2")).unwrap();
    let words = ["create", "-qf", "tree", "tree/d2/image"];
    assert_eq!(image(home.path(), &words).code, 0);
    let first = fs::read(home.path().join("tree/d2/image")).unwrap();
    let words = ["create", "-qf", "--default-mtime=7", "tree", "image"];
    fs::remove_file(home.path().join("tree/d2/image")).unwrap();
    assert_eq!(image(home.path(), &words).code, 0);
    let expected = fs::read(home.path().join("image")).unwrap();
    fs::write(home.path().join("tree/d2/image"), first).unwrap();
    let inside = ["-C", "tree/d2", "-qf", "--default-mtime=7", "..", "image"];
    assert_eq!(
        image(home.path(), &[&["create"], &inside[..]].concat()).code,
        0
    );
    assert!(fs::read(home.path().join("tree/d2/image")).unwrap() == expected);
}

#[test]
fn a_directory_is_not_replaced_and_no_hint_says_so() {
    let home = home();
    for words in [&["tree", "tree"][..], &["-f", "tree", "tree"]] {
        let refused = image(home.path(), &[&["create"], words].concat());
        let said = "error: cannot create 'tree': Is a directory\n";
        assert_eq!((refused.code, refused.stderr.as_str()), (2, said));
    }
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let home = home();
    for words in [
        &["-x", "-", "image"][..],
        &["--worktree-attributes", "tree", "image"],
        &["--worktree-attributes", "-", "image"],
    ] {
        let refused = image(home.path(), &[&["create"], words].concat());
        assert_eq!(refused.code, 2, "{words:?}");
        assert!(refused.stderr.contains(" needs "), "{refused:?}");
    }
}

#[test]
fn a_start_that_is_not_there_is_named() {
    let home = home();
    for words in [
        &["list", "image", "-C", "nowhere"][..],
        &["create", "tree", "image", "-C", "nowhere"],
    ] {
        let refused = image(home.path(), words);
        let said = "error: cannot change to 'nowhere': No such file or directory\n";
        assert_eq!((refused.code, refused.stderr.as_str()), (2, said));
    }
}

#[test]
fn what_is_left_out_is_named_as_an_error_even_if_quiet() {
    let home = home();
    let mut below = 0;
    for number in 2..9 {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        let words = ["image", "create", "-fqj1", "--skip-unreadable"];
        command.args(words).args(["tree", "image"]);
        let fault = format!("stat:{number}:13");
        let command = command.current_dir(home.path());
        let output = command.env("HEDGEROW_TEST_FAULT", &fault).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let Some((said, _)) = said.split_once("HEDGEROW_TEST_FAULT") else {
            panic!("{said}")
        };
        if output.status.code() == Some(3) {
            assert!(said.starts_with("error: cannot stat 'tree"), "{said}");
            assert!(said.ends_with("': Permission denied\n"), "{said}");
            below += usize::from(said.contains("'tree/"));
        }
    }
    assert!(below > 0);
}

#[test]
fn a_quiet_verification_prints_only_what_is_wrong() {
    let home = home();
    assert_eq!(
        image(home.path(), &["create", "-q", "tree", "image"]).code,
        0
    );
    let verified = image(home.path(), &["verify", "-q", "image"]);
    assert_eq!((verified.code, verified.text().as_str()), (0, ""));
    let mut bytes = fs::read(home.path().join("image")).unwrap();
    bytes[8] ^= 1;
    bytes[40] ^= 1;
    fs::write(home.path().join("image"), bytes).unwrap();
    let verified = image(home.path(), &["verify", "-q", "image"]);
    let said = verified.text();
    assert_eq!(verified.code, 1);
    assert!(said.lines().all(|line| line.starts_with("wrong: ")));
    assert!(!said.is_empty());
}

/// Extended attributes of symbolic links are found through `/proc`: without it, that is the reason.
#[test]
fn what_proc_is_needed_for_is_said() {
    let home = home();
    let run = |script: &str| {
        let mut command = hedgerow_testkit::isolated("unshare");
        let alone = format!("mount -t tmpfs none /proc && {script}");
        command.args(["-rm", "sh", "-c", &alone, env!("CARGO_BIN_EXE_hedgerow")]);
        command.current_dir(home.path());
        hedgerow_testkit::run(command)
    };
    if !hedgerow_testkit::require("unshare") {
        return;
    }
    if run("true").code != 0 {
        return hedgerow_testkit::skip("no namespace of mounts can be had");
    }
    let told = run("\"$0\" image create tree image").stderr;
    let reason = "cannot read the extended attributes of 'tree': /proc is not mounted";
    assert!(told.contains(reason), "{told}");
}
