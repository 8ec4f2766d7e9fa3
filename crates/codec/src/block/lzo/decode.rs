use crate::block::error::{BlockError, Result};
use crate::block::Compressor::Lzo;

const CORRUPT: BlockError = BlockError::Corrupt(Lzo);

/// Decompresses the LZO1X stream that is all of `input`.
pub(in crate::block) fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize> {
    let mut input = Input { bytes: input };
    let mut output = Output {
        bytes: output,
        length: 0,
    };
    // Literals of the previous instruction: 0, 1 to 3 after a match, or 4 for a run.
    let mut before = 0;
    let start = *input.bytes.first().ok_or(CORRUPT)?;
    if let literals @ 1.. = usize::from(start.saturating_sub(17)) {
        input.byte()?;
        output.literals(&mut input, literals)?;
        before = literals.min(4);
    }
    loop {
        let first = usize::from(input.byte()?);
        let (length, distance, literals) = match first {
            0..=15 if before == 0 => {
                let literals = input.length(first, 15)? + 3;
                output.literals(&mut input, literals)?;
                before = 4;
                continue;
            }
            0..=15 => {
                let distance = usize::from(input.byte()?) << 2 | first >> 2;
                match before {
                    4 => (3, distance + 2049, first & 3),
                    _ => (2, distance + 1, first & 3),
                }
            }
            16..=31 => {
                let length = input.length(first & 7, 7)? + 2;
                let word = input.word()?;
                let distance = (first & 8) << 11 | word >> 2;
                if distance == 0 {
                    return match (length, input.bytes.len()) {
                        (3, 0) => Ok(output.length),
                        (3, rest) => Err(BlockError::Trailing(Lzo, rest)),
                        _ => Err(CORRUPT),
                    };
                }
                (length, distance + 16_384, word & 3)
            }
            32..=63 => {
                let length = input.length(first & 31, 31)? + 2;
                let word = input.word()?;
                (length, (word >> 2) + 1, word & 3)
            }
            _ => {
                let distance = usize::from(input.byte()?) << 3 | (first >> 2 & 7);
                ((first >> 5) + 1, distance + 1, first & 3)
            }
        };
        output.copy(length, distance)?;
        output.literals(&mut input, literals)?;
        before = literals;
    }
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    #[inline]
    fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.bytes.split_first().ok_or(CORRUPT)?;
        self.bytes = rest;
        Ok(*first)
    }

    #[inline]
    fn word(&mut self) -> Result<usize> {
        let (word, rest) = self.bytes.split_first_chunk().ok_or(CORRUPT)?;
        self.bytes = rest;
        Ok(usize::from(u16::from_le_bytes(*word)))
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(CORRUPT)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Decodes a length from the bits `low`. If they are 0, more bytes follow, and the length is
    /// more than `most`. Each byte of input adds less than 256, so the sum cannot overflow.
    #[inline]
    fn length(&mut self, low: usize, most: usize) -> Result<usize> {
        if low != 0 {
            return Ok(low);
        }
        let mut length = most;
        loop {
            match self.byte()? {
                0 => length += 255,
                last => return Ok(length + usize::from(last)),
            }
        }
    }
}

struct Output<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Output<'_> {
    #[inline]
    fn literals(&mut self, input: &mut Input, length: usize) -> Result<()> {
        let literals = input.take(length)?;
        self.room(length)?.copy_from_slice(literals);
        self.length += length;
        Ok(())
    }

    #[inline]
    fn copy(&mut self, length: usize, distance: usize) -> Result<()> {
        let start = self.length.checked_sub(distance).ok_or(CORRUPT)?;
        self.room(length)?;
        let mut copied = 0;
        // A match may overlap its own output. Each step copies all that exists from the start of
        // the match.
        while copied < length {
            let step = (distance + copied).min(length - copied);
            self.bytes
                .copy_within(start..start + step, self.length + copied);
            copied += step;
        }
        self.length += length;
        Ok(())
    }

    #[inline]
    fn room(&mut self, length: usize) -> Result<&mut [u8]> {
        let end = self.length + length;
        let room = self.bytes.get_mut(self.length..end);
        room.ok_or(BlockError::TooLong(Lzo))
    }
}
