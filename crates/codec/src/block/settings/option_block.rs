//! The option block of an image, without the header of its metadata block.

use super::{GzipSettings, Lz4Settings, LzoSettings, Settings, XzSettings, ZstdSettings};
use crate::block::Compressor;

/// The only version of LZ4 blocks; the kernel does not mount others.
const LZ4_VERSION: u32 = 1;
const LZ4_HIGH: u32 = 1;

/// What is wrong with the option block of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionBlockError {
    /// The option block is missing, but this compressor requires one.
    #[error("{0} options are missing")]
    Missing(Compressor),
    /// This compressor has no option block.
    #[error("{0} has no options")]
    Unexpected(Compressor),
    /// The option block has a wrong length.
    #[error("{compressor} options of {found} bytes, not {expected}")]
    Length {
        /// The compressor.
        compressor: Compressor,
        /// The actual length in bytes.
        found: usize,
        /// The expected length in bytes.
        expected: usize,
    },
    /// A value is out of its range.
    #[error("bad value in {0} options")]
    Value(Compressor),
}

impl Settings {
    /// The option block that records these settings. `None` if it is not needed: always for lzma,
    /// never for lz4, and for the others if the recorded settings are the defaults.
    pub fn option_block(&self, block_size: u32) -> Option<Vec<u8>> {
        let block = self.all_options();
        let default = Self::default_for(self.compressor(), block_size).all_options();
        block
            .filter(|block| self.compressor() == Compressor::Lz4 || default.as_ref() != Some(block))
    }

    fn all_options(&self) -> Option<Vec<u8>> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        match self {
            Settings::Gzip(gzip) => Some(words(&[
                gzip.stored_level(),
                gzip.window | gzip.strategies << 16,
            ])),
            Settings::Lzma(_) => None,
            Settings::Lzo(lzo) => Some(words(&[lzo.number(), lzo.level()])),
            Settings::Xz(xz) => Some(words(&[xz.lzma.dictionary, xz.filters])),
            Settings::Lz4(lz4) => {
                let high = lz4.high_level().map_or(0, |_| LZ4_HIGH);
                Some(words(&[LZ4_VERSION, high]))
            }
            Settings::Zstd(zstd) => Some(words(&[zstd.level])),
        }
    }

    /// The settings that an image's option block records; `block` is `None` if the image has none.
    /// Settings that the format does not record have their defaults.
    ///
    /// # Errors
    /// A block that is missing, unexpected or of a wrong length, or a value that no packer writes.
    pub fn from_option_block(
        compressor: Compressor,
        block_size: u32,
        block: Option<&[u8]>,
    ) -> Result<Self, OptionBlockError> {
        let bytes = match (block, compressor) {
            (Some(_), Compressor::Lzma) => return Err(OptionBlockError::Unexpected(compressor)),
            (None, Compressor::Lz4) => return Err(OptionBlockError::Missing(compressor)),
            (None, _) => return Ok(Self::default_for(compressor, block_size)),
            (Some(bytes), _) => bytes,
        };
        let settings = match compressor {
            Compressor::Lzma => None,
            Compressor::Zstd => {
                let [level] = words(compressor, bytes)?;
                ZstdSettings::stored(level).map(Settings::Zstd)
            }
            Compressor::Gzip => {
                let [level, rest] = words(compressor, bytes)?;
                GzipSettings::stored(level, rest & 0xffff, rest >> 16).map(Settings::Gzip)
            }
            Compressor::Lzo => {
                let [algorithm, level] = words(compressor, bytes)?;
                LzoSettings::stored(algorithm, level).map(Settings::Lzo)
            }
            Compressor::Xz => {
                let [dictionary, filters] = words(compressor, bytes)?;
                XzSettings::stored(dictionary, filters, block_size).map(Settings::Xz)
            }
            Compressor::Lz4 => {
                let [version, flags] = words(compressor, bytes)?;
                let known = version == LZ4_VERSION && flags & !LZ4_HIGH == 0;
                known.then(|| Settings::Lz4(Lz4Settings::stored(flags != 0)))
            }
        };
        settings.ok_or(OptionBlockError::Value(compressor))
    }
}

/// Decodes all of `bytes` as little-endian numbers.
fn words<const N: usize>(
    compressor: Compressor,
    bytes: &[u8],
) -> Result<[u32; N], OptionBlockError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    match <[[u8; 4]; N]>::try_from(chunks) {
        Ok(words) if rest.is_empty() => Ok(words.map(u32::from_le_bytes)),
        _ => Err(OptionBlockError::Length {
            compressor,
            found: bytes.len(),
            expected: N * 4,
        }),
    }
}
