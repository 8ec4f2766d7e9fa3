use super::Compressor;

/// The result of compressing or decompressing a block.
pub type Result<T> = std::result::Result<T, BlockError>;

/// Why a block could not be compressed or decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// It is not what this compressor writes, it is cut short, or its checksum is wrong.
    #[error("bad {0} block")]
    Corrupt(Compressor),
    /// It holds more than the output has room for.
    #[error("{0} block is longer than it may be")]
    TooLong(Compressor),
    /// It asks for more memory than any block needs.
    #[error("{0} block asks for too much memory")]
    TooMuchMemory(Compressor),
    /// Bytes follow its end.
    #[error("{0} block is followed by {1} more bytes")]
    Trailing(Compressor, usize),
    /// The library could not get memory.
    #[error("no memory for {0}")]
    OutOfMemory(Compressor),
    /// The buffer for the compressed block is shorter than the block.
    #[error("output buffer of {output} bytes for a block of {input}")]
    OutputBuffer {
        /// Bytes to be compressed.
        input: usize,
        /// Bytes of the buffer.
        output: usize,
    },
    /// The library refused what it was asked to do.
    #[error("{compressor} library failed with code {code}")]
    Library {
        /// The compressor.
        compressor: Compressor,
        /// The library's own error code.
        code: i64,
    },
}
