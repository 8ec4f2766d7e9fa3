//! `cat-file --follow-symlinks` beside git's, in trees full of symbolic links.

use super::both;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;

const NAMES: [&str; 7] = ["a", "b", "c", "d", "f", "l", "m"];

/// Where links lead that are no path in the tree.
const ODD: [&str; 14] = [
    "/etc/passwd",
    "..",
    "../",
    "../..",
    "../../a",
    "../../../a/b",
    ".",
    "./a",
    "a//b",
    "//",
    "f/",
    "f/x",
    "a/",
    "nothing",
];

/// A path of up to three names, some of them `..`.
fn path(random: &mut Random) -> String {
    let mut names = Vec::new();
    for _ in 0..=random.below(3) {
        names.push(if random.chance(15) {
            ".."
        } else {
            random.pick(&NAMES)
        });
    }
    names.join("/")
}

/// A tree of trees, files, links and a submodule.
fn tree(scene: &Scene, random: &mut Random, depth: usize) -> String {
    let put = |words: &[&str], input: &str| {
        let id = hedgerow_testkit::git(&scene.root, words, input.as_bytes());
        String::from_utf8(id).unwrap().trim().to_owned()
    };
    let mut entries = String::new();
    for name in NAMES {
        entries += &match random.below(11) {
            0 => String::new(),
            1..=3 => format!("100755 blob {}\t{name}\n", random.pick(&scene.blobs)),
            4 | 5 if depth > 0 => {
                format!("040000 tree {}\t{name}\n", tree(scene, random, depth - 1))
            }
            6 if random.chance(30) => {
                format!(
                    "160000 commit {}\t{name}\n",
                    "1".repeat(scene.blobs[0].len())
                )
            }
            _ => {
                let target = if random.chance(30) {
                    (*random.pick(&ODD)).to_owned()
                } else {
                    path(random)
                };
                let link = put(&["hash-object", "-w", "--stdin"], &target);
                format!("120000 blob {link}\t{name}\n")
            }
        };
    }
    put(&["mktree", "--missing"], &entries)
}

fn compare(scene: &Scene, words: &[&str], input: &str) -> String {
    let words = [&["cat-file", "--follow-symlinks"], words].concat();
    let [git, here] = both(scene, &words, input);
    here.assert_civil(&words.join(" "));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (ours, theirs) = (text(&here.stdout), text(&git.stdout));
    for (line, expected) in ours.split(['\n', '\0']).zip(theirs.split(['\n', '\0'])) {
        assert_eq!(line, expected, "{words:?}");
    }
    assert_eq!(ours.len(), theirs.len(), "{words:?}");
    assert_eq!(here.code, git.code, "{words:?} {}", here.stderr);
    text(&here.stdout)
}

#[test]
fn links_are_followed_as_git_follows_them() {
    let mut told = String::new();
    for (seed, format) in [(41, "sha1"), (42, "sha256"), (43, "sha1")] {
        let scene = scene(seed, format, Storage::Both, Graph::None);
        let mut random = Random::new(seed);
        let top = tree(&scene, &mut random, 3);
        let mut input = format!("{top}\n{top}:\n{top}:/\n{top}://a\nmain:\nnothing:a\n:a\n");
        for _ in 0..400 {
            let slash = if random.chance(10) { "/" } else { "" };
            // What starts with .. is relative to a directory.
            let first = random.pick(&NAMES);
            let path = [first, path(&mut random).as_str()].join("/");
            let path = if random.chance(30) { *first } else { &path };
            input += &format!("{top}:{path}{slash}\n");
        }
        told += &compare(&scene, &["--batch-check"], &input);
        compare(&scene, &["--batch", "--buffer"], &input);
        let commands: String = input.lines().map(|name| format!("info {name}\n")).collect();
        compare(&scene, &["--batch-command"], &commands);
        let modes = ["cat-file", "--batch-check=%(objectmode)"];
        match both(&scene, &modes, "")[0].code {
            0 => drop(compare(&scene, &modes[1..], &input)),
            _ => hedgerow_testkit::skip("this git does not know %(objectmode)"),
        }
    }
    for word in ["symlink ", "dangling ", "loop ", "notdir "] {
        let count = told.lines().filter(|line| line.starts_with(word)).count();
        assert!(count > 5, "{word} {count}");
    }
    let count = told.lines().filter(|line| line.contains(" blob ")).count();
    assert!(count > 50, "{count}");
}

#[test]
fn links_end_somewhere() {
    let scene = scene(44, "sha1", Storage::Loose, Graph::None);
    let put = |words: &[&str], input: &[u8]| {
        let id = hedgerow_testkit::git(&scene.root, words, input);
        String::from_utf8(id).unwrap().trim().to_owned()
    };
    let link = |target: &[u8]| put(&["hash-object", "-w", "--stdin"], target);
    let mut entries = format!("100644 blob {}\tl00\n", scene.blobs[0]);
    for number in 1..50 {
        let before = link(format!("l{:02}", number - 1).as_bytes());
        entries += &format!("120000 blob {before}\tl{number:02}\n");
    }
    let lost = "2".repeat(40);
    let odd = [
        ("lost", lost),
        ("nul", link(b"l00\0/x")),
        ("empty", link(b"")),
    ];
    for (name, id) in &odd {
        entries += &format!("120000 blob {id}\t{name}\n");
    }
    entries += &format!("040000 tree {}\tgone\n", "3".repeat(40));
    entries += &format!("100644 blob {}\tnone\n", "4".repeat(40));
    let top = put(&["mktree", "--missing"], entries.as_bytes());
    // 40 links are followed, and not one more.
    let mut input = format!("{top}:l40\n{top}:l41\n");
    for name in [
        "lost",
        "nul",
        "nul/x",
        "empty",
        "empty/l00",
        "gone",
        "gone/x",
        "none",
        "none/x",
    ] {
        input += &format!("{top}:{name}\n");
    }
    let told = compare(&scene, &["--batch-check"], &input);
    let mut lines = told.lines();
    assert!(lines.next().unwrap().starts_with(&scene.blobs[0]), "{told}");
    assert_eq!(lines.next().unwrap(), "loop 44");
    let input = input.replace('\n', "\0");
    match both(&scene, &["cat-file", "-Z", "--batch-check"], &input)[0].code {
        129 => hedgerow_testkit::skip("this git has no cat-file -Z"),
        _ => drop(compare(&scene, &["-Z", "--batch-check"], &input)),
    }
    // Where no link need be followed, what is missing is missing, too.
    let plain = format!("{top}:gone/x\n{top}:none\n{top}:gone\n");
    let [git, here] = both(&scene, &["cat-file", "--batch-check"], &plain);
    assert_eq!(
        (here.stdout, here.code),
        (git.stdout, git.code),
        "{}",
        here.stderr
    );
    let [git, here] = both(&scene, &["cat-file", "--follow-symlinks", "-t", "main"], "");
    assert_eq!((here.code, git.code), (129, 129));
}
