//! What programs under test know of the machine: nothing.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Identities, dates and the absence of configuration, for programs under test.
const VARIABLES: [(&str, &str); 14] = [
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
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
    // Empty: Mercurial reads the repository's own configuration only.
    ("HGRCPATH", ""),
];

/// Leaves a program only the PATH, without configuration, with names and times of its own, and with
/// nothing to read. What a test wants otherwise it sets afterwards.
pub fn isolate(command: &mut Command) -> &mut Command {
    hide_environment(command)
        .envs(VARIABLES)
        .stdin(Stdio::null())
}

/// `program` with nothing but what [`isolate`] leaves it.
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    isolate(&mut command);
    command
}

/// Leaves a program only the PATH and the language of its messages: for tests in which the
/// configuration or the identity itself is what is looked at.
pub fn hide_environment(command: &mut Command) -> &mut Command {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C")
}

/// Lets the configuration and the attributes of the system count, which are those of the git in `PATH`.
pub fn use_system_files(command: &mut Command) -> &mut Command {
    command
        .env_remove("GIT_CONFIG_NOSYSTEM")
        .env_remove("GIT_ATTR_NOSYSTEM")
}

/// Makes `file` the user's configuration of git.
pub fn use_global_config(command: &mut Command, file: impl AsRef<Path>) -> &mut Command {
    command.env("GIT_CONFIG_GLOBAL", file.as_ref())
}

/// `command` without the capabilities by which root ignores permissions, for tests of what may not be
/// read.
pub fn obeying_permissions(command: Command) -> Command {
    let mut outer = Command::new("setpriv");
    outer.args(["--bounding-set", "-dac_override,-dac_read_search", "--"]);
    outer
        .env_clear()
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        outer.current_dir(directory);
    }
    outer
}
