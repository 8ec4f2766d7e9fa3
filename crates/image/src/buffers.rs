//! Reuses the memory of blocks, because getting it from the system is slow.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Smaller buffers are left to the allocator, which reuses their memory itself. In bytes.
const SMALLEST_BYTES: usize = 32 << 10;
/// The sizes of buffers: the powers of two from this many bytes on. Larger ones than the largest size
/// are not kept.
const FIRST_SIZE: usize = 2 * SMALLEST_BYTES;
const SIZES: usize = 7;
/// Limit of all free buffers together, in bytes.
const KEPT_BYTES: usize = 16 << 20;

/// Free buffers that can be used again.
#[derive(Clone, Default)]
pub struct Buffers(Arc<Mutex<Free>>);

#[derive(Default)]
struct Free {
    /// By size, the smallest first.
    buffers: [Vec<Vec<u8>>; SIZES],
    bytes: usize,
}

/// A byte buffer that returns its memory to its [`Buffers`] when dropped.
pub struct Buffer {
    bytes: Vec<u8>,
    length: usize,
    buffers: Buffers,
}

impl Buffers {
    /// A buffer of `length` bytes with arbitrary values.
    pub fn take(&self, length: usize) -> Buffer {
        let bytes = match rank(length) {
            Some(rank) if length > SMALLEST_BYTES => {
                let free = self.lock().take(rank);
                // The system's zeros: what is not written takes no memory.
                free.unwrap_or_else(|| vec![0; FIRST_SIZE << rank])
            }
            _ => vec![0; length],
        };
        Buffer {
            bytes,
            length,
            buffers: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rank of the smallest size that holds `length` bytes.
fn rank(length: usize) -> Option<usize> {
    (0..SIZES).find(|rank| length <= FIRST_SIZE << rank)
}

impl Free {
    /// The smallest buffer of this size or a larger one.
    fn take(&mut self, rank: usize) -> Option<Vec<u8>> {
        let bytes = self.buffers[rank..].iter_mut().find_map(Vec::pop)?;
        self.bytes -= bytes.len();
        Some(bytes)
    }

    /// Keeps a buffer. If there are too many, small ones go: a large one serves for all. Returns what
    /// goes.
    fn keep(&mut self, bytes: Vec<u8>, rank: usize) -> Vec<Vec<u8>> {
        self.bytes += bytes.len();
        self.buffers[rank].push(bytes);
        let mut gone = Vec::new();
        while self.bytes > KEPT_BYTES {
            let Some(bytes) = self.take(0) else { break };
            gone.push(bytes);
        }
        gone
    }
}

impl Buffer {
    /// Keeps only the first `length` bytes.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let size = self.bytes.len();
        let Some(rank) = rank(size).filter(|rank| size == FIRST_SIZE << rank) else {
            return;
        };
        // Memory is given back without the lock.
        let gone = self
            .buffers
            .lock()
            .keep(std::mem::take(&mut self.bytes), rank);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, FIRST_SIZE, KEPT_BYTES, SIZES, SMALLEST_BYTES};

    #[test]
    fn a_buffer_is_as_long_as_asked_whatever_it_was_before() {
        let buffers = Buffers::default();
        let largest = FIRST_SIZE << (SIZES - 1);
        let odd = [10, 0, 1000, 3, SMALLEST_BYTES + 1, 1 << 20, 100_000];
        for length in odd.into_iter().chain([largest, largest + 1, 40_000]) {
            let mut buffer = buffers.take(length);
            assert_eq!(buffer.len(), length);
            buffer.fill(1);
            buffer.truncate(2);
            assert_eq!(buffer.len(), length.min(2));
        }
    }

    #[test]
    fn free_buffers_are_used_again_and_have_a_limit() {
        let buffers = Buffers::default();
        let free = || {
            let free = buffers.lock();
            let sizes = free.buffers.iter().flatten().map(Vec::len);
            assert_eq!(sizes.sum::<usize>(), free.bytes);
            (free.buffers.iter().flatten().count(), free.bytes)
        };
        let many: Vec<_> = (0..20).map(|_| buffers.take(40_000)).collect();
        drop(many);
        assert_eq!(free(), (20, 20 * FIRST_SIZE));
        let again: Vec<_> = (0..20).map(|_| buffers.take(64_000)).collect();
        assert_eq!(free(), (0, 0));
        drop((again, buffers.take(1 << 20), buffers.take(500)));
        assert_eq!(free(), (21, 20 * FIRST_SIZE + (1 << 20)));
        // A large one serves for a small content, but goes last.
        let large = buffers.take(FIRST_SIZE + 1);
        assert_eq!(large.bytes.len(), 1 << 20);
        let many: Vec<_> = (0..20).map(|_| buffers.take(1 << 20)).collect();
        drop((many, large));
        assert_eq!(free(), (KEPT_BYTES >> 20, KEPT_BYTES));
    }
}
