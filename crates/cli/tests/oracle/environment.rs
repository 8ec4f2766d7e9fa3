//! What programs under test know of the machine: nothing.

use std::process::{Command, Stdio};

/// Leaves a program only the PATH, without configuration, with names and times of its own, and with
/// nothing to read.
pub fn isolate(command: &mut Command) {
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (name, value) in [
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_AUTHOR_NAME", "A U Thor"),
        ("GIT_AUTHOR_EMAIL", "author@example.com"),
        ("GIT_AUTHOR_DATE", "1700000000 +0100"),
        ("GIT_COMMITTER_NAME", "C O Mitter"),
        ("GIT_COMMITTER_EMAIL", "committer@example.com"),
        ("GIT_COMMITTER_DATE", "1700000000 +0100"),
    ] {
        command.env(name, value);
    }
    command.stdin(Stdio::null());
}
