//! Random merges in which both sides rename files, often to the same paths.

use crate::support::{Pair, Random, Repository};
use std::collections::BTreeMap;

/// Where files are, and where they go. Few, so that both sides often want the same.
const PATHS: [&str; 12] = [
    "a", "b", "c", "d.c", "e.c", "f", "g", "h.c", "i", "in/j", "in/k.c", "l",
];

/// Lines by path. No two files are alike: which of equal ones was renamed is a guess.
type Files = BTreeMap<&'static str, Vec<String>>;

fn content(number: usize) -> Vec<String> {
    let line = |n| format!("line {n} of file {number}, and of no other");
    (0..14).map(line).collect()
}

fn edit(lines: &mut [String], random: &mut Random) {
    let at = random.below(lines.len());
    lines[at] = format!("changed {}", random.below(4));
}

/// What a side makes of `files`.
fn changed(files: &Files, random: &mut Random, new: usize) -> Files {
    let mut made = files.clone();
    for path in files.keys() {
        match random.below(10) {
            0..=2 => edit(made.get_mut(path).unwrap(), random),
            3..=6 => {
                let to = *random.pick(&PATHS);
                if !made.contains_key(to) {
                    let mut lines = made.remove(path).unwrap();
                    if random.chance(40) {
                        edit(&mut lines, random);
                    }
                    made.insert(to, lines);
                }
            }
            7 => drop(made.remove(path)),
            _ => {}
        }
    }
    if random.chance(40) {
        let path = *random.pick(&PATHS);
        made.entry(path).or_insert_with(|| content(new));
    }
    made
}

/// Makes `files` all that the working tree and the index have.
fn lay(repository: &Repository, files: &Files) {
    repository.git(&["rm", "-r", "-q", "--ignore-unmatch", "."]);
    for (path, lines) in files {
        repository.write(path, lines.join("\n") + "\n");
    }
    repository.git(&["add", "-A"]);
}

fn tell(seed: u64) {
    let random = &mut Random::new(seed);
    let mut files = Files::new();
    for number in 0..4 + random.below(4) {
        files.insert(*random.pick(&PATHS), content(number));
    }
    let (ours, theirs) = (changed(&files, random, 20), changed(&files, random, 21));
    let repository = Repository::init(&[]);
    let style = *random.pick(&["merge", "diff3", "zdiff3"]);
    repository.git(&["config", "merge.conflictStyle", style]);
    // Files added to a renamed directory are refused otherwise.
    repository.git(&["config", "merge.directoryRenames", "false"]);
    lay(&repository, &files);
    repository.git(&["commit", "-q", "-m", "base"]);
    let mut pair = Pair::of(&repository, &format!("seed {seed}"));
    pair.any_trees = true;
    pair.each("theirs", |repository| lay(repository, &theirs));
    pair.both("stash", "", &["push", "-q"], &[]);
    pair.each("ours", |repository| {
        lay(repository, &ours);
        repository.git(&["commit", "-q", "--allow-empty", "-m", "ours"]);
    });
    pair.both("stash", "", &["pop"], &[]);
}

#[test]
fn renames_of_both_sides_are_merged_as_by_git() {
    let count = std::env::var("HEDGEROW_TEST_RENAMES").map_or(40, |count| count.parse().unwrap());
    for seed in 0..count {
        tell(seed);
    }
}
