use super::environment::isolate;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Which checkout is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Git,
    Hedgerow,
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
    /// Panic text of Rust has no place in what a user sees.
    pub fn assert_civil(&self, what: &str) {
        for word in ["panicked", "RUST_BACKTRACE", "unwrap()", "internal error"] {
            assert!(!self.stderr.contains(word), "{what}: {}", self.stderr);
        }
        assert!(self.code != 101 && self.code < 131, "{what}: {self:?}");
    }
}

impl Program {
    /// The program, in `directory`, knowing nothing of the machine's configuration.
    pub fn command(self, directory: &Path) -> Command {
        let mut command = Command::new(match self {
            Program::Git => git_file(),
            Program::Hedgerow => Path::new(env!("CARGO_BIN_EXE_hedgerow")),
        });
        if self == Program::Git {
            std::os::unix::process::CommandExt::arg0(&mut command, "git");
        }
        isolate(&mut command);
        command.current_dir(directory);
        command
    }
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

/// Runs it to its end.
pub fn run(mut command: Command) -> Outcome {
    use std::os::unix::process::ExitStatusExt;
    let output = command.output().expect("the program starts");
    let signal = output.status.signal().unwrap_or_default();
    Outcome {
        code: output.status.code().unwrap_or(128 + signal),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs git in `directory`; it must succeed. Returns its standard output.
pub fn git<S: AsRef<OsStr>>(directory: &Path, words: &[S], input: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut command = Program::Git.command(directory);
    command.args(words).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("git starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("git ends")
    });
    let shown: Vec<PathBuf> = words.iter().map(|w| PathBuf::from(w.as_ref())).collect();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {shown:?}: {stderr}");
    output.stdout
}
