//! Git's own monitor: a process that listens at a socket in the Git directory. The protocol:
//! `api-simple-ipc`, "Simple-IPC protocol", and `git-fsmonitor--daemon(1)`. A message is a sequence
//! of pkt-lines that a flush packet ends; the question is a token.

use super::{parse, Heard, ANSWER_LIMIT_BYTES};
use crate::repository::Repository;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

const SOCKET: &str = "fsmonitor--daemon.ipc";
/// A token that no daemon gave: the answer has one.
const NO_TOKEN: &[u8] = b"builtin:fake";
/// How long a daemon may be silent before the files are looked at instead.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an answer may take in all.
const LONGEST: Duration = Duration::from_secs(10);
/// The most that a pkt-line holds besides its length, in bytes.
const LINE_BYTES: usize = 65516;

/// Asks the daemon of the working tree. `None` if none runs there: it is Git that starts it.
pub(super) fn ask(repository: &Repository, token: Option<&[u8]>) -> Option<Heard> {
    let path = repository.git_dir().join(SOCKET);
    let mut stream = hedgerow_fs::connect_local(&path, PATIENCE).ok()?;
    let answer = exchange(&mut stream, token.unwrap_or(NO_TOKEN)).ok()?;
    parse(&answer)
}

fn exchange(stream: &mut (impl Read + Write), question: &[u8]) -> io::Result<Vec<u8>> {
    let mut message = Vec::with_capacity(question.len() + 8);
    for part in question.chunks(LINE_BYTES) {
        message.extend_from_slice(format!("{:04x}", part.len() + 4).as_bytes());
        message.extend_from_slice(part);
    }
    message.extend_from_slice(b"0000");
    stream.write_all(&message)?;
    stream.flush()?;
    let mut answer = Vec::new();
    let started = Instant::now();
    loop {
        if started.elapsed() > LONGEST {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        match line_length(length)? {
            0 => return Ok(answer),
            length if (answer.len() + length) as u64 > ANSWER_LIMIT_BYTES => {
                return Err(invalid("the answer is too long"));
            }
            length => {
                let start = answer.len();
                answer.resize(start + length, 0);
                stream.read_exact(&mut answer[start..])?;
            }
        }
    }
}

/// The number of bytes that follow the length of a pkt-line; 0 for a flush packet.
fn line_length(digits: [u8; 4]) -> io::Result<usize> {
    let text = std::str::from_utf8(&digits).map_err(|_| invalid("not a pkt-line"))?;
    match usize::from_str_radix(text, 16) {
        Ok(0) => Ok(0),
        Ok(length) if length > 4 && !text.starts_with('+') => Ok(length - 4),
        _ => Err(invalid("not a pkt-line")),
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Server(Vec<u8>, io::Cursor<Vec<u8>>);

    impl Read for Server {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1.read(buffer)
        }
    }

    impl Write for Server {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn asked(answer: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut server = Server(Vec::new(), io::Cursor::new(answer.to_vec()));
        let answer = exchange(&mut server, b"token").ok();
        (server.0, answer)
    }

    #[test]
    fn a_question_and_its_answer_are_pkt_lines() {
        let (question, answer) = asked(b"0006t\x000007a/b0005\x000000");
        assert_eq!(question, b"0009token0000");
        assert_eq!(answer.as_deref(), Some(&b"t\0a/b\0"[..]));
        assert_eq!(asked(b"0000").1.as_deref(), Some(&b""[..]));
        for broken in [
            &b""[..],
            b"0006t",
            b"0001",
            b"0004",
            b"+005a0000",
            b"zzzz",
            b"0005a",
        ] {
            assert_eq!(asked(broken).1, None, "{broken:?}");
        }
    }
}
