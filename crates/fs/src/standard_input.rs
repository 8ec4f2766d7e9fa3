use crate::fault::{self, Op};
use crate::interrupt;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::io::{self, Read};

/// The standard input of the process, unbuffered. An interruption ends a wait for input.
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
