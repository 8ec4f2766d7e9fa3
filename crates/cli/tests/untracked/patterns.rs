//! What patterns of ignored files and pathspecs match, in any case of letters.

use crate::twins::Twins;
use hedgerow_testkit::{Random, Repository};

const PARTS: [&str; 20] = [
    "a",
    "B",
    "c",
    "x",
    "K",
    "*",
    "**",
    "?",
    "/",
    "/**/",
    "[B]",
    "[b]",
    "[!B]",
    "[^Bc]",
    "[A-C]",
    "[aBx-z]",
    "[[:upper:]]",
    "[\\B]",
    "\\K",
    "\\x",
];

fn pattern(random: &mut Random) -> String {
    let count = 1 + random.below(4);
    let pattern: String = (0..count).map(|_| *random.pick(&PARTS)).collect();
    // Slashes at the beginning would name places outside in a pathspec.
    pattern.trim_matches('/').replace("//", "/")
}

fn files(repository: &Repository) {
    repository.write("tracked", "1");
    repository.commit("first");
    for name in [
        "a", "B", "b", "ab", "aB", "xb", "XB", "K", "k", "bc", "x[B]", "xx",
    ] {
        repository.write(name, "x");
        repository.write(format!("c/{name}"), "x");
        repository.write(format!("Ab/k/{name}"), "x");
    }
}

/// Of letters in brackets and behind backslashes, git ignores the case of few.
#[test]
fn patterns_in_any_case() {
    let mut random = Random::new(11);
    let mut twins = Twins::new("patterns", files);
    for ignore_case in ["true", "false"] {
        twins.each(ignore_case, |repository| {
            repository.git(&["config", "core.ignoreCase", ignore_case]);
        });
        for _ in 0..60 {
            let lines: Vec<String> = (0..3).map(|_| pattern(&mut random)).collect();
            let content = lines.join("\n");
            twins.each(&content, |repository| {
                repository.write(".git/info/exclude", &content);
            });
            twins.line("", "ls-files -o -i --exclude-standard");
            twins.line("", &format!("clean -n -d -e {}", pattern(&mut random)));
            twins.line("", &format!("ls-files -o :(icase){}", pattern(&mut random)));
        }
    }
    twins.line("", "clean -f -d");
}

/// Git gives an end to a last line that has none, and takes a carriage return from it.
#[test]
fn the_last_line_ends_in_a_carriage_return() {
    let mut twins = Twins::new("a carriage return", |repository| {
        files(repository);
        repository.write(".gitignore", "K\r");
    });
    twins.line("", "status --porcelain --ignored");
    twins.line("", "clean -f -d");
}
