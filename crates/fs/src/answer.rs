use crate::descriptors::obtain;
use crate::threads::start_scoped;
use crate::{Error, Exit, Process, Result};
use std::io::{Read, Write};
use std::process::{Child, Stdio};

/// Maximum number of bytes kept of a program's standard error.
const MESSAGES_BYTES: u64 = 64 << 10;

/// Result of running a program with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How it ended.
    pub exit: Exit,
    /// Its standard error output, the first 64 KiB.
    pub messages: Vec<u8>,
}

impl Process {
    /// Runs it with `question` as its standard input, passes its standard output to `read`, and
    /// waits for its end. If `read` fails or does not read everything, the program is killed.
    ///
    /// Fails if it cannot be started, or with the error of `read`.
    pub fn ask(
        &self,
        question: &[u8],
        read: &mut dyn FnMut(&mut dyn Read) -> std::io::Result<()>,
    ) -> Result<Answer> {
        let failed = |source: std::io::Error| Error::new("run", &self.program, source);
        let mut command = self.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = obtain(|| command.spawn()).map_err(failed)?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let errors = child.stderr.take();
        let (outcome, messages) = std::thread::scope(|scope| {
            let asking = start_scoped(scope, "ask", move || {
                // The program need not read all of its input.
                let _ = input.map(|mut input| input.write_all(question));
            });
            let hear = move || errors.map(first_bytes).unwrap_or_default();
            let hearing = start_scoped(scope, "hear", hear);
            // Without these threads, both processes could wait for each other forever.
            let (outcome, hearing) = match (asking, hearing) {
                (Ok(_), Ok(hearing)) => {
                    let outcome = output.map_or(Ok(()), |mut output| read(&mut output));
                    let outcome = outcome.map_err(failed);
                    (outcome, Some(hearing))
                }
                (Err(error), hearing) => (Err(error), hearing.ok()),
                (_, Err(error)) => (Err(error), None),
            };
            if outcome.is_err() {
                // It may already have exited.
                let _ = child.kill();
            }
            let messages = hearing.and_then(|thread| thread.join().ok());
            (outcome, messages.unwrap_or_default())
        });
        let exit = wait(child).map_err(failed)?;
        outcome?;
        Ok(Answer { exit, messages })
    }

    /// Runs it with nothing to read. Also returns its standard output, no more than `limit_bytes` of it;
    /// it may end before it has written the rest.
    pub fn output(&self, limit_bytes: u64) -> Result<(Vec<u8>, Answer)> {
        let mut text = Vec::new();
        let answer = self.ask(b"", &mut |output| {
            let mut limited = Read::take(output, limit_bytes);
            limited.read_to_end(&mut text).map(drop)
        })?;
        Ok((text, answer))
    }
}

/// The first bytes of a stream, which is read to its end.
fn first_bytes(mut stream: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Read errors are ignored: the bytes are only for display.
    let _ = stream.by_ref().take(MESSAGES_BYTES).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
    bytes
}

fn wait(mut child: Child) -> std::io::Result<Exit> {
    Ok(Exit::of(child.wait()?))
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
    fn question_and_answer_of_any_size_pass_each_other() {
        let question = vec![b'x'; 1 << 20];
        let mut answer = Vec::new();
        let ended = shell("echo words >&2; cat; exit 3")
            .ask(&question, &mut |output| {
                output.read_to_end(&mut answer).map(drop)
            })
            .unwrap();
        assert_eq!(answer, question);
        assert_eq!(ended.exit, Exit::Status(3));
        assert_eq!(ended.messages, b"words\n");
    }

    #[test]
    fn output_ends_at_its_limit() {
        let (text, ended) = shell("echo words; exit 3").output(3).unwrap();
        assert_eq!((&text[..], ended.exit), (&b"wor"[..], Exit::Status(3)));
        let (text, _) = shell("yes").output(1000).unwrap();
        assert_eq!(text.len(), 1000);
    }

    #[test]
    fn a_program_that_does_not_read_is_no_error() {
        let ended = shell("exec <&-; exit 0").ask(&vec![0; 1 << 20], &mut |_| Ok(()));
        assert_eq!(ended.unwrap().exit, Exit::Status(0));
    }

    #[test]
    fn it_is_killed_when_nobody_listens() {
        let fails = &mut |_: &mut dyn Read| Err(std::io::Error::other("enough"));
        let error = shell("exec sleep 1000").ask(b"", fails).unwrap_err();
        assert_eq!(error.to_string(), "cannot run '/bin/sh': enough");
    }
}
