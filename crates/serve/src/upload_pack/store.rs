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
    /// the response must be dropped then.
    #[must_use]
    fn write(&mut self, bytes: &[u8]) -> bool;

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
