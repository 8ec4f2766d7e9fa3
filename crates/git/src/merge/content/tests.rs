#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make files and look at them"
)]

use super::*;
use crate::lines::changed_lines;
use hedgerow_testkit::{git_is_at_least, isolated, run, temporary, Random};
use std::path::Path;

fn line(numbers: &mut Random, kinds: usize, ending: &str) -> String {
    let words = [
        "", "{", "}", "alpha", "    if x", "\t;", "beta", "gamma", "--", "delta",
    ];
    let kind = numbers.below(kinds);
    match words.get(kind) {
        Some(word) => format!("{word}{ending}"),
        None => format!("line {kind}{ending}"),
    }
}

fn mutated(numbers: &mut Random, base: &[String], kinds: usize, ending: &str) -> Vec<String> {
    let mut lines = base.to_vec();
    for _ in 0..numbers.below(6) {
        let at = numbers.below(lines.len() + 1);
        match numbers.below(4) {
            0 => lines.insert(at, line(numbers, kinds, ending)),
            1 if at < lines.len() => drop(lines.remove(at)),
            2 if at < lines.len() => lines[at] = line(numbers, kinds, ending),
            _ => {
                let count = numbers.below(4).min(lines.len() - at);
                let moved: Vec<String> = lines.drain(at..at + count).collect();
                let to = numbers.below(lines.len() + 1);
                lines.splice(to..to, moved);
            }
        }
    }
    if numbers.below(8) == 0 {
        if let Some(last) = lines.last_mut() {
            *last = last.trim_end().to_owned();
            if last.is_empty() {
                lines.pop();
            }
        }
    }
    lines
}

fn triple(numbers: &mut Random) -> [Vec<u8>; 3] {
    let kinds = [3, 8, 30, 200][numbers.below(4)];
    let ending = ["\n", "\n", "\n", "\r\n"][numbers.below(4)];
    let count = [0, 5, 30, 120][numbers.below(4)];
    let base: Vec<String> = (0..count).map(|_| line(numbers, kinds, ending)).collect();
    let ours = mutated(numbers, &base, kinds, ending);
    let theirs = mutated(numbers, &base, kinds, ending);
    [base, ours, theirs].map(|lines| lines.concat().into_bytes())
}

const STYLES: [(&str, ConflictStyle); 3] = [
    ("", ConflictStyle::Merge),
    ("--diff3", ConflictStyle::Diff3),
    ("--zdiff3", ConflictStyle::ZealousDiff3),
];
const FAVORS: [(&str, Favor); 5] = [
    ("", Favor::Neither),
    ("", Favor::Neither),
    ("--ours", Favor::Ours),
    ("--theirs", Favor::Theirs),
    ("--union", Favor::Union),
];
const ALGORITHMS: [(&str, Algorithm); 2] = [
    ("--diff-algorithm=myers", Algorithm::Myers),
    ("--diff-algorithm=histogram", Algorithm::Histogram),
];

/// Compares with what git-merge-file(1) writes. Returns what differs.
fn compare(
    place: &Path,
    texts: &[Vec<u8>; 3],
    choice: &mut Random,
    has_histogram: bool,
) -> Option<String> {
    let [base, ours, theirs] = texts;
    for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        std::fs::write(place.join(name), text).unwrap();
    }
    let (style, favor, algorithm) = (
        STYLES[choice.below(STYLES.len())],
        FAVORS[choice.below(FAVORS.len())],
        ALGORITHMS[choice.below(ALGORITHMS.len())],
    );
    // Older ones do not compare lines again that moved beside others.
    let algorithm = if algorithm.1 == Algorithm::Histogram && !has_histogram {
        ALGORITHMS[0]
    } else {
        algorithm
    };
    let marker_size = [7, 7, 12, 3][choice.below(4)];
    let size = format!("--marker-size={marker_size}");
    let mut arguments = vec!["merge-file", "-p", "-q", &size, algorithm.0];
    arguments.extend([style.0, favor.0].iter().filter(|word| !word.is_empty()));
    arguments.extend([
        "-L", "our side", "-L", "o", "-L", "x", "ours", "base", "theirs",
    ]);
    let mut git = isolated("git");
    git.current_dir(place).args(&arguments);
    let output = run(git);
    let merged = merge_contents(
        base,
        ours,
        theirs,
        &ContentOptions {
            style: style.1,
            favor: favor.1,
            algorithm: algorithm.1,
            marker_size,
            join_over_marks: true,
            labels: ["our side".into(), "o".into(), "x".into()],
        },
    );
    let is_same = output.stdout == merged.text && output.code == merged.conflicts.min(127) as i32;
    (!is_same).then(|| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!(
            "{arguments:?}\n== base\n{}== ours\n{}== theirs\n{}== git ({:?})\n{}== here ({})\n{}",
            text(base),
            text(ours),
            text(theirs),
            output.code,
            text(&output.stdout),
            merged.conflicts,
            text(&merged.text)
        )
    })
}

