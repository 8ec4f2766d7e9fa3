use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A command that reads one stream and writes another, run by the shell.
///
/// Dropping it kills and reaps it.
#[derive(Debug)]
pub struct FilterProcess {
    child: Child,
}

/// Where a filter reads from. Closed when dropped. Writing to a filter that is gone is an error
/// of kind `BrokenPipe`.
#[derive(Debug)]
pub struct FilterInput(ChildStdin);

/// What a filter writes.
#[derive(Debug)]
pub struct FilterOutput(ChildStdout);

impl FilterProcess {
    /// Runs `sh -c command` in `directory`, with `environment` set (or unset, where it has no
    /// value) on top of that of this process. Its messages go where ours go.
    pub fn spawn(
        command: &OsStr,
        directory: &Path,
        environment: &[(&OsStr, Option<&OsStr>)],
    ) -> io::Result<(FilterProcess, FilterInput, FilterOutput)> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command).current_dir(directory);
        for (name, value) in environment {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let mut child = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = child.stdout.take().ok_or_else(gone)?;
        Ok((
            FilterProcess { child },
            FilterInput(input),
            FilterOutput(output),
        ))
    }

    /// Waits for the end: `None` if it exited with 0, else the code, by git's count (128 and the
    /// number of the signal that ended it).
    pub fn wait(&mut self) -> io::Result<Option<i32>> {
        let status = self.child.wait()?;
        let code = match status.code() {
            Some(code) => code,
            None => 128 + status.signal().unwrap_or(0),
        };
        Ok((code != 0).then_some(code))
    }

    /// Ends it at once. Dropping reaps it.
    pub fn kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }
}

impl Drop for FilterProcess {
    fn drop(&mut self) {
        // Both fail only when it was reaped before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Write for FilterInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Read for FilterOutput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_input_environment_and_directory() {
        let environment = [
            (OsStr::new("HEDGEROW_TEST"), Some(OsStr::new("yes"))),
            (OsStr::new("PATH_OF_NOBODY"), None),
        ];
        let command = OsStr::new("tr a b; echo $HEDGEROW_TEST; pwd; exit 3");
        let (mut process, mut input, mut output) =
            FilterProcess::spawn(command, Path::new("/"), &environment).unwrap();
        input.write_all(b"banana\n").unwrap();
        drop(input);
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert_eq!(text, "bbnbnb\nyes\n/\n");
        assert_eq!(process.wait().unwrap(), Some(3));
    }

    #[test]
    fn dropping_ends_it() {
        let (process, input, mut output) =
            FilterProcess::spawn(OsStr::new("exec sleep 1000"), Path::new("/"), &[]).unwrap();
        drop(process);
        let mut text = Vec::new();
        output.read_to_end(&mut text).unwrap();
        drop(input);
        assert_eq!(text, b"");
    }
}
