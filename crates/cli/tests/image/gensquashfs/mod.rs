//! The program when it is called `gensquashfs`, beside the one that has that name.

mod descriptions;
mod labels;
mod order;
mod refusals;

use crate::archives::run;
use crate::{image, Outcome};
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Our program under another name.
fn gensquashfs(directory: &Path, words: &[&str]) -> Outcome {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.arg0("gensquashfs").args(words);
    outcome(command, directory)
}

/// The program that has that name; `None` where it is not installed.
fn real(directory: &Path, words: &[&str]) -> Option<Outcome> {
    run(directory, "gensquashfs", &["--version"])?;
    let mut command = Command::new("gensquashfs");
    command.args(words);
    Some(outcome(command, directory))
}

fn outcome(mut command: Command, directory: &Path) -> Outcome {
    command.current_dir(directory).stdin(Stdio::null());
    let output = command.env_remove("SOURCE_DATE_EPOCH").output().unwrap();
    let outcome = Outcome {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!outcome.stderr.contains("panic"), "{outcome:?}");
    outcome
}

/// A directory with inputs in `in`: small and large files, links, a fifo.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let inputs = home.path().join("in");
    fs::create_dir_all(inputs.join("lib/sub")).unwrap();
    fs::create_dir_all(inputs.join("lib/empty.so.d")).unwrap();
    let noise = |seed: u64, size: usize| -> Vec<u8> {
        let mut random = hedgerow_testkit::Random::new(seed);
        (0..size).map(|_| random.number() as u8).collect()
    };
    fs::write(inputs.join("lib/a.so.1"), noise(1, 20_000)).unwrap();
    fs::write(inputs.join("lib/b.so.2"), noise(2, 9_000)).unwrap();
    fs::write(inputs.join("lib/sub/c.so.3"), noise(3, 5_000)).unwrap();
    fs::write(inputs.join("lib/sub/d e"), b"small\n").unwrap();
    fs::write(inputs.join("lib/same"), noise(1, 20_000)).unwrap();
    symlink("a.so.1", inputs.join("lib/l.so.1")).unwrap();
    fs::hard_link(inputs.join("lib/sub/d e"), inputs.join("lib/hard")).unwrap();
    fs::set_permissions(
        inputs.join("lib/b.so.2"),
        fs::Permissions::from_mode(0o4711),
    )
    .unwrap();
    run(&inputs, "mkfifo", &["lib/fifo"]).unwrap();
    home
}

/// Runs both with the same words, which end with the name of the image, and holds the images against
/// each other. False where there is nothing to compare with.
fn compare(home: &Path, words: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    let with = |target| [&words[..], &["-q", "-f", target]].concat();
    let Some(theirs) = real(home, &with("theirs")) else {
        return false;
    };
    assert_eq!(theirs.code, 0, "{words:?}: {theirs:?}");
    let ours = gensquashfs(home, &with("ours"));
    assert_eq!(
        (ours.code, ours.text()),
        (0, String::new()),
        "{words:?}: {ours:?}"
    );
    let mut diff = Command::new("sqfsdiff");
    diff.args(["-T", "-a", "theirs", "-b", "ours"]);
    let diff = outcome(diff, home);
    assert_eq!((diff.code, diff.text()), (0, String::new()), "{words:?}");
    let described = |image| {
        let mut describe = Command::new("rdsquashfs");
        describe.args(["-d", image]);
        let described = outcome(describe, home);
        assert_eq!(described.code, 0, "{described:?}");
        described.text()
    };
    assert_eq!(described("ours"), described("theirs"), "{words:?}");
    assert_eq!(image(home, &["verify", "ours"]).code, 0, "{words:?}");
    true
}
