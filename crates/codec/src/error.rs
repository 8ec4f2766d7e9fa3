/// The result of inflating.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a zlib stream could not be inflated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The header, a block or the checksum is wrong.
    #[error("bad zlib stream")]
    Corrupt,
    /// The content is longer than declared.
    #[error("zlib stream is longer than declared")]
    TooLong,
    /// The content is shorter than declared.
    #[error("zlib stream is shorter than declared")]
    TooShort,
    /// The input ends before the end of the stream.
    #[error("zlib stream is truncated")]
    Truncated,
}
