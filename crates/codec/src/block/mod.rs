//! Compresses and decompresses blocks of SquashFS images, each on its own, with one of six
//! compressors.
//!
//! A worker owns one [`BlockCompressor`] or [`BlockDecompressor`] and uses it for all blocks. The
//! output depends only on the [`Settings`] and the block, never on the blocks before it.

mod candidates;
mod error;
mod gzip;
mod liblzma;
mod lz4;
mod lzma;
mod lzo;
mod settings;
mod xz;
mod zlib;
mod zstd;

pub use error::{BlockError, Result};
pub use settings::{OptionBlockError, Settings, SettingsError};

use std::ffi::CStr;
use std::fmt;
pub(crate) use zlib::Stream;

/// Size of a metadata block before compression in bytes; also the minimum dictionary size.
pub const METADATA_BLOCK_BYTES: u32 = 8192;

/// The compressors of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compressor {
    /// Deflate in a zlib stream.
    Gzip,
    /// LZMA1 with the header of `.lzma` files. The kernel does not support it.
    Lzma,
    /// LZO1X.
    Lzo,
    /// LZMA2 in an `.xz` file.
    Xz,
    /// An LZ4 block.
    Lz4,
    /// A Zstandard frame.
    Zstd,
}

impl Compressor {
    /// All compressors in the order of their ids.
    pub const ALL: [Compressor; 6] = [
        Compressor::Gzip,
        Compressor::Lzma,
        Compressor::Lzo,
        Compressor::Xz,
        Compressor::Lz4,
        Compressor::Zstd,
    ];

    /// Its id in superblocks.
    pub fn id(self) -> u16 {
        match self {
            Compressor::Gzip => 1,
            Compressor::Lzma => 2,
            Compressor::Lzo => 3,
            Compressor::Xz => 4,
            Compressor::Lz4 => 5,
            Compressor::Zstd => 6,
        }
    }

