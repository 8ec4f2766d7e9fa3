use crate::fault::{self, Op};
use crate::interrupt;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::io::{self, Read};

/// What the process reads as its standard input, unbuffered. Whoever interrupts need not wait for
/// those who write there.
#[derive(Debug, Default)]
pub struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = rustix::stdio::stdin();
        loop {
            fault::check(Op::Read)?;
            interrupt::wait(input, PollFlags::IN)?;
            match rustix::io::read(input, &mut *buffer) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                read => return Ok(read?),
            }
        }
    }
}
