//! Reuses the memory of blocks, because getting it from the system is slow.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Smaller buffers are left to the allocator, which reuses their memory itself. In bytes.
const SMALLEST_BYTES: usize = 32 << 10;
/// Maximum number of free buffers kept.
const WAITING: usize = 8;

/// Free buffers that can be used again.
#[derive(Clone, Default)]
pub struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

/// A byte buffer that returns its memory to its [`Buffers`] when dropped.
pub struct Buffer {
    bytes: Vec<u8>,
    length: usize,
    buffers: Buffers,
}

impl Buffers {
    /// A buffer of `length` bytes with arbitrary values.
    pub fn take(&self, length: usize) -> Buffer {
        let mut bytes = if length > SMALLEST_BYTES {
            self.waiting(length)
        } else {
            Vec::new()
        };
        if bytes.len() < length {
            bytes.resize(length, 0);
        }
        Buffer {
            bytes,
            length,
            buffers: self.clone(),
        }
    }

    /// Takes the smallest free buffer that is large enough, else the largest one, else a new one.
    fn waiting(&self, length: usize) -> Vec<u8> {
        let mut waiting = self.lock();
        let fit = |bytes: &Vec<u8>| (bytes.len() < length, bytes.len().abs_diff(length));
        let best = (0..waiting.len()).min_by_key(|index| waiting.get(*index).map(fit));
        best.map_or_else(Vec::new, |index| waiting.swap_remove(index))
    }

    /// Keeps a free buffer. If there are too many, the smallest goes: a large one serves for all.
    fn keep(&self, mut bytes: Vec<u8>) {
        let mut waiting = self.lock();
        if waiting.len() < WAITING {
            waiting.push(bytes);
            return;
        }
        let smallest = waiting.iter_mut().min_by_key(|bytes| bytes.len());
        if let Some(smallest) = smallest.filter(|it| it.len() < bytes.len()) {
            std::mem::swap(smallest, &mut bytes);
        }
        // Memory is given back without the lock.
        drop(waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        if self.bytes.len() > SMALLEST_BYTES {
            self.buffers.keep(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, SMALLEST_BYTES, WAITING};

    #[test]
    fn a_buffer_is_as_long_as_asked_whatever_it_was_before() {
        let buffers = Buffers::default();
        for length in [10, 0, 1000, 3, SMALLEST_BYTES + 1, 1 << 20, 100_000] {
            let mut buffer = buffers.take(length);
            assert_eq!(buffer.len(), length);
            buffer.fill(1);
            buffer.truncate(2);
            assert_eq!(buffer.len(), length.min(2));
        }
        let many: Vec<_> = (0..100).map(|_| buffers.take(40_000)).collect();
        drop(many);
        assert_eq!(buffers.lock().len(), WAITING);
    }

    #[test]
    fn large_buffers_are_kept_for_large_contents() {
        let buffers = Buffers::default();
        drop((buffers.take(1 << 20), buffers.take(50_000)));
        let small = buffers.take(40_000);
        assert_eq!(small.bytes.len(), 50_000);
        let large = buffers.take(70_000);
        assert_eq!(large.bytes.len(), 1 << 20);
        drop(large);
        let many: Vec<_> = (0..2 * WAITING).map(|_| buffers.take(40_000)).collect();
        let large = buffers.take(1 << 20);
        drop((many, large));
        assert_eq!(buffers.take(1 << 20).bytes.len(), 1 << 20);
        assert_eq!(buffers.lock().len(), WAITING);
    }
}
