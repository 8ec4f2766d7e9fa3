use crate::descriptors::{obtain, restore_limit_for};
use crate::interrupt::{caught_signal, wait};
use crate::threads::start;
use crate::{Error, InputBefore, Result, StandardInput};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program to run to its end, with this process's standard streams.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The program: a path, or a name looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments, without the program itself.
    pub arguments: Vec<OsString>,
    /// The directory it starts in; this process's own if `None`.
    pub directory: Option<PathBuf>,
    /// Variables to set in addition to the inherited environment, or to remove if `None`.
    pub variables: Vec<(OsString, Option<OsString>)>,
    /// Whether its standard output goes to standard error.
    pub output_to_error: bool,
    /// It is killed when the thread that started it ends, however that comes, and gets the signal by which
    /// the user interrupts this process. What it started and left running is waited for then, too: no two
    /// of these run at a time.
    pub ends_with_us: bool,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this status.
    Status(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Process {
    /// Runs it and waits for its end. A failure to start it is an error. A file that is no program for
    /// the kernel is run by the shell, as execvp(3) does.
    pub fn run(&self) -> Result<Exit> {
        let failed = |source| Error::new("run", &self.program, source);
        let _reaper = self.ends_with_us.then(Reaper::begin);
        let mut child = self.start(None)?;
        self.end(&mut child).map_err(failed)
    }

    /// Starts it; with `input` as its standard input, if that is not that of this process.
    fn start(&self, input: Option<fn() -> Stdio>) -> Result<Child> {
        let spawn = |mut command: Command| {
            if self.output_to_error {
                command.stdout(error_stream()?);
            }
            if let Some(input) = input {
                command.stdin(input());
            }
            obtain(|| command.spawn())
        };
        let started = match spawn(self.command()) {
            Err(error) if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
                spawn(self.as_script().command())
            }
            started => started,
        };
        started.map_err(|source| Error::new("run", &self.program, source))
    }

    /// The shell that reads this file.
    fn as_script(&self) -> Process {
        let file = self.program.clone().into_os_string();
        Process {
            program: "/bin/sh".into(),
            arguments: [&[file], &self.arguments[..]].concat(),
            ..self.clone()
        }
    }

    /// Waits for the end of `child`, which is this program.
    fn end(&self, child: &mut Child) -> std::io::Result<Exit> {
        if self.ends_with_us {
            pass_interruption_on(child);
        }
        let exit = Exit::of(child.wait()?);
        if self.ends_with_us && caught_signal().is_some() {
            wait_for_descendants();
        }
        Ok(exit)
    }

    /// Runs it with `input` as its standard input and waits for its end. It need not read all of
    /// it.
    pub fn run_with_input(&self, input: &[u8]) -> Result<Exit> {
        let failed = |source| Error::new("run", &self.program, source);
        // To find nothing to read, there need not be a pipe: git, too, gives its hooks none then.
        let stream: fn() -> Stdio = if input.is_empty() {
            Stdio::null
        } else {
            Stdio::piped
        };
        let mut child = self.start(Some(stream))?;
        if let Some(mut pipe) = child.stdin.take() {
            match pipe.write_all(input) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
        Ok(Exit::of(child.wait().map_err(failed)?))
    }

    /// Runs it and waits for its end. Its standard input is `before` and then the rest of that of this
    /// process, unless there is none; it need not read all of it.
    pub fn run_after(&self, before: InputBefore) -> Result<Exit> {
        let failed = |source| Error::new("run", &self.program, source);
        let _reaper = self.ends_with_us.then(Reaper::begin);
        let mut child = self.start(Some(Stdio::piped))?;
        let pipe = child.stdin.take();
        // It may wait for the input for longer than the program lives.
        let feeding = start("feed", move || {
            pipe.map(|mut pipe| pass_on(before, &mut pipe))
        });
        if let Err(error) = feeding {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        self.end(&mut child).map_err(failed)
    }

    /// Becomes the program: it has this process's identity, and nothing of this process goes on.
    /// Returns only the reason why that failed.
    pub fn replace(&self) -> Error {
        use std::os::unix::process::CommandExt;
        Error::new("run", &self.program, self.command().exec())
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        restore_limit_for(&mut command);
        if self.ends_with_us {
            end_with_us(&mut command);
        }
        command.args(&self.arguments);
        if let Some(directory) = &self.directory {
            start_in(&mut command, directory);
        }
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

impl Exit {
    pub(crate) fn of(status: std::process::ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Status(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        }
    }
}

/// Has it start in `directory`. If that is the current one, it is inherited: where this process may be,
/// but could not enter, like a superuser's own directory, is no place to change to.
pub(crate) fn start_in(command: &mut Command, directory: &Path) {
    if !std::env::current_dir().is_ok_and(|here| here == directory) {
        command.current_dir(directory);
    }
}

/// Writes `before` and the rest of the standard input, as it comes.
fn pass_on(before: InputBefore, pipe: &mut impl Write) -> std::io::Result<()> {
    pipe.write_all(&before.bytes)?;
    if !before.is_all {
        std::io::copy(&mut StandardInput, pipe)?;
    }
    Ok(())
}

/// Has the kernel kill it when the starting thread ends, as if it had been killed with this process. At
/// SIGTERM, git would delete what it has made, by its path: when this process is gone, others may have
/// put something there.
#[allow(unsafe_code)]
fn end_with_us(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // It may have ended before the call.
        match rustix::process::getppid() == Some(parent) {
            true => Ok(()),
            false => Err(rustix::io::Errno::SRCH.into()),
        }
    };
    // SAFETY: only calls of the system, which are safe after a fork.
    unsafe { command.pre_exec(prepare) };
}

/// How long a program may take to end after a signal. Git cleans up in the handler, where it may wait
/// for itself forever.
const TIME_TO_END: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};

/// Waits for the end of a program, or until this process is interrupted; then the program gets the same
/// signal, and SIGKILL if it does not obey. Where the system has no descriptors of processes, it does
/// nothing.
fn pass_interruption_on(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    let Ok(ended) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return;
    };
    if wait(ended.as_fd(), PollFlags::IN).is_ok() {
        return;
    }
    let signal = caught_signal().and_then(rustix::process::Signal::from_named_raw);
    let Some(signal) = signal else {
        return;
    };
    // It may be over already.
    let _ = rustix::process::pidfd_send_signal(&ended, signal);
    let mut end = [PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN)];
    // Signals that come meanwhile end this process.
    if poll(&mut end, Some(&TIME_TO_END)) == Ok(0) {
        let _ = rustix::process::pidfd_send_signal(&ended, rustix::process::Signal::KILL);
    }
}

