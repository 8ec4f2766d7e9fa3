//! How working copies stand, against what `hg status` prints of them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make working copies and look at files"
)]

use hedgerow_hg::status::{status, Options, State, States, Status, STATES};
use hedgerow_hg::{find_root, Environment, Repository};
use hedgerow_testkit::{isolated, require, run, snapshot, temporary, TempDir};
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A working copy of Mercurial.
struct WorkingCopy {
    home: TempDir,
}

impl WorkingCopy {
    /// One whose dirstate is of the first or the second format.
    fn new(is_second: bool) -> WorkingCopy {
        let copy = WorkingCopy { home: temporary() };
        fs::create_dir(copy.root()).unwrap();
        let format = if is_second { "yes" } else { "no" };
        let format = format!("format.use-dirstate-v2={format}");
        // The second format is slow without Mercurial's own compiled parts, and refused then.
        let slow = "storage.dirstate-v2.slow-path=allow";
        copy.hg(&["init", "--config", &format, "--config", slow, "."]);
        let settings = "[ui]\nusername = test\n[storage]\ndirstate-v2.slow-path = allow\n";
        fs::write(copy.root().join(".hg/hgrc"), settings).unwrap();
        copy
    }

    fn root(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("copy")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut hg = isolated("hg");
        hg.args(words).current_dir(self.root());
        hg
    }

    /// What Mercurial prints; it must succeed.
    fn hg(&self, words: &[&str]) -> Vec<u8> {
        run(self.command(words)).ok(&format!("hg {words:?}"))
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn status(&self, wanted: impl Fn(State) -> bool, paths: &[&str]) -> Status {
        let root = find_root(&self.root().join("d")).unwrap();
        let environment = Environment {
            cwd: root.clone(),
            variables: [("HGRCPATH".into(), "".into())].into(),
        };
        let options = Options {
            states: States::of(wanted),
            paths: paths.iter().map(|path| (*path).into()).collect(),
            program: Some("hg".into()),
            execution: hedgerow_engine::Execution::default(),
        };
        let repository = Repository::open(&root, &environment).unwrap();
        let found = status(&repository, &options).unwrap();
        assert!(found.undecided.is_empty(), "{}", found.undecided_reason);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        found
    }
}

/// Lines as `hg status` prints them.
fn lines(found: &Status) -> String {
    let mut lines = String::new();
    for state in STATES {
        for path in found.of(state) {
            lines += &format!("{} {path}\n", state.code());
        }
    }
    lines
}

/// Sets when a file was last changed, in seconds since the epoch.
fn age(path: &Path, seconds: u64) {
    let file = fs::File::open(path).unwrap();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    file.set_modified(time).unwrap();
}

/// A working copy with something in each state.
fn varied(is_second: bool) -> WorkingCopy {
    let copy = WorkingCopy::new(is_second);
    for path in [
        "clean",
        "same-size",
        "longer",
        "touched",
        "mode",
        "removed",
        "deleted",
        "d/clean",
        "d/deep/er/file",
        "d/gone/file",
        "becomes-link",
        "becomes-directory",
        "sp ace",
        "renamed",
        "forgotten",
    ] {
        copy.write(path, "content\n");
    }
    symlink("clean", copy.root().join("link")).unwrap();
    copy.write(
        ".hgignore",
        "syntax: glob\n*.o\nd/build\nsyntax: regexp\n^out/.*\\.log$\n",
    );
    copy.hg(&["add", "-q"]);
    copy.hg(&["commit", "-q", "-m", "one"]);
    // Times that have long passed: then stat data alone tell what is clean.
    for path in String::from_utf8(copy.hg(&["files"])).unwrap().lines() {
        let path = copy.root().join(path);
        if !path.is_symlink() {
            age(&path, 1_400_000_000);
        }
    }
    copy.hg(&["status"]);

    copy.write("same-size", "CONTENT\n");
    copy.write("longer", "content and more\n");
    copy.write("touched", "content\n");
    age(&copy.root().join("touched"), 1_500_000_000);
    let mode = copy.root().join("mode");
    fs::set_permissions(mode, fs::Permissions::from_mode(0o755)).unwrap();
    copy.hg(&["remove", "-q", "removed"]);
    copy.hg(&["forget", "-q", "forgotten"]);
    copy.hg(&["move", "-q", "renamed", "d/new-name"]);
    fs::remove_file(copy.root().join("deleted")).unwrap();
    fs::remove_dir_all(copy.root().join("d/gone")).unwrap();
    fs::remove_file(copy.root().join("becomes-link")).unwrap();
    symlink("clean", copy.root().join("becomes-link")).unwrap();
    fs::remove_file(copy.root().join("becomes-directory")).unwrap();
    copy.write("becomes-directory/inner", "x");
    fs::remove_file(copy.root().join("link")).unwrap();
    symlink("elsewhere", copy.root().join("link")).unwrap();
    copy.write("added", "new\n");
    copy.hg(&["add", "-q", "added"]);
    for path in [
        "unknown",
        "d/unknown",
        "a.o",
        "d/deep/b.o",
        "d/build/x",
        "out/a.log",
        "out/b.txt",
    ] {
        copy.write(path, "x");
    }
    copy
}

#[test]
fn every_state_is_the_one_that_mercurial_shows() {
    if !require("hg") {
        return;
    }
    for is_second in [false, true] {
        let copy = varied(is_second);
        let requires = fs::read_to_string(copy.root().join(".hg/requires")).unwrap();
        assert_eq!(requires.contains("dirstate-v2"), is_second);
        let before = snapshot(&copy.root().join(".hg"), &|_| false);
        let all = lines(&copy.status(|_| true, &[]));
        let after = snapshot(&copy.root().join(".hg"), &|_| false);
        assert!(before == after, "nothing below .hg is written");
        let expected = String::from_utf8(copy.hg(&["status", "-A", "--no-copies"])).unwrap();
        // Mercurial shows the sources of copies indented.
        let expected: String = expected
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("  "))
            .collect();
        assert_eq!(all, expected);
        for state in STATES {
            let letter = state.code().to_string();
            assert!(
                all.lines().any(|line| line.starts_with(&letter)),
                "{state:?} is not shown"
            );
        }
    }
}

