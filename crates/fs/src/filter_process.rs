use crate::descriptors::{obtain, restore_limit_for};
use crate::process::start_in;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;

/// A command that reads one stream and writes another.
///
/// One thread moves both streams and never waits for only one of them, so that neither a command
/// that writes before it has read, nor one that never reads, blocks it. Dropping this kills the
/// command and reaps it.
#[derive(Debug)]
pub struct FilterProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    cancel: FilterCancel,
}

/// Ends the waits for filters from another thread: a waiting call returns an error.
#[derive(Clone, Debug)]
pub struct FilterCancel(Arc<OwnedFd>);

/// Result of [`FilterProcess::transfer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// This many bytes came from the command; 0 means the end.
    Read(usize),
    /// This many bytes went to the command. All that was offered, if the command no longer reads.
    Wrote(usize),
}

/// Longest pause between checks whether a command has exited.
const MAX_PAUSE: Duration = Duration::from_millis(20);

impl FilterCancel {
    /// Creates a handle that is not cancelled.
    pub fn new() -> io::Result<FilterCancel> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let descriptor = obtain(|| Ok(eventfd(0, flags)?))?;
        Ok(FilterCancel(Arc::new(descriptor)))
    }

    /// Ends all current and future waits.
    pub fn cancel(&self) -> io::Result<()> {
        rustix::io::write(&*self.0, &1u64.to_ne_bytes())?;
        Ok(())
    }
}

impl FilterProcess {
    /// Runs `command` in `directory`, through the shell if it is more than one word, with the
    /// variables of `environment` set (or unset if there is no value) in addition to this process's
    /// environment. Its standard error is that of this process.
    pub fn spawn(
        command: &OsStr,
        directory: &Path,
        environment: &[(&OsStr, Option<&OsStr>)],
        cancel: FilterCancel,
    ) -> io::Result<FilterProcess> {
        let mut process = if needs_shell(command) {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(command);
            shell
        } else {
            Command::new(command)
        };
        for (name, value) in environment {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        restore_limit_for(&mut process);
        start_in(&mut process, directory);
        process
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = obtain(|| process.spawn())?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = child.stdout.take().ok_or_else(gone)?;
        // Only our ends become non-blocking; the command's ends stay unchanged.
        rustix::io::ioctl_fionbio(&input, true)?;
        rustix::io::ioctl_fionbio(&output, true)?;
        Ok(FilterProcess {
            child,
            input: Some(input),
            output,
            cancel,
        })
    }

    /// Waits until the command accepts some of `outgoing` or has output, and transfers one of the
    /// two.
    ///
    /// # Errors
    /// The system's errors, and the kind `Interrupted` after [`FilterCancel::cancel`].
    pub fn transfer(&mut self, outgoing: &[u8], incoming: &mut [u8]) -> io::Result<Transfer> {
        loop {
            let input = self.input.as_ref().filter(|_| !outgoing.is_empty());
            let mut waiting = vec![
                PollFd::new(&*self.cancel.0, PollFlags::IN),
                PollFd::new(&self.output, PollFlags::IN),
            ];
            waiting.extend(input.map(|input| PollFd::new(input, PollFlags::OUT)));
            match poll(&mut waiting, None) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            let is_ready = |at: usize| waiting.get(at).is_some_and(|fd| !fd.revents().is_empty());
            let (cancelled, readable, writable) = (is_ready(0), is_ready(1), is_ready(2));
            if cancelled {
                return Err(cancelled_error());
            }
            let outcome = if readable {
                self.output.read(incoming).map(Transfer::Read)
            } else if writable {
                self.write(outgoing)
            } else {
                continue;
            };
            match outcome {
                Err(error) if is_temporary(&error) => {}
                outcome => return outcome,
            }
        }
    }

    fn write(&mut self, outgoing: &[u8]) -> io::Result<Transfer> {
        let Some(input) = &mut self.input else {
            return Ok(Transfer::Wrote(outgoing.len()));
        };
        match input.write(outgoing) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.input = None;
                Ok(Transfer::Wrote(outgoing.len()))
            }
            outcome => outcome.map(Transfer::Wrote),
        }
    }

    /// Whether the command still reads, as far as writes have shown.
    pub fn is_reading(&self) -> bool {
        self.input.is_some()
    }

    /// Closes the command's standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Closes its standard input, and waits for its end: `None` if it exited with 0, else the exit
    /// code as git counts it (128 plus the number of the signal that ended it).
    ///
    /// # Errors
    /// The kind `Interrupted` after [`FilterCancel::cancel`].
    pub fn wait(&mut self) -> io::Result<Option<i32>> {
        self.input = None;
        let mut pause = Duration::from_micros(100);
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let mut waiting = [PollFd::new(&*self.cancel.0, PollFlags::IN)];
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: i64::from(pause.subsec_nanos()),
            };
            match poll(&mut waiting, Some(&timeout)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Err(cancelled_error()),
                Err(error) => return Err(error.into()),
            }
            pause = (pause * 2).min(MAX_PAUSE);
        };
        let code = match status.code() {
            Some(code) => code,
            None => 128 + status.signal().unwrap_or(0),
        };
        Ok((code != 0).then_some(code))
    }
}

