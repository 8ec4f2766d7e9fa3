use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use hedgerow_testkit::skip;

/// Whether all these programs are there; says so if not.
pub fn have(programs: &[&str]) -> bool {
    programs
        .iter()
        .all(|program| hedgerow_testkit::require(program))
}

/// Runs a program, which must succeed, and returns what it prints.
pub fn run<S: AsRef<OsStr>>(directory: &Path, program: &str, words: &[S]) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(words).current_dir(directory);
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    output.stdout
}

fn python(words: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/trees.py");
    let words = [&[script.to_str().unwrap()], words].concat();
    String::from_utf8(run(Path::new("/"), "python3", &words)).unwrap()
}

/// A generated tree below a temporary directory.
pub struct Tree {
    pub home: tempfile::TempDir,
    pub root: PathBuf,
}

impl Tree {
    pub fn make(seed: usize, profile: &str) -> Tree {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("tree");
        std::fs::create_dir(&root).unwrap();
        python(&["make", root.to_str().unwrap(), &seed.to_string(), profile]);
        Tree { home, root }
    }
}

/// What is on disk, a line each, sorted by path.
pub fn lines_of_directory(directory: &Path) -> Vec<String> {
    let lines = python(&["disk", directory.to_str().unwrap()]);
    lines.lines().map(str::to_owned).collect()
}

/// What Python reads in an archive, a line each, in its order.
pub fn lines_of_archive(archive: &Path) -> Vec<String> {
    let lines = python(&["tar", archive.to_str().unwrap()]);
    lines.lines().map(str::to_owned).collect()
}