#[test]
fn each_option_and_path_selects_what_it_selects_for_mercurial() {
    if !require("hg") {
        return;
    }
    let copy = varied(false);
    for (state, option) in STATES
        .iter()
        .zip(["-m", "-a", "-r", "-d", "-u", "-i", "-c"])
    {
        let found = lines(&copy.status(|other| other == *state, &[]));
        let expected = String::from_utf8(copy.hg(&["status", option])).unwrap();
        assert!(!found.is_empty());
        assert_eq!(found, expected, "{option}");
    }
    for paths in [
        &["d"][..],
        &["d/deep", "unknown"],
        &["out"],
        &["same-size", "clean"],
    ] {
        let found = lines(&copy.status(|_| true, paths));
        let words = [&["status", "-mardui", "-c"], paths].concat();
        let expected = String::from_utf8(copy.hg(&words)).unwrap();
        assert_eq!(found, expected, "{paths:?}");
    }
}

#[test]
fn copies_have_the_sources_that_mercurial_knows() {
    if !require("hg") {
        return;
    }
    let copy = varied(true);
    copy.hg(&["copy", "-q", "clean", "copied"]);
    let found = copy.status(|state| state == State::Added, &[]);
    let mut told = String::new();
    for path in found.of(State::Added) {
        told += &format!("A {path}\n");
        if let Some(source) = found.copies.get(path) {
            told += &format!("  {source}\n");
        }
    }
    let expected = String::from_utf8(copy.hg(&["status", "-a", "-C"])).unwrap();
    assert_eq!(told, expected);
    assert_eq!(found.copies.len(), 2);
}

#[test]
fn a_merge_shows_what_both_parents_changed() {
    if !require("hg") {
        return;
    }
    for is_second in [false, true] {
        let copy = WorkingCopy::new(is_second);
        for path in ["d/one", "two", "three"] {
            copy.write(path, "base\n");
        }
        copy.hg(&["commit", "-q", "-A", "-m", "base"]);
        copy.write("d/one", "left\n");
        copy.write("from-left", "x");
        copy.hg(&["commit", "-q", "-A", "-m", "left"]);
        copy.hg(&["update", "-q", "0"]);
        copy.write("two", "right\n");
        copy.write("from-right", "x");
        copy.hg(&["commit", "-q", "-A", "-m", "right"]);
        copy.hg(&["merge", "-q", "1"]);
        let found = lines(&copy.status(|_| true, &[]));
        let expected = String::from_utf8(copy.hg(&["status", "-mardui", "-c"])).unwrap();
        assert_eq!(found, expected);
        assert!(
            found.contains("M from-left\n") || found.contains("M d/one\n"),
            "{found}"
        );
    }
}
