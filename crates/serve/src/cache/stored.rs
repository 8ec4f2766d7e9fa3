use super::header::{Header, GIVEN_UP, HEADER_BYTES};
use super::sources::{self, Sources};
use super::{age_seconds, ResponseKey};
use crate::Result;
use hedgerow_fs::ReadFile;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pauses between two checks while waiting: the first and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// Length of the pieces in which a response is read to verify it, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// A response that is complete, or that another process or thread is making.
#[derive(Debug)]
pub struct StoredResponse {
    file: ReadFile,
    /// What its header has to name: the request and the repository.
    identity: (ResponseKey, [u8; 32]),
    maker: Maker,
}

/// The available bytes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Available {
    /// It is complete and has this many bytes.
    Whole(u64),
    /// This many bytes so far; more will follow.
    Growing(u64),
    /// This many bytes, and no more will follow, or not in time; it is not known to be complete.
    Abandoned(u64),
}

#[derive(Debug)]
enum Maker {
    /// It was complete when it was found.
    Done,
    /// Another thread, which sets the flag when it ends.
    Own(Arc<AtomicBool>),
    /// Another process. The maximum wait without progress.
    Another(Duration),
}

impl StoredResponse {
    /// The response in `file`, if it is complete and undamaged, belongs to `identity`, and was made
    /// from files among `sources`.
    pub(super) fn whole(
        file: ReadFile,
        identity: &(ResponseKey, [u8; 32]),
        sources: &Sources,
        max_bytes: u64,
    ) -> Option<Self> {
        let stored = StoredResponse::new(file, identity, Maker::Done);
        let is_right = stored.is_right(sources, max_bytes);
        matches!(is_right, Ok(true)).then_some(stored)
    }

    pub(super) fn of_another(
        file: ReadFile,
        identity: &(ResponseKey, [u8; 32]),
        max_wait: Duration,
    ) -> Self {
        StoredResponse::new(file, identity, Maker::Another(max_wait))
    }

    pub(super) fn of_own(
        file: ReadFile,
        identity: &(ResponseKey, [u8; 32]),
        has_ended: Arc<AtomicBool>,
    ) -> Self {
        StoredResponse::new(file, identity, Maker::Own(has_ended))
    }

    fn new(file: ReadFile, identity: &(ResponseKey, [u8; 32]), maker: Maker) -> Self {
        // Without such locks, it may be removed while it is read, which does not hinder reading.
        let _ = file.mark_use();
        StoredResponse {
            file,
            identity: identity.clone(),
            maker,
        }
    }

    /// Whether it was complete when it was found.
    pub fn was_whole(&self) -> bool {
        matches!(self.maker, Maker::Done)
    }

    /// Waits until there are more than `seen` bytes, or no more will follow.
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

    /// Fills `buffer` from `position` on, as far as bytes are available; returns how many.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize> {
        Ok(self.file.read_at(buffer, HEADER_BYTES + position)?)
    }

    /// The file that contains it, and the offset of its byte `position` in that file.
    pub(crate) fn place(&self, position: u64) -> (&ReadFile, u64) {
        (&self.file, HEADER_BYTES + position)
    }

    fn available(&self) -> Result<Available> {
        // This must be checked before the length: if the maker ends in between, all bytes are
        // there.
        let has_ended = match &self.maker {
            Maker::Done => true,
            Maker::Own(has_ended) => has_ended.load(Ordering::Acquire),
            Maker::Another(_) => self.is_given_up()? || !self.file.is_being_made()?,
        };
        // The length must be read before the header: the list of sources after the response is
        // written only after the header.
        let found = self.file.stat()?.size;
        let bytes = found.saturating_sub(HEADER_BYTES);
        let header = self.header()?;
        let (bytes, is_whole) = match header {
            Some(header) => (
                bytes.min(header.response_bytes),
                header.file_bytes() == Some(found),
            ),
            None => (bytes, false),
        };
        Ok(match (is_whole, has_ended) {
            (true, _) => Available::Whole(bytes),
            (false, true) => Available::Abandoned(bytes),
            (false, false) => Available::Growing(bytes),
        })
    }

    fn is_given_up(&self) -> Result<bool> {
        let mut bytes = [0; GIVEN_UP.len()];
        let filled = self.file.read_at(&mut bytes, 0)?;
        Ok(bytes[..filled] == GIVEN_UP)
    }

    /// Its header, if it is written and names the right request and repository.
    fn header(&self) -> Result<Option<Header>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        let filled = self.file.read_at(&mut bytes, 0)?;
        let header = Header::parse(&bytes[..filled]);
        let (key, repository) = &self.identity;
        Ok(header.filter(|header| header.key == *key && header.repository == *repository))
    }

    fn is_right(&self, sources: &Sources, max_bytes: u64) -> Result<bool> {
        let Some(header) = self.header()? else {
            return Ok(false);
        };
        let is_whole = header.file_bytes() == Some(self.file.stat()?.size);
        let is_within =
            header.response_bytes <= max_bytes && header.source_bytes <= sources::MAX_BYTES as u64;
        if !is_whole || !is_within {
            return Ok(false);
        }
        // If the sources are out of date, the response need not be read.
        let mut listed = vec![0; header.source_bytes as usize];
        let filled = self.read_at(&mut listed, header.response_bytes)?;
        if filled < listed.len() || !sources.include(&listed) {
            return Ok(false);
        }
        let mut hasher = blake3::Hasher::new();
        let mut piece = vec![0; PIECE_BYTES];
        let mut position = 0;
        while position < header.response_bytes {
            let rest = header.response_bytes - position;
            let length = rest.min(PIECE_BYTES as u64) as usize;
            let (wanted, _) = piece.split_at_mut(length);
            let filled = self.read_at(wanted, position)?;
            if filled < length {
                return Ok(false);
            }
            hasher.update(wanted);
            position += length as u64;
        }
        hasher.update(&listed);
        Ok(header.is_digest_right(hasher))
    }

    /// Whether to stop waiting: there was no progress for too long, before or since the wait began.
    fn is_too_slow(&self, started: Instant) -> Result<bool> {
        let Maker::Another(max_wait) = self.maker else {
            return Ok(false);
        };
        let unchanged = age_seconds(self.file.stat()?.mtime);
        let is_unchanged = unchanged.is_none_or(|seconds| seconds > max_wait.as_secs());
        Ok(started.elapsed() >= max_wait || is_unchanged)
    }
}
