use crate::fault::{self, Op};
use std::io::{self, Write};

/// What the process writes as its standard output, unbuffered: for those who write large pieces,
/// which the buffer of the standard library would look through for line ends.
#[derive(Debug, Default)]
pub struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::check(Op::Write)?;
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
