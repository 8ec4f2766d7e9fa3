//! The times of threads of this process: on a processor and in the run queue.

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::time::Duration;

/// Identifies a thread of this process. Numbers are reused after a thread has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(u32);

impl ThreadId {
    /// The calling thread.
    pub fn current() -> Self {
        ThreadId(
            rustix::thread::gettid()
                .as_raw_nonzero()
                .get()
                .unsigned_abs(),
        )
    }

    /// The thread with the kernel's id `number`.
    pub fn from_raw(number: u32) -> Self {
        ThreadId(number)
    }

    /// The kernel's id of the thread, never 0.
    pub fn as_raw(self) -> u32 {
        self.0
    }
}

/// The times of a thread since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    /// CPU time.
    pub cpu: Duration,
    /// Its waits in the run queue; `None` if the kernel does not report them.
    pub schedule: Option<Schedule>,
}

/// How a thread was scheduled, up to the last time it got a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Time that it was ready to run and waited in the run queue.
    pub delay: Duration,
    /// How often it got a processor.
    pub turns: u64,
}

/// Reads the times of one thread of this process repeatedly, from any thread.
#[derive(Debug)]
pub struct ThreadMeter {
    thread: ThreadId,
    schedstat: Option<OwnedFd>,
    stat: Option<OwnedFd>,
}

impl ThreadMeter {
    /// A meter for `thread`; keeps two files below `/proc/self/task` open if they exist.
    pub fn new(thread: ThreadId) -> Self {
        let open = |name| {
            let path = format!("/proc/self/task/{}/{name}", thread.0);
            rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
        };
        ThreadMeter {
            thread,
            schedstat: open("schedstat"),
            stat: open("stat"),
        }
    }

    /// The current times; `None` if the thread has ended.
    pub fn read(&self) -> Option<ThreadTime> {
        Some(ThreadTime {
            cpu: cpu_time(self.thread)?,
            schedule: self.schedule(),
        })
    }

    /// Whether the thread is running or in the run queue, rather than waiting for something else;
    /// `None` if it has ended or the kernel does not report it.
    pub fn is_runnable(&self) -> Option<bool> {
        let mut buffer = [0; 64];
        let text = read_start(self.stat.as_ref()?, &mut buffer)?;
        // The name of the thread, in parentheses, may contain any bytes: at most 15, not always
        // text.
        let end_of_name = text.iter().rposition(|byte| *byte == b')')?;
        text.get(end_of_name + 2).map(|state| *state == b'R')
    }

    /// The second and third field of `schedstat` (`scheduler/sched-stats.rst`); the delay is in
    /// nanoseconds. The first field, the CPU time, is updated only by the clock tick.
    fn schedule(&self) -> Option<Schedule> {
        let mut buffer = [0; 64];
        let text = read_start(self.schedstat.as_ref()?, &mut buffer)?;
        let mut fields = std::str::from_utf8(text)
            .ok()?
            .split_ascii_whitespace()
            .skip(1);
        Some(Schedule {
            delay: Duration::from_nanos(fields.next()?.parse().ok()?),
            turns: fields.next()?.parse().ok()?,
        })
    }
}

fn read_start<'b>(file: &OwnedFd, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let count = rustix::io::pread(file, &mut *buffer, 0).ok()?;
    buffer.get(..count)
}

/// The CPU time of `thread`. The id of a thread's clock is
/// `~thread << 3 | CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED` (`include/linux/posix-timers.h`),
/// computed like in pthread_getcpuclockid(3).
#[allow(unsafe_code)]
fn cpu_time(thread: ThreadId) -> Option<Duration> {
    let clock = (!(thread.0 as libc::clockid_t) << 3) | 4 | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a timespec to write to; a clock that does not exist is an error.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (result == 0).then(|| Duration::new(seconds, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Instant;

    fn burn(time: Duration) {
        let started = Instant::now();
        while started.elapsed() < time {
            std::hint::black_box(started);
        }
    }

    #[test]
    fn another_thread_is_metered() {
        let (tell, told) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(ThreadId::current()).unwrap();
            burn(Duration::from_millis(30));
            tell.send(ThreadId::current()).unwrap();
            released.recv().unwrap();
        });
        let id = told.recv().unwrap();
        let meter = ThreadMeter::new(id);
        told.recv().unwrap();
        let busy = meter.read().unwrap();
        let schedule = busy.schedule.unwrap_or_default();
        assert!(
            busy.cpu + schedule.delay > Duration::from_millis(20),
            "{busy:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
        let asleep = meter.read().unwrap();
        let later = asleep.schedule.unwrap_or_default();
        assert!(later.turns >= schedule.turns && later.delay >= schedule.delay);
        assert!(asleep.cpu - busy.cpu < Duration::from_millis(10));
        assert_eq!(meter.is_runnable(), Some(false));
        release.send(()).unwrap();
        thread.join().unwrap();
    }

    #[test]
    fn what_is_no_thread_of_ours_has_no_time() {
        assert_eq!(ThreadMeter::new(ThreadId::from_raw(1 << 28)).read(), None);
        let own = ThreadId::current();
        assert_eq!(ThreadId::from_raw(own.as_raw()), own);
        let meter = ThreadMeter::new(own);
        assert!(meter.read().is_some());
        assert_eq!(meter.is_runnable(), Some(true));
    }
}
