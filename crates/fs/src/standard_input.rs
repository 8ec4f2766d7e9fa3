use crate::fault::{self, Op};
use crate::interrupt;
use crate::StandardOutput;
use rustix::event::PollFlags;
use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

/// What is remembered of the standard input, at most, in bytes. Of a file it is only the position.
const REMEMBERED_BYTES: usize = 16 << 20;

static TAKEN: Mutex<Taken> = Mutex::new(Taken::Nothing);

/// What was read.
#[derive(Debug, PartialEq, Eq)]
enum Taken {
    /// Nothing, and what will be is not remembered.
    Nothing,
    /// So many bytes of a file, whose position can be set back.
    OfFile(u64),
    /// These bytes, and whether they were all.
    Bytes(Vec<u8>, bool),
    /// Something that nobody can give back.
    Lost,
}

/// The standard input of the process, unbuffered. An interruption ends a wait for input.
#[derive(Debug, Default)]
pub struct StandardInput;

/// What was read of the standard input, for another program that is to read it from the beginning.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct InputBefore {
    /// The bytes that the standard input does not give any more.
    pub bytes: Vec<u8>,
    /// Whether there is nothing after them.
    pub is_all: bool,
}

impl StandardInput {
    /// Remembers from now on what is read, until something is written to the standard output.
    pub fn remember() {
        let stat = rustix::fs::fstat(rustix::stdio::stdin());
        let is_file = |mode| FileType::from_raw_mode(mode) == FileType::RegularFile;
        *taken() = match stat {
            Ok(stat) if is_file(stat.st_mode) => Taken::OfFile(0),
            _ => Taken::Bytes(Vec::new(), false),
        };
    }

    /// What was read, which is then forgotten. A file is set back to where it was instead. None if that
    /// cannot be known any more.
    pub fn give_back() -> Option<InputBefore> {
        match std::mem::replace(&mut *taken(), Taken::Lost) {
            Taken::Nothing | Taken::OfFile(0) => Some(InputBefore::default()),
            Taken::OfFile(count) => {
                let back = SeekFrom::Current(i64::try_from(count).ok()?.checked_neg()?);
                let is_back = rustix::fs::seek(rustix::stdio::stdin(), back).is_ok();
                is_back.then(InputBefore::default)
            }
            Taken::Bytes(bytes, is_all) => Some(InputBefore { bytes, is_all }),
            Taken::Lost => None,
        }
    }

    /// Something else is going to read.
    pub(crate) fn lose() {
        *taken() = Taken::Lost;
    }
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = rustix::stdio::stdin();
        loop {
            fault::check(Op::Read)?;
            interrupt::wait(input, PollFlags::IN)?;
            match rustix::io::read(input, &mut *buffer) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(count) => {
                    taken().add(buffer.get(..count).unwrap_or_default());
                    return Ok(count);
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Taken {
    /// Remembers what was read; nothing is the end.
    fn add(&mut self, read: &[u8]) {
        match self {
            _ if StandardOutput::was_written() => *self = Taken::Lost,
            Taken::OfFile(count) => *count += read.len() as u64,
            Taken::Bytes(bytes, _) if bytes.len() + read.len() > REMEMBERED_BYTES => {
                *self = Taken::Lost;
            }
            Taken::Bytes(bytes, is_all) => {
                bytes.extend_from_slice(read);
                *is_all = read.is_empty();
            }
            Taken::Nothing | Taken::Lost => *self = Taken::Lost,
        }
    }
}

fn taken() -> std::sync::MutexGuard<'static, Taken> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_remembered_up_to_a_limit() {
        let mut taken = Taken::Bytes(Vec::new(), false);
        taken.add(b"one\n");
        taken.add(b"two");
        assert_eq!(taken, Taken::Bytes(b"one\ntwo".to_vec(), false));
        taken.add(b"");
        assert_eq!(taken, Taken::Bytes(b"one\ntwo".to_vec(), true));
        taken.add(&vec![0; REMEMBERED_BYTES]);
        assert_eq!(taken, Taken::Lost);
        let mut taken = Taken::OfFile(0);
        taken.add(b"one\n");
        assert_eq!(taken, Taken::OfFile(4));
        let mut taken = Taken::Nothing;
        taken.add(b"one\n");
        assert_eq!(taken, Taken::Lost);
    }
}
