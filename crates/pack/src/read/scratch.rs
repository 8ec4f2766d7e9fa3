//! A buffer that is used for one object after the other.

use super::reader::{HUGE_BYTES, KEEP_BYTES, SMALL_BYTES};
use std::ops::Deref;

/// So many small objects in a row make a large buffer be given back: large and small ones often
/// alternate, as a large object and the delta that it is built from, and fresh memory costs a page
/// fault for every 4 KiB.
const SMALL_USES: u32 = 32;
/// The least that is allocated. A command that reads one commit and one tree touches no more.
const LEAST_BYTES: usize = SMALL_BYTES as usize / 128;

/// Bytes that are overwritten from object to object; more than the last object needs, and left over
/// from those before it.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    /// Small objects since the last one that needed a large buffer.
    small_uses: u32,
}

impl Scratch {
    /// The first `size` bytes, grown if they must be. What is in them is left over.
    pub fn prepare(&mut self, size: usize) -> &mut [u8] {
        if self.bytes.len() <= KEEP_BYTES || size >= KEEP_BYTES / 4 {
            self.small_uses = 0;
        } else {
            self.small_uses += 1;
        }
        let is_huge = self.bytes.len() > HUGE_BYTES && size <= self.bytes.len() / 2;
        if self.bytes.len() < size || self.small_uses > SMALL_USES || is_huge {
            self.small_uses = 0;
            // First the old buffer goes. Fresh zeroed memory costs nothing until it is written, so
            // there may be more of it than is needed; growing would copy old content.
            self.bytes = Vec::new();
            let room = size.checked_next_power_of_two().unwrap_or(size);
            self.bytes = vec![0; room.max(LEAST_BYTES)];
        }
        self.bytes
            .get_mut(..size)
            .expect("the buffer was grown to that size")
    }

    /// Gives a large buffer back.
    pub fn shrink(&mut self) {
        if self.bytes.len() > KEEP_BYTES {
            *self = Scratch::default();
        }
    }
}

impl Deref for Scratch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_buffer_is_not_kept_for_what_needs_half_of_it() {
        let mut scratch = Scratch::default();
        scratch.prepare(HUGE_BYTES + 1);
        scratch.prepare(HUGE_BYTES + 2);
        assert_eq!(scratch.len(), 2 * HUGE_BYTES);
        scratch.prepare(HUGE_BYTES);
        assert_eq!(scratch.len(), HUGE_BYTES);
        scratch.prepare(HUGE_BYTES / 2);
        assert_eq!(scratch.len(), HUGE_BYTES);
    }

    #[test]
    fn a_large_buffer_outlives_a_few_small_objects() {
        let mut scratch = Scratch::default();
        assert_eq!(scratch.prepare(10).len(), 10);
        assert_eq!(scratch.len(), LEAST_BYTES);
        assert_eq!(scratch.prepare(3 << 20).len(), 3 << 20);
        assert_eq!(scratch.len(), 4 << 20);
        for _ in 0..SMALL_USES {
            assert_eq!(scratch.prepare(100).len(), 100);
            assert_eq!(scratch.len(), 4 << 20);
        }
        assert_eq!(scratch.prepare(2 << 20).len(), 2 << 20);
        for _ in 0..=SMALL_USES {
            scratch.prepare(100);
        }
        assert_eq!(scratch.len(), LEAST_BYTES);
        scratch.prepare(KEEP_BYTES + 1);
        scratch.shrink();
        assert!(scratch.is_empty());
    }
}
