use super::Compressor;

/// The result of compressing or decompressing a block.
pub type Result<T> = std::result::Result<T, BlockError>;

/// Why a block could not be compressed or decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The data does not have the compressor's format, is truncated, or has a wrong checksum.
    #[error("bad {0} block")]
    Corrupt(Compressor),
    /// The content does not fit into the output.
    #[error("{0} block is longer than it may be")]
    TooLong(Compressor),
    /// Decompressing it would take more memory than any valid block needs.
    #[error("{0} block asks for too much memory")]
    TooMuchMemory(Compressor),
    /// The block is followed by this many bytes.
    #[error("{0} block is followed by {1} more bytes")]
    Trailing(Compressor, usize),
    /// The library could not allocate memory.
    #[error("no memory for {0}")]
    OutOfMemory(Compressor),
    /// The output buffer for compressing is shorter than the block.
    #[error("output buffer of {output} bytes for a block of {input}")]
    OutputBuffer {
        /// Size of the block in bytes.
        input: usize,
        /// Size of the output buffer in bytes.
        output: usize,
    },
    /// The library failed.
    #[error("{compressor} library failed with code {code}")]
    Library {
        /// The compressor.
        compressor: Compressor,
        /// The error code of the library.
        code: i64,
    },
}