/// While it lives, the kernel gives this process the descendants whose parents end. Where it cannot,
/// none of them is waited for.
struct Reaper {
    was_reaper: bool,
}

impl Reaper {
    fn begin() -> Reaper {
        let was_reaper = matches!(rustix::process::child_subreaper(), Ok(Some(_)));
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Reaper { was_reaper }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        if !self.was_reaper {
            let _ = rustix::process::set_child_subreaper(None);
        }
    }
}

/// Waits, but not for long, for what a program left running in this process group: the kernel gave it
/// to this process. It may have been started in the moment of the signal, and writes files until it
/// finds its input closed.
fn wait_for_descendants() {
    use rustix::process::{waitid, WaitId, WaitIdOptions};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let deadline = Instant::now() + Duration::from_secs(TIME_TO_END.tv_sec.unsigned_abs());
    while Instant::now() < deadline {
        match waitid(WaitId::Pgid(None), options) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(_) => return,
        }
    }
}

/// The standard error of this process. The program gets it under the number that it is to have, and no
/// other: who reads to its end must not wait for what the program left running with its streams closed.
fn error_stream() -> std::io::Result<Stdio> {
    let own = rustix::stdio::stderr();
    let copy = obtain(|| Ok(rustix::io::fcntl_dupfd_cloexec(own, 0)?));
    copy.map(Stdio::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        Process {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            ..Process::default()
        }
    }

    #[test]
    fn the_end_of_a_program_is_told() {
        assert_eq!(shell("exit 3").run().unwrap(), Exit::Status(3));
        assert_eq!(shell("kill -9 $$").run().unwrap(), Exit::Signal(9));
        let missing = Process {
            program: "/nonexistent/program".into(),
            ..Process::default()
        };
        let error = missing.run().unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot run '/nonexistent/program': No such file or directory"
        );
    }

    #[test]
    fn a_file_that_is_no_program_is_read_by_the_shell() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        std::fs::write(&script, "test \"$1 $(cat)\" = 'word input' && exit 5\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let process = Process {
            program: script,
            arguments: vec!["word".into()],
            ..Process::default()
        };
        assert_eq!(process.run_with_input(b"input").unwrap(), Exit::Status(5));
    }

    #[test]
    fn it_gets_no_other_descriptor() {
        let directory = tempfile::tempdir().unwrap();
        let descriptors = |output_to_error| {
            let mut process = shell("ls /proc/self/fd > list");
            process.directory = Some(directory.path().to_owned());
            process.output_to_error = output_to_error;
            assert_eq!(process.run_with_input(b"").unwrap(), Exit::Status(0));
            std::fs::read_to_string(directory.path().join("list")).unwrap()
        };
        assert_eq!(descriptors(true), descriptors(false));
    }

    #[test]
    fn input_reaches_it_as_far_as_it_reads() {
        let read = shell("test \"$(cat)\" = words");
        assert_eq!(read.run_with_input(b"words").unwrap(), Exit::Status(0));
        let deaf = shell("exit 4");
        let input = vec![b'x'; 1 << 20];
        assert_eq!(deaf.run_with_input(&input).unwrap(), Exit::Status(4));
    }

    #[test]
    fn input_that_was_read_comes_first() {
        let before = || InputBefore {
            bytes: b"words".to_vec(),
            is_all: true,
        };
        let read = shell("test \"$(cat)\" = words");
        assert_eq!(read.run_after(before()).unwrap(), Exit::Status(0));
        let deaf = shell("kill -9 $$");
        assert_eq!(deaf.run_after(before()).unwrap(), Exit::Signal(9));
    }

    #[test]
    fn directory_and_variables_reach_it() {
        let mut process =
            shell("test \"$PWD\" = / && test \"$HEDGEROW_TEST\" = yes && test -z \"$HOME\"");
        process.directory = Some("/".into());
        process.variables = vec![
            ("HEDGEROW_TEST".into(), Some("yes".into())),
            ("HOME".into(), None),
        ];
        process.output_to_error = true;
        assert_eq!(process.run().unwrap(), Exit::Status(0));
    }
}
