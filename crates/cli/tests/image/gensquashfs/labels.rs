//! Files of attributes and of security contexts.

use super::{compare, gensquashfs, home, outcome, real};
use crate::image;
use std::fs;
use std::path::Path;
use std::process::Command;

const CONTEXTS: &str = r"# the last that fits counts, but exact ones go first
/.*                      system_u:object_r:default_t:s0
/lib(/.*)?               system_u:object_r:lib_t:s0
/lib/.*\.so(\.[^/]*)* -- system_u:object_r:shlib_t:s0
/lib/a\.so\.1            system_u:object_r:exact_t:s0
/lib/same            -d  system_u:object_r:wrong_t:s0
/lib/fifo                <<none>>
/(lib/sub|srv)/.*        system_u:object_r:alternative_t:s0
/lib/sub/c.*         -l  system_u:object_r:wrong_t:s0
/                    -d  system_u:object_r:root_t:s0
";

const XATTRS: &str = r#"# file: /
user.root="r"

# file: lib/
user.text="a \"b\" \\ \101"
user.hex=0xCAFE
# file: lib/a.so.1
user.b64=0sSGVsbG8gdGhlcmUgOi0pCg==
trusted.plain=hello
# file: nowhere
user.x=1
"#;

const PATHS: [&str; 9] = [
    "/",
    "lib",
    "lib/a.so.1",
    "lib/b.so.2",
    "lib/fifo",
    "lib/l.so.1",
    "lib/same",
    "lib/sub/c.so.3",
    "lib/sub/d e",
];

/// The attributes of an entry, in any order.
fn attributes(home: &Path, image: &str, path: &str) -> Vec<String> {
    let mut show = Command::new("rdsquashfs");
    show.args(["-x", path, image]);
    let shown = outcome(show, home);
    assert_eq!(shown.code, 0, "{path}: {shown:?}");
    let mut lines: Vec<String> = shown.text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn labels_are_those_that_the_real_one_gives() {
    let home = home();
    fs::write(home.path().join("contexts"), CONTEXTS).unwrap();
    fs::write(home.path().join("xattrs"), XATTRS).unwrap();
    let description = "glob lib * * * lib\nlink first 0 0 0 lib/a.so.1\n";
    fs::write(home.path().join("pack"), description).unwrap();
    for (words, lines) in [
        ("-D in -s contexts", 9),
        ("-F pack -D in --selinux contexts", 9),
        ("-D in --xattr-file xattrs", 5),
        ("-D in -A xattrs -s contexts -c gzip", 14),
        ("-D in -k", 0),
    ] {
        // Theirs tells about attributes on standard output.
        let with = |target| {
            [
                &words.split(' ').collect::<Vec<_>>()[..],
                &["-q", "-f", target],
            ]
            .concat()
        };
        let Some(theirs) = real(home.path(), &with("theirs")) else {
            return;
        };
        let ours = gensquashfs(home.path(), &with("ours"));
        assert_eq!(
            (ours.code, ours.stderr.as_str(), theirs.code),
            (0, "", 0),
            "{words}"
        );
        let mut count = 0;
        for path in PATHS {
            let ours = attributes(home.path(), "ours", path);
            assert_eq!(
                ours,
                attributes(home.path(), "theirs", path),
                "{words}: {path}"
            );
            count += ours.iter().filter(|line| !line.is_empty()).count();
        }
        assert!(count >= lines, "{words}: {count}");
        assert_eq!(image(home.path(), &["verify", "ours"]).code, 0);
    }
}

#[test]
fn attributes_of_the_directory_stay_only_if_asked_for() {
    let home = home();
    let set = ["-n", "user.here", "-v", "mine", "in/lib/b.so.2"];
    if crate::archives::run(home.path(), "setfattr", &set).is_none() {
        return;
    }
    let own = ["-n", "user.root", "-v", "mine", "in"];
    crate::archives::run(home.path(), "setfattr", &own).unwrap();
    fs::write(home.path().join("xattrs"), XATTRS).unwrap();
    assert!(compare(home.path(), "-D in -x") && compare(home.path(), "-D in"));
    for (words, root, file) in [
        ("-D in -x", "user.root=mine", "user.here=mine"),
        ("-D in -x -A xattrs", "user.root=r", "user.here=mine"),
        ("-D in -A xattrs", "user.root=r", ""),
        ("-D in", "", ""),
    ] {
        let words = [&words.split(' ').collect::<Vec<_>>()[..], &["-qf", "ours"]].concat();
        assert_eq!(gensquashfs(home.path(), &words).code, 0);
        let first = |path| attributes(home.path(), "ours", path).concat();
        assert_eq!(
            (first("/"), first("lib/b.so.2")),
            (root.into(), file.into()),
            "{words:?}"
        );
    }
}

#[test]
fn image_create_sets_attributes_and_keeps_the_others_of_a_file_out_of_turn() {
    let home = home();
    let set = ["-n", "user.here", "-v", "mine", "in/lib/b.so.2"];
    if crate::archives::run(home.path(), "setfattr", &set).is_none() {
        return;
    }
    for (name, content) in [
        ("contexts", "/.* a:b:c\n"),
        ("xattrs", "# file: lib/b.so.2\nuser.more=1\n"),
        ("sort", "-1 lib/b.so.2\n"),
    ] {
        fs::write(home.path().join(name), content).unwrap();
    }
    let files = [
        "--selinux",
        "contexts",
        "--xattr-file",
        "xattrs",
        "--sort-file",
        "sort",
    ];
    for (more, expected) in [
        (&[][..], "security.selinux=a:b:cuser.here=mineuser.more=1"),
        (&["--no-xattrs"], "security.selinux=a:b:cuser.more=1"),
    ] {
        let words = [
            &["create", "-f", "-c", "gzip"],
            more,
            &files,
            &["in", "image"],
        ]
        .concat();
        let made = image(home.path(), &words);
        assert_eq!(made.code, 0, "{made:?}");
        let shown = attributes(home.path(), "image", "lib/b.so.2").concat();
        assert_eq!(shown, expected);
    }
}
