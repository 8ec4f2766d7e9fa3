use super::{HEADER_BYTES, MAGIC};
use crate::Result;
use hedgerow_fs::{ReadFile, StandardOutput, Timestamp};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often one who waits looks, from the first time to the last.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// A response that is whole, or that somebody makes.
#[derive(Debug)]
pub struct StoredResponse {
    file: ReadFile,
    maker: Maker,
}

/// How much there is of a response, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Available {
    /// All of it.
    Whole(u64),
    /// There will be more.
    Growing(u64),
    /// There will be no more, or not in time, though it is not known to be whole.
    Abandoned(u64),
}

#[derive(Debug)]
enum Maker {
    /// It was whole when it was found.
    Done,
    /// Another thread, which says when it ends.
    Own(Arc<AtomicBool>),
    /// Another process. It is waited for so long.
    Another(Duration),
}

impl StoredResponse {
    /// The response in `file`, if that is whole.
    pub(super) fn whole(file: ReadFile) -> Option<Self> {
        let stored = StoredResponse {
            file,
            maker: Maker::Done,
        };
        let is_whole = matches!(stored.available(), Ok(Available::Whole(_)));
        is_whole.then_some(stored)
    }

    pub(super) fn of_another(file: ReadFile, max_wait: Duration) -> Self {
        StoredResponse {
            file,
            maker: Maker::Another(max_wait),
        }
    }

    pub(super) fn of_own(file: ReadFile, has_ended: Arc<AtomicBool>) -> Self {
        StoredResponse {
            file,
            maker: Maker::Own(has_ended),
        }
    }

    /// Whether it was whole when it was found.
    pub fn was_whole(&self) -> bool {
        matches!(self.maker, Maker::Done)
    }

    /// Waits until there are more than `seen` bytes, or there will be no more.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn wait(&self, seen: u64) -> Result<Available> {
        let (mut pause, longest) = PAUSES;
        let started = Instant::now();
        loop {
            match self.available()? {
                Available::Growing(bytes) if bytes <= seen => {
                    if self.is_too_slow(started)? {
                        return Ok(Available::Abandoned(bytes));
                    }
                }
                available => return Ok(available),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(longest);
        }
    }

    /// Fills `buffer` from `position` on, as far as there is something; returns how many bytes
    /// those were.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize> {
        Ok(self.file.read_at(buffer, HEADER_BYTES + position)?)
    }

    /// As [`StandardOutput::send`], of the response.
    ///
    /// # Errors
    /// Those.
    pub fn send(&self, output: &mut StandardOutput, from: u64, length: u64) -> io::Result<u64> {
        output.send(&self.file, HEADER_BYTES + from, length)
    }

    fn available(&self) -> Result<Available> {
        // Before the rest is looked at: what comes to its end in between has come to its end.
        let has_ended = match &self.maker {
            Maker::Done => true,
            Maker::Own(has_ended) => has_ended.load(Ordering::Acquire),
            Maker::Another(_) => !self.file.is_being_made()?,
        };
        let mut header = [0; HEADER_BYTES as usize];
        let filled = self.file.read_at(&mut header, 0)?;
        let bytes = self.file.stat()?.size.saturating_sub(HEADER_BYTES);
        let expected = [MAGIC, bytes.to_be_bytes()].concat();
        let is_whole = filled == header.len() && header[..] == *expected;
        Ok(match (is_whole, has_ended) {
            (true, _) => Available::Whole(bytes),
            (false, true) => Available::Abandoned(bytes),
            (false, false) => Available::Growing(bytes),
        })
    }

    /// Whether one need not wait any longer: nothing has come, be it since one waits or before.
    fn is_too_slow(&self, started: Instant) -> Result<bool> {
        let Maker::Another(max_wait) = self.maker else {
            return Ok(false);
        };
        let unchanged = age_seconds(self.file.stat()?.mtime);
        Ok(started.elapsed() >= max_wait || unchanged > max_wait.as_secs())
    }
}

/// How long ago that was, in seconds.
pub(super) fn age_seconds(time: Timestamp) -> u64 {
    let age = hedgerow_fs::file_time()
        .seconds
        .saturating_sub(time.seconds);
    u64::try_from(age).unwrap_or(0)
}
