/// The result of inflating.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a zlib stream could not be inflated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its header, a block or its checksum is wrong.
    #[error("bad zlib stream")]
    Corrupt,
    /// It holds more than was declared.
    #[error("zlib stream is longer than declared")]
    TooLong,
    /// It ends before what was declared.
    #[error("zlib stream is shorter than declared")]
    TooShort,
    /// The input ends before the stream does.
    #[error("zlib stream is truncated")]
    Truncated,
}
