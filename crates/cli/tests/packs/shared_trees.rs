//! Trees that share their subtrees: a pack of some hundred bytes with a billion paths. Each tree is
//! walked once, not once for each path.

use crate::HEDGEROW;
use hedgerow_testkit::temporary;
use hedgerow_testkit::{git, Outcome, Program};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Far more than a slow machine needs, and nothing beside the age of the universe.
const PATIENCE: Duration = Duration::from_secs(20);
const LEVELS: usize = 9;
const ENTRIES: usize = 10;

fn word(output: Vec<u8>) -> String {
    String::from_utf8(output).unwrap().trim().to_owned()
}

/// A tree of nine levels of ten equal entries, with one blob.
fn tree(root: &Path, content: &str) -> String {
    let blob = git(root, &["hash-object", "-w", "--stdin"], content.as_bytes());
    let mut entry = format!("100644 blob {}", word(blob));
    for _ in 0..LEVELS {
        let entries: String = (0..ENTRIES)
            .map(|name| format!("{entry}\t{name}\n"))
            .collect();
        let tree = word(git(root, &["mktree"], entries.as_bytes()));
        entry = format!("040000 tree {tree}");
    }
    entry.rsplit(' ').next().unwrap().to_owned()
}

/// Two commits whose trees differ at every path.
fn repository(root: &Path) -> [String; 2] {
    git(root, &["init", "-q", "--bare", "-b", "main", "."], b"");
    let (first, second) = (tree(root, "1\n"), tree(root, "2\n"));
    let old = word(git(root, &["commit-tree", "-m", "1", &first], b""));
    let words = ["commit-tree", "-m", "2", "-p", &old, &second];
    let new = word(git(root, &words, b""));
    git(root, &["update-ref", "refs/heads/old", &old], b"");
    git(root, &["update-ref", "refs/heads/main", &new], b"");
    [old, new]
}

fn within_time(root: &Path, words: &[&str], input: &str) -> Outcome {
    let given = root.join("given");
    std::fs::write(&given, input).unwrap();
    let mut command = HEDGEROW.command(root);
    command.args(words).stdin(File::open(&given).unwrap());
    command
        .stdout(File::create(root.join("out")).unwrap())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > until => {
                child.kill().unwrap();
                panic!("{words:?} takes too long");
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    let outcome = Outcome {
        code: status
            .code()
            .unwrap_or(128 + status.signal().unwrap_or_default()),
        stdout: std::fs::read(root.join("out")).unwrap(),
        stderr,
    };
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
    outcome
}

#[test]
fn bitmaps_are_made_and_verified() {
    let home = temporary();
    let root = home.path();
    repository(root);
    let expected = git(root, &["rev-list", "--objects", "--all", "--count"], b"");
    git(root, &["repack", "-adq"], b"");
    within_time(root, &["bitmap", "write"], "");
    for words in [
        &["bitmap", "verify"][..],
        &["repack", "-a", "-d", "-b"],
        &["bitmap", "verify"],
        &["repack", "-a", "-d"],
        &["multi-pack-index", "write", "--bitmap"],
    ] {
        within_time(root, words, "");
        for program in [HEDGEROW, Program::Git] {
            let mut command = program.command(root);
            command.args([
                "rev-list",
                "--objects",
                "--all",
                "--count",
                "--use-bitmap-index",
            ]);
            let counted = super::run(command);
            assert_eq!(counted.stdout, expected, "{words:?}");
        }
    }
}

#[test]
fn requests_are_answered() {
    let home = temporary();
    let root = home.path();
    let [old, new] = repository(root);
    let request = format!("{new}\n--not\n{old}\n\n");
    let hook = [
        "upload-pack-hook",
        "git",
        "pack-objects",
        "--revs",
        "--stdout",
        "--thin",
    ];
    for packed in [false, true] {
        if packed {
            git(root, &["repack", "-adq"], b"");
        }
        let answered = within_time(root, &hook, &request);
        assert_eq!(
            answered.stdout[8..12],
            [0, 0, 0, 11],
            "a commit, nine trees and a blob"
        );
        let listed = within_time(root, &["rev-list", "--objects", "main", "--not", "old"], "");
        assert_eq!(listed.stdout.split(|byte| *byte == b'\n').count(), 12);
        within_time(
            root,
            &["pack-objects", "--revs", "--stdout", "--thin"],
            &request,
        );
    }
}

#[test]
fn filters_walk_no_tree_for_nothing() {
    let home = temporary();
    let root = home.path();
    repository(root);
    // git walks all paths where a combination ends above the last level: a shallow tree tells.
    let filters = [
        "tree:5",
        "combine:tree:5+blob:none",
        "combine:blob:none+tree:5",
        "combine:tree:12+object:type=tree",
        "combine:object:type=blob+tree:12",
        "combine:tree:5+blob:limit=1",
    ];
    for filter in filters {
        let filter = format!("--filter={filter}");
        let words = ["rev-list", "--objects", "--all", &filter];
        within_time(root, &words, "");
        let mut shallow = tree_of_four(root);
        shallow.extend(words.iter().skip(3).map(|word| (*word).to_owned()));
        let outcomes = [Program::Git, HEDGEROW].map(|program| {
            let mut command = program.command(root);
            command.args(&shallow);
            super::run(command)
        });
        assert_eq!(outcomes[0].stdout, outcomes[1].stdout, "{filter}");
        assert_eq!(outcomes[0].code, outcomes[1].code, "{filter}");
    }
}

/// The words that list a commit whose tree is that at the fourth level, at two depths.
fn tree_of_four(root: &Path) -> Vec<String> {
    let place = ["0"; LEVELS - 4].join("/");
    let deep = word(git(root, &["rev-parse", &format!("main:{place}")], b""));
    let entries = format!("040000 tree {deep}\ta\n");
    let above = word(git(root, &["mktree"], entries.as_bytes()));
    let entries = format!("040000 tree {above}\tx\n040000 tree {deep}\ty\n");
    let top = word(git(root, &["mktree"], entries.as_bytes()));
    let commit = word(git(root, &["commit-tree", "-m", "shallow", &top], b""));
    ["rev-list", "--objects", &commit].map(str::to_owned).into()
}
