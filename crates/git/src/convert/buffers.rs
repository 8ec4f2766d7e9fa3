//! Buffers for conversions.

use super::encoding::Converters;

/// Buffers that grew beyond this size for a huge file are freed, in bytes.
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The buffers that one worker reuses from file to file.
#[derive(Debug, Default)]
pub struct Buffers {
    converters: Converters,
    front: Vec<u8>,
    back: Vec<u8>,
}

/// A chain of conversion steps on the content of one file, each from one buffer into the other.
pub(super) struct Steps<'a> {
    converters: &'a mut Converters,
    input: &'a [u8],
    /// The content so far, once a step changed it.
    front: &'a mut Vec<u8>,
    back: &'a mut Vec<u8>,
    is_changed: bool,
}

impl<'a> Steps<'a> {
    pub(super) fn new(buffers: &'a mut Buffers, input: &'a [u8]) -> Steps<'a> {
        for buffer in [&mut buffers.front, &mut buffers.back] {
            if buffer.capacity() > MAX_KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
        Steps {
            converters: &mut buffers.converters,
            input,
            front: &mut buffers.front,
            back: &mut buffers.back,
            is_changed: false,
        }
    }

    /// Runs a step, which appends to an empty buffer and returns whether that becomes the content.
    pub(super) fn run(&mut self, step: impl FnOnce(&mut Converters, &[u8], &mut Vec<u8>) -> bool) {
        let content = if self.is_changed {
            self.front.as_slice()
        } else {
            self.input
        };
        self.back.clear();
        if step(self.converters, content, self.back) {
            std::mem::swap(self.front, self.back);
            self.is_changed = true;
        }
    }

    pub(super) fn finish(self) -> &'a [u8] {
        if self.is_changed {
            self.front
        } else {
            self.input
        }
    }
}
