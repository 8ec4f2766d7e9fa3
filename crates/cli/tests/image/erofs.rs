//! EROFS images: chosen by the name or by an option, and read by every command.

use crate::image;
use hedgerow_testkit::{temporary, Repository};
use serde_json::{json, Value};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
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
            "-l and --cluster-size need -c: the default is 'none'",
        ),
        (
            &["--cluster-size", "16K", "tree", "x"],
            "SquashFS has no --cluster-size",
        ),
        (&["--format", "ext4", "tree", "x"], "unknown format 'ext4'"),
        (&["-b", "128K", "tree", "x.erofs"], "from 4K to 64K"),
        (
            &["-b64K", "--cluster-size=4K", "-clz4", "tree", "x.erofs"],
            "a cluster has at least one block: 4096 bytes are less than 65536",
        ),
        (
            &["--wrong"],
            "\n\nhint: see 'hedgerow image create --help'\n",
        ),
    ] {
        let refused = image(home.path(), &[&["create"], words].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
        assert!(!home.path().join("x.erofs").exists() && !home.path().join("x").exists());
    }
}

/// Makes `target` of what stands on standard input.
fn from_input(directory: &Path, input: Stdio, target: &str) -> Output {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.args(["image", "create", "-fq", "-", target]);
    command
        .current_dir(directory)
        .stdin(input)
        .stderr(Stdio::piped());
    command.output().unwrap()
}

