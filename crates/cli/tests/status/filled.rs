//! The untracked cache that `hedgerow status` fills: git reads it, uses it, and says with it what it
//! says without.

use crate::quiet::{writing, Monitor, Watched};
use crate::HEDGEROW;
use hedgerow_testkit::{isolated, run, skip, Program, Repository};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What git says about the repository; with its cache, or without any.
fn by_git(watched: &Watched, question: &[&str], with_cache: bool) -> String {
    let mut command = Program::Git.command(&watched.repository.root);
    if !with_cache {
        command.args([
            "-c",
            "core.untrackedCache=false",
            "-c",
            "core.fsmonitor=false",
        ]);
    }
    command.args(question).env("GIT_OPTIONAL_LOCKS", "0");
    run(command).text()
}

/// Git goes on showing a directory whose last untracked file is gone, because the directory above
/// looks as before; with its own records as with ours.
fn is_left_over(line: &str, right: &str) -> bool {
    let is_known = || right.lines().any(|other| other == line);
    line.starts_with("?? ") && line.ends_with(['/', '"']) && !is_known()
}

fn play(seed: u64, monitor: Monitor) {
    let mut watched = Watched::filled_by(HEDGEROW, seed, monitor);
    for _ in 0..12 {
        for _ in 0..watched.random.below(4) {
            watched.change();
        }
        watched.compare();
        if watched.random.chance(60) {
            watched.hedgerow(&["status", "--porcelain"]);
        }
        for question in [
            &["status", "--porcelain"][..],
            &["status", "--short", "-uall"],
        ] {
            let right = by_git(&watched, question, false);
            let found = by_git(&watched, question, true);
            let lines = found.lines().filter(|line| !is_left_over(line, &right));
            let lines: Vec<&str> = lines.collect();
            let right: Vec<&str> = right.lines().collect();
            assert_eq!(right, lines, "{question:?}\n{}", watched.story.join("\n"));
        }
    }
}

fn seeds(count: u64, monitor: Monitor) {
    std::thread::scope(|scope| {
        for seed in 100..100 + count {
            scope.spawn(move || play(seed, monitor));
        }
    });
}

#[test]
fn git_is_right_with_our_records() {
    seeds(24, Monitor::None);
}

#[test]
fn git_is_right_with_our_records_and_a_monitor() {
    seeds(12, Monitor::Hook);
}

/// `test-tool` of a built checkout of git, which shows the cache.
fn test_tool() -> Option<PathBuf> {
    let source = std::env::var_os("GIT_SRC");
    let tool = source.map(|source| Path::new(&source).join("t/helper/test-tool"));
    let found = tool.filter(|tool| tool.exists());
    if found.is_none() {
        skip("GIT_SRC names no built checkout of git, whose test-tool shows the untracked cache");
    }
    found
}

fn dump(tool: &Path, repository: &Repository) -> String {
    let mut command = isolated(tool);
    command.current_dir(&repository.root);
    command.arg("dump-untracked-cache");
    run(command).text()
}

/// A working tree with one of each; nothing in it is as new as an index that will be written.
fn scene(repository: &Repository) {
    for path in [
        "f",
        "all/tracked",
        "all/.gitignore",
        "some/f",
        "some/deep/f",
        "ignored/forced",
        "link/f",
    ] {
        repository.write(path, "*.o\n");
    }
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "first"]);
    for (path, content) in [
        (".gitignore", "*.o\nignored\n"),
        ("new", ""),
        ("x.o", ""),
        ("some/new", ""),
        ("some/deep/x.o", ""),
        ("folder/sub/file", ""),
        ("only/ignored.o", ""),
        ("empty/ignored/f", ""),
        ("ignored/more", ""),
        ("own/.gitignore", ""),
    ] {
        repository.write(path, content);
    }
    std::fs::create_dir(repository.path("nothing")).unwrap();
    repository.git(&["init", "-q", "nested"]);
    repository.write("nested/f", "");
    age(&repository.root);
}

fn age(root: &Path) {
    let mut command = Command::new("find");
    command.arg(root);
    command.args([
        "-name",
        ".git",
        "-prune",
        "-o",
        "-exec",
        "touch",
        "-h",
        "-d",
        "2020-01-01",
    ]);
    command.args(["{}", "+"]);
    assert!(command.status().unwrap().success());
}

