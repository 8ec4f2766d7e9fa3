//! Large buffers that go round: fresh ones cost a page fault for every 4 KiB.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Smaller ones are left to the allocator, which does not give their memory back to the system.
const SMALLEST_BYTES: usize = 128 << 10;
/// Buffers that wait for their next use.
const WAITING: usize = 12;

/// Buffers that wait for their next use.
#[derive(Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// A buffer of so many bytes, of any content.
    pub(super) fn take(&self, bytes: usize) -> Vec<u8> {
        if bytes <= SMALLEST_BYTES {
            return vec![0; bytes];
        }
        let class = bytes.next_power_of_two();
        let mut waiting = self.lock();
        let known = waiting
            .iter()
            .rposition(|buffer| buffer.capacity() == class);
        let known = known.map(|index| waiting.swap_remove(index));
        drop(waiting);
        let mut buffer = known.unwrap_or_else(|| Vec::with_capacity(class));
        buffer.resize(bytes, 0);
        buffer
    }

    /// Gives back what came from [`take`](Self::take), or anything else.
    pub(super) fn give(&self, buffer: Vec<u8>) {
        let class = buffer.capacity();
        if class > SMALLEST_BYTES && class.is_power_of_two() {
            let mut waiting = self.lock();
            if waiting.len() == WAITING {
                waiting.swap_remove(0);
            }
            waiting.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