#[test]
fn merges_are_those_of_git() {
    let place = temporary();
    let mut numbers = Random::new(1);
    let mut differing = Vec::new();
    let has_histogram = git_is_at_least(2, 54, "merges by histogram");
    for _ in 0..2500 {
        let texts = triple(&mut numbers);
        differing.extend(compare(place.path(), &texts, &mut numbers, has_histogram));
    }
    assert!(
        differing.is_empty(),
        "{} differ; the first: {}",
        differing.len(),
        differing[0]
    );
}

/// Small texts of lines that are often the same, where many ways are as good, and large ones, where
/// git takes shortcuts.
#[test]
fn changed_lines_are_counted_as_by_git() {
    let numbers = &mut Random::new(20);
    let place = temporary();
    let sides = ["old", "new"].map(|name| place.path().join(name));
    sides
        .iter()
        .for_each(|side| std::fs::create_dir(side).unwrap());
    let mut expected = String::new();
    for case in 0..600 {
        let length = match case % 40 {
            0 => 1000 + numbers.below(4000),
            _ => numbers.below(120),
        };
        let kinds = *numbers.pick(&[3, 8, 30, length + 1]);
        let share = *numbers.pick(&[3, 10, 30, 70]);
        let old: Vec<String> = (0..length).map(|_| line(numbers, kinds, "\n")).collect();
        let mut new = Vec::new();
        for kept in &old {
            match numbers.below(300) {
                number if number < share => new.push(line(numbers, kinds, "\n")),
                number if number < 2 * share => {}
                number if number < 3 * share => {
                    new.extend([kept.clone(), line(numbers, kinds, "\n")]);
                }
                _ => new.push(kept.clone()),
            }
        }
        new.push(format!("of case {case}\n"));
        let texts = [old.concat(), new.concat()];
        for (side, text) in sides.iter().zip(&texts) {
            std::fs::write(side.join(format!("{case:03}")), text).unwrap();
        }
        let [old, new] = texts.each_ref().map(|text| text.as_bytes());
        let (removed, added) = changed_lines(Algorithm::Myers, old, new);
        expected += &format!("{added}\t{removed}\t{{old => new}}/{case:03}\n");
    }
    let mut command = isolated("git");
    command.current_dir(place.path());
    command.args([
        "diff",
        "--no-index",
        "--no-renames",
        "--numstat",
        "old",
        "new",
    ]);
    assert_eq!(run(command).text(), expected);
}

#[test]
fn binary_files_are_recognised() {
    assert!(!is_binary(b""));
    assert!(is_binary(b"a\0"));
    let mut long = vec![b'a'; BINARY_BYTES];
    long.push(0);
    assert!(!is_binary(&long), "only the start is looked at");
}

#[test]
fn hostile_texts_take_no_longer_than_git_takes() {
    let same = b"x\n".repeat(100_000);
    let halves = [b"x\n".repeat(50_000), b"y\n".repeat(50_000)].concat();
    let mixed: Vec<u8> = (0..100_000)
        .flat_map(|n| format!("{}\n", n * 7919 % 97).into_bytes())
        .collect();
    for texts in [
        [&same, &halves, &mixed],
        [&mixed, &same, &halves],
        [&halves, &mixed, &same],
    ] {
        for algorithm in [Algorithm::Myers, Algorithm::Histogram] {
            let options = ContentOptions {
                algorithm,
                ..ContentOptions::default()
            };
            merge_contents(texts[0], texts[1], texts[2], &options);
        }
    }
}
