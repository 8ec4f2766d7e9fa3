//! Merges of what was put aside with what has been committed since.

use crate::support::{Pair, Repository};
use hedgerow_testkit::git_is_at_least;
use std::fs;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

pub fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.git(&["config", "user.name", "A"]);
    repository.git(&["config", "user.email", "a@example.com"]);
    for path in ["f", "dir/g", "dir/h", "dir/sub/i", "z"] {
        let file = repository.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{path}\n{LINES}")).unwrap();
    }
    repository.write("e", "");
    std::os::unix::fs::symlink("f", repository.root.join("link")).unwrap();
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "-m", "base"]);
    repository
}

/// `w PATH LINE TEXT` changes a line, `c PATH TEXT` writes a file, `ln PATH TARGET` a link, `rm`, `mv`
/// and `x` (executable) are as with git; `b PATH` writes a binary file.
pub fn change(repository: &Repository, commands: &[&str]) {
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let file = repository.root.join(words[1]);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        match words[0] {
            "w" => {
                let content = fs::read_to_string(&file).unwrap();
                let mut lines: Vec<&str> = content.lines().collect();
                lines[words[2].parse::<usize>().unwrap()] = words[3];
                fs::write(&file, lines.join("\n") + "\n").unwrap();
            }
            "c" => fs::write(&file, format!("{}\n", words[2])).unwrap(),
            "b" => fs::write(&file, [b"\0", words[2].as_bytes()].concat()).unwrap(),
            "ln" => {
                let _ = fs::remove_file(&file);
                std::os::unix::fs::symlink(words[2], &file).unwrap();
            }
            "rm" => drop(repository.git(&["rm", "-q", "-r", words[1]])),
            "mv" => {
                let to = repository.root.join(words[2]);
                let above = to.parent().unwrap();
                if above.is_file() {
                    fs::remove_file(above).unwrap();
                }
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                repository.git(&["mv", words[1], words[2]]);
            }
            _ => {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
    }
    repository.git(&["add", "-A"]);
}

/// What two sides do with the files of [`origin`]: a name, what one does, what the other does.
pub const CASES: &[(&str, &[&str], &[&str])] = &[
    ("other lines", &["w f 1 a"], &["w f 8 b"]),
    ("the same line", &["w f 1 a"], &["w f 1 b"]),
    ("the same change", &["w f 1 a"], &["w f 1 a"]),
    (
        "two files",
        &["w f 1 a", "w z 2 a"],
        &["w f 1 b", "w z 9 b"],
    ),
    ("modified and deleted", &["w f 1 a"], &["rm f"]),
    ("deleted and modified", &["rm f"], &["w f 1 b"]),
    ("both deleted", &["rm f"], &["rm f"]),
    ("both added", &["c new a"], &["c new b"]),
    ("both added the same", &["c new a"], &["c new a"]),
    ("modes", &["x f"], &["w f 1 b"]),
    ("modes and lines", &["x f", "w f 1 a"], &["w f 1 b"]),
    ("links", &["ln link z"], &["ln link dir/g"]),
    ("a link and a file", &["rm f", "ln f z"], &["w f 1 b"]),
    ("a file and a link", &["w f 1 a"], &["rm f", "ln f z"]),
    ("new link and new file", &["ln new z"], &["c new b"]),
    ("binary", &["b new a"], &["b new b"]),
    ("a directory for their file", &["c new a"], &["c new/x b"]),
    ("a directory for our file", &["c new/x a"], &["c new b"]),
    (
        "a file for a directory",
        &["rm dir", "c dir a"],
        &["w dir/g 1 b"],
    ),
    ("a directory for a file", &["rm f", "c f/x a"], &["w f 1 b"]),
    (
        "a directory for an unchanged file",
        &["rm f", "c f/x a"],
        &["w z 1 b"],
    ),
    (
        "a file in place of changes",
        &["w dir/g 1 a"],
        &["rm dir", "c dir b"],
    ),
    ("our rename", &["w f 1 a"], &["mv f moved"]),
    (
        "our rename with a change",
        &["w f 1 a"],
        &["mv f moved", "w moved 8 b"],
    ),
    (
        "our rename with a conflict",
        &["w f 1 a"],
        &["mv f moved", "w moved 1 b"],
    ),
    ("their rename", &["mv f moved"], &["w f 1 b"]),
    (
        "their rename with a conflict",
        &["mv f moved", "w moved 1 a"],
        &["w f 1 b"],
    ),
    ("our rename, their deletion", &["rm f"], &["mv f moved"]),
    ("their rename, our deletion", &["mv f moved"], &["rm f"]),
    (
        "our rename with a change, their deletion",
        &["rm f"],
        &["mv f moved", "w moved 2 b"],
    ),
    (
        "the same rename",
        &["mv f moved", "w moved 1 a"],
        &["mv f moved", "w moved 8 b"],
    ),
    (
        "the same rename with a conflict",
        &["mv f moved", "w moved 1 a"],
        &["mv f moved", "w moved 1 b"],
    ),
    ("rename into a directory", &["w f 1 a"], &["mv f dir/f"]),
    (
        "two files renamed to one path",
        &["mv f both", "w z 1 a"],
        &["mv z both", "w f 1 b"],
    ),
    (
        "their rename onto our new file",
        &["mv f new"],
        &["c new x", "w f 1 b"],
    ),
    (
        "our rename onto their new file",
        &["c new x", "w f 1 b"],
        &["mv f new"],
    ),
    (
        "a rename with a conflict onto a new file",
        &["mv f new", "w new 1 a"],
        &["c new x", "w f 1 b"],
    ),
    (
        "a rename, and a link in the old place",
        &["rm f", "ln f z"],
        &["mv f moved"],
    ),
    (
        "a rename with a change, and a link in the old place",
        &["mv f moved", "w moved 1 a"],
        &["rm f", "ln f z"],
    ),
    (
        "a rename onto a new file, and a link in the old place",
        &["mv f new"],
        &["rm f", "ln f z", "c new x"],
    ),
    ("two renames to two paths", &["mv f a"], &["mv f b"]),
    (
        "an empty file moved, and changed",
        &["c e a"],
        &["mv e moved"],
    ),
    (
        "an empty file moved, and deleted",
        &["rm e"],
        &["mv e moved"],
    ),
    (
        "two renames to two paths with changes",
        &["mv f a", "w a 1 a"],
        &["mv f dir/b", "w dir/b 8 b"],
    ),
    (
        "two renames to two paths with a conflict",
        &["mv f a", "w a 1 a"],
        &["mv f b", "w b 1 b"],
    ),
    (
        "two renames to two paths, onto new files",
        &["mv f a", "c b 1"],
        &["mv f b", "c a 2"],
    ),
    (
        "two renames to two paths, one into a directory for a file",
        &["mv f z/a"],
        &["mv f b", "w z 1 b"],
    ),
    (
        "a rename onto a new file, and the old one deleted",
        &["mv f new"],
        &["rm f", "c new x"],
    ),
];

#[test]
fn merges_and_conflicts_are_those_of_git() {
    for (label, theirs, ours) in CASES {
        for style in ["merge", "diff3", "zdiff3"] {
            let repository = origin();
            repository.git(&["config", "merge.conflictStyle", style]);
            let label = format!("{label}, {style}");
            let mut pair = Pair::of(&repository, &label);
            pair.each("theirs", |repository| change(repository, theirs));
            pair.both("stash", "", &["push", "-q"], &[]);
            pair.each("ours", |repository| {
                change(repository, ours);
                repository.git(&["commit", "-q", "-m", "ours"]);
            });
            pair.both("stash", "", &["apply"], &[]);
        }
    }
}

/// Both `a` and `b` are gone for `c`, which is more like `a`; but only `b` was changed by the other
/// side, and only that matters.
#[test]
fn a_rename_that_nobody_follows_takes_no_place() {
    let repository = origin();
    let text = |first: &str| format!("{first}\n{LINES}{LINES}{LINES}");
    repository.write("a", text("one"));
    repository.write("b", text("other").replace("7\n", "seven\n"));
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "-m", "alike"]);
    for (command, words) in [("stash", &["pop"][..]), ("switch", &["-q", "-m", "next"])] {
        if command == "switch" && !git_is_at_least(2, 55, "switch --merge") {
            continue;
        }
        let mut pair = Pair::of(&repository, command);
        pair.each("both are gone", |it| {
            it.git(&["switch", "-q", "-c", "next"]);
            it.git(&["rm", "-q", "a", "b"]);
            it.write("c", text("new"));
            it.git(&["add", "-A"]);
            it.git(&["commit", "-q", "-m", "gone"]);
            it.git(&["switch", "-q", "main"]);
            change(it, &["w b 30 changed"]);
            if command == "stash" {
                it.git(&["stash", "-q"]);
                it.git(&["switch", "-q", "next"]);
            }
        });
        pair.both(command, "", words, &[]);
        let renamed = String::from_utf8(pair.hedgerow.read("c")).unwrap();
        assert!(renamed.contains("\nchanged\n"), "{renamed}");
    }
}

#[test]
fn attributes_decide_how_files_are_merged() {
    for attribute in [
        "merge=union",
        "merge=binary",
        "-merge",
        "merge",
        "merge=text",
        "merge=unknown",
        "conflict-marker-size=12",
        "conflict-marker-size=0",
    ] {
        let repository = origin();
        fs::write(
            repository.root.join(".git/info/attributes"),
            format!("f {attribute}\n"),
        )
        .unwrap();
        let mut pair = Pair::of(&repository, attribute);
        pair.each("theirs", |repository| change(repository, &["w f 1 a"]));
        pair.both("stash", "", &["push", "-q"], &[]);
        pair.each("ours", |repository| {
            change(repository, &["w f 1 b"]);
            repository.git(&["commit", "-q", "-m", "ours"]);
        });
        pair.both("stash", "", &["pop"], &[]);
    }
}
