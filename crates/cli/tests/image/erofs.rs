//! EROFS images: chosen by the name or by an option, and read by every command.

use crate::image;
use hedgerow_testkit::{temporary, Repository};
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

#[test]
fn a_time_that_is_set_has_no_fraction_of_a_second() {
    let home = temporary();
    let tree = home.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("file"), "content\n").unwrap();
    let made = |milliseconds: u64, words: &[&str], epoch: &str| {
        for path in [tree.join("file"), tree.clone()] {
            let time = UNIX_EPOCH + Duration::from_millis(milliseconds);
            fs::File::open(path).unwrap().set_modified(time).unwrap();
        }
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(["-q", "image", "create", "-f", "tree", "image.erofs"]);
        command.args(words).env("SOURCE_DATE_EPOCH", epoch);
        assert!(command.current_dir(home.path()).status().unwrap().success());
        fs::read(home.path().join("image.erofs")).unwrap()
    };
    for (words, epoch) in [
        (&["--default-mtime", "7"][..], ""),
        (&["--default-mtime", "7"], "100"),
        (&[], "100"),
    ] {
        let images = [100_250, 100_750, 200_000].map(|time| made(time, words, epoch));
        assert!(
            images.iter().all(|it| *it == images[0]),
            "{words:?} {epoch}"
        );
    }
    assert!(made(99_250, &[], "100") != made(99_750, &[], "100"));
}

#[test]
fn every_command_reads_both_formats() {
    let home = temporary();
    let own = home.path();
    fs::create_dir_all(own.join("tree/a/b")).unwrap();
    fs::write(own.join("tree/a/b/file"), "content\n".repeat(10_000)).unwrap();
    fs::write(own.join("tree/a/same"), "content\n".repeat(10_000)).unwrap();
    std::os::unix::fs::symlink("a/b", own.join("tree/link")).unwrap();
    for (name, words) in [
        ("plain.erofs", &[][..]),
        ("lz4.erofs", &["-c", "lz4hc", "-l", "12"]),
        (
            "named",
            &["--format", "erofs", "-c", "zstd", "--cluster-size", "16K"],
        ),
        ("squash", &[]),
    ] {
        let made = image(own, &[&["create", "tree", name], words].concat());
        assert_eq!(made.code, 0, "{made:?}");
        let listed = image(own, &["list", name]);
        assert_eq!(listed.text(), "a\na/b\na/b/file\na/same\nlink\n");
        assert_eq!(image(own, &["list", name, "a/b"]).text(), "a/b/file\n");
        let long = image(own, &["list", "-l", name, "link"]).text();
        assert!(long.ends_with(" link -> a/b\n"), "{long}");
        let content = image(own, &["cat", name, "a/b/file"]).stdout;
        assert_eq!(content, fs::read(own.join("tree/a/b/file")).unwrap());
        let checked = image(own, &["verify", name]);
        assert!(
            checked.code == 0 && checked.text().ends_with("\nok\n"),
            "{checked:?}"
        );
        assert_eq!(image(own, &["extract", name, &format!("{name}.d")]).code, 0);
        assert_eq!(
            fs::read_link(own.join(format!("{name}.d/link")))
                .unwrap()
                .to_str(),
            Some("a/b")
        );
        let compared = image(own, &["diff", "plain.erofs", name]);
        assert_eq!(
            (compared.code, compared.text()),
            (0, String::new()),
            "{name}"
        );
        let format = image(own, &["info", "--json", name]).text();
        let expected = if name == "squash" {
            "squashfs"
        } else {
            "erofs"
        };
        assert!(
            format.contains(&format!("\"format\": \"{expected}\"")),
            "{format}"
        );
    }
    let archives = ["plain.erofs", "squash"].map(|name| image(own, &["to-tar", name]).stdout.len());
    assert_eq!(archives[0], archives[1]);
}

#[test]
fn a_commit_and_an_archive_become_the_same_image() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("a/file", "one"), ("b", "two")], "first");
    let own = repository.path("");
    let made = image(&own, &["create", "git:HEAD", "commit.erofs"]);
    assert_eq!(made.code, 0, "{made:?}");
    repository.git(&["archive", "-o", "commit.tar", "HEAD"]);
    let made = image(&own, &["create", "commit.tar", "archive.erofs"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(
        image(&own, &["diff", "commit.erofs", "archive.erofs"]).text(),
        ""
    );
}

#[test]
fn what_a_format_does_not_have_is_refused() {
    let home = temporary();
    fs::create_dir(home.path().join("tree")).unwrap();
    for (words, expected) in [
        (
            &["-c", "xz", "tree", "x.erofs"][..],
            "unknown compressor 'xz' for EROFS",
        ),
        (
            &["--exportable", "tree", "x.erofs"],
            "EROFS has no --exportable",
        ),
        (
            &["-l", "3", "tree", "x.erofs"],
            "nothing is compressed: use -c",
        ),
        (
            &["--cluster-size", "16K", "tree", "x"],
            "SquashFS has no --cluster-size",
        ),
        (&["--format", "ext4", "tree", "x"], "unknown format 'ext4'"),
        (&["-b", "128K", "tree", "x.erofs"], "from 4K to 64K"),
    ] {
        let refused = image(home.path(), &[&["create"], words].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
        assert!(!home.path().join("x.erofs").exists() && !home.path().join("x").exists());
    }
}
