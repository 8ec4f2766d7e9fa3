//! Images of commits are the images of what `git archive` makes of them, byte for byte.

use crate::{image, HEDGEROW};
use hedgerow_testkit::{isolate, run, Program};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program with dates of its own; of hedgerow, `image create`.
fn isolated(program: Program, directory: &Path) -> Command {
    let mut command = program.command(directory);
    command.env("GIT_AUTHOR_DATE", "1600000000 +0000");
    command.env("GIT_COMMITTER_DATE", "1700000000 +0000");
    if program == HEDGEROW {
        command.args(["image", "create"]);
    }
    command
}

/// What git prints; it must succeed.
fn by_git(directory: &Path, words: &[&str]) -> Vec<u8> {
    let mut command = isolated(Program::Git, directory);
    command.args(words);
    run(command).ok(&format!("git {words:?}"))
}

/// `hedgerow image create`, with `input` on standard input.
fn create(directory: &Path, words: &[&str], input: &[u8], epoch: Option<&str>) -> Output {
    create_delayed(directory, words, input, epoch, 0)
}

fn create_delayed(
    directory: &Path,
    words: &[&str],
    input: &[u8],
    epoch: Option<&str>,
    seed: u32,
) -> Output {
    let mut command = isolated(HEDGEROW, directory);
    if seed > 0 {
        command.env("HEDGEROW_TEST_DELAY", seed.to_string());
    }
    epoch.map(|epoch| command.env("SOURCE_DATE_EPOCH", epoch));
    command.args(words).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|threads| {
        threads.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    })
}

/// The image of a source; there must be no complaint.
fn packed(directory: &Path, source: &str, words: &[&str], input: &[u8]) -> Vec<u8> {
    delayed(directory, source, words, input, 0)
}

/// The same with calls that are delayed at random, unless the seed is 0.
fn delayed(directory: &Path, source: &str, words: &[&str], input: &[u8], seed: u32) -> Vec<u8> {
    let image = directory.join(".image");
    let image = image.to_str().unwrap();
    let all = [&["-qf"][..], words, &[source, image]].concat();
    let output = create_delayed(directory, &all, input, Some("1800000000"), seed);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(0), ""), "{source}");
    let bytes = fs::read(image).unwrap();
    fs::remove_file(image).unwrap();
    bytes
}

/// A repository whose trees have all that trees can have.
fn repository() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    by_git(home.path(), &["init", "-q", "-b", "main"]);
    by_git(home.path(), &["config", "core.safecrlf", "false"]);
    let lines: Vec<u8> = (0..160_000u32)
        .flat_map(|at| format!("{}\n", at.wrapping_mul(at) >> 7).into_bytes())
        .collect();
    fs::create_dir_all(at("a/deep/er")).unwrap();
    for (path, content) in [
        ("a/file", &lines[..9]),
        ("a.c", &lines[..9]),
        ("a-b", &lines[..150_000]),
        ("a/deep/er/empty", b""),
        ("large", &lines[..]),
        ("same", &lines[..]),
        // More than a piece only when it is converted.
        ("grows.txt", &lines[..1_000_000]),
        ("shrinks", &lines[..300_000]),
        ("ident.c", b"/* $Id$ */\n"),
        ("version", b"$Format:%H %cI$\n"),
        ("left-out", b"content"),
        (
            ".gitattributes",
            b"*.txt eol=crlf\n*.c ident\nversion export-subst\nleft-out export-ignore\n",
        ),
        ("a/.gitattributes", b"/deep/ export-ignore\n"),
    ] {
        fs::write(at(path), content).unwrap();
    }
    fs::set_permissions(at("a/file"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a/file", at("link")).unwrap();
    by_git(home.path(), &["add", "-A"]);
    by_git(home.path(), &["commit", "-q", "-m", "one"]);
    fs::write(at("a-b"), &lines[..150_100]).unwrap();
    by_git(home.path(), &["commit", "-qam", "two"]);
    by_git(home.path(), &["repack", "-adq"]);
    home
}

#[test]
fn placeholders_that_are_not_expanded_are_named() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    by_git(home, &["init", "-q", "-b", "main"]);
    fs::write(home.join(".gitattributes"), "* export-subst\n").unwrap();
    fs::write(home.join("f"), "$Format:%h %(describe:tags) %+ar %x$\n").unwrap();
    by_git(home, &["add", "-A"]);
    by_git(home, &["commit", "-q", "-m", "one"]);
    let made = image(home, &["create", "-q", "git:HEAD", "image"]);
    assert_eq!(made.code, 0, "{made:?}");
    for name in ["(describe", "ar"] {
        let said = format!("warning: 'f': the placeholder %{name} is left as it is");
        assert!(made.stderr.contains(&said), "{}", made.stderr);
    }
    assert_eq!(made.stderr.matches("warning").count(), 2);
}

