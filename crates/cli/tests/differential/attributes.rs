//! Made-up `.gitattributes`: which files are converted, by which lines.

use crate::HEDGEROW;
use crate::{extent, outcome, Tally};
use hedgerow_testkit::Program;
use hedgerow_testkit::Random;
use hedgerow_testkit::Repository;

/// Files that some of the patterns are about.
const PATHS: [&str; 6] = [
    "a.txt",
    "b.c",
    "d/a.txt",
    "d/b c.h",
    "d/e/A.TXT",
    "d/e/[x].c",
];

#[test]
fn attributes() {
    let (count, seed) = extent(60);
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for number in 0..count {
        let twins = [Repository::init(&[]), Repository::init(&[])];
        let (above, below) = (lines(&mut random), lines(&mut random));
        for twin in &twins {
            for path in PATHS {
                twin.write(path, "one\ntwo\r\n$Id$\n");
            }
            twin.git(&["add", "."]);
            for (path, content) in [(".gitattributes", &above), ("d/.gitattributes", &below)] {
                let words = ["hash-object", "-w", "--stdin"];
                let id = hedgerow_testkit::git(&twin.root, &words, content.as_bytes());
                let id = String::from_utf8(id).unwrap();
                let entry = format!("100644,{},{path}", id.trim());
                twin.git(&["update-index", "--add", "--cacheinfo", &entry]);
            }
            let tree = twin.git(&["write-tree"]);
            let tree = String::from_utf8(tree).unwrap();
            let commit = twin.git(&["commit-tree", "-m", "x", tree.trim()]);
            let commit = String::from_utf8(commit).unwrap();
            twin.git(&["update-ref", "refs/heads/main", commit.trim()]);
            for path in ["a.txt", "b.c", "d", ".gitattributes"] {
                twin.remove(path);
            }
        }
        let mut ends = Vec::new();
        for (program, twin) in [Program::Git, HEDGEROW].into_iter().zip(&twins) {
            let mut end = outcome(program, &twin.root, &["checkout", "-q", "-f"], None);
            let words = ["ls-files", "-s", "--eol"];
            end.stdout
                .extend(outcome(Program::Git, &twin.root, &words, None).stdout);
            for path in PATHS {
                end.stdout
                    .extend(std::fs::read(twin.path(path)).unwrap_or_default());
            }
            ends.push(end);
        }
        let what = format!("attributes {number} (seed {seed}):\n{above}---\n{below}");
        tally.add(&what, &ends[0], &ends[1], b"");
    }
    tally.end("attributes");
}

/// A few lines: most of them sound, some nearly.
fn lines(random: &mut Random) -> String {
    const PATTERNS: [&str; 22] = [
        "*",
        "*.txt",
        "a.txt",
        "/a.txt",
        "d/*",
        "d/**",
        "**/e/*",
        "e/",
        "!*.c",
        "\"b c.h\"",
        "\"d/b c.h\"",
        "\\[x].c",
        "[ab].*",
        "[[:alpha:]].c",
        "*.TXT",
        "**",
        "d/",
        "[attr]mine",
        "[attr]binary",
        "#*",
        "\"a.t\\170t\"",
        "[",
    ];
    const STATES: [&str; 24] = [
        "text",
        "-text",
        "!text",
        "text=auto",
        "eol=crlf",
        "eol=lf",
        "crlf",
        "-crlf",
        "crlf=input",
        "ident",
        "-ident",
        "binary",
        "mine",
        "-mine",
        "!mine",
        "text=maybe",
        "eol=CRLF",
        "eol",
        "-eol",
        "working-tree-encoding=UTF-16",
        "te!xt",
        "-",
        "!",
        "builtin_objectmode=100644",
    ];
    let mut text = String::new();
    for _ in 0..1 + random.below(6) {
        text += random.pick::<&str>(&["", "", "", " ", "\t"]);
        text += random.pick::<&str>(&PATTERNS);
        for _ in 0..random.below(4) {
            text += random.pick::<&str>(&[" ", "  ", "\t"]);
            text += random.pick::<&str>(&STATES);
        }
        text += random.pick::<&str>(&["\n", "\n", "\n", "\r\n", " \n", "\n\n"]);
    }
    text
}
