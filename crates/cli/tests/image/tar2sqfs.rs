//! The program when it is called `tar2sqfs`, beside the one that has that name.

use crate::archives::{home, run};
use crate::{image, Outcome};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Our program under another name, reading an archive.
fn tar2sqfs(directory: &Path, words: &[&str], archive: Option<&Path>) -> Outcome {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.arg0("tar2sqfs").args(words).current_dir(directory);
    command.env_remove("SOURCE_DATE_EPOCH");
    outcome(command, archive)
}

fn outcome(mut command: Command, archive: Option<&Path>) -> Outcome {
    command.stdin(match archive {
        Some(path) => Stdio::from(File::open(path).unwrap()),
        None => Stdio::null(),
    });
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn images_hold_what_those_of_the_real_one_hold() {
    let home = home(true);
    let tar = ["-C", "tree", "--format=pax", "-cf", "archive", "."];
    let Some(_) = run(home.path(), "tar", &tar) else {
        return;
    };
    if run(home.path(), "tar2sqfs", &["--version"]).is_none() {
        return;
    }
    let archive = home.path().join("archive");
    for words in [
        "-c gzip -X level=1,window=10,rle,default",
        "-c xz -X level=0,dictsize=32K -b 64K",
        "-c lzo -X algorithm=lzo1x_999,level=3 -e -T",
        "-c lz4 -X hc -j 3 -Q 5 -B 8192 -x -s",
        "-c zstd -X level=3 -k -d uid=1,gid=2,mode=0700,mtime=5",
        "-c gzip --root-becomes /empty/ -d mtime=77",
        "-c gzip -r empty -S",
    ] {
        let mut all: Vec<&str> = words.split(' ').collect();
        all.extend(["-f", "-q", "ours"]);
        let ours = tar2sqfs(home.path(), &all, Some(&archive));
        assert_eq!(
            (ours.code, &ours.stdout[..], &ours.stderr[..]),
            (0, &b""[..], ""),
            "{words}"
        );
        *all.last_mut().unwrap() = "theirs";
        let mut command = Command::new("tar2sqfs");
        command.args(&all).current_dir(home.path());
        assert_eq!(outcome(command, Some(&archive)).code, 0, "{words}");
        let compared = ["-T", "-a", "theirs", "-b", "ours"];
        let mut command = Command::new("sqfsdiff");
        command.args(compared).current_dir(home.path());
        let compared = outcome(command, None);
        assert_eq!(
            (compared.code, compared.text()),
            (0, String::new()),
            "{words}"
        );
        assert_eq!(image(home.path(), &["verify", "ours"]).code, 0, "{words}");
        let info = |name| -> serde_json::Value {
            let text = image(home.path(), &["info", "--json", name]).text();
            serde_json::from_str(&text).unwrap()
        };
        let (ours, theirs) = (info("ours"), info("theirs"));
        for key in [
            "compressor",
            "block_size_bytes",
            "mod_time_s",
            "inodes",
            "exportable",
        ] {
            assert_eq!(ours[key], theirs[key], "{words}: {key}");
        }
        let padding = if words.contains("8192") { 8192 } else { 4096 };
        assert_eq!(
            fs::metadata(home.path().join("ours")).unwrap().len() % padding,
            0
        );
    }
}

#[test]
fn the_time_of_the_source_is_that_of_what_has_none() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("d")).unwrap();
    fs::write(home.path().join("d/file"), "content").unwrap();
    let tar = ["--mtime=@9", "-cf", "archive", "d/file"];
    let Some(_) = run(home.path(), "tar", &tar) else {
        return;
    };
    let archive = home.path().join("archive");
    for (words, d, file, made) in [
        (&["-f", "image"][..], "7", "9", 7),
        (&["-fk", "image"], "7", "7", 7),
        (&["-d", "mtime=8", "-f", "image"], "8", "9", 8),
    ] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command
            .arg0("tar2sqfs")
            .args(words)
            .current_dir(home.path());
        command.env("SOURCE_DATE_EPOCH", "7");
        assert_eq!(outcome(command, Some(&archive)).code, 0);
        let listed = image(home.path(), &["list", "-l", "image"]).text();
        let lines: Vec<_> = listed.lines().collect();
        assert!(lines[0].contains(&format!(" {d}.000000000 ")), "{listed}");
        assert!(
            lines[1].contains(&format!(" {file}.000000000 ")),
            "{listed}"
        );
        let info = image(home.path(), &["info", "--json", "image"]).text();
        assert!(info.contains(&format!("\"mod_time_s\": {made},")), "{info}");
    }
}

