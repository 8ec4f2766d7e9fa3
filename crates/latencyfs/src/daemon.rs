//! Serving in the background.
//!
//! The program starts itself again and leaves when the second one has mounted. Forking would be
//! shorter, but a fork may only be made by a process of one thread, which none can promise.

use crate::arguments::AS_DAEMON;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};

const READY: &[u8] = b"mounted\n";

/// Starts the program again with the same words; returns when it has mounted or ended.
pub fn start(words: &[OsString]) -> io::Result<ExitCode> {
    // A caller's lock or pipe must not stay open for as long as the mount.
    hedgerow_fs::close_inherited_descriptors_on_exec().map_err(io::Error::other)?;
    let mut child = Command::new("/proc/self/exe")
        .arg(AS_DAEMON)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_end(&mut said)?;
    }
    if said == READY {
        return Ok(ExitCode::SUCCESS);
    }
    child.wait()?; // it has said why
    Ok(ExitCode::FAILURE)
}

/// Tells the caller that it is mounted, and leaves its session and its terminal.
pub fn say_ready() -> io::Result<()> {
    rustix::process::setsid()?;
    let mut output = io::stdout();
    output.write_all(READY)?;
    output.flush()?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    let null = rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
