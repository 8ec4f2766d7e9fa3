//! Hunks and numbers are those of git-diff(1), on generated pairs of texts.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make files and look at them"
)]

use super::patch::{hunks, HunkOptions};
use crate::lines::{changed_lines, Algorithm};
use hedgerow_testkit::{git_is_at_least, isolated, run, temporary, Random};
use std::fs;

const OPTIONS: HunkOptions = HunkOptions {
    algorithm: Algorithm::Myers,
    context: 3,
    between: 0,
    indent: true,
    bare_blanks: false,
};

fn line(numbers: &mut Random, kinds: usize) -> String {
    let indent = "    ".repeat(numbers.below(4)) + ["", "", "\t", " "][numbers.below(4)];
    let words = [
        "",
        "}",
        "{",
        "return x;",
        "if y {",
        "else",
        "end",
        "# note",
        "\r",
        "\x0c",
    ];
    match words.get(numbers.below(kinds)) {
        Some(word) => format!("{indent}{word}\n"),
        None => match numbers.below(4) {
            0 => format!("fn name_{}() {{\n", numbers.below(kinds)),
            _ => format!("{indent}line {}\n", numbers.below(kinds)),
        },
    }
}

/// A text and what became of it.
fn pair(numbers: &mut Random) -> [Vec<u8>; 2] {
    let kinds = [3, 12, 40, 2000][numbers.below(4)];
    let count = [0, 4, 40, 40, 300, 1500][numbers.below(6)];
    let base: Vec<String> = (0..count).map(|_| line(numbers, kinds)).collect();
    let mut lines = base.clone();
    let edits = [1, 3, 12, 1 + count / 3][numbers.below(4)];
    for _ in 0..edits {
        let at = numbers.below(lines.len() + 1);
        let some = (1 + numbers.below(5)).min(lines.len() - at);
        match numbers.below(5) {
            0 => lines.insert(at, line(numbers, kinds)),
            1 => drop(lines.drain(at..at + some)),
            2 if at < lines.len() => lines[at] = line(numbers, kinds),
            3 => {
                let again = lines[at..at + some].to_vec();
                lines.splice(at..at, again);
            }
            _ => {
                let moved: Vec<String> = lines.drain(at..at + some).collect();
                let to = numbers.below(lines.len() + 1);
                lines.splice(to..to, moved);
            }
        }
    }
    if numbers.below(30) == 0 {
        lines = (0..count).map(|_| line(numbers, kinds)).collect();
    }
    let mut texts = [base, lines].map(|lines| lines.concat().into_bytes());
    for text in &mut texts {
        if numbers.below(6) == 0 {
            text.pop();
        }
    }
    texts
}

/// What git says about the files of two directories, in the order of their names.
fn asked(place: &std::path::Path, arguments: &[&str]) -> Vec<u8> {
    let mut git = isolated("git");
    git.current_dir(place);
    git.args(["diff", "--no-index", "--no-color"])
        .args(arguments);
    git.args(["old", "new"]);
    run(git).stdout
}

fn generated(seed: u64, count: usize) -> (hedgerow_testkit::TempDir, Vec<[Vec<u8>; 2]>) {
    let place = temporary();
    let mut numbers = Random::new(seed);
    for side in ["old", "new"] {
        fs::create_dir(place.path().join(side)).unwrap();
    }
    let pairs: Vec<_> = (0..count).map(|_| pair(&mut numbers)).collect();
    for (number, texts) in pairs.iter().enumerate() {
        for (side, text) in ["old", "new"].iter().zip(texts) {
            fs::write(place.path().join(side).join(format!("{number:05}")), text).unwrap();
        }
    }
    (place, pairs)
}

/// The hunks of each file in a patch, by its number.
fn by_file(patch: &[u8]) -> std::collections::BTreeMap<usize, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    for file in bstr::ByteSlice::split_str(patch, "diff --git a/old/").skip(1) {
        let number = std::str::from_utf8(&file[..5]).unwrap().parse().unwrap();
        let start = bstr::ByteSlice::find(file, "\n@@ ").map_or(file.len(), |at| at + 1);
        found.insert(number, file[start..].to_vec());
    }
    found
}

#[test]
fn hunks_are_those_of_git() {
    let (place, pairs) = generated(1, 1000);
    let with = |change: fn(&mut HunkOptions)| {
        let mut options = OPTIONS;
        change(&mut options);
        options
    };
    let cases: [(&[&str], HunkOptions); 7] = [
        (&[], OPTIONS),
        (&["-U0"], with(|it| it.context = 0)),
        (
            &["-U1", "--inter-hunk-context=2"],
            with(|it| (it.context, it.between) = (1, 2)),
        ),
        (&["-U20"], with(|it| it.context = 20)),
        (&["--no-indent-heuristic"], with(|it| it.indent = false)),
        (&["--minimal"], with(|it| it.algorithm = Algorithm::Minimal)),
        (
            &["--histogram"],
            with(|it| it.algorithm = Algorithm::Histogram),
        ),
    ];
    for (arguments, options) in cases {
        if options.algorithm == Algorithm::Histogram && !git_is_at_least(2, 54, "histogram") {
            continue;
        }
        let asked = by_file(&asked(place.path(), arguments));
        let mut differing = Vec::new();
        for (number, [old, new]) in pairs.iter().enumerate() {
            let here = hunks(old, new, &options);
            let there = asked.get(&number).map(Vec::as_slice).unwrap_or_default();
            if here != there {
                differing.push(number);
            }
        }
        let first = differing
            .iter()
            .min_by_key(|number| pairs[**number].concat().len())
            .map(|number| {
                let [old, new] = &pairs[*number];
                let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                let there = asked.get(number).map(Vec::as_slice).unwrap_or_default();
                let here = hunks(old, new, &options);
                format!("git:\n{}\nhere:\n{}", text(there), text(&here))
            });
        assert!(
            differing.is_empty(),
            "{arguments:?}: {} differ: {:?}; the first:\n{}",
            differing.len(),
            &differing[..differing.len().min(9)],
            first.unwrap_or_default()
        );
    }
}

#[test]
fn numbers_are_those_of_git() {
    let (place, pairs) = generated(2, 1000);
    let asked = asked(place.path(), &["--numstat", "-z"]);
    let asked = String::from_utf8(asked).unwrap();
    let mut counted = std::collections::BTreeMap::new();
    let mut rows = asked.split('\0');
    while let Some(numbers) = rows.next().filter(|row| !row.is_empty()) {
        let (old, name) = (rows.next().unwrap(), rows.next().unwrap());
        let numbers: Vec<u64> = numbers
            .split_terminator('\t')
            .map(|it| it.parse().unwrap())
            .collect();
        assert!(old.starts_with("old/"), "{old}");
        counted.insert(
            name[4..].parse::<usize>().unwrap(),
            (numbers[1], numbers[0]),
        );
    }
    for (number, [old, new]) in pairs.iter().enumerate() {
        let there = counted.get(&number).copied().unwrap_or_default();
        assert_eq!(changed_lines(Algorithm::Myers, old, new), there, "{number}");
    }
}
