//! A monitor that is a program: `githooks(5)`, "fsmonitor-watchman". It gets the version of the
//! protocol and a token, and prints, in version 2, a new token and the paths that changed since.

use super::{parse, Heard, ANSWER_LIMIT_BYTES};
use crate::repository::Repository;
use bstr::BString;
use hedgerow_fs::{Exit, Process};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Asks `program`, a command of the shell. `None` if it fails or prints nothing that can be read.
pub(super) fn ask(repository: &Repository, program: &Path, token: Option<&[u8]>) -> Option<Heard> {
    // Before the program is asked: what changes meanwhile is told the next time.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let now = now.as_nanos().to_string().into_bytes();
    let token = token.map_or_else(|| now.clone(), <[u8]>::to_vec);
    let version = repository.config().integer("core.fsmonitorHookVersion");
    let version = version.ok().flatten();
    if version != Some(1) {
        let heard = run(repository, program, "2", &token).and_then(|answer| parse(&answer));
        if heard.is_some() || version == Some(2) {
            return heard;
        }
    }
    let answer = run(repository, program, "1", &token)?;
    parse(&[&now, &b"\0"[..], &answer].concat())
}

/// What the program prints, if it ends well.
fn run(repository: &Repository, program: &Path, version: &str, token: &[u8]) -> Option<Vec<u8>> {
    let script = [program.as_os_str().as_bytes(), b" \"$@\""].concat();
    let words: [&[u8]; 5] = [b"-c", &script, b"fsmonitor", version.as_bytes(), token];
    let process = Process {
        program: "/bin/sh".into(),
        arguments: words
            .map(|word| OsString::from(std::ffi::OsStr::from_bytes(word)))
            .into(),
        directory: repository.work_tree().map(Path::to_owned),
        variables: repository.child_variables(),
        output_to_error: false,
        ..Process::default()
    };
    let mut answer = BString::default();
    let mut read = |output: &mut dyn Read| {
        let mut output = output.take(ANSWER_LIMIT_BYTES + 1);
        output.read_to_end(&mut answer)?;
        Ok(())
    };
    let outcome = process.ask(b"", &mut read).ok()?;
    let is_whole = answer.len() as u64 <= ANSWER_LIMIT_BYTES;
    (outcome.exit == Exit::Status(0) && is_whole).then(|| answer.into())
}
