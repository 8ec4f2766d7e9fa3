//! Memory for blocks, which is used again: the system takes its time to give it.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Buffers that wait to be used again, at most.
const WAITING: usize = 16;

/// Buffers of blocks.
#[derive(Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// The bytes of a block; their memory goes back where it came from.
pub(super) struct Block {
    bytes: Vec<u8>,
    length: usize,
    buffers: Arc<Buffers>,
}

impl Buffers {
    /// A block of so many bytes, which have any value.
    pub fn take(self: &Arc<Self>, length: usize) -> Block {
        let mut bytes = self.lock().pop().unwrap_or_default();
        if bytes.len() < length {
            bytes.resize(length, 0);
        }
        Block {
            bytes,
            length,
            buffers: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    /// Leaves the first bytes only.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..self.length).unwrap_or_default()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut waiting = self.buffers.lock();
        if waiting.len() < WAITING {
            waiting.push(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Buffers;
    use std::sync::Arc;

    #[test]
    fn a_block_is_as_long_as_asked_whatever_it_was_before() {
        let buffers = Arc::new(Buffers::default());
        for length in [10, 0, 1000, 3] {
            let mut block = buffers.take(length);
            assert_eq!(block.len(), length);
            block.fill(1);
            block.truncate(2);
            assert_eq!(block.len(), length.min(2));
        }
        let many: Vec<_> = (0..100).map(|_| buffers.take(1)).collect();
        drop(many);
        assert!(buffers.lock().len() <= super::WAITING);
    }
}
