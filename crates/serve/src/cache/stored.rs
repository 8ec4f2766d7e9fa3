use super::header::{Header, HEADER_BYTES};
use super::sources::{self, Sources};
use super::{age_seconds, ResponseKey};
use crate::Result;
use hedgerow_fs::ReadFile;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often one who waits looks, from the first time to the last.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// Of what a response is read at a time to verify it, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// A response that is whole, or that somebody makes.
#[derive(Debug)]
pub struct StoredResponse {
    file: ReadFile,
    /// What its header is to name: the request, and the repository.
    identity: (ResponseKey, [u8; 32]),
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
    /// The response in `file`, if that is whole, as it was written, the one that `identity` says,
    /// and made from what is among `sources`.
    pub(super) fn whole(
        file: ReadFile,
        identity: &(ResponseKey, [u8; 32]),
        sources: &Sources,
        max_bytes: u64,
    ) -> Option<Self> {
        let stored = StoredResponse {
            file,
            identity: identity.clone(),
            maker: Maker::Done,
        };
        let is_right = stored.is_right(sources, max_bytes);
        matches!(is_right, Ok(true)).then_some(stored)
    }

    pub(super) fn of_another(
        file: ReadFile,
        identity: &(ResponseKey, [u8; 32]),
        max_wait: Duration,
    ) -> Self {
        StoredResponse {
            file,
            identity: identity.clone(),
            maker: Maker::Another(max_wait),
        }
    }

    pub(super) fn of_own(
        file: ReadFile,
        identity: &(ResponseKey, [u8; 32]),
        has_ended: Arc<AtomicBool>,
    ) -> Self {
        StoredResponse {
            file,
            identity: identity.clone(),
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

    /// The file that it is in, and where in that its byte `position` is.
    pub(crate) fn place(&self, position: u64) -> (&ReadFile, u64) {
        (&self.file, HEADER_BYTES + position)
    }

    fn available(&self) -> Result<Available> {
        // Before the rest is looked at: what comes to its end in between has come to its end.
        let has_ended = match &self.maker {
            Maker::Done => true,
            Maker::Own(has_ended) => has_ended.load(Ordering::Acquire),
            Maker::Another(_) => !self.file.is_being_made()?,
        };
        // The length before the header: what follows the response comes after the header.
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

    /// Its header, if that is there and names the right request and repository.
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
        // What is out of date need not be read.
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

    /// Whether one need not wait any longer: nothing has come, be it since one waits or before.
    fn is_too_slow(&self, started: Instant) -> Result<bool> {
        let Maker::Another(max_wait) = self.maker else {
            return Ok(false);
        };
        let unchanged = age_seconds(self.file.stat()?.mtime);
        let is_unchanged = unchanged.is_none_or(|seconds| seconds > max_wait.as_secs());
        Ok(started.elapsed() >= max_wait || is_unchanged)
    }
}
