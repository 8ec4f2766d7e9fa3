//! LZO1X streams, in safe Rust and without a library, because the reference library is under the
//! GPL.
//!
//! A stream is a sequence of instructions, each a whole number of bytes. The first byte tells the
//! kind; further bytes of length and distance may follow. Two bits of a match instruction are the
//! number of literals that follow it, up to three.
//!
//! | first byte | meaning | distance |
//! |---|---|---|
//! | 0-15 after no literals | a run of 4 or more literals | |
//! | 0-15 after 1 to 3 literals | a match of 2 | 1-1024 |
//! | 0-15 after 4 or more literals | a match of 3 | 2049-3072 |
//! | 16-31 | a match of 3 or more, or the end | 16385-49151 |
//! | 32-63 | a match of 3 or more | 1-16384 |
//! | 64-255 | a match of 3 to 8 | 1-2048 |
//! | 18-255 at the start | a run of 1 to 238 literals | |

mod decode;
mod fast;
mod instructions;
mod matches;
mod strong;

use super::error::Result;
use super::settings::{LzoAlgorithm, LzoSettings};

pub(super) use decode::decompress;

/// The version of these encoders. It must change when their output does.
pub(super) const VERSION: &str = "1";

/// Compresses to LZO1X streams.
#[derive(Debug)]
pub(super) enum Encoder {
    /// Takes the first match found.
    Fast(fast::Encoder),
    /// Finds the sequence of matches with the smallest output.
    Strong(strong::Encoder),
}

impl Encoder {
    pub(super) fn new(settings: &LzoSettings) -> Self {
        match settings.algorithm {
            LzoAlgorithm::Fast(table_bits) => Encoder::Fast(fast::Encoder::new(table_bits)),
            LzoAlgorithm::Strong => Encoder::Strong(strong::Encoder::new(settings.level())),
        }
    }

    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        Ok(match self {
            Encoder::Fast(encoder) => encoder.compress(input, output),
            Encoder::Strong(encoder) => encoder.compress(input, output),
        })
    }
}