    /// The compressor with this id in superblocks.
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|compressor| compressor.id() == id)
    }

    /// Whether this block has a checksum of its content, which is checked when it is decompressed:
    /// always for gzip, depending on the settings for xz and zstd, never for the others.
    pub fn has_checksum(self, block: &[u8]) -> bool {
        match self {
            Compressor::Gzip => true,
            Compressor::Xz => xz::has_checksum(block),
            Compressor::Zstd => zstd::has_checksum(block),
            Compressor::Lzma | Compressor::Lzo | Compressor::Lz4 => false,
        }
    }

    /// The block without its checksum, if that can be removed: in zstd, it is the last 4 bytes.
    /// `None` for all other blocks.
    pub fn without_checksum(self, block: &[u8]) -> Option<Vec<u8>> {
        match self {
            Compressor::Zstd if self.has_checksum(block) => zstd::without_checksum(block),
            _ => None,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Compressor::Gzip => "gzip",
            Compressor::Lzma => "lzma",
            Compressor::Lzo => "lzo",
            Compressor::Xz => "xz",
            Compressor::Lz4 => "lz4",
            Compressor::Zstd => "zstd",
        }
    }

    /// The compressor with this name on the command line.
    pub fn from_name(name: &str) -> std::result::Result<Self, SettingsError> {
        let found = Self::ALL
            .into_iter()
            .find(|compressor| compressor.name() == name);
        found.ok_or_else(|| SettingsError::UnknownCompressor {
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The libraries that compress blocks, with their versions.
pub(crate) fn versions() -> [(&'static str, &'static str); 5] {
    let text = |version: &'static CStr| version.to_str().unwrap_or("unknown");
    [
        ("zlib", text(zlib::version())),
        ("liblzma", text(liblzma::version())),
        ("lzo of hedgerow", lzo::VERSION),
        ("lz4", text(lz4::version())),
        ("zstd", text(zstd::version())),
    ]
}

/// Compresses blocks. Use one per worker.
#[derive(Debug)]
pub struct BlockCompressor(Encoder);

#[derive(Debug)]
enum Encoder {
    Gzip(gzip::Encoder),
    Zlib(zlib::Encoder),
    Lzma(lzma::Encoder),
    Lzo(lzo::Encoder),
    Xz(xz::Encoder),
    Lz4(lz4::Encoder),
    Zstd(zstd::Encoder),
}

impl BlockCompressor {
    /// A compressor with these settings.
    pub fn new(settings: &Settings) -> Result<Self> {
        Ok(BlockCompressor(match settings {
            Settings::Gzip(gzip) if gzip.uses_zlib() => Encoder::Zlib(zlib::Encoder::new(gzip)?),
            Settings::Gzip(gzip) => Encoder::Gzip(gzip::Encoder::new(gzip)?),
            Settings::Lzma(lzma) => Encoder::Lzma(lzma::Encoder::new(lzma)),
            Settings::Lzo(lzo) => Encoder::Lzo(lzo::Encoder::new(lzo)),
            Settings::Xz(xz) => Encoder::Xz(xz::Encoder::new(xz)),
            Settings::Lz4(lz4) => Encoder::Lz4(lz4::Encoder::new(lz4)),
            Settings::Zstd(zstd) => Encoder::Zstd(zstd::Encoder::new(zstd)?),
        }))
    }

    /// Compresses `input` to the start of `output`, which must be at least as long. Returns the
    /// compressed length in bytes, or `None` if the block would not become smaller; then it should
    /// be stored uncompressed, and the content of `output` is undefined.
    pub fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        let Some(limit) = input.len().checked_sub(1) else {
            return Ok(None);
        };
        // The same limit for every buffer, because the output of some libraries depends on the
        // room.
        let bytes = (input.len(), output.len());
        let output = output.get_mut(..limit).ok_or(BlockError::OutputBuffer {
            input: bytes.0,
            output: bytes.1,
        })?;
        match &mut self.0 {
            Encoder::Gzip(encoder) => Ok(encoder.compress(input, output)),
            Encoder::Zlib(encoder) => encoder.compress(input, output),
            Encoder::Lzma(encoder) => encoder.compress(input, output),
            Encoder::Lzo(encoder) => encoder.compress(input, output),
            Encoder::Xz(encoder) => encoder.compress(input, output),
            Encoder::Lz4(encoder) => encoder.compress(input, output),
            Encoder::Zstd(encoder) => encoder.compress(input, output),
        }
    }
}

/// Decompresses blocks of any origin. Use one per worker.
#[derive(Debug)]
pub struct BlockDecompressor(Decoder);

#[derive(Debug)]
enum Decoder {
    Gzip(gzip::Decoder),
    Lzma(lzma::Decoder),
    Lzo,
    Xz(xz::Decoder),
    Lz4,
    Zstd(zstd::Decoder),
}

impl BlockDecompressor {
    /// A decompressor for blocks of this compressor; no settings are needed.
    pub fn new(compressor: Compressor) -> Result<Self> {
        Ok(BlockDecompressor(match compressor {
            Compressor::Gzip => Decoder::Gzip(gzip::Decoder::new()),
            Compressor::Lzma => Decoder::Lzma(lzma::Decoder::new()),
            Compressor::Lzo => Decoder::Lzo,
            Compressor::Xz => Decoder::Xz(xz::Decoder::new()),
            Compressor::Lz4 => Decoder::Lz4,
            Compressor::Zstd => Decoder::Zstd(zstd::Decoder::new()?),
        }))
    }

    /// Decompresses the block that is all of `input` to the start of `output`. Returns the
    /// decompressed length. The rest of `output` may be overwritten.
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        match &mut self.0 {
            Decoder::Gzip(decoder) => decoder.decompress(input, output),
            Decoder::Lzma(decoder) => decoder.decompress(input, output),
            Decoder::Lzo => lzo::decompress(input, output),
            Decoder::Xz(decoder) => decoder.decompress(input, output),
            Decoder::Lz4 => lz4::decompress(input, output),
            Decoder::Zstd(decoder) => decoder.decompress(input, output),
        }
    }
}
