use crate::fault::{self, Op};
use crate::ReadFile;
use rustix::io::Errno;
use std::io::{self, Write};

/// At most so many bytes are sent at a time: what one call of the kernel takes.
const SENT_BYTES: u64 = 0x7FFF_F000;
/// Of what a file is copied at a time where the kernel does not copy it, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// What the process writes as its standard output, unbuffered: for those who write large pieces,
/// which the buffer of the standard library would look through for line ends.
#[derive(Debug, Default)]
pub struct StandardOutput;

impl StandardOutput {
    /// Writes up to `length` bytes of `file` from `position` on, and returns how many those were:
    /// 0 only if the file ends there. The kernel copies them by itself if it can (`sendfile(2)`).
    pub fn send(&mut self, file: &ReadFile, position: u64, length: u64) -> io::Result<u64> {
        fault::check(Op::Write)?;
        let mut offset = position;
        let count = usize::try_from(length.min(SENT_BYTES)).unwrap_or(usize::MAX);
        loop {
            let output = rustix::stdio::stdout();
            match rustix::fs::sendfile(output, file, Some(&mut offset), count) {
                Ok(count) => return Ok(count as u64),
                Err(Errno::INTR) => {}
                // Of some files and to some outputs, as one that is appended to.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    return self.copy(file, position, length)
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn copy(&mut self, file: &ReadFile, position: u64, length: u64) -> io::Result<u64> {
        let mut buffer = vec![0; length.min(PIECE_BYTES) as usize];
        let count = file.read_at(&mut buffer, position);
        let count = count.map_err(|error| error.source)?;
        self.write_all(buffer.get(..count).unwrap_or_default())?;
        Ok(count as u64)
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::check(Op::Write)?;
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
