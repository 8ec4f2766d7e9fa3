//! The instructions of a stream: their sizes and encodings.

/// Maximum distance of a match in bytes.
pub(super) const MAX_DISTANCE: usize = 49_151;

/// Maximum distance of a match of two bytes, which must follow one to three literals.
pub(super) const PAIR_DISTANCE: usize = 1024;

/// Distances of a match of three bytes in a two-byte instruction, which must follow a run of
/// literals.
pub(super) const AFTER_RUN: std::ops::RangeInclusive<usize> = 2049..=3072;

const NEAR: usize = 2048;
const MIDDLE: usize = 16_384;

/// Maximum match lengths that fit into the first byte.
const NEAR_LENGTH: usize = 8;
const MIDDLE_LENGTH: usize = 33;
const FAR_LENGTH: usize = 9;

/// Maximum numbers of literals that fit into the first byte, at the start and elsewhere.
const START_RUN: usize = 238;
const SHORT_RUN: usize = 18;

/// Size in bytes of the instruction for a match of at least three bytes, after any instruction, and
/// the longest match length with the same size.
#[inline]
pub(super) fn match_bytes(length: usize, distance: usize) -> (u32, usize) {
    let in_first = match distance {
        ..=NEAR if length <= NEAR_LENGTH => return (2, NEAR_LENGTH),
        ..=MIDDLE => MIDDLE_LENGTH,
        _ => FAR_LENGTH,
    };
    let extension = length.saturating_sub(in_first).div_ceil(255);
    (3 + extension as u32, in_first + 255 * extension)
}

/// Number of bytes, besides the literal, by which a run of at least four literals grows with one
/// more.
#[inline]
pub(super) fn run_grows_by(length: u32) -> u32 {
    let beyond = length.wrapping_sub(SHORT_RUN as u32);
    u32::from(length >= SHORT_RUN as u32 && beyond.is_multiple_of(255))
}

/// Writes instructions to a buffer, which may turn out to be too short.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    output: &'a mut [u8],
    length: usize,
    /// Number of literals since the last match.
    run: usize,
    full: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(output: &'a mut [u8]) -> Self {
        Writer {
            output,
            length: 0,
            run: 0,
            full: false,
        }
    }

    /// Writes literals at the start or after a match.
    pub(super) fn literals(&mut self, literals: &[u8]) {
        self.run = literals.len();
        match literals.len() {
            0 => return,
            length if self.length == 0 && length <= START_RUN => self.push(17 + length as u8),
            length @ 1..=3 => {
                // The two lowest bits of the second to last byte of every match are the number of
                // literals.
                if let Some(byte) = self.output.get_mut(self.length.wrapping_sub(2)) {
                    *byte |= length as u8;
                }
            }
            length @ 4..=SHORT_RUN => self.push(length as u8 - 3),
            length => {
                self.push(0);
                self.extension(length - SHORT_RUN);
            }
        }
        self.extend(literals);
    }

    /// Writes a match with the shortest instruction possible after the previous one.
    pub(super) fn copy(&mut self, length: usize, distance: usize) {
        let run = std::mem::take(&mut self.run);
        if length == 2 {
            debug_assert!((1..4).contains(&run) && distance <= PAIR_DISTANCE);
            self.two_bytes(0, distance - 1, 2);
        } else if length == 3 && run >= 4 && AFTER_RUN.contains(&distance) {
            self.two_bytes(0, distance - AFTER_RUN.start(), 2);
        } else if distance <= NEAR && length <= NEAR_LENGTH {
            self.two_bytes((length as u8 - 1) << 5, distance - 1, 3);
        } else if distance <= MIDDLE {
            self.long(32, length, MIDDLE_LENGTH, distance - 1);
        } else {
            let beyond = distance - MIDDLE;
            let high = (beyond >> 14 << 3) as u8;
            self.long(16 | high, length, FAR_LENGTH, beyond & 0x3fff);
        }
    }

    /// Writes the end of the stream. Returns the length of the stream, or `None` if it did not fit.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.extend(&[17, 0, 0]);
        (!self.full).then_some(self.length)
    }

    /// Whether the buffer is too short; the output is then unusable.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Writes a two-byte instruction, with the lowest `low_bits` bits of the distance in the first
    /// byte.
    fn two_bytes(&mut self, first: u8, distance: usize, low_bits: u32) {
        let low = distance & ((1 << low_bits) - 1);
        self.extend(&[first | (low as u8) << 2, (distance >> low_bits) as u8]);
    }

    fn long(&mut self, first: u8, length: usize, in_first: usize, distance: usize) {
        if length <= in_first {
            self.push(first | (length - 2) as u8);
        } else {
            self.push(first);
            self.extension(length - in_first);
        }
        self.extend(&((distance << 2) as u16).to_le_bytes());
    }

    /// Writes the part of a length that does not fit into the first byte; it is at least 1.
    fn extension(&mut self, mut rest: usize) {
        while rest > 255 {
            self.push(0);
            rest -= 255;
        }
        self.push(rest as u8);
    }

    fn push(&mut self, byte: u8) {
        self.extend(&[byte]);
    }

    #[inline]
    fn extend(&mut self, bytes: &[u8]) {
        match self.output.get_mut(self.length..self.length + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.full = true,
        }
    }
}