impl Drop for FilterProcess {
    fn drop(&mut self) {
        // Both fail only if it was already reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cancelled_error() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "cancelled")
}

fn is_temporary(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    matches!(error.kind(), Interrupted | WouldBlock)
}

/// Whether the command needs the shell. A single word without special characters does not, which
/// saves a process.
fn needs_shell(command: &OsStr) -> bool {
    let special = b"|&;<>()$`\\\"' \t\n*?[#~=%!{}";
    command
        .as_encoded_bytes()
        .iter()
        .any(|byte| special.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spawn(command: &str) -> FilterProcess {
        let cancel = FilterCancel::new().unwrap();
        FilterProcess::spawn(OsStr::new(command), Path::new("/"), &[], cancel).unwrap()
    }

    fn run(process: &mut FilterProcess, mut outgoing: &[u8]) -> io::Result<Vec<u8>> {
        let mut buffer = [0; 4096];
        let mut all = Vec::new();
        loop {
            if outgoing.is_empty() {
                process.close_input();
            }
            match process.transfer(outgoing, &mut buffer)? {
                Transfer::Read(0) => return Ok(all),
                Transfer::Read(count) => all.extend_from_slice(&buffer[..count]),
                Transfer::Wrote(count) => outgoing = &outgoing[count..],
            }
        }
    }

    #[test]
    fn a_command_gets_input_environment_and_directory() {
        let environment = [(OsStr::new("HEDGEROW_TEST"), Some(OsStr::new("yes")))];
        let command = OsStr::new("tr a b; echo $HEDGEROW_TEST; pwd; exit 3");
        let cancel = FilterCancel::new().unwrap();
        let mut process =
            FilterProcess::spawn(command, Path::new("/"), &environment, cancel).unwrap();
        assert_eq!(run(&mut process, b"banana\n").unwrap(), b"bbnbnb\nyes\n/\n");
        assert_eq!(process.wait().unwrap(), Some(3));
    }

    #[test]
    fn more_than_a_pipe_holds_goes_through_both_ways() {
        let content: Vec<u8> = (0..3_000_000u32).map(|at| at as u8).collect();
        let mut process = spawn("cat");
        assert!(run(&mut process, &content).unwrap() == content);
        assert_eq!(process.wait().unwrap(), None);
        // Writes everything before it reads.
        let mut process = spawn("head -c 1000000 /dev/zero; cat >/dev/null");
        assert_eq!(run(&mut process, &content).unwrap().len(), 1_000_000);
        // Never reads.
        let mut process = spawn("echo no; exit 0");
        assert_eq!(run(&mut process, &content).unwrap(), b"no\n");
        assert_eq!(process.wait().unwrap(), None);
    }

    #[test]
    fn the_signal_that_ended_it_is_told() {
        let mut process = spawn("kill -9 $$");
        run(&mut process, b"").unwrap();
        assert_eq!(process.wait().unwrap(), Some(137));
    }

    #[test]
    fn cancelling_ends_the_wait() {
        let cancel = FilterCancel::new().unwrap();
        let command = OsStr::new("exec sleep 1000");
        let mut process =
            FilterProcess::spawn(command, Path::new("/"), &[], cancel.clone()).unwrap();
        let thread = std::thread::spawn(move || run(&mut process, b"").unwrap_err().kind());
        std::thread::sleep(Duration::from_millis(20));
        cancel.cancel().unwrap();
        assert_eq!(thread.join().unwrap(), io::ErrorKind::Interrupted);
    }
}
