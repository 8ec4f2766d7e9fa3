//! Stores of whole responses: a directory of this machine ([`ResponseCache`]), or another
//! implementation.

use super::ResponseOutput;
use crate::cache::{self, Available, ResponseCache, ResponseKey};
use crate::Result;
use std::io;

/// Stores whole responses, for many clients with the same request.
///
/// A key stands for a request to one repository: a store for several has to add which one. A store need
/// not check that a repository still has the objects of a response, but should not serve it after the
/// repository is gone. A response that nobody completes must end the waiting of its followers.
pub trait ResponseStore: Sync {
    /// The response to the request with `key`, complete or growing, or else a new one to write.
    ///
    /// # Errors
    /// If it can be neither found nor stored: the request is answered without the store.
    fn look(&self, key: &ResponseKey) -> Result<ResponseLookup>;
}

/// The result of a lookup.
pub enum ResponseLookup {
    /// A response that is complete, or that another process is making.
    Stored(Box<dyn StoredResponse>),
    /// None: the caller has to make it.
    Missing(Box<dyn NewResponse>),
}

/// A response that is complete, or that is still being made.
pub trait StoredResponse: Send {
    /// Whether it was complete when it was found.
    fn was_whole(&self) -> bool;

    /// Waits until there are more than `seen` bytes, or no more will follow.
    ///
    /// # Errors
    /// If it cannot be read.
    fn wait(&self, seen: u64) -> Result<Available>;

    /// Fills `buffer` from `position` on, as far as bytes are available; returns how many.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize>;

    /// Sends up to `length` bytes from `from` on to `output`; returns how many were sent.
    ///
    /// # Errors
    /// If it cannot be read, or the output cannot be written.
    fn send(&self, output: &mut dyn ResponseOutput, from: u64, length: u64) -> io::Result<u64> {
        let mut piece = vec![0; length.min(PIECE_BYTES) as usize];
        let count = self.read_at(&mut piece, from).map_err(io::Error::other)?;
        output.write_all(
            piece
                .get(..count)
                .expect("a read fills no more than its buffer"),
        )?;
        Ok(count as u64)
    }
}

/// Length of the pieces in which a response is read if it cannot be sent otherwise, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// A response that is being made. If it is dropped before it is kept, it is deleted, and its
/// followers learn that.
pub trait NewResponse: Send {
    /// The response as its followers see it; `None` if nobody can follow it.
    fn follow(&self) -> Option<Box<dyn StoredResponse>>;

    /// Appends `bytes`. Returns false if they cannot be kept. A part of them may have been written;
    /// the response must be given up then.
    #[must_use]
    fn write(&mut self, bytes: &[u8]) -> bool;

    /// Nothing more will be written: followers learn that now. What was written can be read until it is
    /// dropped.
    fn give_up(&mut self);

    /// Number of bytes written.
    fn bytes(&self) -> u64;

    /// Keeps the response, which is complete.
    ///
    /// # Errors
    /// If it cannot be kept. Followers get it all the same.
    fn keep(self: Box<Self>) -> Result<()>;
}

impl ResponseStore for ResponseCache {
    fn look(&self, key: &ResponseKey) -> Result<ResponseLookup> {
        Ok(match ResponseCache::look(self, key)? {
            cache::CacheLookup::Stored(stored) => ResponseLookup::Stored(Box::new(stored)),
            cache::CacheLookup::Missing(response) => {
                ResponseLookup::Missing(Box::new(NewInDirectory {
                    response,
                    cache: self.clone(),
                    room: 0,
                }))
            }
        })
    }
}

impl StoredResponse for cache::StoredResponse {
    fn was_whole(&self) -> bool {
        cache::StoredResponse::was_whole(self)
    }

