use crate::fault::{self, Op};
use crate::interrupt::wait;
use crate::{Error, ReadFile, Result};
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::FileType;
use rustix::io::{Errno, ReadWriteFlags};
use std::io::{self, IoSlice, Write};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// At most so many bytes are sent at a time: what one call of the kernel takes.
const SENT_BYTES: u64 = 0x7FFF_F000;
/// Of what a file is copied at a time where the kernel does not copy it, in bytes.
const PIECE_BYTES: u64 = 256 << 10;
/// The offset that means "where the file stands".
const HERE: u64 = u64::MAX;

/// The system's number of the first error of writing; 0 if there was none. From then on nothing is
/// written any more, so that no gap hides in what was.
static FAILURE: AtomicI32 = AtomicI32::new(0);
/// Held by whoever writes.
static WRITING: Mutex<()> = Mutex::new(());
static WAS_WRITTEN: AtomicBool = AtomicBool::new(false);
/// Whether descriptor 1 was closed when the process started.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The standard library opens `/dev/null` for a standard stream that is closed, before `main`; so
/// this looks before that.
#[allow(unsafe_code)]
#[used]
#[link_section = ".init_array"]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    if rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF) {
        WAS_CLOSED.store(true, Ordering::Relaxed);
    }
}

/// What the process writes as its standard output, unbuffered. All of it goes through here: the
/// first error is remembered, whoever meets it, and [`StandardOutput::finish`] tells it.
#[derive(Debug, Default)]
pub struct StandardOutput;

impl StandardOutput {
    /// Tells whether all that was written has arrived, as far as the system says by now. That
    /// nobody read all of it, a closed pipe, is no error.
    pub fn finish() -> Result<()> {
        let failed = |source| Err(Error::new("write", "standard output", source));
        let errno = FAILURE.load(Ordering::SeqCst);
        if errno != 0 && errno != Errno::PIPE.raw_os_error() {
            return failed(io::Error::from_raw_os_error(errno));
        }
        if !WAS_WRITTEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        // A network file system tells at closing that there is no room, of a copy as well. Without
        // a descriptor left there is no way to ask.
        let Ok(copy) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3) else {
            return Ok(());
        };
        match fault::check(Op::Close).and_then(|()| crate::dir::close(copy)) {
            Err(source) => failed(source),
            Ok(()) => Ok(()),
        }
    }

    /// Whether it is a terminal.
    pub fn is_terminal() -> bool {
        rustix::termios::isatty(rustix::stdio::stdout())
    }

    /// Writes up to `length` bytes of `file` from `position` on, and returns how many those were:
    /// 0 only if the file ends there. The kernel copies them by itself if it can (`sendfile(2)`).
    pub fn send(&mut self, file: &ReadFile, position: u64, length: u64) -> io::Result<u64> {
        let mut offset = position;
        let count = usize::try_from(length.min(SENT_BYTES)).unwrap_or(usize::MAX);
        match noted(send_some(file, &mut offset, count))? {
            Some(count) => Ok(count),
            None => self.copy(file, position, length),
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

impl AsFd for StandardOutput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        rustix::stdio::stdout()
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        noted(write_some(bytes))
    }

    /// What several threads write stays whole: nothing of another comes in between.
    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        while !bytes.is_empty() {
            let count = noted(write_some(bytes))?;
            bytes = bytes.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Remembers the first error.
fn noted<T>(written: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &written {
        let errno = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
        let _ = FAILURE.compare_exchange(0, errno, Ordering::SeqCst, Ordering::SeqCst);
    }
    written
}

/// Fails where nothing can be written any more.
fn check() -> io::Result<()> {
    let errno = FAILURE.load(Ordering::SeqCst);
    if errno != 0 {
        return Err(io::Error::from_raw_os_error(errno));
    }
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(Errno::BADF.into());
    }
    WAS_WRITTEN.store(true, Ordering::SeqCst);
    fault::check(Op::Write)
}

/// `None` if the kernel cannot send it.
fn send_some(file: &ReadFile, offset: &mut u64, count: usize) -> io::Result<Option<u64>> {
    check()?;
    loop {
        match rustix::fs::sendfile(rustix::stdio::stdout(), file, Some(offset), count) {
            Ok(count) => return Ok(Some(count as u64)),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(rustix::stdio::stdout(), PollFlags::OUT)?,
            // Of some files and to some outputs, as one that is appended to.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn write_some(bytes: &[u8]) -> io::Result<usize> {
    check()?;
    let mut never_blocks = is_pipe();
    loop {
        let output = rustix::stdio::stdout();
        let written = if never_blocks {
            let bytes = [IoSlice::new(bytes)];
            rustix::io::pwritev2(output, &bytes, HERE, ReadWriteFlags::NOWAIT)
        } else {
            rustix::io::write(output, bytes)
        };
        match written {
            Ok(0) if !bytes.is_empty() => return Err(Errno::IO.into()),
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            // It is full, and whoever reads takes their time.
            Err(Errno::AGAIN) => wait(rustix::stdio::stdout(), PollFlags::OUT)?,
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) if never_blocks => {
                never_blocks = false;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Whether it is a pipe, into which a write can be made that does not wait: so an interruption is
/// noticed although nobody reads.
fn is_pipe() -> bool {
    static IS_PIPE: OnceLock<bool> = OnceLock::new();
    *IS_PIPE.get_or_init(|| {
        let stat = rustix::fs::fstat(rustix::stdio::stdout());
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
    })
}
