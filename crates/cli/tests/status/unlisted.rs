//! Directories that hedgerow does not list, because nothing in them but tracked files could count:
//! what is in them counts all the same where git would see it.

use crate::compare::compare;
use crate::invocation::Invocation;
use crate::state::State;
use hedgerow_testkit::git;
use hedgerow_testkit::Repository;
use std::path::PathBuf;

const MODES: &[&[&str]] = &[
    &["-uno"],
    &["-unormal"],
    &["-uall"],
    &["-unormal", "--ignored"],
    &["-uall", "--ignored=matching"],
    &["-unormal", "--", "large/deep"],
];

#[test]
fn directories_that_are_ignored_or_not_asked_for() {
    let repository = Repository::init(&[]);
    for number in 0..300 {
        repository.write(format!("large/{number}"), "a line\n");
    }
    for path in ["large/deep/file", "large/deep/changed", "small/file"] {
        repository.write(path, "a line\n");
    }
    repository.write(".gitignore", "/*\n!.gitignore\n");
    git(&repository.root, &["add", "-A", "-f"], b"");
    git(&repository.root, &["commit", "-q", "-m", "one"], b"");
    // To git, the same content: the attributes are not tracked, and ignored.
    let clean = ["config", "filter.rot.clean", "tr a-z n-za-m"];
    git(&repository.root, &clean, b"");
    repository.write("large/7", "n yvar\n");
    repository.write("large/deep/file", "n yvar\n");
    repository.write("large/.gitattributes", "7 filter=rot\nfile filter=rot\n");
    repository.write("large/deep/changed", "b line\n");
    repository.write("large/new", "");
    repository.write("large/deep/new", "");
    repository.write("small/new", "");
    repository.write("new", "");
    std::fs::remove_file(repository.path("large/9")).unwrap();
    let state = State::of(repository);
    let mut differing = Vec::new();
    for mode in MODES {
        let words = ["-s"].iter().chain(*mode);
        let invocation = Invocation {
            words: words.map(|word| word.as_bytes().to_vec()).collect(),
            directory: PathBuf::new(),
        };
        match compare(&state, &invocation) {
            Ok(outcome) => {
                let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
                assert!(!text.contains("large/7"), "{text}");
            }
            Err(difference) => differing.push(difference),
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
