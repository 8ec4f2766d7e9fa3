//! Serving in the background.
//!
//! The program starts itself again and exits when the second process has mounted. Forking would be
//! simpler, but is only safe in a process with a single thread, which cannot be guaranteed.

use crate::arguments::AS_DAEMON;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};

const READY: &[u8] = b"mounted\n";

/// Starts the program again with the same arguments; returns when it has mounted or ended.
pub fn start(words: &[OsString]) -> io::Result<ExitCode> {
    // A lock or pipe of the caller must not stay open as long as the mount.
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

/// Tells the caller that the mount is ready, and detaches from its session and terminal.
pub fn say_ready() -> io::Result<()> {
    rustix::process::setsid()?;
    let mut output = io::stdout();
    output.write_all(READY)?;
    output.flush()?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    let null = rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stderr(&null)?;
    // The caller goes on when this one is closed.
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}