#[test]
fn what_cannot_be_stored_is_left_out_or_ends_it() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "content").unwrap();
    fs::write(home.path().join("..file"), "content").unwrap();
    let tar = [
        "-P",
        "--transform=s,^\\.\\.file,../file,",
        "-cf",
        "archive",
        "..file",
        "file",
    ];
    let Some(_) = run(home.path(), "tar", &tar) else {
        return;
    };
    let archive = home.path().join("archive");
    let said = "'../file': a name that leaves its directory";
    let refused = tar2sqfs(home.path(), &["-s", "image"], Some(&archive));
    assert_eq!(
        (refused.code, refused.stderr.contains(said)),
        (1, true),
        "{refused:?}"
    );
    assert!(!home.path().join("image").exists());
    let made = tar2sqfs(home.path(), &["-q", "image"], Some(&archive));
    assert_eq!((made.code, made.stderr), (0, format!("tar2sqfs: {said}\n")));
    assert_eq!(image(home.path(), &["list", "image"]).text(), "file\n");

    let tar = [
        "--format=pax",
        "--pax-option=SCHILY.xattr.other.name=value",
        "-cf",
        "archive",
        "file",
    ];
    run(home.path(), "tar", &tar);
    let refused = tar2sqfs(home.path(), &["-fs", "image"], Some(&archive));
    assert_eq!(
        (refused.code, refused.stderr.contains("'other.name'")),
        (1, true),
        "{refused:?}"
    );
    let made = tar2sqfs(home.path(), &["-fq", "image"], Some(&archive));
    assert_eq!(
        (made.code, made.stderr.contains("'other.name'")),
        (0, true),
        "{made:?}"
    );
    assert_eq!(
        tar2sqfs(home.path(), &["-fsx", "image"], Some(&archive)).code,
        0
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_the_code_of_the_real_one() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("there"), "precious").unwrap();
    for (words, said) in [
        (
            &["there"][..],
            "tar2sqfs: 'there' exists: --force replaces it\n",
        ),
        (&[], "tar2sqfs: the name of the image is missing\n"),
        (&["-B", "1000", "image"], "must be 1024 at least"),
        (&["-b", "1000", "image"], "a power of two from 4K to 1M"),
        (&["-d", "mode=9999", "image"], "'mode=9999' is none of"),
        (&["-c", "brotli", "image"], "brotli"),
        (&["-X", "hc", "image"], "hc"),
        (&["-r", "../x", "image"], "a name that leaves its directory"),
        (&["image"], "the archive"),
        (&["--bogus", "image"], "--bogus"),
    ] {
        let refused = tar2sqfs(home.path(), words, Some(&home.path().join("there")));
        assert_eq!(refused.code, 1, "{words:?}: {refused:?}");
        assert!(refused.stderr.contains(said), "{words:?}: {refused:?}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "{words:?}");
    }
    for words in [
        &["--help"][..],
        &["--version"],
        &["-c", "lz4", "-X", "help"],
    ] {
        let told = tar2sqfs(home.path(), words, None);
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{words:?}");
        assert!(!told.stdout.is_empty());
    }
}

/// The archives of squashfs-tools-ng's own tests: those from which it makes the same image, by the
/// sums that its tests compare, must give the same image here.
#[test]
fn what_is_the_same_to_squashfs_tools_ng_is_the_same_here() {
    let Some(checkout) = std::env::var_os("HEDGEROW_SQUASHFS_TOOLS_NG").map(PathBuf::from) else {
        hedgerow_testkit::skip("HEDGEROW_SQUASHFS_TOOLS_NG names no checkout of squashfs-tools-ng");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let sums = fs::read_to_string(checkout.join("bin/tar2sqfs/test/sqfs.sha512")).unwrap();
    let mut groups: BTreeMap<&str, Vec<(&str, Vec<u8>)>> = BTreeMap::new();
    for line in sums.lines() {
        let (sum, path) = line.split_once("  ").unwrap();
        let Some(name) = path.strip_prefix("test_tar/data/") else {
            continue;
        };
        let name = name.strip_suffix(".sqfs").unwrap();
        let archive = checkout.join(format!("lib/tar/test/data/{name}.tar"));
        let words = ["--defaults", "mtime=0", "-c", "gzip", "-q", "-f", "image"];
        let made = tar2sqfs(home.path(), &words, Some(&archive));
        assert_eq!(made.code, 0, "{name}: {made:?}");
        let bytes = fs::read(home.path().join("image")).unwrap();
        groups.entry(sum).or_default().push((name, bytes));
    }
    let mut compared = 0;
    for group in groups.values().filter(|group| group.len() > 1) {
        for (name, bytes) in group {
            assert!(*bytes == group[0].1, "{name} and {}", group[0].0);
        }
        compared += 1;
    }
    println!(
        "{compared} groups of archives, {} images in all",
        groups.len()
    );
    assert!(compared > 5);
}