#[test]
fn an_image_of_a_commit_is_that_of_its_archive() {
    let home = repository();
    let home = home.path();
    for words in [
        &["-c", "lz4"][..],
        &["-c", "gzip", "-b", "4K"],
        &["--no-dedup"],
    ] {
        let archive = by_git(home, &["archive", "--format=tar", "HEAD"]);
        let expected = packed(home, "-", words, &archive);
        for jobs in ["-j1", "-j3"] {
            let image = packed(home, "git:HEAD", &[words, &[jobs]].concat(), b"");
            assert!(image == expected, "{words:?} {jobs}");
        }
    }
    fs::write(home.join(".gitattributes"), "large export-ignore\n").unwrap();
    let archive = by_git(home, &["archive", "--worktree-attributes", "HEAD"]);
    let words = ["-c", "lz4", "--worktree-attributes"];
    let expected = packed(home, "-", &["-c", "lz4"], &archive);
    assert!(packed(home, "git:HEAD", &words, b"") == expected);
    let archive = by_git(home, &["archive", "HEAD~1"]);
    let words = [
        "-c",
        "lz4",
        "--exclude",
        "*.c",
        "--exclude",
        "a",
        "--set-uid",
        "5",
    ];
    assert!(packed(home, "git:HEAD~1", &words, b"") == packed(home, "-", &words, &archive));
}

#[test]
fn an_image_of_a_commit_is_that_of_its_checkout() {
    let home = repository();
    let home = home.path();
    // Only an archive leaves out and expands.
    fs::write(
        home.join(".git/info/attributes"),
        "* -export-ignore -export-subst\n",
    )
    .unwrap();
    by_git(home, &["clone", "-q", ".", "copy"]);
    let copy = home.join("copy");
    fs::remove_dir_all(copy.join(".git")).unwrap();
    // As a umask of 0002 would have it.
    let mut modes = Command::new("chmod");
    modes
        .args(["-R", "u=rwX,g=rwX,o=rX", "copy"])
        .current_dir(home);
    assert!(modes.status().unwrap().success());
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let tar = |words: &[&str]| {
        let mut tar = Command::new("tar");
        tar.args(words).current_dir(&copy).output().unwrap().stdout
    };
    let sorted = tar(&["-c", "--sort=name", "."]);
    let unsorted = tar(&["-c", "version", "same", "a", "."]);
    let words = ["-b4K", "--all-root", "--default-mtime", "5"];
    let expected = packed(home, "git:HEAD", &[&words[..], &["-j1"]].concat(), b"");
    // Whoever is late, and wherever it came from.
    for (delay, jobs) in (1..).zip(["-j1", "-j2", "-j3", "-j4", "-j8", "-j16", "-j64"]) {
        let words = [&words[..], &[jobs]].concat();
        for (source, input) in [
            ("git:HEAD", &b""[..]),
            ("copy", b""),
            ("-", &sorted),
            ("-", &unsorted),
        ] {
            let image = delayed(home, source, &words, input, delay);
            assert!(image == expected, "{source} {jobs}");
        }
    }
}

#[test]
fn the_repository_is_the_one_git_would_use() {
    let home = repository();
    let home = home.path();
    by_git(home, &["clone", "-q", "--bare", ".", "bare.git"]);
    let other = tempfile::tempdir().unwrap();
    let expected = packed(home, "git:main", &["-c", "lz4"], b"");
    for words in [&["-c", "lz4"][..], &["-c", "lz4", "-C", "../a"]] {
        let bare = home.join("bare.git");
        assert!(
            packed(&bare, "git:main", words, b"") == expected,
            "{words:?}"
        );
    }
    let image = other.path().join("image");
    let mut command = isolated(HEDGEROW, other.path());
    command.env("GIT_DIR", home.join("bare.git"));
    command.env("SOURCE_DATE_EPOCH", "1800000000");
    let output = command.args(["-c", "lz4", "git:main", "image"]).output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    assert!(fs::read(image).unwrap() == expected);
    let commit = by_git(home, &["rev-parse", "HEAD"]);
    let commit = format!("git:{}", String::from_utf8(commit).unwrap().trim());
    assert!(packed(home, &commit, &["-c", "lz4"], b"") == expected);
    // In a directory of the working tree, too, all of it is listed.
    assert!(packed(&home.join("a"), "git:HEAD", &["-c", "lz4"], b"") == expected);
}

#[test]
fn a_part_of_a_tree_has_the_time_of_the_source() {
    let home = repository();
    for (epoch, time) in [(None, " 0.000000000 "), (Some("77"), " 77.000000000 ")] {
        let words = ["-qf", "git:HEAD:a", ".image"];
        let output = create(home.path(), &words, b"", epoch);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let listed = crate::image(home.path(), &["list", "-l", ".image"]).text();
        let lines: Vec<&str> = listed.lines().collect();
        assert_eq!(lines.len(), 2, "{listed}");
        assert!(lines.iter().all(|line| line.contains(time)), "{listed}");
        assert!(lines[1].starts_with("f 0775 1 0 0 9 ") && lines[1].ends_with(" file"));
    }
}

