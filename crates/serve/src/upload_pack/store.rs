//! Where whole responses are kept: in a directory of this machine ([`ResponseCache`]), or wherever
//! else somebody keeps them.

use super::ResponseOutput;
use crate::cache::{self, Available, ResponseCache, ResponseKey};
use crate::Result;
use std::io;

/// Keeps whole responses, for many who ask for the same.
pub trait ResponseStore: Sync {
    /// The response to the request with `key`, whole or growing, or else the place to make it.
    ///
    /// # Errors
    /// If it can be neither found nor kept: the request is answered without the store.
    fn look(&self, key: &ResponseKey) -> Result<Found>;
}

/// What there is of a response.
pub enum Found {
    /// All of it, or somebody makes it.
    Stored(Box<dyn StoredResponse>),
    /// Nothing: whoever asked is to make it.
    Missing(Box<dyn NewResponse>),
}

/// A response that is whole, or that somebody makes.
pub trait StoredResponse: Send {
    /// Whether it was whole when it was found.
    fn was_whole(&self) -> bool;

    /// Waits until there are more than `seen` bytes, or there will be no more.
    ///
    /// # Errors
    /// If it cannot be read.
    fn wait(&self, seen: u64) -> Result<Available>;

    /// Fills `buffer` from `position` on, as far as there is something; returns how many bytes
    /// those were.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize>;

    /// Sends up to `length` bytes from `from` on to `output`; returns how many those were.
    ///
    /// # Errors
    /// If it cannot be read, or nobody takes it.
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

/// What is read at a time of a response that cannot be sent otherwise, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// A response that is being made. Dropped before it is kept, it is gone, and those who follow it are
/// told.
pub trait NewResponse: Send {
    /// The response as others see it who follow it; `None` if nobody can.
    fn follow(&self) -> Option<Box<dyn StoredResponse>>;

    /// Appends `bytes`. False if they cannot be kept, though a part of them may be there: it is to
    /// be dropped then.
    #[must_use]
    fn write(&mut self, bytes: &[u8]) -> bool;

    /// How many bytes were written.
    fn bytes(&self) -> u64;

    /// Keeps it: it is whole.
    ///
    /// # Errors
    /// If it cannot be kept. Who follows it gets it all the same.
    fn keep(self: Box<Self>) -> Result<()>;
}

impl ResponseStore for ResponseCache {
    fn look(&self, key: &ResponseKey) -> Result<Found> {
        Ok(match ResponseCache::look(self, key)? {
            cache::Found::Stored(stored) => Found::Stored(Box::new(stored)),
            cache::Found::Missing(response) => Found::Missing(Box::new(NewInDirectory {
                response,
                cache: self.clone(),
            })),
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
}

impl NewResponse for NewInDirectory {
    fn follow(&self) -> Option<Box<dyn StoredResponse>> {
        let stored = self.response.follow()?;
        Some(Box::new(stored))
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        self.response.write(bytes)
    }

    fn bytes(&self) -> u64 {
        self.response.bytes()
    }

    fn keep(self: Box<Self>) -> Result<()> {
        self.cache.keep(self.response)
    }
}