#[test]
fn an_image_of_an_image_is_that_of_its_directory() {
    let home = temporary();
    let own = home.path();
    fs::create_dir_all(own.join("tree/a/b")).unwrap();
    fs::write(own.join("tree/a/long"), "content\n".repeat(100_000)).unwrap();
    fs::write(own.join("tree/a/same"), "content\n".repeat(100_000)).unwrap();
    fs::write(own.join("tree/short"), "content\n").unwrap();
    fs::hard_link(own.join("tree/short"), own.join("tree/a/b/linked")).unwrap();
    std::os::unix::fs::symlink("a/b", own.join("tree/link")).unwrap();
    fs::File::create(own.join("tree/hole"))
        .unwrap()
        .set_len(20 << 20)
        .unwrap();
    let paths = [
        "tree/a/long",
        "tree/a/same",
        "tree/short",
        "tree/hole",
        "tree/a/b",
        "tree/a",
        "tree",
    ];
    let touched = hedgerow_testkit::isolated("touch")
        .args(["-h", "-d", "@1000000000", "tree/link"])
        .args(paths)
        .current_dir(own)
        .status();
    assert!(touched.unwrap().success());
    let forms: [(&str, &[&str]); 3] = [
        ("squash", &[]),
        ("plain.erofs", &[]),
        ("lz4.erofs", &["-clz4"]),
    ];
    for (name, words) in forms {
        let made = image(own, &[&["create", "tree", name], words].concat());
        assert_eq!(made.code, 0, "{made:?}");
    }
    for (from, _) in forms {
        for (name, words) in forms {
            let other = format!("other-{name}");
            let made = image(own, &[&["create", "-f", from, &other], words].concat());
            assert_eq!(made.code, 0, "{made:?}");
            let [first, second] = [name, &other].map(|it| fs::read(own.join(it)).unwrap());
            assert!(first == second, "{from} to {name}");
        }
        // A file can be read anywhere, also as standard input; a pipe cannot.
        let file = fs::File::open(own.join(from)).unwrap();
        assert!(from_input(own, file.into(), "other").status.success());
        let [first, second] = ["squash", "other"].map(|it| fs::read(own.join(it)).unwrap());
        assert!(first == second, "{from}");
        let (reader, mut writer) = std::io::pipe().unwrap();
        let bytes = fs::read(own.join(from)).unwrap();
        let sending = std::thread::spawn(move || writer.write_all(&bytes));
        let refused = from_input(own, reader.into(), "refused");
        drop(sending.join());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        let expected =
            " image, not a tar archive\n\nhint: an image is taken from a file that is not \
                        compressed, not from a pipe\n";
        assert!(said.ends_with(expected), "{said}");
        assert!(refused.status.code() == Some(2) && !own.join("refused").exists());
    }
    let made = image(own, &["create", "--exclude=a", "lz4.erofs", "less"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(image(own, &["list", "less"]).text(), "hole\nlink\nshort\n");
    let mut cut = fs::read(own.join("squash")).unwrap();
    cut.truncate(200);
    fs::write(own.join("cut"), cut).unwrap();
    let refused = image(own, &["create", "cut", "refused"]);
    assert!(
        refused
            .stderr
            .starts_with("error: cannot read the image 'cut': "),
        "{refused:?}"
    );
}

#[test]
fn the_header_names_compressors_clusters_and_features() {
    let home = temporary();
    fs::create_dir(home.path().join("tree")).unwrap();
    fs::write(home.path().join("tree/file"), "content\n".repeat(10_000)).unwrap();
    for (words, compressors, cluster) in [
        (&[][..], json!([]), Value::Null),
        (
            &["-c", "lz4hc", "--cluster-size", "32K"],
            json!(["lz4"]),
            json!(32_768),
        ),
        (&["-c", "zstd"], json!(["zstd"]), Value::Null),
    ] {
        let made = image(
            home.path(),
            &[&["create", "-f", "tree", "x.erofs"], words].concat(),
        );
        assert_eq!(made.code, 0, "{made:?}");
        let told = image(home.path(), &["info", "--json", "x.erofs"]).text();
        let document: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(document["compressors"], compressors);
        assert_eq!(document["cluster_size_bytes"], cluster);
        let features = document["features"].as_array().unwrap();
        assert_eq!(features[..2], [json!("sb_csum"), json!("mtime")]);
        assert_eq!(
            features.contains(&json!("compr_cfgs")),
            compressors != json!([])
        );
        let text = image(home.path(), &["info", "x.erofs"]).text();
        assert!(text.contains("\nfeatures:        sb_csum mtime "), "{text}");
        let is_named = compressors != json!([]);
        assert_eq!(
            text.contains("\ncompressors:     none\n"),
            !is_named,
            "{text}"
        );
    }
}

#[test]
fn source_date_epoch_has_the_limits_of_the_format() {
    let home = temporary();
    fs::create_dir(home.path().join("tree")).unwrap();
    for (epoch, refusal) in [
        ("4294967296", None),
        ("9223372036854775807", None),
        (
            "9223372036854775808",
            Some("EROFS holds no time after 9223372036854775807"),
        ),
        ("-1", Some("it is not a number of seconds since 1970")),
    ] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(["-q", "image", "create", "-f", "tree", "x.erofs"]);
        command
            .env("SOURCE_DATE_EPOCH", epoch)
            .current_dir(home.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match refusal {
            Some(reason) => assert!(said.ends_with(&format!("{reason}\n")), "{said}"),
            None => {
                assert_eq!(said, "");
                let told = image(home.path(), &["info", "x.erofs"]).text();
                assert!(
                    told.contains(&format!("{epoch} s since the epoch")),
                    "{told}"
                );
            }
        }
    }
}

/// The addresses of such a file are longer than what the writer collects before it writes.
#[test]
fn a_file_with_a_long_hole_is_the_same_again() {
    let home = temporary();
    let tree = home.path().join("tree");
    fs::create_dir(&tree).unwrap();
    let mut holed = fs::File::create(tree.join("holed")).unwrap();
    holed.write_all(&[1; 4096]).unwrap();
    holed.set_len((5 << 28) + 4095).unwrap();
    std::os::unix::fs::FileExt::write_at(&holed, b"last", 5 << 28).unwrap();
    fs::write(tree.join("before"), "one\n").unwrap();
    fs::write(tree.join("later"), "two\n").unwrap();
    fs::hard_link(tree.join("holed"), tree.join("other")).unwrap();
    for compressor in ["none", "lz4"] {
        let image_name = format!("{compressor}.erofs");
        for words in [
            &["create", "-c", compressor, "tree", &image_name][..],
            &["verify", &image_name],
            &["extract", &image_name, compressor],
        ] {
            let outcome = image(home.path(), words);
            assert_eq!(outcome.code, 0, "{words:?} {outcome:?}");
        }
        let script = format!(
            "diff -r tree {compressor} && cd {compressor} && test holed -ef other && stat -c '%h %b' holed"
        );
        let mut shell = hedgerow_testkit::isolated("sh");
        shell.args(["-c", &script]).current_dir(home.path());
        let told = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        let (links, blocks) = told.trim().split_once(' ').expect(&told);
        assert_eq!(links, "2", "{compressor}");
        assert!(blocks.parse::<u64>().unwrap() < 10_000, "{blocks}");
    }
}

#[test]
fn the_content_of_a_long_hole_is_printed_in_parts() {
    let home = temporary();
    fs::create_dir(home.path().join("tree")).unwrap();
    fs::File::create(home.path().join("tree/hole"))
        .unwrap()
        .set_len(3 << 40)
        .unwrap();
    let made = image(home.path(), &["create", "tree", "x.erofs"]);
    assert_eq!(made.code, 0, "{made:?}");
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command
        .args(["image", "cat", "x.erofs", "hole"])
        .current_dir(home.path());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = vec![1; 20 << 20];
    let mut output = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut output, &mut start).unwrap();
    assert!(start.iter().all(|byte| *byte == 0));
    drop(output);
    child.wait().unwrap();
}
