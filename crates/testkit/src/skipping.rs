//! Tests that need what is not there say so: `scripts/test.sh` counts the lines.

use crate::git_text;
use std::io::Write;
use std::path::Path;

/// Says aloud that a test, or a part of one, could not run here: past the harness, which keeps what
/// is printed. The line starts at the margin even if the harness has begun one.
pub fn skip(reason: &str) {
    let line = format!("\nskipped: {reason}\n");
    std::io::stdout()
        .write_all(line.as_bytes())
        .expect("standard output is open");
}

/// Whether `program` is in the PATH.
pub fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Whether `program` is in the PATH; says aloud that something is skipped if it is not.
pub fn require(program: &str) -> bool {
    let is_there = is_there(program);
    if !is_there {
        skip(&format!("{program} is not installed"));
    }
    is_there
}

/// Whether git is at least of this version; says aloud that `what` is not compared if it is not.
pub fn git_is_at_least(major: u32, minor: u32, what: &str) -> bool {
    let version = git_text(Path::new("."), &["--version"]);
    let number = version.trim_start_matches("git version ");
    let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0_u32));
    let is_newer = (parts.next(), parts.next()) >= (Some(major), Some(minor));
    if !is_newer {
        skip(&format!(
            "git {number} is older than {major}.{minor}, not compared: {what}"
        ));
    }
    is_newer
}
