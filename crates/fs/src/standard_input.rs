use crate::fault::{self, Op};
use crate::interrupt;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

static WAS_READ: AtomicBool = AtomicBool::new(false);

/// The standard input of the process, unbuffered. An interruption ends a wait for input.
#[derive(Debug, Default)]
pub struct StandardInput;

impl StandardInput {
    /// Whether reading was begun.
    pub fn was_read() -> bool {
        WAS_READ.load(Ordering::SeqCst)
    }
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = rustix::stdio::stdin();
        WAS_READ.store(true, Ordering::SeqCst);
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