#[test]
fn what_cannot_be_read_is_named_and_may_be_left_out() {
    let home = repository();
    let home = home.path();
    fs::write(home.join("new"), "this one will be gone").unwrap();
    by_git(home, &["add", "new"]);
    by_git(home, &["commit", "-qm", "three"]);
    let id = String::from_utf8(by_git(home, &["rev-parse", "HEAD:new"])).unwrap();
    let id = id.trim();
    fs::remove_file(home.join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    let reason = format!("error: cannot read 'new': object {id} is missing\n");
    let failed = create(home, &["git:HEAD", "image"], b"", None);
    assert_eq!(String::from_utf8_lossy(&failed.stderr), reason);
    assert_eq!(failed.status.code(), Some(2));
    assert!(!home.join("image").exists());
    let words = ["--skip-unreadable", "git:HEAD", "image"];
    let partial = create(home, &words, b"", None);
    let said = String::from_utf8_lossy(&partial.stderr);
    assert!(said.ends_with(&reason), "{said}");
    assert_eq!(partial.status.code(), Some(3));
    let listed = crate::image(home, &["list", "image"]).text();
    assert!(
        listed.contains("\nlarge\n") && !listed.contains("new"),
        "{listed}"
    );
    by_git(home, &["config", "core.repositoryFormatVersion", "1"]);
    by_git(home, &["config", "extensions.partialClone", "origin"]);
    let failed = create(home, &["-f", "git:HEAD", "image"], b"", None);
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(
        said.contains("partial clone, and 'origin' has it"),
        "{said}"
    );
}

#[test]
fn what_names_no_tree_is_refused_with_2() {
    let home = repository();
    for (revision, reason) in [
        (
            "git:nothing",
            "error: cannot resolve 'nothing': unknown revision",
        ),
        (
            "git:HEAD:large",
            "error: cannot resolve 'HEAD:large': not a tree object\n",
        ),
        ("git:", "error: cannot resolve '': "),
    ] {
        let refused = create(home.path(), &[revision, "image"], b"", None);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.starts_with(reason), "{revision}: {said}");
        assert_eq!(refused.status.code(), Some(2), "{revision}");
    }
    let nowhere = tempfile::tempdir().unwrap();
    let refused = create(nowhere.path(), &["git:HEAD", "image"], b"", None);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.starts_with("error: not a git repository"), "{said}");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read_dir(nowhere.path()).unwrap().count(), 0);
}

/// Stores an object that `git` would take a while to be fed: so many times the same byte.
fn large_blob(directory: &Path, bytes: u64) -> String {
    let path = directory.join(".large");
    fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    let id = by_git(directory, &["hash-object", "-w", "--no-filters", ".large"]);
    fs::remove_file(path).unwrap();
    String::from_utf8(id).unwrap().trim().to_owned()
}

/// Stores a tree of these lines of `git mktree`.
fn tree(directory: &Path, lines: &str) -> String {
    let mut command = isolated(Program::Git, directory);
    command.arg("mktree").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    let id = child.wait_with_output().unwrap().stdout;
    String::from_utf8(id).unwrap().trim().to_owned()
}

/// `image create` with no more address space than this.
fn create_within(directory: &Path, megabytes: u64, words: &[&str]) -> Output {
    let mut command = Command::new("sh");
    isolate(&mut command).current_dir(directory);
    let limit = megabytes << 10;
    command.args(["-c", &format!("ulimit -v {limit}; exec \"$@\""), "sh"]);
    command.args([
        env!("CARGO_BIN_EXE_hedgerow"),
        "image",
        "create",
        "-j2",
        "-qf",
    ]);
    command.args(words).output().unwrap()
}

#[test]
fn sizes_are_checked_before_objects_are_read() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    by_git(home, &["init", "-q"]);
    let huge = large_blob(home, 800 << 20);
    let small = large_blob(home, 3);
    let of_attributes = tree(
        home,
        &format!("100644 blob {huge}\t.gitattributes\n100644 blob {small}\ta\n"),
    );
    let source = format!("git:{of_attributes}");
    let output = create_within(home, 700, &["--exclude=.gitattributes", &source, "i"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("ignoring overly large gitattributes blob '.gitattributes'"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(0), "{said}");

    let of_link = tree(home, &format!("120000 blob {huge}\tlink\n"));
    let output = create_within(home, 700, &[&format!("git:{of_link}"), "i"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "error: cannot read 'link': the target of the link is 838860800 bytes\n";
    assert_eq!((said.as_str(), output.status.code()), (expected, Some(2)));
}

#[test]
fn trees_that_share_subtrees_are_listed_up_to_a_limit() {
    if std::env::var_os("HEDGEROW_LONG_TESTS").is_none() {
        hedgerow_testkit::skip("33 million entries take minutes; HEDGEROW_LONG_TESTS=1 lists them");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    by_git(home, &["init", "-q"]);
    let blob = large_blob(home, 1);
    let names = |id: &str, kind: &str| -> String {
        (0..300).map(|at| format!("{kind} {id}\tf{at}\n")).collect()
    };
    let mut id = tree(home, &names(&blob, "100644 blob"));
    for _ in 0..4 {
        id = tree(home, &names(&id, "040000 tree"));
    }
    // The excluded part is walked too; what is found is not kept.
    let output = create_within(home, 700, &["--exclude=*", &format!("git:{id}"), "i"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("trees list more than 33554432 entries or 2097152 directories"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(!home.join("i").exists());
}
