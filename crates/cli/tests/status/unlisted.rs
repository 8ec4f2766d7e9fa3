//! Directories that hedgerow does not list, because nothing in them but tracked files could count:
//! what is in them counts all the same where git would see it.

use crate::compare::compare;
use crate::invocation::Invocation;
use crate::state::State;
use crate::HEDGEROW;
use hedgerow_testkit::{
    git, obeying_permissions, require, run, run_traced, Outcome, Program, Repository,
};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
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

/// The lines of a trace that contain `text`.
fn calls(repository: &Repository, calls: &str, words: &[&str], text: &str) -> usize {
    let traced = run_traced(HEDGEROW, &repository.root, calls, words);
    assert_eq!(traced.code, 0, "{}", traced.stderr);
    let lines = traced.stderr.lines().filter(|line| line.contains(text));
    lines.count()
}

/// What both say, without root's right to pass over permissions. Git tells of directories in the order
/// of the file system.
fn both_say(repository: &Repository, words: &[&str]) -> Outcome {
    let [expected, found] = [Program::Git, HEDGEROW].map(|program| {
        let mut command = program.command(&repository.root);
        command.args(words);
        let mut outcome = run(obeying_permissions(command));
        let mut lines: Vec<&str> = outcome.stderr.lines().collect();
        lines.sort_unstable();
        outcome.stderr = lines.join("\n");
        outcome
    });
    assert_eq!(expected, found, "{words:?}, first git, then hedgerow");
    found
}

#[test]
fn an_untracked_directory_is_searched_until_a_file_is_found() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[(".gitignore", "*.o\n"), ("file", "")], "one");
    for number in 0..300 {
        repository.write(format!("new/{number}/deep/file"), "");
        repository.write(format!("built/{number}/deep/file.o"), "");
        std::fs::create_dir_all(repository.path(format!("empty/{number}/deep"))).unwrap();
    }
    let said = both_say(&repository, &["status", "--porcelain"]);
    assert_eq!(said.text(), "?? new/\n");
    // One that holds nothing else is searched to its end, wherever the file is.
    repository.write("built/150/deep/file", "");
    repository.write("empty/150/file", "");
    let said = both_say(&repository, &["status", "--porcelain"]);
    assert_eq!(said.text(), "?? built/\n?? empty/\n?? new/\n");
    for mode in ["--ignored", "--ignored=matching", "-uall"] {
        both_say(&repository, &["status", "--porcelain", mode]);
    }
    for name in ["built", "empty"] {
        std::fs::remove_dir_all(repository.path(name)).unwrap();
    }
    if require("strace") {
        let listed = |words: &[&str]| calls(&repository, "getdents64", words, "getdents64(");
        let few = listed(&["status", "--porcelain"]);
        assert!(few < 50, "{few} of 600 directories");
        let all = listed(&["status", "--porcelain", "-uall"]);
        assert!(all > 600, "{all} of 600 directories");
    }
}

/// What was not searched is not in the untracked cache as empty.
#[test]
fn what_is_cut_short_is_not_recorded() {
    let repository = Repository::init(&[]);
    repository.git(&["config", "core.untrackedCache", "true"]);
    repository.commit_files(&[("file", "")], "one");
    repository.git(&["update-index", "--untracked-cache"]);
    for number in 0..300 {
        let deep = format!("new/{number}/deep");
        std::fs::create_dir_all(repository.path(&deep)).unwrap();
        if number % 7 == 0 {
            repository.write(deep + "/file", "");
        }
    }
    // Nothing is recorded of what changed in the second of the search.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    for kept in [1, 2, 3, 11, 300] {
        let status = |program: Program| {
            let mut command = program.command(&repository.root);
            command.args(["status", "--porcelain"]);
            run(command).text()
        };
        assert_eq!(status(HEDGEROW), "?? new/\n", "{kept}");
        for number in (0..300).filter(|number| number % kept != 0 || kept == 300) {
            let _ = std::fs::remove_file(repository.path(format!("new/{number}/deep/file")));
        }
        let expected = if kept < 300 { "?? new/\n" } else { "" };
        let said = [Program::Git, HEDGEROW].map(status);
        assert_eq!(said, [expected, expected], "{kept}");
    }
}

