//! `hedgerow status` in working copies of Mercurial, against what `hg status` prints.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make working copies and look at files"
)]

mod astray;
mod behaviour;
mod generated;
mod ignored;
mod random;
mod refusal;
mod server;
mod untouched;

use server::Server;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Which format the dirstate has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    V1,
    V2,
}

const FORMATS: [Format; 2] = [Format::V1, Format::V2];

impl Format {
    fn setting(self) -> &'static str {
        match self {
            Format::V1 => "format.use-dirstate-v2=no",
            Format::V2 => "format.use-dirstate-v2=yes",
        }
    }
}

/// A directory for working copies, a configuration of no user, and a Mercurial that waits.
struct Bench {
    directory: tempfile::TempDir,
    hg: Server,
}

impl Bench {
    /// `None`, after saying so, if Mercurial is not installed.
    fn new() -> Option<Bench> {
        let directory = tempfile::tempdir().unwrap();
        let settings = "[ui]\nusername = test\ninteractive = no\nmerge = :local\n\
                        [storage]\ndirstate-v2.slow-path = allow\n";
        std::fs::write(directory.path().join("hgrc"), settings).unwrap();
        let Some(hg) = Server::start(directory.path(), &directory.path().join("hgrc")) else {
            hedgerow_testkit::skip("hg is not installed");
            return None;
        };
        Some(Bench { directory, hg })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// A new repository.
    fn init(&mut self, name: &str, format: Format) -> PathBuf {
        let root = self.path(name);
        let words: [&OsStr; 4] = [
            "init".as_ref(),
            "--config".as_ref(),
            format.setting().as_ref(),
            root.as_ref(),
        ];
        self.hg.run(self.directory.path(), &words).succeeded();
        root
    }

    /// Runs Mercurial, which must succeed; returns what it printed.
    fn hg(&mut self, cwd: &Path, words: &[&str]) -> Vec<u8> {
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        self.hg.run(cwd, &words).succeeded()
    }

    /// Runs Mercurial on paths; it may fail.
    fn hg_on(&mut self, cwd: &Path, words: &[&str], paths: &[OsString]) {
        let words = words.iter().map(OsStr::new);
        let words: Vec<&OsStr> = words.chain(paths.iter().map(OsString::as_os_str)).collect();
        self.hg.run(cwd, &words);
    }

    /// Runs `hedgerow status`.
    fn ours(&self, cwd: &Path, words: &[&str]) -> Output {
        self.command(cwd, words).output().unwrap()
    }

    fn command(&self, cwd: &Path, words: &[&str]) -> Command {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command
            .arg("status")
            .args(words)
            .current_dir(cwd)
            .env("HGRCPATH", self.path("hgrc"));
        command
    }

    /// Asserts that both print the same for each of the `sets` of options. Hedgerow goes first and
    /// must leave all below `.hg` as it was; Mercurial then does not.
    fn compare(&mut self, cwd: &Path, sets: &[&[&str]], context: &str) {
        let root = hedgerow::plumbing::hg::find_root(cwd).unwrap();
        let before = untouched::snapshot(&root.join(".hg"));
        let ours: Vec<Output> = sets.iter().map(|words| self.ours(cwd, words)).collect();
        let after = untouched::snapshot(&root.join(".hg"));
        assert_eq!(before, after, "{context}: something below .hg changed");
        for (words, ours) in sets.iter().zip(ours) {
            let theirs: Vec<&str> = ["status"].iter().chain(*words).copied().collect();
            let theirs = self.hg(cwd, &theirs);
            let said = String::from_utf8_lossy(&ours.stderr);
            assert_eq!(
                String::from_utf8_lossy(&ours.stdout),
                String::from_utf8_lossy(&theirs),
                "{context} {words:?} {said}"
            );
            assert_eq!(ours.stdout, theirs, "{context} {words:?}");
            assert_eq!(ours.status.code(), Some(0), "{context} {words:?} {said}");
        }
    }
}

/// Sets the time of last change, seconds and nanoseconds since the epoch; links are not followed.
fn set_time(path: &Path, seconds: i64, nanoseconds: u32) {
    use std::time::{Duration, SystemTime};
    let is_link = path.symlink_metadata().unwrap().is_symlink();
    if is_link {
        let stamp = format!("@{seconds}.{nanoseconds:09}");
        let mut touch = Command::new("touch");
        touch.args(["-h", "-d", &stamp]).arg(path);
        assert!(touch.status().unwrap().success());
        return;
    }
    let time = SystemTime::UNIX_EPOCH + Duration::new(seconds as u64, nanoseconds);
    let file = std::fs::File::open(path).unwrap();
    file.set_modified(time).unwrap();
}

/// A time that has long passed, another for every number.
fn past(number: u64) -> (i64, u32) {
    (
        1_500_000_000 + (number % 100_000) as i64,
        (number % 999) as u32 + 1,
    )
}
