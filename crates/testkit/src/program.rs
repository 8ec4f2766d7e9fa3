//! Runs programs under test, and tells how they ended.

use crate::{isolate, isolated};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Which of two programs is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Git,
    /// The binary at this path, which only the tests of its package know:
    /// `env!("CARGO_BIN_EXE_hedgerow")`.
    Hedgerow(&'static str),
}

impl Program {
    /// The program, in `directory`, knowing nothing of the machine's configuration.
    pub fn command(self, directory: &Path) -> Command {
        let mut command = Command::new(match self {
            Program::Git => git_file(),
            Program::Hedgerow(path) => Path::new(path),
        });
        if self == Program::Git {
            command.arg0("git");
        }
        isolate(&mut command).current_dir(directory);
        command
    }
}

/// Runs a program under strace, which must be installed: what is said aside has a line for each call
/// of the system calls `calls`, separated by commas.
pub fn run_traced(program: Program, directory: &Path, calls: &str, words: &[&str]) -> Outcome {
    let mut strace = isolated("strace");
    strace.args(["-f", "-qq", "-e", &format!("trace={calls}")]);
    strace.arg(program.command(directory).get_program());
    strace.args(words).current_dir(directory);
    run(strace)
}

/// The file that is git. A program named by its path is started without a copy of the caller's page
/// tables; tests that hold hundreds of megabytes start thousands.
fn git_file() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut files = std::env::split_paths(&path).map(|directory| directory.join("git"));
        files.find(|file| file.is_file()).expect("git is installed")
    })
}

/// What a program said, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; 128 and the signal if there was none.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Outcome {
    /// Whether SIGABRT, SIGBUS, SIGFPE or SIGSEGV ended it.
    pub fn crashed(&self) -> bool {
        matches!(self.code, 134 | 135 | 136 | 139)
    }

    /// Panic text of Rust has no place in what a user sees.
    pub fn assert_civil(&self, what: &str) {
        for word in ["panicked", "RUST_BACKTRACE", "unwrap()", "internal error"] {
            assert!(!self.stderr.contains(word), "{what}: {}", self.stderr);
        }
        // Git ends with 254 and 255 where some files could not be written.
        let is_known = self.code < 131 || self.code == 254 || self.code == 255;
        assert!(self.code != 101 && is_known, "{what}: {self:?}");
    }

    /// The standard output of a run that must have succeeded.
    pub fn ok(self, what: &str) -> Vec<u8> {
        self.assert_ended(0, what);
        self.stdout
    }

    /// The standard error of a run that must have ended with `code`.
    pub fn failed(self, code: i32, what: &str) -> String {
        self.assert_ended(code, what);
        self.stderr
    }

    /// Shows both streams if it ended otherwise.
    fn assert_ended(&self, code: i32, what: &str) {
        assert!(
            self.code == code,
            "{what}: ended with {}, not {code}\n--- standard output:\n{}\n--- standard error:\n{}",
            self.code,
            self.text(),
            self.stderr
        );
    }

    /// Its standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Runs it to its end.
pub fn run(mut command: Command) -> Outcome {
    let output = command.output().expect("the program starts");
    outcome(output)
}

/// Runs it to its end with `input` on its standard input, of which it may leave some unread.
pub fn run_with(mut command: Command, input: &[u8]) -> Outcome {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    outcome(std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("the program ends")
    }))
}

fn outcome(output: std::process::Output) -> Outcome {
    let signal = output.status.signal().unwrap_or_default();
    Outcome {
        code: output.status.code().unwrap_or(128 + signal),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs git in `directory`; it must succeed. Returns its standard output.
pub fn git<S: AsRef<OsStr>>(directory: &Path, words: &[S], input: &[u8]) -> Vec<u8> {
    let mut command = Program::Git.command(directory);
    command.args(words);
    run_with(command, input).ok(&shown(words))
}

/// What git says in `directory`, as text without white space around it; it must succeed.
pub fn git_text<S: AsRef<OsStr>>(directory: &Path, words: &[S]) -> String {
    let text = String::from_utf8(git(directory, words, b"")).expect("git prints UTF-8 here");
    text.trim().to_owned()
}

/// Words for a message.
pub(crate) fn shown<S: AsRef<OsStr>>(words: &[S]) -> String {
    let words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
    format!("git {words:?}")
}