/// Git tells of the directories that it cannot read before it finds a file.
#[test]
fn unreadable_directories_after_the_first_file_are_not_told_of() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("file", "")], "one");
    let mut locked = Vec::new();
    for number in 0..24 {
        for place in ["bare", "early", "late"] {
            let path = format!("{place}{}/{number}", number / 4);
            std::fs::create_dir_all(repository.path(&path)).unwrap();
            if number % 2 == 0 {
                locked.push(path);
            }
        }
    }
    for number in 0..6 {
        repository.write(format!("early{number}/file"), "");
        repository.write(format!("late{number}/directory/below/file"), "");
    }
    let lock = |mode| {
        for path in &locked {
            let path = repository.path(path);
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
    };
    lock(0);
    let said = both_say(&repository, &["status", "--porcelain"]);
    assert!(said.stderr.contains("could not open directory 'bare0/0/'"));
    lock(0o755);
}

/// A repository whose index is younger than all its files.
fn settled(files: &[(&str, &str)]) -> Repository {
    let repository = Repository::init(&[]);
    repository.commit_files(files, "one");
    let index = std::fs::File::options()
        .write(true)
        .open(repository.path(".git/index"))
        .unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    index.set_modified(later).unwrap();
    repository
}

#[test]
fn files_that_no_pathspec_matches_are_not_looked_at() {
    if !require("strace") {
        return;
    }
    let files: Vec<String> = (0..40)
        .flat_map(|number| [format!("file-{number}.c"), format!("d/file-{number}.h")])
        .collect();
    let files: Vec<_> = files.iter().map(|path| (path.as_str(), "")).collect();
    let repository = settled(&files);
    for (line, expected) in [
        ("status -- file-7.c", 1),
        ("status -s -- d/file-*7.h file-9.c", 5),
        ("status --porcelain -- :!*.c", 40),
        ("status -uno -- d", 40),
        ("diff-files -- file-7.c", 1),
        ("diff-files -- d/file-7.h file-7.c", 2),
        ("diff-index HEAD -- *7.c", 4),
        ("ls-files -m file-7.c", 1),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let seen = calls(&repository, "%%stat", &words, "file-");
        assert_eq!(seen, expected, "{line}");
    }
    std::fs::create_dir(repository.path("inner")).unwrap();
    let submodule = Repository::at(repository.path("inner"));
    submodule.git(&["init", "-q"]);
    submodule.commit_files(&[("a", "")], "inside");
    repository.git(&["add", "inner"]);
    let words = ["status", "-s", "--", "file-7.c"];
    let seen = calls(&repository, "openat,%%stat", &words, "inner");
    assert_eq!(seen, 0);
}

/// An index that is written vouches for what was not looked at, too.
#[test]
fn a_file_that_changed_with_the_index_stays_changed_where_no_pathspec_matches() {
    for place in ["d/file", "file"] {
        let repository = Repository::init(&[]);
        repository.git(&["config", "core.trustCTime", "false"]);
        let early = std::time::SystemTime::now() - std::time::Duration::from_secs(9);
        let date = |path: &str| {
            let file = std::fs::File::options()
                .write(true)
                .open(repository.path(path));
            file.unwrap().set_modified(early).unwrap();
        };
        let write = |content: &str| {
            repository.write(place, content);
            date(place);
        };
        write("one");
        repository.commit_files(&[("other", "")], "one");
        date(".git/index");
        write("two");
        let mut command = HEDGEROW.command(&repository.root);
        command.args(["status", "-s", "--", "other"]);
        assert_eq!(run(command).text(), "");
        let said = both_say(&repository, &["status", "-s"]);
        assert_eq!(said.text(), format!(" M {place}\n"));
    }
}
