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

/// Maximum number of bytes sent at a time: the limit of one system call.
const SENT_BYTES: u64 = 0x7FFF_F000;
/// Size of the pieces in which a file is copied if the kernel does not copy it, in bytes.
const PIECE_BYTES: u64 = 256 << 10;
/// The offset that means "at the current position".
const HERE: u64 = u64::MAX;

/// The error number of the first write error; 0 if there was none. After an error nothing more is
/// written, so that the output has no gap.
static FAILURE: AtomicI32 = AtomicI32::new(0);
/// Held while writing.
static WRITING: Mutex<()> = Mutex::new(());
static WAS_WRITTEN: AtomicBool = AtomicBool::new(false);
/// Whether descriptor 1 was closed when the process started.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The standard library opens `/dev/null` for a closed standard stream before `main`; so this check
/// runs even earlier.
#[allow(unsafe_code)]
#[used]
#[link_section = ".init_array"]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    if rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF) {
        WAS_CLOSED.store(true, Ordering::Relaxed);
    }
}

/// The standard output of the process, unbuffered. All output goes through this type: the first
/// error in any thread is recorded, and [`StandardOutput::finish`] reports it.
#[derive(Debug, Default)]
pub struct StandardOutput;

impl StandardOutput {
    /// Reports whether everything written has arrived, as far as the system knows. A closed pipe,
    /// whose reader did not want everything, is not an error.
    pub fn finish() -> Result<()> {
        let failed = |source| Err(Error::new("write", "standard output", source));
        let errno = FAILURE.load(Ordering::SeqCst);
        if errno != 0 && errno != Errno::PIPE.raw_os_error() {
            return failed(io::Error::from_raw_os_error(errno));
        }
        if !WAS_WRITTEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        // A network file system reports a full disk only at closing, even for a duplicate
        // descriptor. If no descriptor is left, this cannot be checked.
        let Ok(copy) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3) else {
            return Ok(());
        };
        match fault::check(Op::Close).and_then(|()| crate::dir::close(copy)) {
            Err(source) => failed(source),
            Ok(()) => Ok(()),
        }
    }

    /// Takes a descriptor that was closed for `/dev/null`, which the standard library has opened: as
    /// git does.
    pub fn accept_closed() {
        WAS_CLOSED.store(false, Ordering::Relaxed);
    }

    /// Whether its reader went away before everything was written.
    pub fn has_no_reader() -> bool {
        FAILURE.load(Ordering::SeqCst) == Errno::PIPE.raw_os_error()
    }

    /// Whether something was written, or should have been.
    pub fn was_written() -> bool {
        WAS_WRITTEN.load(Ordering::SeqCst)
    }

    /// Whether it is a terminal.
    pub fn is_terminal() -> bool {
        rustix::termios::isatty(rustix::stdio::stdout())
    }

    /// Writes up to `length` bytes of `file` starting at `position`, and returns the number of
    /// bytes written: 0 only at the end of the file. The kernel copies them directly if it can
    /// (`sendfile(2)`).
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

    /// A write is not interleaved with writes of other threads.
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

/// Records the first error.
fn noted<T>(written: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &written {
        let errno = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
        let _ = FAILURE.compare_exchange(0, errno, Ordering::SeqCst, Ordering::SeqCst);
    }
    written
}

/// Fails after a write error.
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
            // Not supported for some files and outputs, such as one opened for appending.
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
            // The pipe is full because its reader is slow.
            Err(Errno::AGAIN) => wait(rustix::stdio::stdout(), PollFlags::OUT)?,
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) if never_blocks => {
                never_blocks = false;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Whether it is a pipe, which supports writes that do not block: so an interruption is noticed
/// even if nothing reads the pipe.
fn is_pipe() -> bool {
    static IS_PIPE: OnceLock<bool> = OnceLock::new();
    *IS_PIPE.get_or_init(|| {
        let stat = rustix::fs::fstat(rustix::stdio::stdout());
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
    })
}