/// The records are those that git makes.
#[test]
fn records_are_those_of_git() {
    let Some(tool) = test_tool() else { return };
    for (mode, text) in [("normal", ""), ("all", ""), ("normal", "* text=auto\n")] {
        let [ours, theirs] = [0, 1].map(|_| {
            let repository = Repository::init(&["-b", "main"]);
            repository.git(&["config", "core.untrackedCache", "true"]);
            repository.git(&["config", "status.showUntrackedFiles", mode]);
            repository.write(".git/info/exclude", "secret\n");
            if !text.is_empty() {
                repository.write(".git/info/attributes", text);
            }
            scene(&repository);
            repository
        });
        let status = |repository: &Repository, program: Program| {
            let mut command = program.command(&repository.root);
            command.args(["status", "--porcelain"]);
            command.env("GIT_OPTIONAL_LOCKS", "1");
            run(command).text()
        };
        let change = |repository: &Repository, step: usize| {
            match step {
                0 => {}
                1 => repository.write("some/later", ""),
                2 => repository.write("some/.gitignore", "later\n"),
                3 => {
                    repository.git(&["add", "-f", "folder/sub/file", "x.o"]);
                }
                4 => {
                    repository.git(&["rm", "-q", "--cached", "some/f"]);
                }
                5 => repository.write(".git/info/exclude", "new\n"),
                _ => {
                    repository.git(&["checkout", "-q", "-f", "-b", "other"]);
                    repository.git(&["add", ".gitignore", "some"]);
                    repository.git(&["commit", "-qam", "second"]);
                }
            }
            age(&repository.root);
        };
        for step in 0..7 {
            change(&ours, step);
            change(&theirs, step);
            let said = status(&ours, HEDGEROW);
            assert_eq!(said, status(&theirs, Program::Git), "{mode}, {step}");
            assert_eq!(dump(&tool, &ours), dump(&tool, &theirs), "{mode}, {step}");
        }
        // What git is asked with our records changes nothing.
        let before = dump(&tool, &ours);
        run(writing(&ours, &["status"]));
        assert_eq!(dump(&tool, &ours), before, "{mode}");
    }
}

/// A record that says nothing of an untracked directory must not stand below one that lists it.
#[test]
fn patterns_that_cannot_be_read_in_an_untracked_directory() {
    let repository = Repository::init(&["-b", "main"]);
    repository.write("keep", "");
    repository.git(&["add", "keep"]);
    repository.git(&["update-index", "--force-untracked-cache"]);
    let status = |program: Program, words: &[&str]| {
        let mut command = program.command(&repository.root);
        command.args(words).env("GIT_OPTIONAL_LOCKS", "1");
        run(command).text()
    };
    status(Program::Git, &["status", "--porcelain"]);
    for directory in ["a0/.gitignore", "a1/deep/.gitignore", "tracked/.gitignore"] {
        std::fs::create_dir_all(repository.path(directory)).unwrap();
    }
    for file in ["a0/file", "a1/deep/file", "tracked/file", "tracked/other"] {
        repository.write(file, "");
    }
    repository.git(&["add", "tracked/file"]);
    age(&repository.root);
    let right = "A  keep\nA  tracked/file\n?? a0/\n?? a1/\n?? tracked/other\n";
    for _ in 0..2 {
        assert_eq!(status(HEDGEROW, &["status", "--porcelain"]), right);
        assert_eq!(status(Program::Git, &["status", "--porcelain"]), right);
    }
}

/// The settings add the cache and remove it; a cache of another place is not used.
#[test]
fn the_cache_comes_and_goes_with_the_settings() {
    let repository = Repository::init(&[]);
    repository.commit_files(&[("f", "f")], "first");
    repository.write("new", "");
    let has_cache = || {
        let index = std::fs::read(repository.path(".git/index")).unwrap();
        index.windows(4).any(|name| name == b"UNTR")
    };
    let ours = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = HEDGEROW.command(&repository.root);
        command.args(words).env("GIT_OPTIONAL_LOCKS", "1");
        command.envs(variables.iter().copied());
        run(command)
    };
    ours(&["status"], &[]);
    assert!(!has_cache());
    repository.git(&["config", "core.untrackedCache", "true"]);
    ours(&["status", "-uno"], &[]);
    assert!(has_cache());
    repository.git(&["config", "core.untrackedCache", "keep"]);
    ours(&["status"], &[]);
    assert!(has_cache());
    let other = tempfile::tempdir().unwrap();
    let there = ours(
        &["status"],
        &[("GIT_WORK_TREE", other.path().to_str().unwrap())],
    );
    let warning = "warning: untracked cache is disabled on this system or location\n";
    assert_eq!(there.stderr, warning);
    repository.git(&["config", "core.untrackedCache", "false"]);
    ours(&["reset", "-q"], &[]);
    assert!(!has_cache());
    repository.git(&["config", "core.untrackedCache", "true"]);
    ours(&["reset", "-q", "--hard"], &[]);
    assert!(has_cache());
    let before = std::fs::read(repository.path(".git/index")).unwrap();
    ours(&["status"], &[("GIT_DISABLE_UNTRACKED_CACHE", "1")]);
    ours(&["status"], &[("GIT_OPTIONAL_LOCKS", "0")]);
    assert_eq!(
        std::fs::read(repository.path(".git/index")).unwrap(),
        before
    );
}