    fn wait(&self, seen: u64) -> Result<Available> {
        cache::StoredResponse::wait(self, seen)
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize> {
        cache::StoredResponse::read_at(self, buffer, position)
    }

    fn send(&self, output: &mut dyn ResponseOutput, from: u64, length: u64) -> io::Result<u64> {
        let (file, offset) = self.place(from);
        output.copy_from(file, offset, length)
    }
}

struct NewInDirectory {
    response: cache::NewResponse,
    cache: ResponseCache,
    /// Number of bytes that were found to fit.
    room: u64,
}

impl NewInDirectory {
    /// Makes room for `more` bytes, and for as many that need not be asked for again as fit, too.
    fn make_room(&mut self, more: u64) -> bool {
        let step = self.cache.step();
        let found = [more.saturating_add(step), more]
            .into_iter()
            .find(|more| matches!(self.cache.make_room(*more), Ok(true)));
        self.room = self.response.bytes() + found.unwrap_or_default();
        found.is_some()
    }
}

impl NewResponse for NewInDirectory {
    fn follow(&self) -> Option<Box<dyn StoredResponse>> {
        let stored = self.response.follow()?;
        Some(Box::new(stored))
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        let more = bytes.len() as u64;
        if self.response.bytes().saturating_add(more) > self.room && !self.make_room(more) {
            return false;
        }
        self.response.write(bytes)
    }

    fn give_up(&mut self) {
        self.response.give_up();
    }

    fn bytes(&self) -> u64 {
        self.response.bytes()
    }

    fn keep(self: Box<Self>) -> Result<()> {
        self.cache.keep(self.response)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use crate::CacheOptions;

    fn begin(cache: &ResponseCache, name: &str) -> Box<dyn NewResponse> {
        let key = ResponseKey::of([name.as_bytes()]);
        match ResponseStore::look(cache, &key).unwrap() {
            ResponseLookup::Missing(response) => response,
            ResponseLookup::Stored(_) => panic!("there is one"),
        }
    }

    fn bytes_in(directory: &std::path::Path) -> u64 {
        let entries = std::fs::read_dir(directory).unwrap();
        entries
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum()
    }

    #[test]
    fn what_is_written_and_read_is_counted() {
        const MAX_BYTES: u64 = 10_000;
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("objects/pack")).unwrap();
        let directory = root.path().join("responses");
        let cache = ResponseCache::open(CacheOptions {
            directory: directory.clone(),
            objects: vec![root.path().join("objects")],
            max_bytes: MAX_BYTES,
            max_age_seconds: 100,
            max_wait_seconds: 10,
        })
        .unwrap();
        let piece = [1; 100];
        let fill = |response: &mut Box<dyn NewResponse>, pieces: usize| {
            (0..pieces).take_while(|_| response.write(&piece)).count()
        };
        let mut first = begin(&cache, "first");
        assert_eq!(fill(&mut first, 60), 60);
        // The first is still written: the second has what is left, and stays with its name while it is read.
        let mut second = begin(&cache, "second");
        let fitted = fill(&mut second, 100);
        assert!((30..40).contains(&fitted), "{fitted}");
        let reader = second.follow().unwrap();
        second.give_up();
        assert_eq!(
            reader.wait(0).unwrap(),
            Available::Abandoned(fitted as u64 * 100)
        );
        let mut third = begin(&cache, "third");
        assert!(fill(&mut third, 100) <= 2, "the second is still there");
        assert!(bytes_in(&directory) <= MAX_BYTES);
        drop((second, third));
        // The first is complete, and somebody reads it: it stays, and has to be counted.
        let reader = first.follow().unwrap();
        first.keep().unwrap();
        let mut fourth = begin(&cache, "fourth");
        let fitted = fill(&mut fourth, 100);
        assert!((30..40).contains(&fitted), "{fitted}");
        drop((fourth, reader));
        let mut fifth = begin(&cache, "fifth");
        assert_eq!(fill(&mut fifth, 90), 90, "nobody reads the first any more");
        assert!(bytes_in(&directory) <= MAX_BYTES);
    }
}
