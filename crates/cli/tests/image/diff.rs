//! How images differ.

use crate::image;
use std::path::Path;
use std::process::{Command, Stdio};

fn pack(home: &Path, script: &str, name: &str, options: &[&str]) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(home);
    assert!(shell.status().unwrap().success());
    let mut command = Command::new("mksquashfs");
    command.args(["tree", name, "-noappend", "-quiet", "-no-progress"]);
    command
        .args(options)
        .current_dir(home)
        .stdout(Stdio::null());
    let packed = command.status().is_ok_and(|status| status.success());
    if !packed {
        hedgerow_testkit::skip("mksquashfs is not installed");
    }
    packed
}

const TREE: &str = "mkdir -p tree/d/e tree/gone && cd tree && echo 1 > d/file && echo 2 > gone/x &&
    head -c 500000 /dev/urandom > large && echo 1 > one && ln one two && ln -s d link && echo k > kind
    find . -exec touch -h -d @1000 {} +";
const CHANGE: &str = "cd tree && rm -r gone && mkdir new && echo 3 > d/file && chmod 600 large &&
    rm two && cp one two && ln -sfn e link && rm kind && mkdir kind &&
    echo longer > one && setfattr -n user.a -v b d/e
    find . -exec touch -h -d @1000 {} +; touch -d @2000 large";

#[test]
fn each_difference_has_its_line() {
    let home = tempfile::tempdir().unwrap();
    let options = ["-comp", "zstd", "-all-root"];
    let other = ["-comp", "gzip", "-b", "16384", "-no-fragments", "-all-root"];
    if !pack(home.path(), TREE, "a", &options) || !pack(home.path(), "true", "same", &other) {
        return;
    }
    assert!(pack(home.path(), CHANGE, "b", &options));
    for (first, second) in [("a", "a"), ("a", "same"), ("same", "a")] {
        let same = image(home.path(), &["diff", first, second]);
        assert_eq!((same.code, same.text().as_str()), (0, ""), "{same:?}");
    }
    let expected = "\
d/e: extended attributes
d/file: content
gone: only in the first image
gone/x: only in the first image
kind: type file became directory
large: mode 0644 became 0600
large: mtime 1000 became 2000
link: target
new: only in the second image
one: size 2 became 7
two: hard links
";
    let different = image(home.path(), &["diff", "a", "b"]);
    assert_eq!(
        (different.code, different.text().as_str()),
        (1, expected),
        "{different:?}"
    );
    let words = ["diff", "--no-mode", "--no-mtime", "--no-xattrs", "a", "b"];
    let less = image(home.path(), &words).text();
    assert!(
        !less.contains("large") && !less.contains("attributes"),
        "{less}"
    );
    let json = image(home.path(), &["diff", "--json", "a", "b"]).text();
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["schema"], "hedgerow.image.diff.v1");
    assert_eq!(
        (&first["path"], &first["difference"]),
        (&"d/e".into(), &"xattrs".into())
    );
    assert_eq!(image(home.path(), &["diff", "a", "none"]).code, 2);
}

/// EROFS stores nanoseconds, SquashFS does not.
#[test]
fn nanoseconds_are_compared_where_both_images_have_them() {
    let home = tempfile::tempdir().unwrap();
    let made = |time: &str, name: &str| {
        let script = format!("mkdir -p tree && touch -d @{time} tree/file && touch -d @7 tree");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(home.path());
        assert!(shell.status().unwrap().success());
        let created = image(home.path(), &["create", "tree", name]);
        assert_eq!(created.code, 0, "{created:?}");
    };
    made("1000.000000001", "a.erofs");
    made("1000.000000001", "same.erofs");
    made("1000.000000001", "a.sqfs");
    made("1000.25", "b.erofs");
    made("1000.25", "b.sqfs");
    made("1001.25", "c.erofs");
    let nanoseconds = "file: mtime .000000001 became .250000000\n";
    let seconds = "file: mtime 1000 became 1001\n";
    for (first, second, expected) in [
        ("a.erofs", "same.erofs", ""),
        ("a.erofs", "b.erofs", nanoseconds),
        ("a.erofs", "b.sqfs", ""),
        ("b.sqfs", "a.erofs", ""),
        ("a.sqfs", "b.sqfs", ""),
        ("b.erofs", "c.erofs", seconds),
        ("b.sqfs", "c.erofs", seconds),
    ] {
        let told = image(home.path(), &["diff", first, second]);
        let code = i32::from(!expected.is_empty());
        assert_eq!((told.code, told.text().as_str()), (code, expected));
    }
    let words = ["diff", "--no-mtime", "a.erofs", "b.erofs"];
    assert_eq!(image(home.path(), &words).code, 0);
    let json = image(home.path(), &["diff", "--json", "a.erofs", "b.erofs"]).text();
    let line: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(line["difference"], "mtime_ns");
    assert_eq!(
        (&line["first"], &line["second"]),
        (&1.into(), &250_000_000.into())
    );
}
