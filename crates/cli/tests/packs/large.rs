//! A repository of more than a hundred thousand objects: what is right for ten is right for them.

use crate::HEDGEROW;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run, Program};
use std::fmt::Write;
use std::fs::File;
use std::path::Path;

const COMMITS: u32 = 10_000;
const OBJECTS: usize = 100_000;

/// Commits that each change three files, in directories of directories.
fn repository() -> Repository {
    let repository = Repository::init(&[]);
    let mut stream = String::new();
    for commit in 0..COMMITS {
        write!(
            stream,
            "commit refs/heads/main\ncommitter a <a@b> {} +0000\ndata 1\nx\n",
            1_000_000_000 + commit
        )
        .unwrap();
        for part in 0..3 {
            let place = commit.wrapping_mul(2_654_435_761).rotate_left(part * 9);
            let (a, b, c) = (place % 12, place / 12 % 8, place / 96 % 6);
            let content = format!("{commit} {part}\n{}", "line\n".repeat((c * 3) as usize));
            write!(
                stream,
                "M 100644 inline d{a}/e{b}/f{c}\ndata {}\n",
                content.len()
            )
            .unwrap();
            writeln!(stream, "{content}").unwrap();
        }
        if commit % 2500 == 2499 {
            write!(
                stream,
                "reset refs/heads/b{commit}\nfrom refs/heads/main\n\n"
            )
            .unwrap();
        }
    }
    let words = ["fast-import", "--quiet", "--force", "--depth=10"];
    git(&repository.root, &words, stream.as_bytes());
    repository
}

/// What both print, which must be the same.
fn same(root: &Path, words: &[&str]) -> Vec<u8> {
    let [git, here] = [Program::Git, HEDGEROW].map(|program| {
        let mut command = program.command(root);
        command.args(words);
        let outcome = run(command);
        assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
        outcome.stdout
    });
    assert!(git == here, "{words:?}");
    here
}

fn count(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).trim().parse().unwrap()
}

#[test]
fn a_hundred_thousand_objects() {
    let repository = repository();
    let root = &repository.root;
    let counted = ["rev-list", "--objects", "--count", "--all"];
    let objects = count(&same(root, &counted));
    assert!(objects > OBJECTS, "{objects}");
    assert_eq!(
        count(&same(root, &["rev-list", "--count", "--all"])),
        COMMITS as usize
    );
    same(root, &["rev-list", "--objects", "main", "^b4999"]);
    same(root, &["rev-list", "--objects", "--all"]);
    same(root, &["cat-file", "--batch-all-objects", "--batch-check"]);

    // A pack of all, which both index to the same bytes.
    let packed = root.join("all.pack");
    let mut command = HEDGEROW.command(root);
    command.args([
        "pack-objects",
        "-q",
        "--all",
        "--stdout",
        "--delta-base-offset",
    ]);
    command.stdout(File::create(&packed).unwrap());
    assert_eq!(run(command).code, 0);
    for (program, name) in [(Program::Git, "git.idx"), (HEDGEROW, "here.idx")] {
        let mut command = program.command(root);
        command.args(["index-pack", "--rev-index", "-o", name, "all.pack"]);
        let outcome = run(command);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }
    let read = |name: &str| std::fs::read(root.join(name)).unwrap();
    assert!(read("git.idx") == read("here.idx"));
    assert!(read("git.rev") == read("here.rev"));
    let listed = git(root, &["show-index"], &read("git.idx"));
    assert_eq!(
        listed.iter().filter(|byte| **byte == b'\n').count(),
        objects
    );

    // In a repository of its own, with bitmaps that git checks.
    let other = Repository::init(&[]);
    let mut command = HEDGEROW.command(&other.root);
    command.args([
        "index-pack",
        "--stdin",
        "--check-self-contained-and-connected",
    ]);
    command.stdin(File::open(&packed).unwrap());
    assert_eq!(run(command).code, 0);
    for name in ["main", "b2499", "b4999"] {
        let tip = git(root, &["rev-parse", name], b"");
        let tip = String::from_utf8(tip).unwrap();
        git(
            &other.root,
            &["update-ref", &format!("refs/heads/{name}"), tip.trim()],
            b"",
        );
    }
    let mut command = HEDGEROW.command(&other.root);
    command.args(["bitmap", "write"]);
    assert_eq!(run(command).code, 0);
    git(&other.root, &["rev-list", "--test-bitmap", "main"], b"");
    for words in [&["--all"][..], &["main", "^b4999"], &["b4999"]] {
        let words = [
            &["rev-list", "--objects", "--count", "--use-bitmap-index"],
            words,
        ]
        .concat();
        same(&other.root, &words);
    }
    assert_eq!(
        count(&same(
            &other.root,
            &[&counted[..], &["--use-bitmap-index"]].concat()
        )),
        objects
    );
}
